"""Every Python example of the README and of the documentation runs."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dpdag.distributions import PERMUTATIONS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python *(?P<mark>[^\n]*)\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[str]:
    """The code of a page, each block on its own lines so that errors point into the page."""
    text = page.read_text(encoding="utf-8")
    return [
        "\n" * (text[: found.start("code")].count("\n")) + found["code"]
        for found in BLOCK.finditer(text)
        if "no-run" not in found["mark"]
    ]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name
)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    # A part that a page registers is gone afterwards.
    monkeypatch.setattr(PERMUTATIONS, "data", dict(PERMUTATIONS.data))
    namespace = {"__name__": page.stem}
    try:
        for code in blocks(page):
            exec(compile(code, str(page), "exec"), namespace)
    finally:
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            pyplot.close("all")


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    missing = [page.name for page in PAGES[1:] if f" {page.name}" not in navigation]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    local = [link for link in links if not link.startswith(("http:", "https:", "mailto:"))]
    assert [link for link in local if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("script", ["tabulate_reproduction", "tabulate_accuracy"])
def test_tables_are_of_the_results(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    tabulate = importlib.import_module(script)
    pages = {name: page for name, page in vars(tabulate).items() if name in ("PAGE", "README")}
    for name, page in pages.items():
        copy = tmp_path / page.name
        copy.write_bytes(page.read_bytes())
        monkeypatch.setattr(tabulate, name, copy)
    tabulate.main()
    for page in pages.values():
        assert (tmp_path / page.name).read_bytes() == page.read_bytes()


def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    pytest.importorskip("mkdocstrings", reason="needs pip install 'dpdag[docs]'")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pages = [page.read_text(encoding="utf-8") for page in tmp_path.glob("*.html")]
    assert len(pages) > 10
    loaded = re.compile(r'<(?:script|img|iframe|link rel="stylesheet")[^>]*(?:src|href)="https?:')
    assert not [found for page in pages for found in loaded.findall(page)]
