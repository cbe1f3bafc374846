"""Progress is seen in a terminal, and of long fits as lines elsewhere."""

import pytest
import torch

from dpdag.training import Epoch, ProgressBar, Stages


@pytest.mark.parametrize(("terminal", "enabled"), [(True, True), (True, False), (False, True)])
def test_progress_is_for_terminals(terminal, enabled, monkeypatch, capsys) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", str(int(terminal)))
    with Stages(enabled=enabled) as stages:
        stages.say("a choice")
        stages.show("turning edges", 0.2, 0.6)
    with ProgressBar(enabled=enabled) as bar:
        bar(Epoch(3, 7, {"total": torch.ones(1)}))
    out, err = capsys.readouterr()
    assert out == ""
    shown = terminal and enabled
    assert all((text in err) == shown for text in ("a choice", "turning edges", "epoch 3/7"))


@pytest.mark.parametrize(("seconds", "enabled"), [(5, True), (100, True), (100, False)])
def test_long_fits_are_told_of_in_lines(seconds, enabled, monkeypatch, capsys) -> None:
    now = 0.0
    monkeypatch.setattr("dpdag.training.progress.monotonic", lambda: now)
    monkeypatch.setenv("TTY_COMPATIBLE", "0")
    with Stages(seconds, enabled=enabled) as stages:
        stages.show("searching", 0.1, 0.5)
        now = 30.0
        half, now = str(stages), 60.0
        stages.show("weighing", 0.5, 1.0)
    lines = capsys.readouterr().err.splitlines()
    told = seconds == 100 and enabled
    assert lines == told * [
        "dpdag: searching (10% done, about 90 s left)",
        "dpdag: weighing (50% done, about 60 s left)",
    ]
    assert ("(40% done, about 60 s left)" in half) == (seconds == 100)
