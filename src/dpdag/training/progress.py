"""Progress for people, silence for machines."""

from __future__ import annotations

from time import monotonic
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.status import Status

from .loop import Epoch

LONG = 30.0  # seconds from which people want to know how long it takes


class _Shown:
    """Something to see while a block runs; nothing outside a terminal.

    Arguments:
        display: What to show.
        enabled: False to be silent in a terminal too.
    """

    def __init__(self, display: Progress | Status, *, enabled: bool) -> None:
        self._display = display
        self._enabled = enabled and display.console.is_terminal

    def __enter__(self) -> Self:
        if self._enabled:
            self._display.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._enabled:
            self._display.stop()


class ProgressBar(_Shown):
    """Shows epochs, loss, what else an objective has to show, and time left."""

    def __init__(self, *, enabled: bool = True) -> None:
        self._progress = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(),
            TextColumn("epoch {task.completed}/{task.total}"),
            TextColumn("{task.fields[values]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task("fit", total=1, values="")
        super().__init__(self._progress, enabled=enabled)

    def __call__(self, epoch: Epoch) -> None:
        if not self._enabled:
            return
        shown = {"total": ("loss", ".4f"), "edges": ("edges", ".1f"), "h": ("h", ".1e")}
        self._progress.update(
            self._task,
            completed=epoch.number,
            total=epoch.of,
            values="  ".join(
                f"{word} {float(epoch.values[name].double().mean()):{digits}}"
                for name, (word, digits) in shown.items()
                if name in epoch.values
            ),
        )


class Stages(_Shown):
    """Shows which stage of a fit is at work; of long fits the share done and the time left.

    Elsewhere than in a terminal it is a line for every stage, of long fits only.

    Arguments:
        seconds: That the fit is expected to take, roughly.
    """

    def __init__(self, seconds: float = 0.0, *, enabled: bool = True) -> None:
        console = Console(stderr=True)
        super().__init__(console.status(self), enabled=enabled)
        self._in_lines = enabled and not console.is_terminal
        self._long, self._seconds = seconds >= LONG, seconds
        self._text, self._first, self._last = "", 0.0, 0.0
        self._start = self._since = monotonic()

    def show(self, text: str, first: float, last: float) -> None:
        """What is being done now, between two shares of the whole."""
        self._since = monotonic()
        self._text, self._first, self._last = text, first, last
        if first >= 0.5:  # from there on what was measured says more than what was expected
            self._seconds = (self._since - self._start) / first
        if self._in_lines and self._long:
            self._display.console.print(f"dpdag: {self}", highlight=False)

    def say(self, line: str) -> None:
        """Print a line above."""
        if self._enabled:
            self._display.console.print(line, highlight=False)

    def __str__(self) -> str:
        if not self._long:
            return self._text
        share = (monotonic() - self._since) / max(self._seconds, 1e-9)
        done = min(self._first + share, self._last)
        left = (1 - done) * self._seconds
        return f"{self._text} ({done:.0%} done, about {left:.0f} s left)"

    __rich__ = __str__  # anew whenever a terminal is refreshed
