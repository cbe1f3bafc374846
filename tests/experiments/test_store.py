"""A store keeps what was finished, whatever happened to who wrote it."""

import gzip
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from dpdag.experiments import Outcome, Store

ONE = Outcome("1", "CAM × Sachs[0] × seed 0", "CAM", "Sachs", 0, 0, values={"SHD": 3.0})


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    store = Store(tmp_path / "new" / "folder")
    store.append(ONE)
    assert store.outcomes() == {"1": replace(ONE, warnings=[])}


def test_the_last_line_of_a_cell_counts(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.append(replace(ONE, error="ValueError: no"))
    store.append(ONE)
    assert store.outcomes()["1"].error == ""


def test_packed_lines_are_continued(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.append(replace(ONE, error="ValueError: no"))
    store.append(replace(ONE, id="2"))
    store.packed.write_bytes(gzip.compress(store.cells.read_bytes()))
    store.cells.unlink()
    assert list(store.outcomes()) == ["1", "2"]
    store.append(ONE)
    assert [one.error for one in store.outcomes().values()] == ["", ""]


@pytest.mark.parametrize("torn", ['{"id": "2", "cel', '{"id": "2"}', "\x00\x00", "[1", "3"])
def test_a_torn_last_line_loses_nothing_before_or_after(tmp_path: Path, torn: str) -> None:
    store = Store(tmp_path)
    store.append(ONE)
    with store.cells.open("a") as file:
        file.write(torn)
    assert list(store.outcomes()) == ["1"]
    store.append(replace(ONE, id="3"))
    assert list(store.outcomes()) == ["1", "3"]


WRITER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from dpdag.experiments.store import Outcome, Store
store = Store(sys.argv[1])
print("ready", flush=True)
for k in range(10**6):
    store.append(Outcome(f"{sys.argv[2]}-{k}", "x" * 2000, "m", "d", k, 0))
"""


def test_writers_that_are_killed_leave_whole_lines_but_for_the_last(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), name],
            env=environment,
            stdout=subprocess.PIPE,
        )
        for name in "ab"
    ]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
    while len(Store(tmp_path).outcomes()) < 20:
        pass
    for writer in writers:
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
    *whole, _ = (tmp_path / "cells.jsonl").read_bytes().split(b"\n")
    assert all(json.loads(line)["cell"] == "x" * 2000 for line in whole)
    Store(tmp_path).append(ONE)
    assert len(Store(tmp_path).outcomes()) >= len(whole)


def test_runs_that_share_a_folder_leave_all_their_layouts(tmp_path: Path) -> None:
    def change(name: str) -> None:
        for k in range(20):
            with Store(tmp_path).changed_layouts() as layouts:
                layouts[f"{name}-{k}"] = {}

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(change, "abcd"))
    assert len(Store(tmp_path).read_layouts()) == 80
    assert [file.name for file in tmp_path.iterdir()] == ["experiments.json"]
