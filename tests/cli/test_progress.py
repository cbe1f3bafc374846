"""The table that grows while experiments run."""

from pathlib import Path
from types import SimpleNamespace

from rich.console import Console

from dpdag.cli.progress import Progress
from dpdag.experiments import Outcome, Store


def cell(method: str, data: str) -> SimpleNamespace:
    return SimpleNamespace(method=SimpleNamespace(name=method), source=SimpleNamespace(name=data))


def test_methods_are_shown_with_their_settings_and_failures(tmp_path: Path) -> None:
    planned = {"1": cell("CAM[penalty=2]", "data"), "2": cell("CAM[penalty=3]", "data")}
    progress = Progress(planned, Store(tmp_path))
    progress.tell(Outcome("1", "", "CAM[penalty=2]", "data", 0, 0))
    progress.tell(Outcome("2", "", "CAM[penalty=3]", "data", 0, 0, error="ValueError"))
    console = Console(width=80)
    with console.capture() as shown:
        console.print(progress._table())
    _, first, second = (line.split() for line in shown.get().splitlines())
    assert first == ["CAM[penalty=2]", "1/1"]
    assert second == ["CAM[penalty=3]", "1/1", "1", "failed"]
