"""Static pictures: every format, any axes, a clear word where matplotlib is missing."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpdag import CAM
from dpdag.records import RunRecord
from dpdag.reports import plot_graph
from dpdag.scm.plot import draw_graph

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("agg")
pyplot = pytest.importorskip("matplotlib.pyplot")
FancyArrowPatch = pytest.importorskip("matplotlib.patches").FancyArrowPatch

Make = Callable[..., RunRecord]


def names_of(record: RunRecord) -> RunRecord:
    """Plain names: the fonts of a test machine may lack some letters."""
    return replace(record, names=[f"v{k}" for k in range(len(record.names))])


@pytest.fixture(autouse=True)
def no_open_figures() -> None:
    pyplot.close("all")


@pytest.mark.parametrize(
    ("kind", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")]
)
def test_the_ending_chooses_the_format(make: Make, tmp_path: Path, kind: str, start: bytes) -> None:
    path = tmp_path / f"graph{kind}"
    plot_graph(names_of(make()), path)
    assert path.read_bytes().startswith(start)
    assert not pyplot.get_fignums()


def test_other_endings_are_refused(make: Make, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"graph\.doc must end in \.png, \.svg or \.pdf"):
        plot_graph(make(), tmp_path / "graph.doc")


def arrows(axes: object) -> int:
    patches = axes.patches  # type: ignore[attr-defined]
    return sum(isinstance(p, FancyArrowPatch) for p in patches)


def test_a_threshold_draws_what_is_above_it(make: Make) -> None:
    record = names_of(make(12))
    for threshold in (0.05, 0.5, 0.95):
        axes = plot_graph(record, threshold=threshold)
        expected = (record.strengths >= threshold) & ~np.eye(12, dtype=bool)
        assert arrows(axes) == expected.sum()
    assert arrows(plot_graph(record)) == record.adjacency.sum()


def test_names_are_not_read_as_formulas() -> None:
    axes = draw_graph(np.array([[0, 1], [0, 0]]), ["$", "$x^{$"], order=[0, 1])
    axes.figure.canvas.draw()
    assert [text.get_text() for text in axes.texts] == ["$", "$x^{$"]


def test_a_graph_without_edges_can_be_drawn() -> None:
    zeros = np.zeros((3, 3))
    axes = draw_graph(zeros, ["a", "b", "c"], order=[0, 1, 2], strengths=zeros)
    axes.figure.canvas.draw()
    assert arrows(axes) == 0


def test_a_fitted_learner_plots_into_given_axes() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=200)
    X = pd.DataFrame({"cause": a, "effect": np.tanh(2 * a) + 0.2 * rng.normal(size=200)})
    _, ax = pyplot.subplots()
    learner = CAM().fit(X)
    assert learner.plot(ax=ax) is ax
    assert {text.get_text() for text in ax.texts} == {"cause", "effect"}
    assert arrows(ax) == 1


def test_a_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'dpdag\[plot\]'"):
        draw_graph(np.zeros((2, 2)), ["a", "b"], order=[0, 1])
