"""A default fit on an idle machine and beside two busy processes.

    python benchmarks/busy.py

Writes ``busy.md`` beside this file. Every fit is a process of its own, so that settings of threads
count from the start; idle and busy ones take turns. CPU seconds tell what threads that spin waste,
whatever else runs on the machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
SETTINGS: dict[str, dict[str, str]] = {
    "default": {},
    "all cores, waiting actively": {
        "OMP_NUM_THREADS": str(os.cpu_count()),
        "OMP_WAIT_POLICY": "ACTIVE",
    },
}
FIT = """
import time
from dpdag import DAGPosterior, datasets
X = datasets.benchmark("ER-10-10", 0).X
wall, cpu = time.perf_counter(), time.process_time()
DAGPosterior(random_state=0, device="cpu", verbose=False).fit(X)
print(time.perf_counter() - wall, time.process_time() - cpu)
"""
SPIN = "while True: pass"


def seconds(setting: dict[str, str]) -> tuple[float, ...]:
    """What a fit takes with these settings of threads alone, by the clock and of the CPU."""
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "MKL_"))}
    command = [sys.executable, "-c", FIT]
    done = subprocess.run(command, env=plain | setting, capture_output=True, text=True, check=True)
    return tuple(map(float, done.stdout.split()))


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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    repeats, load = parser.parse_args().repeats, os.getloadavg()[0]
    rows = [
        "| threads | alone | CPU | beside two busy processes | CPU | ratio |",
        "|---|---|---|---|---|---|",
    ]
    text = (
        f"# Beside others\n\nSeconds of `DAGPosterior().fit` on ER-10-10, 1000 rows, median "
        f"of {repeats}, on {os.cpu_count()} cores, {platform.machine()}. A load of "
        f"{load:.1f} was on the machine before it began. Made by `python benchmarks/busy.py`.\n\n"
    )
    for name, setting in SETTINGS.items():
        alone, beside = [], []
        for _ in range(repeats):
            alone.append(seconds(setting))
            with busy(2):
                beside.append(seconds(setting))
        middle = [median(part) for both in (alone, beside) for part in zip(*both)]
        cells = " | ".join(f"{part:.1f}" for part in middle)
        rows.append(f"| {name} | {cells} | {middle[2] / middle[0]:.1f} |")
        print(rows[-1], flush=True)
        (HERE / "busy.md").write_text(text + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
