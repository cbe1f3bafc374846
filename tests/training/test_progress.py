"""Progress is seen in a terminal and nowhere else."""

import pytest
import torch

from dpdag.training import Epoch, ProgressBar, Spinner


@pytest.mark.parametrize(("terminal", "enabled"), [(True, True), (True, False), (False, True)])
def test_progress_is_for_terminals(terminal, enabled, monkeypatch, capsys) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", str(int(terminal)))
    with Spinner("searching", enabled=enabled) as spinner:
        spinner.say("a choice")
    with ProgressBar(enabled=enabled) as bar:
        bar(Epoch(3, 7, 0.1, {"total": torch.ones(1)}, torch.tensor([False])))
    out, err = capsys.readouterr()
    assert out == ""
    assert ("a choice" in err) == ("epoch 3/7" in err) == (terminal and enabled)
