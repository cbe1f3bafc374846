"""Original files: found, verified, downloaded whole or not at all."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pooch
import pytest

from dpdag.datasets import ORIGINALS, load
from dpdag.datasets import original as module
from dpdag.datasets.original import blob_id

CHAIN = np.eye(3, k=1)


def zipped(folder="some/", sets=2, nodes=3):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for k in range(1, sets + 1):
            arrays = {f"data{k}": np.full((6, nodes), float(k)), f"DAG{k}": np.eye(nodes, k=1)}
            arrays[f"CPDAG{k}"] = np.ones((nodes, nodes))  # must not be taken for the DAG
            for file, array in arrays.items():
                content = io.BytesIO()
                np.save(content, array)
                archive.writestr(f"{folder}{file}.npy", content.getvalue())
    return buffer.getvalue()


@pytest.fixture
def places(tmp_path, monkeypatch):
    """An empty data folder and an empty cache; no download unless a test provides one."""
    data, cache = tmp_path / "data", tmp_path / "cache"
    data.mkdir()
    monkeypatch.setenv("DPDAG_DATA", str(data))
    monkeypatch.setattr(pooch, "os_cache", lambda name: cache)
    serve(monkeypatch, None)
    return data, cache


def serve(monkeypatch, content, *, fail_after=False):
    """Let every download give this content, or fail, perhaps after writing a part of it."""

    class Downloader:
        def __init__(self, **options):
            pass

        def __call__(self, url, output_file, pooch):
            if content is not None:
                Path(output_file).write_bytes(content)
            if content is None or fail_after:
                raise ConnectionError("no route\nto host")

    monkeypatch.setattr(pooch, "HTTPDownloader", Downloader)


def files_in(folder):
    return sorted(path.name for path in folder.rglob("*")) if folder.exists() else []


def expect(monkeypatch, name, content):
    monkeypatch.setitem(module.BLOBS, ORIGINALS[name], blob_id(content))


def test_all_sets_of_the_shared_files_load(data_folder):
    for name, shape in {"SynTReN": (500, 20), "ER-10-40": (1000, 10), "Sachs": (853, 11)}.items():
        data = load(name, source="original")
        assert data.X.shape == shape
        assert data.provenance.source == "original"
        assert data.provenance.url.startswith("https://raw.githubusercontent.com/kurowasan/")
    first, last = load("SynTReN", 0), load("SynTReN", 9)
    assert (first.X != last.X).any()


def test_an_index_beyond_the_files_is_refused(data_folder):
    with pytest.raises(ValueError, match=r"'index' must be in 0 … 9; got 10"):
        load("SynTReN", 10)


def test_every_name_of_the_tables_has_its_file():
    assert ORIGINALS["ER-10-10"] == "data_p10_e10_n1000_GP.zip"
    assert ORIGINALS["SF-50-200"] == "data_sf_p50_e200_n1000_GP.zip"
    assert ORIGINALS["SynTReN"] == "syntren_p20.zip"
    assert len(ORIGINALS) == len(module.BLOBS) == 18


def test_zip_files_in_the_data_folder_are_read_by_index(places, monkeypatch):
    content = zipped()
    expect(monkeypatch, "ER-20-20", content)
    (places[0] / ORIGINALS["ER-20-20"]).write_bytes(content)
    data = load("ER-20-20", 1, source="original")
    assert (data.X == 2.0).all()
    assert (data.adjacency == CHAIN).all()
    with pytest.raises(ValueError, match=r"'index' must be in 0 … 1; got 2"):
        load("ER-20-20", 2, source="original")


def test_the_continuous_measurements_of_sachs_are_taken(places, monkeypatch):
    content = zipped("sachs/continuous/", sets=1, nodes=11)
    expect(monkeypatch, "Sachs", content)
    (places[0] / "sachs.zip").write_bytes(content)
    assert load("Sachs", source="original").names[:2] == ["Raf", "Mek"]


def test_a_download_is_verified_and_kept(places, monkeypatch):
    content = zipped()
    expect(monkeypatch, "SynTReN", content)
    serve(monkeypatch, content)
    assert load("SynTReN").X.shape == (6, 3)
    assert files_in(places[1]) == ["syntren_p20.zip"]
    serve(monkeypatch, None)
    assert load("SynTReN", 1).X.shape == (6, 3)  # from the cache, without network


@pytest.mark.parametrize("content", [b"", b"<html>rate limit</html>", zipped()[:-40]])
def test_a_wrong_download_is_refused_and_leaves_no_file(places, monkeypatch, content):
    expect(monkeypatch, "SynTReN", zipped())
    serve(monkeypatch, content)
    with pytest.raises(OSError, match=r"syntren_p20.zip is truncated or changed") as caught:
        load("SynTReN")
    assert "\n" not in str(caught.value)
    assert files_in(places[1]) == []


@pytest.mark.parametrize("partial", [None, b"half of it"])
def test_without_network_one_line_says_which_file_to_put_where(places, monkeypatch, partial):
    serve(monkeypatch, partial, fail_after=True)
    with pytest.raises(OSError, match=r"syntren_p20.zip could not be downloaded") as caught:
        load("SynTReN")
    message = str(caught.value)
    assert str(places[0]) in message
    assert "https://raw.githubusercontent.com/kurowasan/GraN-DAG/d86ab59" in message
    assert "\n" not in message
    assert files_in(places[1]) == []


def test_an_interrupted_download_leaves_no_file(places, monkeypatch):
    class Interrupted:
        def __init__(self, **options):
            pass

        def __call__(self, url, output_file, pooch):
            Path(output_file).write_bytes(b"half")
            raise KeyboardInterrupt

    monkeypatch.setattr(pooch, "HTTPDownloader", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        load("SynTReN")
    assert files_in(places[1]) == []


def test_a_damaged_zip_in_the_data_folder_is_named(places):
    (places[0] / "syntren_p20.zip").write_bytes(b"PK but not the rest")
    with pytest.raises(ValueError, match=r"syntren_p20.zip is truncated or changed") as caught:
        load("SynTReN")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"garbage", zipped()[:100]], ids=["empty", "garbage", "truncated"]
)
def test_a_damaged_npz_in_the_data_folder_is_named(places, content):
    (places[0] / "SynTReN.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"SynTReN.npz cannot be read as the SynTReN") as caught:
        load("SynTReN")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.ones((1, 5, 3))}, r"cannot be read as the SynTReN data: .*A"),
        ({"X": np.ones((1, 5, 3)), "A": 2 * CHAIN[None]}, r"must hold only 0 and 1"),
        ({"X": np.ones((1, 5, 3)), "A": (CHAIN + CHAIN.T)[None]}, r"must be acyclic"),
        ({"X": np.ones((1, 5, 3)), "A": np.zeros((1, 2, 2))}, r"must be \(3, 3\)"),
        (
            {"X": np.ones((1, 5, 3)), "A": CHAIN[None], "names": ["a", "b", "a"]},
            r"\['a'\] stand there more than once",
        ),
    ],
)
def test_files_with_a_wrong_truth_are_refused(places, arrays, message):
    np.savez(places[0] / "SynTReN.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        load("SynTReN")


def test_pickled_arrays_are_never_loaded(places):
    np.savez(places[0] / "SynTReN.npz", X=np.array([{"a": 1}], dtype=object), A=CHAIN[None])
    with pytest.raises(ValueError, match=r"cannot be read as the SynTReN data"):
        load("SynTReN")
