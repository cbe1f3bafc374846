"""A typed mapping from names to parts, with errors that help."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import TypeVar

T = TypeVar("T")


def suggest(name: object, known: list[str]) -> str:
    """Say "Did you mean …?" where a known name is close in any case of letters, else nothing.

    Example:
        >>> suggest("pkc", ["PKA", "PKC"])
        " Did you mean 'PKC'?"
    """
    alike = {other.lower(): other for other in known}
    close = get_close_matches(str(name).lower(), alike, n=1)
    return f" Did you mean {alike[close[0]]!r}?" if close else ""


class Registry(UserDict[str, T]):
    r"""Named parts of one kind; strings choose among them at the border only.

    Arguments:
        kind: What the parts are, for error messages.
        parts: Known from the start.

    Example:
        >>> shapes = Registry[type]("shape")
        >>> @shapes.register("square")
        ... class Square: ...
        >>> shapes["square"].__name__
        'Square'
        >>> shapes["sqare"]
        Traceback (most recent call last):
        ValueError: Unknown shape 'sqare'. Did you mean 'square'? Known: square.
    """

    def __init__(self, kind: str, parts: Mapping[str, T] | None = None) -> None:
        super().__init__(parts or {})
        self.kind = kind

    def register(self, name: str) -> Callable[[T], T]:
        """Decorate a part to list it under ``name``."""

        def add(part: T) -> T:
            self[name] = part
            return part

        return add

    def __missing__(self, name: str) -> T:
        known = list(self)
        raise ValueError(
            f"Unknown {self.kind} {name!r}.{suggest(name, known)} Known: {', '.join(known)}."
        )

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.data))
