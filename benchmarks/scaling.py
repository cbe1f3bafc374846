"""Time, memory and accuracy of learners against columns and rows.

    python benchmarks/scaling.py               # all of the table
    python benchmarks/scaling.py --only 1000   # the lines of so many columns or rows, anew

Writes ``scaling.md`` beside this file, one line after each fit, which ``docs/draw_scaling.py``
draws. Every fit is a process of its own on one thread, so that its largest memory is known;
seconds are of the CPU, whatever else runs.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
CAM, CURVES, DEFAULT = (
    "CAM(n_bootstrap=0)",
    'DAGPosterior(mechanism=("linear", "additive"))',
    "DAGPosterior()",
)
HEAD = """# Many columns, many rows

Random graphs with two edges per column, one thread, {machine}: Gaussian process mechanisms, and
networks where there are more than 1000 rows. CPU seconds of the fit, largest memory in GB,
Dir-AUC-PR in percent, SHD. Made by `python benchmarks/scaling.py`.

| learner | columns | rows | seconds | GB | Dir-AUC-PR | SHD |
|---|---|---|---|---|---|---|
"""
FIT = """
import resource, time, warnings
from dpdag import CAM, DAGPosterior, datasets, metrics
graph = datasets.erdos_renyi({columns}, 2 * {columns}, random_state=0)
mechanism = "gp" if {rows} <= 1000 else "mlp"
data = datasets.simulate(graph, {rows}, mechanism=mechanism, random_state=0)
learner = {learner}.set_params(random_state=0)
if "verbose" in learner.get_params():
    learner.set_params(verbose=False, device="cpu")
start = time.process_time()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    learner.fit(data.X)
seconds = time.process_time() - start
gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
auc = metrics.edge_auc(learner.edge_scores_, data.adjacency)["Dir-AUC-PR"]
shd = metrics.shd(learner.adjacency_, data.adjacency)
print(f"{{seconds:.0f}} | {{gigabytes:.1f}} | {{100 * auc:.1f}} | {{shd}}")
"""


class Case(NamedTuple):
    """One fit."""

    learner: str
    columns: int
    rows: int = 1000

    def __str__(self) -> str:
        return f"| `{self.learner}` | {self.columns} | {self.rows} |"


CASES = (
    *(Case(learner, n) for n in (100, 300, 1000) for learner in (CAM, CURVES)),
    *(Case(DEFAULT, n) for n in (10, 50, 100)),
    *(Case(DEFAULT, 10, rows) for rows in (10_000, 100_000, 1_000_000)),
)


def measured(case: Case) -> str:
    """What a fit takes and finds, as cells of a table."""
    one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", FIT.format(**case._asdict())]
    done = subprocess.run(command, env=one_thread, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", type=int, nargs="+", help="columns or rows to measure anew")
    only = parser.parse_args().only
    table = HERE / "scaling.md"
    known = table.read_text().splitlines() if table.exists() else []
    lines = {case: next((one for one in known if one.startswith(str(case))), "") for case in CASES}
    for case in CASES:
        if only is None or case.columns in only or (case.rows > 1000 and case.rows in only):
            lines[case] = f"{case} {measured(case)} |"
            print(lines[case], flush=True)
            text = HEAD.format(machine=platform.machine())
            table.write_text(text + "".join(f"{one}\n" for one in lines.values() if one))


if __name__ == "__main__":
    main()
