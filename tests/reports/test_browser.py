"""The page in a real browser: it moves, it answers, it fetches nothing."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpdag.records import RunRecord
from dpdag.reports import write_report

playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed; the page is not tried"
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no chromium on the path; the page is not tried"
)

Make = Callable[..., RunRecord]
Open = Callable[..., Any]
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as engine:
        chromium = engine.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def opened(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Open:
    """Open the report of a record; its ``trouble`` lists errors, requests and dialogs."""
    path = tmp_path_factory.mktemp("reports") / "report.html"

    def open_report(record: RunRecord, *, width: int = 1280, height: int = 800) -> Any:
        write_report(record, path)
        page = browser.new_page(viewport={"width": width, "height": height})
        page.trouble = []
        page.on("console", lambda message: page.trouble.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: page.trouble.append(f"error: {error}"))
        page.on("request", lambda request: page.trouble.append(f"request: {request.url}"))
        page.on("dialog", lambda dialog: page.trouble.append("a dialog opened"))
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready=yes]")
        own = f"request: {path.as_uri()}"
        page.trouble[:] = [line for line in page.trouble if line != own]
        return page

    return open_report


@pytest.fixture(scope="module")
def record(make: Make) -> RunRecord:
    return make(12)


@pytest.fixture(scope="module")
def shared(opened: Open, record: RunRecord) -> Any:
    return opened(record)


@pytest.fixture
def page(shared: Any) -> Iterator[Any]:
    """The page of the 12-node record, as it opens; nothing may go wrong on it."""
    shared.emulate_media(media="screen")
    shared.evaluate("scrollTo(0, 0)")
    shared.mouse.move(0, 0)
    shared.keyboard.press("Escape")
    set_level(shared, (0.5 - 0.02) / (0.99 - 0.02))
    yield shared
    assert quiet(shared)


def quiet(page: Any) -> bool:
    """Nothing was fetched, logged or thrown; pictures that the page itself made do not count."""
    local = ("request: data:", "request: blob:")
    return [line for line in page.trouble if not line.startswith(local)] == []


def count(page: Any) -> int:
    shown = int(page.inner_text("#edge-count"))
    assert page.locator("#network .edge").count() == shown
    return shown


def set_level(page: Any, share: float) -> None:
    page.evaluate(
        """share => { const slider = document.getElementById("threshold");
        slider.value = Math.round(share * slider.max);
        slider.dispatchEvent(new Event("input")); }""",
        share,
    )


def test_the_slider_redraws_the_graph(page: Any, record: RunRecord) -> None:
    middle = count(page)
    linked = record.strengths + record.strengths.T
    assert middle == ((record.strengths >= 0.5) | (record.adjacency != 0) & (linked >= 0.5)).sum()
    set_level(page, 0)
    low, precision = count(page), page.inner_text("#precision")
    assert low > middle
    shown = record.strengths[record.strengths >= 0.02]
    assert abs(int(precision.split()[0]) - 100 * shown.mean()) <= 1
    set_level(page, 1)
    assert count(page) <= middle
    page.focus("#threshold")
    page.keyboard.press("Home")
    assert count(page) == low


VISIBLE_SPOT = """group => {
  const line = group.querySelector(".line");
  for (let share = 0.1; share < 0.9; share += 0.05) {
    const point = line.getPointAtLength(share * line.getTotalLength());
    const at = point.matrixTransform(line.getScreenCTM());
    if (group.contains(document.elementFromPoint(at.x, at.y))) return [at.x, at.y];
  }
}"""


def test_pointing_at_an_edge_shows_what_was_learned(page: Any, record: RunRecord) -> None:
    assert not page.is_visible("#mechanism")
    edge = page.locator("#network .edge").last  # the strongest is on top
    source, target = map(int, edge.get_attribute("data-edge").split(","))
    edge.scroll_into_view_if_needed()
    page.mouse.move(*edge.evaluate(VISIBLE_SPOT))
    title = page.text_content("#details-title")
    assert title == f"{record.names[source]} → {record.names[target]}"
    assert page.locator("#mechanism .scatterlayer .trace").count() == 2  # data and curve
    assert "no edge between them" in page.inner_text("#details")


def test_edges_are_reached_and_kept_from_the_keyboard(page: Any) -> None:
    page.focus("#scroller")
    page.keyboard.press("Tab")
    kind = page.evaluate("document.activeElement.getAttribute('class').split(' ')[0]")
    assert kind == "edge"
    assert "→" in page.text_content("#details-title")
    page.keyboard.press("Enter")
    assert page.locator("#network .edge.chosen").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("#network .edge.chosen").count() == 0
    assert page.text_content("#details-title") == "Details"


def test_a_variable_is_found_by_name(page: Any) -> None:
    page.fill("#find", "gene003")
    assert page.text_content("#details-title") == "gene003"
    assert page.locator("#network .node.chosen").count() == 1
    assert "Possible effects" in page.inner_text("#details")


def test_the_list_leads_to_the_edge(page: Any) -> None:
    page.locator("#edges button").first.click()
    assert page.locator("#network .edge.chosen").count() == 1
    assert page.is_visible("#mechanism")


def test_zooming_changes_the_size_of_the_drawing(page: Any) -> None:
    def width() -> int:
        return int(page.get_attribute("#network", "width"))

    page.click("#zoom-fit")
    fitted = width()
    page.click("#zoom-in")
    assert width() > fitted
    page.click("#zoom-fit")
    assert width() == fitted


def test_names_are_shown_as_they_are(page: Any, record: RunRecord) -> None:
    assert page.title() == "Causal graph of 12 variables"
    titles = page.locator("#network .node title").all_text_contents()
    assert sorted(titles) == sorted(record.names)
    for k in range(5):
        page.locator(f"#network .node[data-node='{k}']").click()
        assert page.text_content("#details-title") == record.names[k]
    labels = page.locator("#heat .ytick text").all_text_contents()
    assert "x & <b>y</…'z' \"q\"" in labels
    assert "$title ${x} $y^2$" in labels


def test_printing_leaves_out_the_controls(page: Any) -> None:
    page.emulate_media(media="print")
    assert not page.is_visible("nav")
    assert not page.is_visible("#threshold")
    assert page.is_visible("#network")
    assert page.is_visible("text=It is no proof of cause and effect")


def test_a_learner_with_scores_gets_a_report_of_scores(make: Make, opened: Open) -> None:
    page = opened(make(12, probable=False))
    assert not page.is_visible("#precision")
    assert not page.is_visible("#ancestors")
    before = count(page)
    set_level(page, 0)
    assert count(page) > before
    page.locator("#edges button").first.click()
    assert "score of this edge" in page.inner_text("#details")
    assert quiet(page)


OUTSIDE = """([inner, outer]) => {
  const box = document.querySelector(outer).getBoundingClientRect();
  return [...document.querySelectorAll(inner)].filter((part) => {
    const at = part.getBoundingClientRect();
    return at.left < box.left - 1 || at.right > box.right + 1;
  }).length;
}"""


@pytest.mark.parametrize("n", [5, 12, 30, 100])
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_the_whole_graph_is_in_view_at_first(make: Make, opened: Open, n: int, width: int) -> None:
    page = opened(make(n), width=width, height=844)
    assert page.locator("#network .node").count() == n
    assert page.evaluate(OUTSIDE, ["#network .node", "#scroller"]) == 0
    page.set_viewport_size({"width": 330, "height": 600})
    # The page hears of its new size a little later.
    page.wait_for_function(
        f"(both) => ({OUTSIDE})(both) === 0", arg=["#network .node", "#scroller"]
    )
    page.close()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("n", [5, 12, 30])
def test_no_label_of_a_heat_map_is_cut_off(make: Make, opened: Open, n: int, width: int) -> None:
    record = make(n)
    order = sorted(range(n), key=lambda k: len(record.names[k]))  # the longest at the right end
    page = opened(
        replace(record, causal_order=order, adjacency=0 * record.adjacency), width=width, height=844
    )
    for heat in ("#heat", "#ancestor-heat"):
        labels = f"{heat} .xtick text, {heat} .ytick text"
        assert page.locator(labels).count() == 2 * n
        assert page.evaluate(OUTSIDE, [labels, f"{heat} .main-svg"]) == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


@pytest.mark.parametrize("n", [2, 200])
def test_a_phone_scrolls_down_only(make: Make, opened: Open, n: int) -> None:
    page = opened(make(n), width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("#edges button").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert quiet(page)


def test_links_of_open_direction_are_shown_with_a_hollow_head(make: Make, opened: Open) -> None:
    record = make(4)
    strength = np.zeros((4, 4))
    strength[0, 1], strength[1, 0], strength[2, 3] = 0.48, 0.45, 0.9
    graph = np.zeros((4, 4), dtype=np.int64)
    graph[0, 1] = graph[2, 3] = 1
    order = [0, 1, 2, 3]
    drawn = replace(
        record, edge_probabilities=strength, adjacency=graph, causal_order=order, curves=[]
    )
    page = opened(drawn)
    assert count(page) == 2
    fills = page.eval_on_selector_all(
        "#network .edge",
        "all => all.map((g) => [g.dataset.edge, g.querySelector('.head').attributes.fill.value])",
    )
    hollow = {edge for edge, fill in fills if fill == "#fff"}
    assert hollow == {"0,1"}
    assert "0.93, direction open" in page.inner_text("#edges")
    assert quiet(page)
    page.close()


def test_what_the_graph_explains_is_drawn(page: Any, record: RunRecord) -> None:
    assert page.locator("#explained .point").count() == 3 + 2  # random graphs, none, this one
    assert page.locator("#shares .point").count() == record.adjacency.any(0).sum()


def test_of_very_many_variables_one_is_drawn_with_its_neighbours(opened: Open, make: Make) -> None:
    record = make(150)
    page = opened(record)
    learned = record.adjacency != 0
    for name in ("gene040", "gene101"):
        page.fill("#find", name)
        node = record.names.index(name)
        edges = page.locator("#network .edge").evaluate_all("all => all.map(e => e.dataset.edge)")
        drawn = {tuple(map(int, edge.split(","))) for edge in edges}
        assert {(i, node) for i in learned[:, node].nonzero()[0]} <= drawn
        assert {(node, j) for j in learned[node].nonzero()[0]} <= drawn
        near = {node} | {end for edge in drawn if node in edge for end in edge}
        assert page.locator("#network .node").count() == len(near) < 150
        assert page.text_content("#details-title") == name
    other = page.locator("#network .node").last
    wanted = other.get_attribute("data-node")
    other.click()
    assert page.text_content("#details-title") == record.names[int(wanted)]
    set_level(page, 0.6)
    page.locator("#edges button").first.click()
    assert page.locator("#network .edge.chosen").count() == 1
    assert quiet(page)
    page.close()
