"""Text for terminals and pipes, also for those that know fewer letters."""

from __future__ import annotations

import codecs
import io
import sys
import unicodedata

SPELLED = {"→": "->", "×": "x", "…": "...", "–": "-", "’": "'", "·": "-"}


def spell_out() -> None:
    """From now on write letters that a stream cannot encode in others, instead of failing."""
    codecs.register_error("spelled", _spelled)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="spelled")


def say(text: str = "", *, err: bool = False) -> None:
    """Print at once; click would write UTF-8 to a stream of ASCII."""
    print(text, file=sys.stderr if err else sys.stdout, flush=True)


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(map(_in_ascii, letters)), error.end


def _in_ascii(letter: str) -> str:
    r"""A letter in others, without its accent, or its number.

    Example:
        >>> [_in_ascii(letter) for letter in "→é²Ω"]
        ['->', 'e', '2', '\\u03a9']
    """
    plain = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return SPELLED.get(letter) or plain or letter.encode("ascii", "backslashreplace").decode()
