"""What tests of several parts need."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def data_folder(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the benchmark's original files; the test is skipped where there is none."""
    given = os.environ.get("DPDAG_DATA")
    folder = Path(given) if given else Path(__file__).parents[2] / "shared" / "data"
    if not (folder / "SynTReN.npz").is_file():
        pytest.skip(f"no benchmark files in {folder}; set DPDAG_DATA to their folder")
    monkeypatch.setenv("DPDAG_DATA", str(folder))
    return folder
