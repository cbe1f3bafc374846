"""The import layers of the package, low to high, hold."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "dpdag"

LAYERS = [
    {"deadline", "files", "optional", "registry", "seeding"},
    {"ops"},
    {"distributions", "mechanisms", "columns", "datasets", "metrics"},
    {"evidence"},
    {"selection", "search"},
    {"posterior"},
    {"objectives"},
    {"training"},
    {"scm"},
    {"exports"},
    {"learners"},
    {"records"},
    {"experiments"},
    {"reports"},
    {"cli"},
]
LEVEL = {part: level for level, layer in enumerate(LAYERS) for part in layer}
FORBIDDEN = {
    "learners": {"datasets", "metrics"},  # learners see observations, never the truth
    "reports": {"learners"},  # a report can always be rebuilt from stored results
}


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> set[str]:
    """Top-level parts of dpdag that a file imports, relative imports resolved."""
    package = ["dpdag", *path.relative_to(SOURCE).parts[:-1]]
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    parts = {name.split(".")[1] for name in names if name.startswith("dpdag.")}
    return parts & LEVEL.keys()


FILES = sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE or path.stem in LEVEL)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_down_only(path: Path) -> None:
    own = part_of(path)
    assert own in LEVEL, f"{own} has no place in the layers"
    for other in imported_parts(path) - {own}:
        assert LEVEL[other] < LEVEL[own], f"{path.name} ({own}) imports {other}"
        assert other not in FORBIDDEN.get(own, set()), f"{own} must not import {other}"


def test_every_part_is_listed() -> None:
    parts = {path.name.removesuffix(".py") for path in SOURCE.iterdir() if path.name[0] not in "_."}
    assert parts - {"py.typed", "load"} <= LEVEL.keys()
