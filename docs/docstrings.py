"""Docstrings are written for Sphinx; this makes their formulas and references Markdown."""

from __future__ import annotations

import re
from typing import Any

import griffe

_FORMULA = re.compile(r"^( *)\.\. math:: *(.*(?:\n\1 +\S.*)*)", re.MULTILINE)
_ROLE = re.compile(r":\w+:`~?([^`]*)`")


def readable(text: str) -> str:
    """A docstring with formulas as code blocks and references as code."""

    def block(found: re.Match[str]) -> str:
        indent, body = found.groups()
        lines = [line.strip() for line in body.splitlines()]
        return "\n".join(indent + line for line in ("```latex", *lines, "```"))

    text = _ROLE.sub(r"`\1`", _FORMULA.sub(block, text))
    text = text.replace("Example:\n", "Examples:\n")  # the section whose prompts become code
    return re.sub(r"^( *)\| ", r"\1", text, flags=re.MULTILINE)


class Readable(griffe.Extension):
    """Rewrites the docstring of every object that is read."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            obj.docstring.value = readable(obj.docstring.value)
