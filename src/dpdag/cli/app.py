"""The commands together, and the one place where errors become exit codes."""

from __future__ import annotations

import errno
import os
import re
import shlex
import signal
import sys
import warnings
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from safetensors import SafetensorError

from .. import __version__
from . import STOPPED
from .apply import impute, predict, sample
from .fit import fit
from .reproduce import ListsCommand, reproduce
from .show import list_parts, report
from .streams import say, spell_out

BAD_INPUT, INTERRUPTED = 2, 130

app = typer.Typer(
    name="dpdag",
    help="Causal graphs from data, with honest uncertainty.",
    epilog="Start with: dpdag fit data.csv --out run/   (or 'dpdag fit Sachs --out run/')",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(fit)
app.command()(sample)
app.command()(predict)
app.command()(impute)
app.command(cls=ListsCommand)(reproduce)
app.command()(report)
app.command(name="list")(list_parts)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"dpdag {__version__}")
        raise typer.Exit()


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Causal graphs from data, with honest uncertainty."""


# A loss that was never finite is an error of arithmetic.
EXPECTED = (ValueError, OSError, ImportError, MemoryError, ArithmeticError, SafetensorError)
NO_MEMORY = "not enough memory"  # what torch says


def main() -> NoReturn:
    """Run a command: 0 when done, 2 and one line on bad input, 130 when interrupted.

    ``DPDAG_TRACEBACK=1`` shows where in the code an error came from.
    """
    spell_out()
    signal.signal(signal.SIGTERM, _stop)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not ignored, as by nohup
        signal.signal(signal.SIGINT, _stop)
    warnings.showwarning = _warn
    try:
        app(prog_name="dpdag")
    except KeyboardInterrupt:
        _leave(STOPPED, INTERRUPTED)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # what rich makes of it
            _close_pipe()
        if end.code == INTERRUPTED:  # what typer makes of Ctrl-C, without a word
            _leave(getattr(end, "__notes__", [STOPPED])[0], INTERRUPTED)
        raise
    except BrokenPipeError:
        _close_pipe()
    except Exception as error:
        known = isinstance(error, EXPECTED) or NO_MEMORY in str(error)  # all else is our fault
        if os.environ.get("DPDAG_TRACEBACK") or not known:
            raise
        _leave(_line(error), BAD_INPUT)
    sys.exit(0)


def _close_pipe() -> NoReturn:
    """End well where nobody reads on, as 'head' does: what there is to write was written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    """End by an exception, so that files begun are removed; a KeyboardInterrupt ends training."""
    sys.exit(128 + number)


def _warn(message: Warning | str, *where: Any, **more: Any) -> None:
    """A warning in one line, without the place in the code."""
    say(f"dpdag: warning: {' '.join(str(message).split())}", err=True)


def _leave(message: str, status: int) -> NoReturn:
    if status == INTERRUPTED and sys.stderr.isatty():
        say(err=True)  # below the ^C
    say(f"dpdag: {message}", err=True)
    sys.exit(status)


def _line(error: BaseException) -> str:
    """The error in one line; keyword arguments it offers are given as options."""
    if isinstance(error, MemoryError) or NO_MEMORY in str(error):
        return "The data does not fit into memory; take fewer rows (--max-rows) or columns."
    number = _errno(error)
    if number in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
        return f"{os.strerror(number)}. Nothing was written; free space or choose another --out."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    text = " ".join(str(error).split())
    text = re.sub(r"\bdo=\{(.*)\}", _settings, text)
    return re.sub(r"\b(encoding|separator|decimal|thousands)=('[^']*')", r"--\1 \2", text)


def _settings(said: re.Match[str]) -> str:
    """``do={...}`` as options."""
    pairs = re.findall(r"'([^']*)': ([^,]+)", said[1])
    return " ".join(f"--do {shlex.quote(f'{name}={value}')}" for name, value in pairs) or said[0]


def _errno(error: BaseException) -> int | None:
    """The system's number of an error; safetensors gives it in words."""
    said = re.search(r"os error (\d+)", str(error)) if isinstance(error, SafetensorError) else None
    return int(said[1]) if said else getattr(error, "errno", None)
