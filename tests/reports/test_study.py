"""Tables and figures come from the store alone, and read as they should."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dpdag.experiments import Experiment, Figure, Method, Metric, Outcome, Source, Store, Table
from dpdag.experiments.cell import Cell
from dpdag.experiments.store import record_layout
from dpdag.learners import LEARNERS
from dpdag.reports import write_study
from dpdag.reports.tables import paper_tables

METRICS = (Metric("Dir-AUC-PR", scale=100), Metric("SHD", digits=0, better="lower"))
METHODS = tuple(
    Method(name, LEARNERS["CAM"], {"penalty": float(k)})
    for k, name in enumerate(("VI-DP-DAG", "CAM", "GT-DAG*"))
)
VALUES = {  # method, data set -> Dir-AUC-PR and SHD of the sets
    ("VI-DP-DAG", "ER-10-10"): [(0.70, 5), (0.80, 7)],
    ("CAM", "ER-10-10"): [(0.90, 6), (0.96, 6)],
    ("GT-DAG*", "ER-10-10"): [(1.00, 0), (1.00, 0)],
    ("VI-DP-DAG", "Sachs"): [(0.25, 12)],
}


def load(name: str, index: int) -> None:
    raise AssertionError("a report loads no data")


def filled(folder: Path, *views: Table | Figure) -> None:
    """Fill a store with outcomes that nobody had to fit."""
    store = Store(folder)
    sources = tuple(Source(name, load) for name in ("ER-10-10", "Sachs"))
    experiment = Experiment("small", "Two data sets", sources, METHODS, (), views)
    cells = [
        Cell(source, k, method)
        for source in sources
        for method in METHODS
        for k in range(len(VALUES.get((method.name, source.name), ())))
    ]
    cells.append(Cell(sources[1], 1, METHODS[0]))  # planned, and failed
    record_layout(store, experiment, cells)
    for cell in cells:
        found = VALUES[cell.method.name, cell.source.name]
        facts = Outcome(cell.identity, cell.text, cell.method.name, cell.source.name, cell.index, 0)
        if cell.index < len(found):
            auc, shd = found[cell.index]
            curve = {"t": [0.1, 0.5, 0.9], "y": [shd, shd / 2, 1.0]}
            store.append(replace(facts, values={"Dir-AUC-PR": auc, "SHD": shd, **curve}))
        else:
            store.append(replace(facts, error="ValueError: no idea"))


def markdown(folder: Path, *views: Table | Figure) -> str:
    """The report of such a store."""
    filled(folder, *views)
    return write_study(folder)[0].read_text(encoding="utf-8")


GOLDEN = """# Results

Mean ± standard error over data sets and seeds; the best in bold, the second underlined; \
in brackets the paper's numbers; k/n where only k of n cells have a value.

## small

Two data sets.

### ER-10-10

| method | Dir-AUC-PR | SHD |
|---|---|---|
| VI-DP-DAG | <u>75.0 ± 5.0</u> (62.6 ± 2.8) | **6 ± 1** |
| CAM | **93.0 ± 3.0** | **6 ± 0** |
| GT-DAG\\* | 100.0 ± 0.0 | 0 ± 0 |

### Sachs

| method | Dir-AUC-PR | SHD |
|---|---|---|
| VI-DP-DAG | 25.0 (23.0 ± 0.8) 1/2 | 12 1/2 |

Best of 2 scores: VI-DP-DAG 1; CAM 2.

Fits for each data set and method: 1 to 2.

VI-DP-DAG: 1 of 4 cells failed, such as VI-DP-DAG × Sachs[1] × seed 0: ValueError: no idea
"""


def test_markdown_is_as_it_was(tmp_path: Path) -> None:
    table = Table(METRICS, paper=("structure",), unranked=("GT-DAG*",))
    assert markdown(tmp_path, table) == GOLDEN


def test_methods_as_columns_and_all_in_one(tmp_path: Path) -> None:
    one = Table(METRICS[:1], columns="methods", unranked=("GT-DAG*",))
    text = markdown(tmp_path / "a", one)
    assert "| ER-10-10 | <u>75.0 ± 5.0</u> | **93.0 ± 3.0** | 100.0 ± 0.0 |" in text
    assert "| Sachs | 25.0 1/2 | – | – |" in text
    text = markdown(tmp_path / "b", replace(one, columns="all"))
    assert "| ER-10-10 | CAM | **93.0 ± 3.0** |" in text
    assert "| Sachs | CAM" not in text


def test_all_formats_and_figures_are_written_from_the_store(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs pip install 'dpdag[plot]'")
    filled(tmp_path, Table(METRICS, paper=("structure",)), Figure("t", "y", "threshold", "SHD"))
    written = write_study(tmp_path, tmp_path / "elsewhere")
    names = ["report.md", "report.html", "report.tex", "small-1.png", "small-1.svg"]
    assert [file.name for file in written] == names
    assert all(file.is_file() for file in written)
    tex = written[2].read_text()
    assert r"VI-DP-DAG & 75.0 $\pm$ 5.0 {\scriptsize(62.6 $\pm$ 2.8)}" in tex
    assert r"\textbf{100.0 $\pm$ 0.0}" in tex
    page = written[1].read_text()
    assert "<b>100.0 ± 0.0</b>" in page
    assert "data:image/svg+xml;base64," in page
    assert "http" not in page


def test_tables_are_written_where_nothing_can_draw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpdag.reports.study.find_spec", lambda name: None)
    filled(tmp_path, Figure("t", "y", "threshold", "SHD"))
    written = write_study(tmp_path)
    assert [file.name for file in written] == ["report.md", "report.html", "report.tex"]
    assert "pip install 'dpdag[plot]'" in written[0].read_text()


def test_the_papers_tables_hold_its_numbers() -> None:
    tables = paper_tables()
    structure = tables["structure"]["ER-50-200"]
    assert structure["VI-DP-DAG"]["Dir-AUC-PR"] == [41.7, 0.39]
    assert tables["mechanisms"]["SynTReN"]["VI-DP-DAG"]["MSE"] == [0.21, 0.0]
    assert tables["processing_time"]["ER-100-400"]["CAM"]["seconds"] == "> 2 days"
    best = [
        max(models, key=lambda name, metric=metric, models=models: models[name][metric][0])
        for models in tables["structure"].values()
        for metric in structure["VI-DP-DAG"]
    ]
    assert np.sum(np.array(best) == "VI-DP-DAG") == 27  # of 44, as the paper says
