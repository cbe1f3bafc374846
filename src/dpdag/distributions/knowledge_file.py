"""Prior knowledge from a file that people can write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ..registry import suggest
from .knowledge import Knowledge

FIELDS = ("forbidden", "required", "tiers")
ARROWS = ("->", "→")


def read_knowledge(path: str | Path) -> Knowledge:
    r"""Read forbidden and required edges and tiers from YAML or JSON.

    .. code-block:: yaml

        forbidden: [outcome -> age, [outcome, sex]]   # an arrow or a pair
        required: [dose -> outcome]
        tiers: [[age, sex], [dose], [outcome]]        # causes first

    A file with nothing but a list of lists holds tiers. All names are text, also ``1`` or ``no``.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "known.yaml"
        >>> _ = file.write_text("tiers: [[age], [dose, outcome]]\nrequired: [dose -> outcome]")
        >>> read_knowledge(file).required
        (('dose', 'outcome'),)
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist or is not a file.")
    try:
        facts = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not YAML or JSON: {' '.join(str(error).split())}") from None
    if isinstance(facts, list):
        facts = {"tiers": facts}
    if not isinstance(facts, dict):
        raise ValueError(f"{path} must hold some of {', '.join(FIELDS)}; got {facts!r}.")
    for field in facts:
        if field not in FIELDS:
            hint = suggest(field, list(FIELDS))
            raise ValueError(f"{path} has the unknown entry {field!r}.{hint}")
    try:
        return Knowledge(
            forbidden=[_edge(edge) for edge in _list(facts, "forbidden")],
            required=[_edge(edge) for edge in _list(facts, "required")],
            tiers=[_tier(tier) for tier in _list(facts, "tiers")],
        )
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _list(facts: dict[str, Any], field: str) -> list[Any]:
    entries = facts.get(field) or []
    if not isinstance(entries, list):
        raise ValueError(f"'{field}' must be a list; got {entries!r}.")
    return entries


def _edge(edge: Any) -> tuple[str, str]:
    if isinstance(edge, str):
        for arrow in ARROWS:
            source, found, target = edge.partition(arrow)
            if found:
                return source.strip(), target.strip()
    if isinstance(edge, list) and len(edge) == 2 and all(isinstance(end, str) for end in edge):
        return edge[0], edge[1]
    raise ValueError(f"an edge must be 'source -> target' or [source, target]; got {edge!r}.")


def _tier(tier: Any) -> list[str]:
    names = tier if isinstance(tier, list) else [tier]
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"a tier must be a list of names; got {tier!r}.")
    return names
