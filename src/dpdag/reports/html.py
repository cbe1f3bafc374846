"""One self-contained page about a run; it opens anywhere, offline."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from ..files import write_whole
from ..records import RunRecord, describe
from .payload import payload
from .sections import sections


def report(
    learner: Any,
    X: Any,
    path: str | Path = "report.html",
    *,
    truth: Any = None,
    overwrite: bool = False,
) -> Path:
    """Write the page about a fitted learner, and give its path back.

    Arguments:
        learner: Fitted.
        X: (rows, n) the data it was fitted to.
        path: File to write.
        truth: The known graph to compare with, as a matrix, a DataFrame or a networkx graph.
        overwrite: Replace an earlier file, which is refused otherwise.
    """
    if Path(path).exists() and not overwrite:
        raise FileExistsError(f"{path} exists; choose another 'path' or pass overwrite=True.")
    write_report(describe(learner, X, truth=truth), path)
    return Path(path)


def write_report(record: RunRecord, path: str | Path) -> None:
    """Write the page to a file, all or nothing."""
    write_whole(Path(path), render_report(record))


def render_report(record: RunRecord) -> str:
    """The page as text: markup, styles, scripts and data in one, and nothing fetched."""
    from plotly.offline import get_plotlyjs

    return Template(_asset("report.html")).substitute(
        style=_asset("report.css"),
        plotly=get_plotlyjs(),
        script="\n".join(_asset(name) for name in ("graph.js", "charts.js", "report.js")),
        data=script_safe(payload(record)),
        **sections(record),
    )


def script_safe(data: Any) -> str:
    r"""JSON that cannot end the script element it stands in.

    Example:
        >>> script_safe(["</script>"])
        '["\\u003c/script\\u003e"]'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _asset(name: str) -> str:
    return (resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")
