"""Where cells run: processes of this machine, or a Ray cluster."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from types import FrameType
from typing import Any

from pebble import ProcessExpired, ProcessPool

from ..optional import optional
from .runner import Batch
from .store import Outcome
from .work import run_batch, use_one_thread

RETRIES = 3  # of a batch whose worker was lost


@dataclass(frozen=True)
class Local:
    """A new process for every batch, so that none sees the memory or the end of another.

    Attributes:
        jobs: Processes side by side.
        timeout: Seconds that a cell may take; its process is then ended.
    """

    jobs: int = 1
    timeout: float | None = None

    def __call__(self, work: Sequence[Batch]) -> Iterator[tuple[Batch, list[Outcome] | Exception]]:
        """Run batches; see :class:`~dpdag.experiments.runner.Engine`."""
        context = get_context("forkserver")
        context.set_forkserver_preload(["dpdag.experiments.work"])
        with ProcessPool(
            self.jobs, max_tasks=1, initializer=use_one_thread, context=context
        ) as pool:
            waiting: dict[Any, Batch] = {
                pool.schedule(run_batch, args=(batch,), timeout=_limit(batch, self.timeout)): batch
                for batch in work
            }
            try:
                for future in as_completed(waiting):
                    yield waiting[future], self._result(future)
            finally:
                pool.stop()

    def _result(self, future: Any) -> list[Outcome] | Exception:
        try:
            outcomes: list[Outcome] = future.result()
        except TimeoutError:
            return TimeoutError(f"took longer than {self.timeout:g} seconds; see --timeout.")
        except ProcessExpired as end:
            return RuntimeError(f"its process ended with status {end.exitcode}.")
        except Exception as error:
            return error
        return outcomes


@dataclass(frozen=True)
class OnRay:
    """A task of a Ray cluster for every batch; one whose worker is lost is run again.

    Attributes:
        jobs: Tasks side by side on a cluster that is started here.
        timeout: Seconds that a cell may take.
        address: Of an existing cluster; None starts one on this machine.
        cpus, gpus: That a task needs; parts of a GPU are shared.
    """

    jobs: int = 1
    timeout: float | None = None
    address: str | None = None
    cpus: float = 1.0
    gpus: float = 0.0

    def __call__(self, work: Sequence[Batch]) -> Iterator[tuple[Batch, list[Outcome] | Exception]]:
        """Run batches; see :class:`~dpdag.experiments.runner.Engine`."""
        ray = optional("ray", needed_by="--engine ray", install="dpdag[ray]")
        started = not ray.is_initialized()
        if started:
            ray.init(self.address, **self._local(), log_to_driver=False, logging_level="error")
        try:
            task = ray.remote(
                num_cpus=self.cpus, num_gpus=self.gpus, max_retries=RETRIES, max_calls=1
            )(_run)
            waiting = {
                task.remote(list(batch), _limit(batch, self.timeout)): batch for batch in work
            }
            while waiting:
                for done in ray.wait(list(waiting))[0]:
                    yield waiting.pop(done), _result(ray, done)
        finally:
            if started:
                ray.shutdown()

    def _local(self) -> dict[str, Any]:
        if self.address is not None:
            return {}
        return {
            "num_cpus": max(1, round(self.jobs * self.cpus)),
            "include_dashboard": False,
            "runtime_env": {"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}},
        }


def _run(batch: Batch, limit: float | None) -> list[Outcome]:
    use_one_thread()
    with _within(limit):
        return run_batch(batch)


def _result(ray: Any, done: Any) -> list[Outcome] | Exception:
    try:
        outcomes: list[Outcome] = ray.get(done)
    except ray.exceptions.RayTaskError as error:
        return error.cause if isinstance(error.cause, Exception) else error
    except ray.exceptions.RayError as error:
        return RuntimeError(f"Ray lost its worker {RETRIES + 1} times: {type(error).__name__}.")
    return outcomes


@contextmanager
def _within(limit: float | None) -> Iterator[None]:
    """Raise a ``TimeoutError`` after so many seconds."""

    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"took longer than {limit:g} seconds; see --timeout.")

    if limit is None:
        yield
        return
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _limit(batch: Batch, timeout: float | None) -> float | None:
    """Seconds that a batch may take."""
    return None if timeout is None else timeout * len(batch)
