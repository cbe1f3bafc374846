"""A progress bar for people, silent for machines."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from .loop import Epoch

__all__ = ["ProgressBar", "Spinner"]


class ProgressBar:
    """Shows epochs, loss, expected number of edges and time left; nothing outside a terminal.

    Arguments:
        enabled: False to be silent in a terminal too.
    """

    def __init__(self, *, enabled: bool = True) -> None:
        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(),
            TextColumn("epoch {task.completed}/{task.total}"),
            TextColumn("loss {task.fields[loss]}  edges {task.fields[edges]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not (enabled and console.is_terminal),
        )
        self._task = self._progress.add_task("fit", total=1, loss="–", edges="–")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def __call__(self, epoch: Epoch) -> None:
        if self._progress.disable:
            return
        loss = float(epoch.values["total"].mean())
        edges = float(epoch.values["edges"].mean()) if "edges" in epoch.values else float("nan")
        self._progress.update(
            self._task,
            completed=epoch.number,
            total=epoch.of,
            loss=f"{loss:.4f}",
            edges=f"{edges:.1f}",
        )


class Spinner:
    """Shows that something is at work; nothing outside a terminal.

    Arguments:
        text: What is being done.
        enabled: False to be silent in a terminal too.
    """

    def __init__(self, text: str, *, enabled: bool = True) -> None:
        self._console = Console(stderr=True)
        self._enabled = enabled and self._console.is_terminal
        self._status = self._console.status(text)

    def say(self, line: str) -> None:
        """Print a line above the spinner."""
        if self._enabled:
            self._console.print(line, highlight=False)

    def __enter__(self) -> Self:
        if self._enabled:
            self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._enabled:
            self._status.stop()
