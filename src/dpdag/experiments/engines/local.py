"""Processes of this machine, one thread each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from pebble import ProcessExpired, ProcessPool

from ..runner import Batch
from ..store import Outcome
from ..work import run_batch, use_one_thread

__all__ = ["Local"]


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
        if not work:
            return
        context = get_context("forkserver")
        context.set_forkserver_preload(["dpdag.experiments.work"])
        with ProcessPool(
            self.jobs, max_tasks=1, initializer=use_one_thread, context=context
        ) as pool:
            waiting: dict[Any, Batch] = {
                pool.schedule(run_batch, args=(batch,), timeout=self._limit(batch)): batch
                for batch in work
            }
            try:
                for future in as_completed(waiting):
                    yield waiting[future], self._result(future)
            finally:
                pool.stop()

    def _limit(self, batch: Batch) -> float | None:
        return None if self.timeout is None else self.timeout * len(batch)

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
