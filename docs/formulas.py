"""Formulas of pages and docstrings as pictures, made while the site is built.

The site loads nothing from elsewhere, so that no script can typeset them in the browser. A hook
of mkdocs treats ```` ```math ```` blocks of pages, which GitHub understands too; an extension of
griffe treats docstrings, which are written for Sphinx.
"""

from __future__ import annotations

import base64
import html
import io
import re
from typing import Any

import griffe
import matplotlib
from matplotlib.mathtext import math_to_image

_BLOCK = re.compile(r"^```math\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
_DIRECTIVE = re.compile(r"^( *)\.\. math:: *(.*(?:\n\1 +\S.*)*)", re.MULTILINE)
_INLINE = re.compile(r":math:`([^`]*)`")
_ROLE = re.compile(r":\w+:`~?([^`]*)`")
# Commands that matplotlib does not know, and what it knows instead.
_INSTEAD = {r"\tfrac": r"\frac", r"\|": r"\Vert ", r"\ge": r"\geq", r"\le": r"\leq"}
_INSTEAD |= {r"\big": "", r"\bigl": "", r"\bigr": ""}
_UNKNOWN = re.compile(r"\\(?:\||(?:tfrac|ge|le|big[lr]?)(?![a-z]))")
_DIGITS = re.compile(r"\\frac(\w)(\w)")


def picture(latex: str, *, kind: str = "formula") -> str:
    """An image of a formula that carries its own data, or the formula as code."""
    flat = " ".join(latex.split())
    simple = _DIGITS.sub(r"\\frac{\1}{\2}", _UNKNOWN.sub(lambda found: _INSTEAD[found[0]], flat))
    settings = {"mathtext.fontset": "cm", "svg.hashsalt": "dpdag", "font.size": 12}
    image = io.StringIO()
    try:
        with matplotlib.rc_context(settings):
            math_to_image(f"${simple}$", image, format="svg", dpi=72)
    except ValueError:  # more than matplotlib can typeset
        return f"<code>{html.escape(flat)}</code>"
    data = base64.b64encode(image.getvalue().encode()).decode()
    return f'<img class="{kind}" alt="{html.escape(flat)}" src="data:image/svg+xml;base64,{data}">'


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """Called by mkdocs for every page."""
    return _BLOCK.sub(lambda found: "\n".join(map(picture, found[1].split(r"\\"))), markdown)


def readable(docstring: str) -> str:
    """A docstring for Sphinx as Markdown."""
    text = _DIRECTIVE.sub(lambda found: found[1] + picture(found[2]), docstring)
    text = _INLINE.sub(lambda found: picture(found[1], kind="formula-inline"), text)
    text = _ROLE.sub(r"`\1`", text)
    text = text.replace("Example:\n", "Examples:\n")  # the section whose prompts become code
    return re.sub(r"^( *)\| ", r"\1", text, flags=re.MULTILINE)


class Readable(griffe.Extension):
    """Called by griffe for everything it reads."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            obj.docstring.value = readable(obj.docstring.value)
