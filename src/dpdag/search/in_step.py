"""Searches of many replicas side by side: what they ask at the same moment is one batch."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Condition
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from ..evidence.screened import ScreenedEvidence

__all__ = ["in_step"]

T = TypeVar("T")
_BATCHED = ("log_evidence", "reach", "screens", "weakly_explained")


def in_step(
    evidence: ScreenedEvidence,
    search: Callable[[ScreenedEvidence], T],
) -> list[T]:
    """Run a search for every replica of an evidence, all of them in step.

    Each search runs in a thread of its own and sees the evidence of its replica alone. Whenever
    all of them wait for an answer, requests of one kind are answered by one call, so that on a
    GPU several replicas take little longer than one. What a search finds does not depend on the
    others, beyond the rounding of a batch.

    Arguments:
        evidence: Of several replicas.
        search: From the evidence of one replica, what it finds.

    Example:
        >>> from dpdag.evidence.bge import BGeEvidence
        >>> from dpdag.evidence.screened import ExactScreen
        >>> from dpdag.search.lazy import lazy_search
        >>> x = torch.randn(200, 2, generator=torch.Generator().manual_seed(0))
        >>> x[:, 1] += x[:, 0]
        >>> halves = ExactScreen(BGeEvidence(x, replicas=torch.arange(200).reshape(2, 100)))
        >>> [int(found.adjacency.sum()) for found in in_step(halves, lazy_search)]
        [1, 1]
    """
    count = evidence.n_replicas or 1
    desk = _Desk(evidence, count)

    def run(replica: int) -> T:
        try:
            return search(_Seat(desk, replica))
        finally:
            desk.leave()

    with ThreadPoolExecutor(count) as pool:
        results: list[Future[T]] = []
        try:
            results += (pool.submit(run, replica) for replica in range(count))
            desk.serve()
        except BaseException:
            desk.close()
            raise
    return [result.result() for result in results]


class _Request(NamedTuple):
    method: str
    arguments: tuple[Any, ...]
    answer: Future[Any]


class _Desk:
    """Where searches leave requests; answered as soon as all that still run have left one."""

    def __init__(self, evidence: ScreenedEvidence, count: int) -> None:
        self.evidence = evidence
        self._running, self._closed = count, False
        self._asked: dict[int, _Request] = {}
        self._news = Condition()

    def ask(self, replica: int, method: str, *arguments: Any) -> Any:
        request = _Request(method, arguments, Future())
        with self._news:
            if self._closed:
                raise InterruptedError("The searches beside this one were stopped.")
            self._asked[replica] = request
            self._news.notify_all()
        return request.answer.result()

    def leave(self) -> None:
        with self._news:
            self._running -= 1
            self._news.notify_all()

    def close(self) -> None:
        """Let no search wait any longer."""
        with self._news:
            self._closed = True
            for request in self._asked.values():
                request.answer.cancel()

    def serve(self) -> None:
        """Answer until no search is left."""
        while True:
            with self._news:
                self._news.wait_for(lambda: len(self._asked) == self._running)
                if not self._running:
                    return
                asked = dict(sorted(self._asked.items()))
            for method in sorted({request.method for request in asked.values()}):
                together = [k for k, request in asked.items() if request.method == method]
                answers = self._answers(method, [asked[k].arguments for k in together])
                for k, answer in zip(together, answers):
                    with self._news:
                        asked[k].answer.set_result(answer)
                        del self._asked[k]

    def _answers(self, method: str, arguments: list[tuple[Any, ...]]) -> list[Any]:
        call = getattr(self.evidence, method)
        if method not in _BATCHED:
            return [call(*each) for each in arguments]
        joined = call(*(torch.cat(parts) for parts in zip(*arguments)))
        return list(joined.split([len(each[0]) for each in arguments]))


class _Seat(ScreenedEvidence):
    """The evidence of one replica, answered at the desk."""

    def __init__(self, desk: _Desk, replica: int) -> None:
        shared = desk.evidence
        self.n_nodes, self.lookahead = shared.n_nodes, shared.lookahead
        self.screens_exactly, self.sees_pairs = shared.screens_exactly, shared.sees_pairs
        self._desk, self._replica = desk, replica

    def _ask(self, method: str, child: Any, *others: Any) -> Any:
        own = child + self._replica * self.n_nodes
        return self._desk.ask(self._replica, method, own, *others)

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:
        return self._ask("log_evidence", child, parents)

    def reach(self, child: Tensor, parents: Tensor, target: Tensor) -> Tensor:
        return self._ask("reach", child, parents, target)

    def screens(self, child: Tensor, parents: Tensor) -> Tensor:
        return self._ask("screens", child, parents)

    def weakly_explained(self, child: Tensor, values: Tensor) -> Tensor:
        return self._ask("weakly_explained", child, values)

    def probe(self, child: int, parents: Tensor) -> Tensor | None:
        return self._ask("probe", child, parents)

    def pair_probe(self, child: int, parents: Tensor) -> Tensor:
        return self._ask("pair_probe", child, parents)
