"""The page is one file that says what the record says, whatever the names are."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import dpdag
from dpdag import CAM
from dpdag.records import Origin, RunRecord
from dpdag.records.quality import cautions, may_be_effects
from dpdag.reports import render_report, write_report
from dpdag.reports.payload import MAX_EDGES, WIDE, payload, short_label

Make = Callable[..., RunRecord]


class Page(HTMLParser):
    """Elements, their attributes and the text outside of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside = tag

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            self.scripts.append(data)
        elif self.inside != "style":
            self.words.append(data)


def without_plotly(record: RunRecord, monkeypatch: pytest.MonkeyPatch) -> Page:
    monkeypatch.setattr("plotly.offline.get_plotlyjs", lambda: "/* plotly */")
    return Page(render_report(record))


def test_names_cannot_become_markup(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    page = without_plotly(make(), monkeypatch)
    assert sum(tag == "script" for tag, _ in page.elements) == 3
    assert "b" not in {tag for tag, _ in page.elements}
    assert json.loads(page.scripts[0])["names"] == make().names
    assert "<search>" in page.words


def test_nothing_is_fetched(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    page = without_plotly(make(), monkeypatch)
    links = [
        value
        for _, attributes in page.elements
        for name, value in attributes.items()
        if name in ("src", "href", "action") and value is not None
    ]
    assert all(link.startswith(("#", "data:")) for link in links)
    policy = next(a["content"] for _, a in page.elements if "http-equiv" in a)
    assert policy is not None
    assert "default-src 'none'" in policy


def test_the_page_says_what_it_was_made_from(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    origin = Origin(
        source="secret/folder/field <1>.csv",
        rows=1200,
        columns=9,
        dropped={"id": "text", "one": "constant"},
        notes=["Left out 3 rows."],
        known="2 of 3 edges were found",
    )
    record = replace(make(), origin=origin, choice="additive mechanisms (<why>)")
    page = without_plotly(record, monkeypatch)
    words = " ".join(page.words)
    assert words.count("Causal graph of 5 variables in field <1>.csv") == 2  # title and heading
    for said in (
        "field <1>.csv: 1,200 rows × 9 columns, learned from 60 × 5.",
        "Left out id: text.",
        "Left out one: constant.",
        "Left out 3 rows.",
        "2 of 3 edges were found",
        "Chosen: additive mechanisms (<why>)",
    ):
        assert said in words
    assert "secret" not in words
    plain = " ".join(without_plotly(make(), monkeypatch).words)
    assert "Chosen" not in plain
    assert "Left out" not in plain


def test_links_lead_to_sections(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    page = without_plotly(make(), monkeypatch)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        link = attributes.get("href") or ""
        if link.startswith("#"):
            assert link[1:] in ids


def test_the_caution_is_in_every_report(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    for probable in (True, False):
        words = " ".join(
            " ".join(without_plotly(make(probable=probable), monkeypatch).words).split()
        )
        assert "It is no proof of cause and effect" in words
        assert "Treat them as hypotheses" in words


def test_scores_are_never_called_probabilities(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    page = without_plotly(make(probable=False), monkeypatch)
    words = " ".join(page.words)
    assert "Show edges with a score of at least" in words
    assert "All scores" in words
    hidden = {a.get("id") for tag, a in page.elements if "hidden" in a and tag == "section"}
    assert hidden == {"ancestors", "samples", "quality"}


def test_the_page_says_whether_the_graph_is_any_good(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = make()
    words = " ".join(" ".join(without_plotly(record, monkeypatch).words).split())
    assert (
        "It explains far more than 3 random graphs of the same size (1.25 nats a row over no "
        "graph, they -0.05 to 0.25); which way its arrows point is not tested by this."
    ) in words
    assert f"{record.names[0]} and {record.names[-1]} move together beyond what the graph" in words
    assert f"what the causes leave of {record.names[1]} still follows other columns" in words
    drawn = payload(record)["quality"]
    assert [left for _, _, left in drawn["shares"]].count(1) == int(record.adjacency[:, 1].any())


def test_a_graph_of_chance_is_called_so(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    record = make()
    assert record.quality is not None
    for drawn, said in (
        ([0.7, 0.8, 1.0], "explain more than half as much"),
        ([0.1, 1.6], "believe no single arrow of this one"),
    ):
        poor = replace(record, quality={**record.quality, "random_graphs": drawn})
        words = " ".join(" ".join(without_plotly(poor, monkeypatch).words).split())
        assert said in words
        assert "far more than" not in words


def test_the_page_says_what_halves_find_again(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    record = make()
    assert record.quality is not None
    again = {"links": 0.931, "arrows": 0.5}
    page = without_plotly(
        replace(record, quality={**record.quality, "found_again": again}), monkeypatch
    )
    words = " ".join(" ".join(page.words).split())
    assert "halves of the rows find 93% of its links again, 50% of its arrows." in words


def test_nothing_is_drawn_of_a_graph_without_edges(make: Make) -> None:
    record = make()
    bare = replace(record, adjacency=0 * record.adjacency, curves=[])
    assert payload(bare)["quality"] is None


def test_the_file_is_written_whole(make: Make, tmp_path: Path) -> None:
    write_report(make(), tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.endswith("</html>\n")
    assert "plotly.js v" in text
    assert not re.search(r"<script[^>]+src=", text)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_learner_is_reported_on_with_one_call(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=200)
    X = pd.DataFrame({"effect": np.sin(2 * a) + 0.1 * rng.normal(size=200), "cause": a})
    learner = CAM(n_bootstrap=0).fit(X)
    truth = nx.DiGraph([("cause", "effect")])
    path = dpdag.report(learner, X[["cause", "effect"]], tmp_path / "page.html", truth=truth)
    text = path.read_text(encoding="utf-8")
    assert "<title>Causal graph of 2 variables</title>" in text
    words = " ".join(Page(text).words)
    assert "200 rows × 2 columns." in words
    assert "of the 1 edges of the reference graph 1 were found, 0 reversed" in words
    with pytest.raises(FileExistsError, match=r"page.html exists; .* overwrite=True"):
        dpdag.report(learner, X, path)
    assert path.read_text(encoding="utf-8") == text
    assert dpdag.report(learner, X, path, overwrite=True) == path
    assert "reference graph" not in path.read_text(encoding="utf-8")


def test_nothing_is_left_when_writing_fails(make: Make, tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    with pytest.raises(OSError, match=r"report\.html"):
        write_report(make(), tmp_path / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("probable", [True, False])
@pytest.mark.parametrize("n", [2, 5, 50, 200])
def test_slider_starts_where_edges_can_be_told_apart(make: Make, n: int, probable: bool) -> None:
    record = make(n, probable=probable)
    data = payload(record)
    level = data["levels"][data["start"]]
    shown = [edge for edge in data["edges"] if edge[2] >= level]
    assert data["levels"] == sorted(data["levels"])
    assert 0 < len(shown) <= max(40, 2 * n)
    if record.adjacency.sum() <= max(40, 2 * n):
        assert {(e[0], e[1]) for e in shown if e[5]} == {
            (int(i), int(j)) for i, j in np.argwhere(record.adjacency)
        }


def test_very_many_edges_are_limited_and_said_so(make: Make) -> None:
    record = make(100)
    assert record.edge_probabilities is not None
    crowded = np.where(record.edge_probabilities > 0, 0.6, 0.0)
    np.fill_diagonal(crowded, 0)
    data = payload(replace(record, edge_probabilities=crowded))
    assert len(data["edges"]) == MAX_EDGES
    assert f"strongest {MAX_EDGES} edges" in data["note"]


def test_of_very_many_variables_no_matrix_is_written(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = make(WIDE + 1)
    data = payload(record)
    assert [data[name] for name in ("x", "strength", "ancestors", "samples")] == [None] * 3 + [[]]
    assert "one is drawn with its neighbours" in data["note"]
    learned = sum(edge[5] for edge in data["edges"])
    assert learned == record.adjacency.sum()
    for i, j, strength, _, _, _, back in data["edges"]:
        assert strength == pytest.approx(record.strengths[i, j], rel=1e-5)
        assert back == pytest.approx(record.strengths[j, i], rel=1e-5)
    hidden = {a.get("id") for _, a in without_plotly(record, monkeypatch).elements if "hidden" in a}
    assert {"matrix", "ancestors", "samples"} <= hidden


def test_a_graph_without_edges_is_reported(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    for probable in (True, False):
        empty = np.zeros((3, 3))
        record = replace(
            make(3, probable=probable),
            edge_scores=empty,
            edge_probabilities=empty if probable else None,
            adjacency=empty.astype(np.int64),
            curves=[],
            history={},
        )
        data = json.loads(without_plotly(record, monkeypatch).scripts[0])
        assert data["edges"] == []
        assert data["history"] is None


def test_drawn_nodes_do_not_overlap(make: Make) -> None:
    data = payload(make(50))
    for a in range(50):
        for b in range(a):
            beside = abs(data["x"][a] - data["x"][b]) >= (data["wide"][a] + data["wide"][b]) / 2
            assert beside or abs(data["y"][a] - data["y"][b]) >= 2 * data["font"]


def test_training_curves_skip_epochs_without_a_value(make: Make) -> None:
    history = payload(make())["history"]
    panels = {panel["title"]: panel["lines"] for panel in history["panels"]}
    assert panels["Loss on held-out rows"] == [[[1, 3], [2.5, 1.5]]]


@pytest.mark.parametrize("start", ["replica", "restart"])
def test_every_start_has_a_line_of_its_own(make: Make, start: str) -> None:
    steps = {"epoch": [0, 1, 0, 1], "total": [-3.0, -2.0, -3.5, -1.0]}
    [panel] = payload(replace(make(), history={start: [0, 0, 1, 1], **steps}))["history"]["panels"]
    assert panel["lines"] == [[[0, 1], [-3.0, -2.0]], [[0, 1], [-3.5, -1.0]]]


def test_a_single_epoch_or_a_search_is_no_training(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for history in ({"epoch": [1], "total": [850.6]}, {"step": [1, 2], "log_score": [1.0, 2.0]}):
        record = replace(make(), history=history)
        elements = without_plotly(record, monkeypatch).elements
        assert "training" in {a.get("id") for _, a in elements if "hidden" in a}
        assert payload(record)["history"] is None


@pytest.mark.parametrize("name", ["", "   ", "a" * 60, "short", "two\nlines"])
def test_labels_are_short_and_never_empty(name: str) -> None:
    assert 1 <= len(short_label(name)) <= 18
    assert "\n" not in short_label(name)


def test_what_holds_of_this_table_stands_before_the_graph(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = make()
    sorted_ = replace(record.diagnostics, sortability="Effects are the best predicted.")
    text = without_plotly(replace(record, diagnostics=sorted_), monkeypatch).words
    words = " ".join(" ".join(text).split())
    effect = record.names[int(record.adjacency.any(0).argmax())]
    for said in ("Effects are the best predicted.", "Can each of these be an effect", effect):
        assert words.index(said) < words.index("Find a variable")


def test_columns_that_others_determine_are_called_computed() -> None:
    columns = [{"column": "total", "explained": 0.998, "misfit": 0.0}]
    quality = {"by_curves": 2.0, "nats_per_row": 2.0, "random_graphs": [0.1], "columns": columns}
    [said] = cautions(quality, [])
    assert said.startswith("total can be computed almost exactly from other columns")
    assert cautions({**quality, "columns": [{**columns[0], "explained": 0.95}]}, []) == []


def test_the_least_explained_effect_is_asked_about_first() -> None:
    columns = [{"explained": share} for share in (0.5, 0.1, 0.0)]
    question = may_be_effects(["bp", "sex", "dose"], [1, 2, 0], {"columns": columns})
    assert "effect of other columns? sex (2 arrows in), bp (1 arrow in)." in question
    assert question.endswith("(--first sex).")
    assert may_be_effects(["a", "b"], [0, 0], None) == ""
