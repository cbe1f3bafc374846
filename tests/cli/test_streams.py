"""Terminals and pipes that cannot encode every letter get readable text and a normal end."""

import json

import pytest

CAM = ("--learner", "CAM", "--set", "n_bootstrap=0")
POSIX = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture
def run(own_process, folder):
    """What a command says where only some letters can be written."""
    rows = "".join(f"{k % 7},{k % 7 + k % 3}\n" for k in range(60))
    (folder / "data.csv").write_text(f"größe,wert\n{rows}", encoding="utf-8")

    def ended(*arguments, **environment):
        process = own_process(*arguments, extra=environment, cwd=folder)
        out, err = process.communicate()
        return out, err, process.returncode

    return ended


@pytest.mark.parametrize("letters", [{"PYTHONIOENCODING": "ascii:strict"}, POSIX])
def test_arrows_are_spelled_out(run, folder, letters):
    out, err, status = run("fit", "data.csv", "--out", "run", *CAM, **letters)
    assert (status, err) == (0, "")
    assert "60 rows x 2 columns" in out
    assert "gro\\xdfe" in out
    assert "  ->  " in out
    assert "größe" in (folder / "run" / "edges.csv").read_text(encoding="utf-8")


def test_json_keeps_every_letter(run):
    out, err, status = run("fit", "data.csv", "--out", "run", *CAM, "--json", **POSIX)
    assert (status, err) == (0, "")
    assert json.loads(out)["data"]["columns_used"] == ["größe", "wert"]


def test_errors_and_help_are_spelled_out(run):
    out, err, status = run(
        "fit", "data.csv", "--out", "run", "--forbid", "a:b", "--require", "a:b", **POSIX
    )
    assert (status, out) == (2, "")
    assert "contradict each other on a -> b" in err
    out, err, status = run("sample", "--help", **POSIX)
    assert (status, err) == (0, "")
    assert "means i -> j" in out


def test_a_reader_that_stops_early_is_no_error(own_process, folder):
    rows = "".join(f"{k % 7},{k % 7 + k % 3}\n" for k in range(60))
    (folder / "data.csv").write_text(f"a,b\n{rows}")
    with own_process("fit", "data.csv", "--out", "run", *CAM, cwd=folder) as process:
        process.stdout.close()  # as 'head' does
        assert process.stderr.read() == ""
        assert process.wait() == 0
    assert (folder / "run" / "report.html").is_file()
