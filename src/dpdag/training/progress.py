"""Progress for people, silence for machines."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.status import Status

from .loop import Epoch

__all__ = ["ProgressBar", "Spinner"]


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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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


class Spinner(_Shown):
    """Shows that something is at work.

    Arguments:
        text: What is being done.
    """

    def __init__(self, text: str, *, enabled: bool = True) -> None:
        self._status = Console(stderr=True).status(text)
        super().__init__(self._status, enabled=enabled)

    def show(self, text: str) -> None:
        """What is being done now."""
        self._status.update(text)

    def say(self, line: str) -> None:
        """Print a line above the spinner."""
        if self._enabled:
            self._display.console.print(line, highlight=False)
