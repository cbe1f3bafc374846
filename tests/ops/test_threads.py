"""Threads are chosen by the work, and the caller's settings win."""

import pytest
import torch

from dpdag.ops.threads import threads_for


@pytest.mark.parametrize(("seconds", "setting", "used"), [(5, None, 1), (60, None, 2), (5, "2", 2)])
def test_short_work_takes_one_thread(seconds, setting, used, monkeypatch) -> None:
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    if setting is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", setting)
    usual = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with threads_for(seconds):
            assert torch.get_num_threads() == used
        assert torch.get_num_threads() == 2
        with pytest.raises(ZeroDivisionError), threads_for(seconds):
            raise ZeroDivisionError
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(usual)
