"""Progress is seen in a terminal and nowhere else."""

import pytest
import torch

from dpdag.training import Epoch, ProgressBar, Spinner


@pytest.mark.parametrize(("terminal", "enabled"), [(True, True), (True, False), (False, True)])
def test_progress_is_for_terminals(terminal, enabled, monkeypatch, capsys) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", str(int(terminal)))
    with Spinner("searching", enabled=enabled) as spinner:
        spinner.say("a choice")
        spinner.show("turning edges")
    with ProgressBar(enabled=enabled) as bar:
        bar(Epoch(3, 7, 0.1, {"total": torch.ones(1)}, torch.tensor([False])))
    out, err = capsys.readouterr()
    assert out == ""
    shown = terminal and enabled
    assert all((text in err) == shown for text in ("a choice", "turning edges", "epoch 3/7"))
