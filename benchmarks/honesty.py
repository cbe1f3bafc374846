"""What stated probabilities are worth on data that no model made, and what was learned of it.

    OMP_NUM_THREADS=1 DPDAG_DATA=folder python benchmarks/honesty.py run --jobs 2 --first 400
    OMP_NUM_THREADS=1 DPDAG_DATA=folder python benchmarks/honesty.py run --learn --first 0
    python benchmarks/honesty.py table            # honesty.md and docs/img/honesty.png
    python benchmarks/honesty.py learn            # the numbers in posterior/doubt.py

Kinds of ``TUNED`` were used to learn how far nats can be believed; the others never were.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "studies"))  # for pairs
STORE = HERE / "honesty.jsonl"
OBEYING = (
    "additive",
    "joint",
    "lines",
    "plain lines",
    "mixed",
    *("additive, dense", "joint, dense"),
    *("additive, few rows", "joint, few rows", "lines, few rows", "plain lines, few rows"),
    *("additive, two columns", "lines, two columns", "AN-s", "LS-s"),
)
TUNED = (
    *OBEYING,
    "sigmoid of sum and noise",
    "network with noise",
    "multiplicative noise",
    "measurement error",
    "hidden causes",
    "two populations",
    "regulation",
    "hubs of regulation",
    "last of the causes",
    "random walks",
    *("groups", "cut columns"),
    *("shares of a whole", "laboratories", "triggers"),
    *("measurement error, dense", "regulation, dense"),
    "sigmoid of sum and noise, two columns",
    "network with noise, two columns",
    "multiplicative noise, two columns",
    "measurement error, two columns",
    "two populations, two columns",
    "regulation, two columns",
    "confounded pair",
    "SIM",
    "SIM-ln",
)
PAIRS = ("AN-s", "LS-s", "MN-U", "SIM", "SIM-c", "SIM-ln", "SIM-G")
FILES = {"pairs-SIM": 100, "pairs-MN-U": 100, "Tuebingen-odd": 50, "SynTReN": 10, "Sachs": 1}
BLIND = ("heaped values", "restless rows")  # run once, by the learner as it stands
BENCHMARK = {"ER-10-10": 10, "ER-10-40": 10, "SF-10-10": 10}  # obeying, so not pooled
FILES |= BENCHMARK
OBEY = 22.0  # weight of all kinds that obey the model beside those that violate it, in learning
ROWS = 1000  # of a pair, at most


Types = dict[int, str] | None


def load(kind: str, index: int) -> tuple[np.ndarray, np.ndarray, Types]:
    """Values, the true graph, and types where these are known."""
    from violations import VIOLATIONS, violation

    from dpdag import datasets

    if kind.partition(", ")[0] in (*VIOLATIONS, "mixed"):
        data = (
            datasets.mixed(10, 500, usual=kind == "mixed", random_state=index)
            if kind.startswith("mixed")
            else violation(kind, index)
        )
        types = None if data.types is None else dict(enumerate(data.types.values()))
        return data.X, data.adjacency, types
    return *_untyped(kind, index), None


def _untyped(kind: str, index: int) -> tuple[np.ndarray, np.ndarray]:
    from pairs import draw

    forward = np.array([[0, 1], [0, 0]])
    if kind in PAIRS:
        X = draw(kind, index)[:500]
        return (X[:, ::-1].copy(), forward.T) if index % 2 else (X, forward)
    file = np.load(Path(os.environ["DPDAG_DATA"]) / f"{kind}.npz")
    if "A" in file:
        X, A = file["X"], file["A"]
        return (X[index], A[index]) if X.ndim == 3 else (X, A)
    if "X" in file:
        X, right = file["X"][index], file["first_causes_second"][index]
    else:
        X, right = file[f"pair{file['pair'][index]:04d}"], file["first_causes_second"][index]
        X = X[np.random.default_rng(0).permutation(len(X))[:ROWS]]
    return X, forward if right else forward.T


def measure(task: tuple[str, int]) -> dict[str, Any]:
    """One fit: what is stated of every pair that is linked or stated, and what is true."""
    import torch

    from dpdag import DAGPosterior, metrics
    from dpdag.posterior.doubt import coarsened

    torch.set_num_threads(1)
    kind, index = task
    X, truth, types = load(kind, index)
    learner = DAGPosterior(types=types, random_state=0, device="cpu", verbose=False)
    learner.fit(X.astype(float))
    doubt, p = learner.doubt_, learner.edge_probabilities_
    stands = (doubt.lead != 0).numpy()
    edges = [
        {
            "true": int(truth[i, j]),
            "reversed": int(truth[j, i]),
            "p": float(p[i, j]),
            "nats": float(doubt.nats[i, j]),
            "lead": float(doubt.lead[i, j]),
            "detour": float(doubt.detour[i, j]),
            "likeness": float(doubt.likeness[i, j]),
            "misfit_of_table": float(doubt.misfit_of_table),
            "fineness": float(min(doubt.fineness[i], doubt.fineness[j])),
        }
        for i, j in np.argwhere(stands).tolist()
    ]
    others = ~stands & ~np.eye(len(p), dtype=bool)
    scores = metrics.edge_auc(learner.edge_scores_, truth) if truth.any() else {}
    return {
        "kind": kind,
        "index": index,
        "rows": int(doubt.rows),
        "columns": len(p),
        "edges": edges,
        "others": [[round(float(q), 4), int(t)] for q, t in zip(p[others], truth[others])],
        "detour": _mean(doubt.detour[doubt.lead != 0]),
        "worth": _mean(coarsened(doubt.nats[doubt.lead != 0], doubt.rows)),
        "weighed": _weighed(learner, X, truth) if types is None and 2 < len(p) <= 30 else [],
        "truth": int(truth.sum()),
        "missed": int((truth.astype(bool) & ~stands & ~stands.T).sum()),
        "shd": int(metrics.shd(truth, learner.adjacency_)),
        "score": scores.get("Dir-AUC-PR"),
    }


def _mean(values: Any) -> float:
    return float(values.mean()) if len(values) else 0.0


def _weighed(learner: Any, X: np.ndarray, truth: np.ndarray) -> list[list[float]]:
    """What is true of every pair, as probable by the graph found and by a coarsened posterior."""
    import torch

    from dpdag import Knowledge
    from dpdag.columns import table_of
    from dpdag.evidence.mixture import MixtureEvidence
    from dpdag.posterior import coarse_posterior
    from dpdag.search import EdgePrior

    x, limits = torch.from_numpy((X - X.mean(0)) / X.std(0)), Knowledge().resolve(len(truth))
    evidence = MixtureEvidence(table_of(x[:1000]), functions=("linear", "additive"))
    coarse = coarse_posterior(evidence, prior=EdgePrior.of(limits), constraints=limits)
    share, rough = learner.doubt_.coarse_share, coarse.edge_probabilities.numpy()
    share = share if share > 0.05 else 0.0
    sharp = np.clip((learner.edge_probabilities_ - share * rough) / (1 - share), 0, 1)
    pairs = np.tril_indices(len(truth), -1)
    return np.stack([_of_truth(p, truth)[pairs] for p in (sharp, rough)], -1).round(4).tolist()


def _of_truth(p: np.ndarray, truth: np.ndarray) -> np.ndarray:  # (n, n) -> (n, n)
    neither = np.clip(1 - p - p.T, 0, 1)
    return np.where(truth == 1, p, np.where(truth.T == 1, p.T, neither))


def tasks(options: argparse.Namespace) -> Iterator[tuple[str, int]]:
    from violations import VIOLATIONS

    kinds = TUNED if options.learn else (*TUNED, *(set(VIOLATIONS) - set(TUNED)), *PAIRS, *FILES)
    kinds = tuple(dict.fromkeys(kinds))
    for step in range(options.tables):
        for kind in options.kinds or kinds:
            count = FILES.get(kind)
            if count is None:
                yield kind, options.first + step
            elif step < count:
                yield kind, step
    pairs = (kind for kind in options.kinds or kinds if FILES.get(kind, 0) > options.tables)
    for kind in pairs:
        for index in range(options.tables, FILES[kind]):
            yield kind, index


def run(options: argparse.Namespace) -> None:
    done = {(one["kind"], one["index"]) for one in stored(options.store)}
    todo = [task for task in tasks(options) if task not in done]
    with ProcessPoolExecutor(options.jobs) as pool, options.store.open("a") as store:
        for k, one in enumerate(pool.map(measure, todo), 1):
            store.write(json.dumps(one) + "\n")
            store.flush()
            print(f"\r{k} of {len(todo)}", end="", flush=True)


def stored(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.open()] if path.exists() else []


def learn(options: argparse.Namespace) -> None:
    """Logistic regressions of links and of directions on coarsened nats, and of whole graphs."""
    edges = [
        {**edge, "kind": one["kind"], "rows": one["rows"], "columns": one["columns"]}
        for one in stored(options.store)
        if one["kind"] in TUNED
        for edge in one["edges"]
    ]
    links = [edge for edge in edges if edge["columns"] > 2]  # the two of a pair are always linked
    print("LINK =", _fitted(links, _of_link, [e["true"] or e["reversed"] for e in links]))
    sure = [edge for edge in edges if edge["true"] or edge["reversed"]]
    fine = [edge for edge in sure if edge["fineness"] == 1]
    print("DIRECTION =", _fitted(fine, _of_direction, [edge["true"] for edge in fine]))
    weighed = [one for one in stored(options.store) if one["kind"] in TUNED and one["weighed"]]
    print("COARSE =", _fitted_share(weighed))


def _fitted_share(tables: list[dict[str, Any]]) -> list[float]:
    """Coefficients of the share of a coarsened posterior, by the log loss of all pairs."""
    from scipy.optimize import minimize

    features = np.array([[1.0, one["detour"], one["detour"] * one["worth"]] for one in tables])
    weight = _weights(tables)

    def loss(by: np.ndarray) -> float:
        share = 1 / (1 + np.exp(-features @ by))
        total = 1e-4 * np.square(by[1:]).sum()
        for own, one, k in zip(share, tables, weight):
            sharp, rough = np.array(one["weighed"]).T
            total -= k * np.log((1 - own) * sharp + own * rough + 1e-3).sum()
        return float(total)

    return [round(float(v), 2) for v in minimize(loss, [-6.0, 40.0, -8.0]).x]


def _of_link(edge: dict[str, Any]) -> list[float]:
    nats, left = _coarsened(edge, "nats", "misfit_of_table")
    return [nats * (1 - edge["detour"]), left]


def _of_direction(edge: dict[str, Any]) -> list[float]:
    lead, left = _coarsened(edge, "lead", "misfit_of_table")
    return [lead * (1 - edge["likeness"]), left]


def _coarsened(edge: dict[str, Any], *names: str) -> list[float]:
    import torch

    from dpdag.posterior.doubt import coarsened

    return coarsened(torch.tensor([edge[name] for name in names]), edge["rows"]).tolist()


def _fitted(
    edges: list[dict[str, Any]],
    features: Callable[[dict[str, Any]], list[float]],
    right: list[int],
) -> list[float]:
    """Coefficients."""
    from sklearn.linear_model import LogisticRegression

    weight = _weights(edges)
    model = LogisticRegression(C=10, max_iter=500)
    model.fit([features(e) for e in edges], right, weight)
    return [round(float(v), 2) for v in (*model.intercept_, *model.coef_[0])]


def _weights(rows: list[dict[str, Any]]) -> np.ndarray:
    """Kinds alike, all that obey together ``OBEY`` times the others, one on average."""
    size = Counter(one["kind"] for one in rows)
    obeying = sum(kind in OBEYING for kind in size)
    share = {
        kind: OBEY / obeying if kind in OBEYING else 1 / (len(size) - obeying) for kind in size
    }
    weight = np.array([share[one["kind"]] / size[one["kind"]] for one in rows])
    return weight * len(weight) / weight.sum()


def table(options: argparse.Namespace) -> None:
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in stored(options.store):
        kinds[one["kind"]].append(one)
    text = [
        "| kind | tables | edges | stated ≥ 0.95 | of them right | of true ones | SHD | empty |"
    ]
    text += ["|---|---|---|---|---|---|---|---|"]
    pooled: dict[str, list[tuple[float, int]]] = {"seen": [], "new": []}
    for kind, found in sorted(kinds.items(), key=lambda item: (item[0] not in TUNED, item[0])):
        said = [(e["p"], e["true"]) for one in found for e in one["edges"]]
        if kind not in BENCHMARK:
            group = pooled["seen" if kind in TUNED else "new"]
            group += said
            group += [(q, t) for one in found for q, t in one["others"]]
        sure = [t for q, t in said if q >= 0.95]
        true = sum(one["truth"] for one in found)
        right = f"{100 * np.mean(sure):.0f} %" if sure else "–"
        shd = np.mean([one["shd"] for one in found])
        mark = "" if kind in TUNED else " **" if kind in BLIND else " *"
        text.append(
            f"| {kind}{mark} | {len(found)} | {true} | {len(sure)} | {right}"
            f" | {100 * sum(sure) / max(true, 1):.0f} % | {shd:.1f} | {true / len(found):.1f} |"
        )
    sure = [(e["p"], e["true"]) for k in BENCHMARK for one in kinds[k] for e in one["edges"]]
    kept = sum(t for q, t in sure if q >= 0.95) / sum(
        one["truth"] for k in BENCHMARK for one in kinds[k]
    )
    text.append(f"\n10-node sets: {100 * kept:.0f} % of all true edges are stated.")
    for name, said in pooled.items():
        p, t = np.array(said).T
        sure = p >= 0.95
        text.append(
            f"\nPooled over kinds {'learned from' if name == 'seen' else 'never learned from (*)'}:"
            f" {sure.sum()} stated, {100 * t[sure].mean():.1f} % right; mean distance of stated"
            f" probability and share {_distance(p, t):.3f}."
        )
    print("\n".join(text))
    (HERE / "honesty.md").write_text(_HEAD + "\n".join(text) + "\n", encoding="utf-8")
    _draw(pooled)


def _bins(p: np.ndarray, t: np.ndarray) -> list[tuple[float, float, int]]:
    """Stated, true and how many, by tenths of the stated probability; none below 0.05."""
    place = np.digitize(p, [0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95])
    kept = [k for k in np.unique(place) if k]
    return [(p[place == k].mean(), t[place == k].mean(), int((place == k).sum())) for k in kept]


def _distance(p: np.ndarray, t: np.ndarray) -> float:
    said, share, count = np.array(_bins(p, t)).T
    return float(np.average(np.abs(said - share), weights=count))


def _draw(pooled: dict[str, list[tuple[float, int]]]) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 4.6), layout="constrained")
    axes.plot([0, 1], [0, 1], color="0.7", lw=1, zorder=0)
    labels = {"seen": "kinds learned from", "new": "other kinds, real data among them"}
    styles = ("#0072B2", (-16, 6)), ("#D55E00", (4, -9))
    for (name, said), (colour, place) in zip(pooled.items(), styles):
        stated, share, count = np.array(_bins(*np.array(said).T)).T
        axes.plot(stated, share, "o-", color=colour, ms=4, label=labels[name])
        for x, y, n in zip(stated, share, count):
            axes.annotate(
                f"{n:.0f}", (x, y), place, textcoords="offset points", fontsize=7, color=colour
            )
    axes.set(xlabel="stated probability of an edge", ylabel="share that is true")
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.legend(frameon=False, loc="upper left")
    figure.savefig(HERE.parent / "docs" / "img" / "honesty.png", dpi=150)


_HEAD = (
    "# What stated probabilities are worth off the model\n\n"
    "`benchmarks/honesty.py` (commands in its first lines), `DAGPosterior` with its defaults, ten "
    "columns and 500 rows where not from a file. Kinds with * were never used to learn how far "
    "nats can be believed (`posterior/doubt.py`). *Of true ones*: share of all true edges that are "
    "stated. *Empty*: SHD of the empty graph.\n\n"
    "**How blind this is.** Nine numbers were learned on tables 6000 to 6010 of kinds without *, "
    "before switches, levels of discrete causes and exact relations were in the evidence, and were "
    "not learned again; both constants were then lowered by 0.15 for tables with hidden causes. "
    "That directions are told the less the coarser columns are was learned from real tables "
    "(`studies/real_roots.md`), of which none is below. Simulated tables below have indices from "
    "9000 on. Forms of that rule, lower constants and ways of ranking were looked at with some of "
    "them in view; none changed what is stated of columns whose values do not return. "
    "The kinds, though, were in view all along: some fifty "
    "variants of features and weights were compared on other tables of them, the margin of the "
    "graph was chosen on tables 6000 to 7005, switches were made for triggers, and of columns "
    "relative to another one the arrows from that one count as right since it was seen that all "
    "wrong statements were these. Files (pairs, SynTReN, Sachs, 10-node sets) are the same "
    "throughout; the coarsened posterior was found on SynTReN. Kinds with ** were written down "
    "when all features stood.\n\n"
    "Searches were done once; probabilities are computed by the learner as it is from what they "
    "stored. Hidden causes have more tables, because they are nearest to the bar of 80 %. Two "
    "cores.\n\n"
    "Searches have since learned to leave two more dead ends. On 42 tables that nothing had seen "
    "(seven kinds, tables 9700 to 9705: hidden causes, joint with 500 and with few rows, "
    "multiplicative noise, sigmoid of sum and noise, triggers, two populations), searched by both, "
    "395 edges were stated before, 94.9 % of them right, and 391 now, 95.4 %; the least are 83 % "
    "of 46 (two populations) and 88 % of 58 (hidden causes).\n\n"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("run", "learn", "table"))
    parser.add_argument("--kinds", nargs="*")
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--first", type=int, default=400, help="index of the first table")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--learn", action="store_true", help="only kinds that are learned from")
    parser.add_argument("--store", type=Path, default=STORE)
    options = parser.parse_args()
    {"run": run, "learn": learn, "table": table}[options.what](options)


if __name__ == "__main__":
    main()
