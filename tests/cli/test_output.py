"""Results on disk: all of them or nothing, of one command at a time."""

import pytest

from dpdag.cli.output import new_file, new_folder

CAM = ("--learner", "CAM", "--set", "n_bootstrap=0")


def folder_of(target, **options):
    return new_folder(target, marker="summary.json", **{"overwrite": False, **options})


def written(target, text="mine", **options):
    with folder_of(target, **options) as own:
        (own / "summary.json").write_text(text)


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("target", ["run", "deep/down/run"])
def test_a_folder_that_is_being_written_is_refused(tmp_path, overwrite, target):
    target = tmp_path / target
    with folder_of(target) as own:
        (own / "summary.json").write_text("first")
        said = r"run is being written by another command; .* was killed, remove .*run\.partial"
        with pytest.raises(ValueError, match=said):
            written(target, overwrite=overwrite)
    assert (target / "summary.json").read_text() == "first"
    assert not list(tmp_path.glob(".*"))


def test_folders_of_one_name_in_several_places_do_not_meet(tmp_path):
    with folder_of(tmp_path / "a" / "run") as own, folder_of(tmp_path / "b" / "run") as other:
        assert own != other
        written(tmp_path / "run")


def test_a_folder_that_appears_while_writing_is_kept(tmp_path):
    def write_late():
        with folder_of(tmp_path / "run"):
            (tmp_path / "run").mkdir()
            (tmp_path / "run" / "thesis.txt").write_text("theirs")

    with pytest.raises(ValueError, match="run exists; choose another --out"):
        write_late()
    assert [file.name for file in tmp_path.rglob("*")] == ["run", "thesis.txt"]


def test_a_file_that_is_being_written_is_refused(tmp_path):
    with new_file(tmp_path / "p.csv", overwrite=False) as own:
        own.write_text("first")
        with (
            pytest.raises(ValueError, match=r"p\.csv is being written by another command"),
            new_file(tmp_path / "p.csv", overwrite=True),
        ):
            pass
    assert [file.name for file in tmp_path.iterdir()] == ["p.csv"]


def test_of_two_fits_at_the_same_moment_one_is_refused(own_process, folder):
    fits = [own_process("fit", "Sachs", "--out", "run", *CAM, cwd=folder) for _ in range(2)]
    said = [fit.communicate() for fit in fits]
    assert sorted(fit.returncode for fit in fits) == [0, 2]
    refused = next(err for fit, (_, err) in zip(fits, said) if fit.returncode)
    assert "run is being written" in refused or "run exists" in refused
    assert [file.name for file in folder.iterdir()] == ["run"]
    assert (folder / "run" / "report.html").is_file()
