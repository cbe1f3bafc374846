"""dpdag reproduce from the outside: run, kill, continue, report, and bad input."""

import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

FAKES = Path(__file__).parents[1] / "experiments"
GUESS = "fakes:Guess"


@pytest.fixture
def table(folder: Path) -> Path:
    """A table with its graph, and fakes to learn it, in the folder of the command."""
    rows = np.random.default_rng(0).normal(size=(40, 3))
    lines = ["a,b,c", *(",".join(f"{value:.3f}" for value in row) for row in rows)]
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    (folder / "edges.csv").write_text("source,target\na,b\nb,c\n")
    (folder / "more.csv").write_text("source,target\na,z\n")
    (folder / "fakes.py").write_text((FAKES / "fakes.py").read_text())
    (folder / "broken.py").write_text("class Guess\n")
    return folder


OWN = ("--datasets", "data.csv", "--truth", "edges.csv", "--learners", GUESS)


def test_an_own_learner_on_own_data_joins_the_table(dpdag, table: Path) -> None:
    done = dpdag(table, "reproduce", "structure", *OWN, "CAM", "--sets", 2, "--out", "results")
    assert done.status == 0, done.stderr
    assert done.stderr == ""  # silent where there is no terminal
    report = (table / "results" / "report.md").read_text()
    assert "### data" in report
    assert "| Guess | " in report
    assert "| CAM | " in report
    lines = (table / "results" / "cells.jsonl").read_text().splitlines()
    assert {json.loads(line)["cell"] for line in lines} >= {"Guess × data[1] × seed 0"}


def test_a_report_is_rebuilt_without_learning(dpdag, table: Path) -> None:
    dpdag(table, "reproduce", "structure", *OWN, "--sets", 1, "--out", "results")
    before = (table / "results" / "report.md").read_text()
    (table / "results" / "report.md").unlink()
    (table / "data.csv").unlink()
    done = dpdag(table, "report", "results")
    assert done.status == 0, done.stderr
    assert (table / "results" / "report.md").read_text() == before


def test_failing_cells_are_told_and_retried(dpdag, table: Path) -> None:
    broken = (*OWN[:-1], f"{GUESS}[end=raise]", "CAM", "--sets", 1, "--out", "results")
    for again in ((), ("--retry",)):
        done = dpdag(table, "reproduce", "structure", *broken, *again)
        assert done.status == 1
        assert "1 of 2 cells failed" in done.stderr
        assert "--retry" in done.stderr
    lines = (table / "results" / "cells.jsonl").read_text().splitlines()
    assert len(lines) == 3
    assert "ValueError: no idea" in (table / "results" / "report.md").read_text()


def test_every_method_that_fails_is_told_with_its_reason(dpdag, table: Path) -> None:
    ends = [f"{GUESS}[end={end}]" for end in ("raise", "die")]
    dpdag(table, "reproduce", "structure", *OWN[:-1], *ends, "--sets", 1, "--out", "results")
    report = (table / "results" / "report.md").read_text()
    assert "1 of 1 cells failed, such as Guess[end=raise] × data[0] × seed 0: ValueError" in report
    assert "1 of 1 cells failed, such as Guess[end=die] × data[0] × seed 0: RuntimeError" in report


def test_changed_code_of_ones_own_is_run_anew(dpdag, table: Path) -> None:
    for line in ("", "", "\n# another guess\n"):
        with (table / "fakes.py").open("a") as file:
            file.write(line)
        dpdag(table, "reproduce", "structure", *OWN, "CAM", "--sets", 1, "--out", "results")
    lines = (table / "results" / "cells.jsonl").read_text().splitlines()
    assert [json.loads(line)["method"] for line in lines] == ["Guess", "CAM", "Guess"]


def test_a_killed_run_continues_where_it_was(own_process, dpdag, table: Path) -> None:
    slow = (*OWN[:-1], f"{GUESS}[log=fits.log,delay=0.3]", "--sets", 6, "--out", "results")
    started = own_process("reproduce", "structure", *slow, cwd=table)
    cells = table / "results" / "cells.jsonl"
    end = time.monotonic() + 60
    while time.monotonic() < end and not (cells.exists() and len(cells.read_bytes()) > 0):
        time.sleep(0.02)
    os.kill(started.pid, signal.SIGKILL)
    started.communicate()
    before = [json.loads(line)["id"] for line in cells.read_text().splitlines()]
    assert 0 < len(before) < 6
    with cells.open("a") as file:
        file.write('{"id": "torn')
    done = dpdag(table, "reproduce", "structure", *slow)
    assert done.status == 0, done.stderr
    lines = [line for line in cells.read_text().splitlines() if '"id": "torn' not in line]
    after = [json.loads(line)["id"] for line in lines]
    assert after[: len(before)] == before
    assert len(after) == len(set(after)) == 6


def test_an_interrupted_run_says_how_to_continue(own_process, table: Path) -> None:
    slow = (*OWN[:-1], f"{GUESS}[delay=0.5]", "--sets", 9, "--out", "results")
    started = own_process("reproduce", "structure", *slow, cwd=table)
    cells = table / "results" / "cells.jsonl"
    end = time.monotonic() + 60
    while time.monotonic() < end and not cells.exists():
        time.sleep(0.02)
    started.send_signal(signal.SIGINT)
    _, stderr = started.communicate(timeout=30)
    assert started.returncode == 130
    assert stderr.strip().splitlines()[-1].startswith("dpdag: Stopped; the same command continues")
    assert len(cells.read_text().splitlines()) < 9


def test_experiments_are_listed_in_a_line_each(dpdag, folder: Path) -> None:
    done = dpdag(folder, "list", "experiments", "--json")
    names = json.loads(done.stdout)
    assert {"structure", "mechanisms", "training-time", "sampling-time"} <= set(names)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["strcture"], ["Unknown experiment 'strcture'. Did you mean 'structure'?"]),
        (["structure", "--learners", "CAMM"], ["Unknown learner 'CAMM'", "'CAM'"]),
        (["structure", "--learners", "CAM[prun=1]"], ["--learners CAM[prun=1]", "prun"]),
        (["structure", "--learners", "nowhere:Class"], ["nowhere:Class", "No module named"]),
        (["structure", "--learners", "fakes:Gues"], ["fakes has no 'Gues'"]),
        (["structure", "--learners", "fakes:NoLearner"], ["NoLearner", "'fit'"]),
        (["structure", "--learners", "broken:Guess"], ["broken:Guess: SyntaxError", "line 1"]),
        (
            ["structure", "--datasets", "ER-10"],
            ["Unknown data set 'ER-10'", "Did you mean 'ER-10-"],
        ),
        (["structure", "--datasets", "data.csv"], ["data.csv", "--truth EDGES.csv"]),
        (["structure", "--datasets", "no.csv", "--truth", "edges.csv"], ["no.csv does not exist"]),
        (["structure", "--datasets", "data.csv", "--truth", "data.csv"], ["'source'"]),
        (["structure", "--datasets", "data.csv", "--truth", "more.csv"], ["more.csv", "has z."]),
        (["structure", "--address", "auto"], ["--address goes with --engine ray"]),
    ],
    ids=lambda value: " ".join(value[-2:]) if isinstance(value, list) else None,
)
def test_bad_input_is_one_clear_line(
    dpdag, table: Path, arguments: list[str], words: list[str]
) -> None:
    done = dpdag(table, "reproduce", *arguments, "--out", "results")
    assert done.status == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    for word in words:
        assert word in done.stderr
    assert not (table / "results").exists()
