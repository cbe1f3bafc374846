"""The nine conditions of the protein data: right rows, right targets, an error without them."""

import numpy as np
import pandas as pd
import pooch
import pytest

from dpdag.datasets import SACHS_CONDITIONS, load

NAME = "Sachs-interventional"


@pytest.fixture
def data(data_folder):
    if not (data_folder / f"{NAME}.npz").is_file():
        pytest.skip(f"no {NAME}.npz in {data_folder}")
    return load(NAME)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty data folder and an empty cache."""
    monkeypatch.setenv("DPDAG_DATA", str(tmp_path))
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache")
    return tmp_path


def write(folder, **changes):
    """Proteins in reverse order, the last of which is set in the second of two conditions."""
    arrays = {
        "X": np.arange(44.0).reshape(4, 11),
        "condition": np.array([1, 1, 2, 2]),
        "targets": np.eye(3, 11, k=-2, dtype=bool),
        "names": np.array(load("Sachs").names[::-1]),
    }
    np.savez(folder / f"{NAME}.npz", **arrays | changes)


def test_there_are_7466_rows_of_nine_conditions(data):
    assert data.X.shape == data.mask.shape == (7466, 11)
    numbers, counts = np.unique(data.conditions, return_counts=True)
    assert numbers.tolist() == list(SACHS_CONDITIONS)
    assert counts.tolist() == [853, 902, 911, 723, 810, 799, 848, 913, 707]


def test_each_condition_sets_its_target_and_nothing_else(data):
    for number, (_, target) in SACHS_CONDITIONS.items():
        mask = pd.DataFrame(data.mask, columns=data.names)[data.conditions == number]
        assert [name for name in mask if mask[name].all()] == ([target] if target else [])
        assert mask.any().sum() == (target is not None)


def test_the_first_condition_is_the_observational_data(data):
    observed = load("Sachs")
    assert data.names == observed.names
    assert (data.adjacency == observed.adjacency).all()
    np.testing.assert_array_equal(data.X[data.conditions == 1], observed.X)


def test_columns_of_a_file_are_brought_to_the_order_of_the_proteins(folder):
    write(folder)
    data = load("sachs-Interventional")
    assert data.names == load("Sachs").names
    assert data.X[0].tolist() == list(range(11))[::-1]
    assert data.mask[:, -1].tolist() == [False, False, True, True]
    assert not data.mask[:, :-1].any()


def test_without_the_file_the_error_says_where_to_put_it(folder):
    with pytest.raises(FileNotFoundError, match=rf"{NAME}\.npz is not in .* set DPDAG_DATA to"):
        load(NAME)
    with pytest.raises(ValueError, match="'index' must be 0 for Sachs-interventional"):
        load(NAME, 1)
    with pytest.raises(ValueError, match="Sachs-interventional is not generated"):
        load(NAME, source="generated")


@pytest.mark.parametrize(
    "changes",
    [{"names": np.array(["Mek", "Raf"])}, {"condition": np.array([1, 1, 2, 9])}, {"X": np.ones(3)}],
)
def test_other_files_are_refused_in_one_line(folder, changes):
    write(folder, **changes)
    with pytest.raises(ValueError, match="cannot be read as Sachs-interventional") as caught:
        load(NAME)
    assert "\n" not in str(caught.value)


def test_a_damaged_file_is_refused(folder):
    (folder / f"{NAME}.npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match="cannot be read as Sachs-interventional"):
        load(NAME)
