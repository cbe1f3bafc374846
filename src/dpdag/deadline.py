"""The time that a fit may take, and what it leaves out to keep to it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic


class OutOfTimeError(Exception):
    """The time of a stage is spent: what was found so far has to do."""


class Deadline:
    """Seconds that a fit may take, each of its stages until a share of them is spent.

    Work that may be left out is done in a :meth:`stage` and asks :meth:`check` before every step.
    Outside of stages, and without a limit, there is always time.

    Arguments:
        seconds: From now on; None for no limit.

    Attributes:
        left_out: What stages did not finish.

    Example:
        >>> deadline = Deadline(1e-9)
        >>> with deadline.stage("counting further", until=0.5):
        ...     for number in range(10):
        ...         deadline.check()
        >>> number, deadline.left_out
        (0, ['counting further'])
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = math.inf if seconds is None else seconds
        self.left_out: list[str] = []
        self._start = monotonic()
        self._limit, self._met = math.inf, False

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return monotonic() - self._start

    def check(self) -> None:
        """Raise :class:`OutOfTimeError` where the time of the present stage is spent."""
        if self._limit < math.inf and self.spent > self._limit:
            self._met = True
            raise OutOfTimeError

    @contextmanager
    def stage(self, work: str, *, until: float) -> Iterator[None]:
        """A block that is left where a share of all seconds is spent; its work is then noted.

        A block in another one has as much time as that.
        """
        outer, self._met = self._limit, False
        if outer == math.inf:
            self._limit = until * self.seconds
        try:
            with suppress(OutOfTimeError):
                yield
        finally:
            self._limit = outer
            if self._met and work not in self.left_out:
                self.left_out.append(work)


ENDLESS = Deadline()
