"""What is done of an experiment, as a table that grows on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Self

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table as Grid

from ..experiments import Outcome, Store


class Progress:
    """Methods × data sets with the numbers of done and planned cells; silent elsewhere.

    Arguments:
        planned: The cells, by identity.
        store: With what is done already.
    """

    def __init__(self, planned: Mapping[str, Any], store: Store) -> None:
        self._planned = Counter((c.method.name, c.source.name) for c in planned.values())
        self._done: Counter[tuple[str, str]] = Counter()
        self._failed: Counter[tuple[str, str]] = Counter()
        for identity, outcome in store.outcomes().items():
            if identity in planned:
                self._count(outcome)
        console = Console(stderr=True)
        console.quiet = not console.is_terminal
        self._live = Live(get_renderable=self._table, console=console, auto_refresh=False)

    def __enter__(self) -> Self:
        self._live.start(refresh=True)
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def tell(self, outcome: Outcome) -> None:
        """Count an outcome."""
        self._count(outcome)
        self._live.refresh()

    def _count(self, outcome: Outcome) -> None:
        key = (outcome.method, outcome.dataset)
        if self._done[key] < self._planned[key]:
            self._done[key] += 1
        self._failed[key] += bool(outcome.error)

    def _table(self) -> Grid:
        methods = list(dict.fromkeys(method for method, _ in self._planned))
        sets = list(dict.fromkeys(data for _, data in self._planned))
        grid = Grid(box=None)
        for head in ("", *sets):
            grid.add_column(escape(head), justify="right" if head else "left")
        for method in methods:
            grid.add_row(escape(method), *(self._cell((method, data)) for data in sets))
        return grid

    def _cell(self, key: tuple[str, str]) -> str:
        if not self._planned[key]:
            return ""
        failed = f" [red]{self._failed[key]} failed[/]" if self._failed[key] else ""
        return f"{self._done[key]}/{self._planned[key]}{failed}"
