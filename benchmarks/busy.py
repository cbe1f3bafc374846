"""A default fit on an idle machine and beside two busy processes.

    python benchmarks/busy.py

Writes ``busy.md`` beside this file. Every fit is a process of its own, so that settings of threads
count from the start; idle and busy ones take turns.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
REPEATS = 3
SETTINGS: dict[str, dict[str, str]] = {
    "default": {},
    "`OMP_NUM_THREADS=1`": {"OMP_NUM_THREADS": "1"},
    "all cores, waiting actively": {
        "OMP_NUM_THREADS": str(os.cpu_count()),
        "OMP_WAIT_POLICY": "ACTIVE",
    },
}
FIT = """
import time
from dpdag import DAGPosterior, datasets
X = datasets.benchmark("ER-10-10", 0).X
start = time.perf_counter()
DAGPosterior(random_state=0, device="cpu", verbose=False).fit(X)
print(time.perf_counter() - start)
"""
SPIN = "while True: pass"


def seconds(setting: dict[str, str]) -> float:
    """What a fit takes in a process with these settings and no others of threads."""
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "MKL_"))}
    command = [sys.executable, "-c", FIT]
    done = subprocess.run(command, env=plain | setting, capture_output=True, text=True, check=True)
    return float(done.stdout)


@contextmanager
def busy(count: int):
    """That many processes that do nothing but work."""
    others = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(count)]
    try:
        yield
    finally:
        for one in others:
            one.kill()
            one.wait()


def main() -> None:
    load = os.getloadavg()[0]
    rows = ["| threads | alone | beside two busy processes | ratio |", "|---|---|---|---|"]
    for name, setting in SETTINGS.items():
        alone, beside = [], []
        for _ in range(REPEATS):
            alone.append(seconds(setting))
            with busy(2):
                beside.append(seconds(setting))
        cells = [f"{median(one):.1f} ({min(one):.1f}–{max(one):.1f})" for one in (alone, beside)]
        rows.append(f"| {name} | {cells[0]} | {cells[1]} | {median(beside) / median(alone):.1f} |")
        print(rows[-1], flush=True)
    text = (
        f"# Beside others\n\nSeconds of `DAGPosterior().fit` on ER-10-10, 1000 rows, median "
        f"(range) of {REPEATS}, on {os.cpu_count()} cores, {platform.machine()}. A load of "
        f"{load:.1f} was on the machine before it began. Made by `python benchmarks/busy.py`.\n\n"
    )
    (HERE / "busy.md").write_text(text + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
