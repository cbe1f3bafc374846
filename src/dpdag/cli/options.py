"""From words on the command line to a learner and its prior knowledge."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from ..distributions import Knowledge, read_knowledge
from ..learners import LEARNERS, DAGLearner
from ..registry import suggest

OWN_OPTIONS = {
    "random_state": "--seed",
    "knowledge": "--knowledge",
    "missing": "--missing",
    "types": "--type",
}
LACKS = {  # what some learners cannot do, and the way out
    "missing": "does not take missing values; use --missing drop, or a learner that does",
    "types": "takes all columns as numbers; leave --type out, or use a learner that knows types",
    "takes_interventions": "cannot take rows under intervention; leave them out, or use a learner "
    "that can",
}
WORDS = {"True": True, "False": False, "None": None, "none": None}


def build(
    name: str,
    chosen: Mapping[str, Any],
    *,
    knowledge: Knowledge | None,
    seed: int,
    missing: str,
    types: Mapping[str, str],
    interventions: bool,
) -> DAGLearner:
    """The learner called ``name``, in any case of letters, with the chosen settings.

    Arguments:
        interventions: Whether some rows are under intervention.
    """
    learner = learner_class(name)()
    parameters = learner.get_params(deep=False)
    for key in chosen:
        if key in OWN_OPTIONS:
            raise ValueError(f"--set {key} has its own option: use {OWN_OPTIONS[key]}.")
        if key not in parameters:
            hint = suggest(key, list(parameters))
            raise ValueError(f"{type(learner).__name__} has no setting {key!r} (--set).{hint}")
    impute = missing == "impute"
    asked = {"missing": impute, "types": bool(types), "takes_interventions": interventions}
    for ability, lack in LACKS.items():
        if asked[ability] and not _able(learner, ability):
            able = ", ".join(name for name, kind in LEARNERS.items() if _able(kind(), ability))
            raise ValueError(f"{type(learner).__name__} {lack}: {able}.")
    own = {
        "random_state": seed,
        "knowledge": knowledge,
        "missing": "impute" if impute else "error",
        "types": dict(types) or None,
    }
    learner.set_params(**chosen, **{key: own[key] for key in own if key in parameters})
    return learner


def _able(learner: DAGLearner, ability: str) -> bool:
    """Whether it has a parameter, or states an ability."""
    return getattr(learner, ability, False) is not False


def learner_class(name: str, option: str = "", more: str = "") -> Any:
    """The class of a learner by its name in any case of letters."""
    known = {kind.lower(): kind for kind in LEARNERS}
    if name.lower() not in known:
        hint = suggest(name, list(LEARNERS))
        raise ValueError(
            f"Unknown learner {name!r}{option}.{hint} Known: {', '.join(LEARNERS)}{more}."
        )
    return LEARNERS[known[name.lower()]]


def settings(pairs: Iterable[str]) -> dict[str, Any]:
    """Values of ``key=value`` words: numbers, true, false, none, lists as in JSON, else text.

    Example:
        >>> settings(["learning_rate=3e-3", "prune=true", "mechanism=mlp", "patience=None"])
        {'learning_rate': 0.003, 'prune': True, 'mechanism': 'mlp', 'patience': None}
    """
    usage = "--set takes key=value, such as resamples=5"
    found = [assignment(pair, usage, cut=str.partition) for pair in pairs]
    return {key: _value(value) for key, value in found}


def types_of(pairs: Iterable[str]) -> dict[str, str]:
    """Types of columns from ``name=type`` words; names may hold equals signs.

    Example:
        >>> types_of(["visits=count", "a=b=ordinal"])
        {'visits': 'count', 'a=b': 'ordinal'}
    """
    return dict(assignment(pair, "--type takes name=type, such as visits=count") for pair in pairs)


def assignment(
    word: str, usage: str, *, cut: Callable[[str, str], Sequence[str]] = str.rpartition
) -> tuple[str, str]:
    """Both sides of an equals sign, the last one unless it is ``cut`` at another."""
    name, equals, value = (part.strip() for part in cut(word, "="))
    if not equals or not name:
        raise ValueError(f"{usage}; got {word!r}.")
    return name, value


def known(
    names: Sequence[str],
    *,
    forbid: Sequence[str],
    require: Sequence[str],
    first: Sequence[str],
    last: Sequence[str],
    tiers: Path | None,
    file: Path | None,
    dropped: Mapping[str, str],
) -> Knowledge | None:
    """Everything said about the graph, as one.

    Arguments:
        names: Columns that are learned from.
        forbid: Edges "source:target", and ``require`` those that must exist.
        first: Columns that no other can cause, and ``last`` those that cause no other; neither
            are they causes of each other.
        tiers: File with tiers.
        file: File with any knowledge.
        dropped: Columns left out, and why.
    """
    said = [Knowledge() if path is None else read_knowledge(path) for path in (tiers, file)]
    if said[0].tiers and said[1].tiers:
        raise ValueError(f"{tiers} and {file} both hold tiers; keep one.")
    columns = [*names, *dropped]
    forbidden = [*said[0].forbidden, *said[1].forbidden, *(_edge(e, columns) for e in forbid)]
    required = [*said[0].required, *said[1].required, *(_edge(e, columns) for e in require)]

    tiers_ = [tier for one in said for tier in one.tiers]
    first, last = list(dict.fromkeys(first)), list(dict.fromkeys(last))
    _refuse_at_ends(required, first, last)
    sources, targets = (names, names) if tiers_ else (first, last)  # that no tier keeps away
    forbidden += [(name, end) for end in first for name in sources if name != end]
    forbidden += [(end, name) for end in last for name in targets if name != end]
    if (first or last) and not tiers_:
        between = [name for name in names if name not in {*first, *last}]
        tiers_ = [tuple(tier) for tier in (first, between, last) if tier]
    for node in chain(*forbidden, *required, *tiers_):
        if node not in names and (reason := dropped.get(str(node))):
            raise ValueError(
                f"Prior knowledge names {node!r}, which was left out ({reason}); remove it."
            )
    knowledge = Knowledge(forbidden=forbidden, required=required, tiers=tiers_)
    knowledge.resolve(len(names), list(names))  # unknown names are refused before learning
    return None if knowledge == Knowledge() else knowledge


def _refuse_at_ends(
    required: Sequence[tuple[Any, Any]], first: Sequence[str], last: Sequence[str]
) -> None:
    """Contradictions of what comes first or last, in the words of the options."""
    if twice := [name for name in first if name in last]:
        raise ValueError(
            f"{twice[0]!r} is given both by --first and by --last; leave it out with --drop if it "
            "has neither causes nor effects."
        )
    for source, target in required:
        option = f"--first {target}" if target in first else f"--last {source}"
        if target in first or source in last:
            raise ValueError(
                f"{source} → {target} is required, but {option} says that there is no such edge; "
                "remove one of the two."
            )


def _edge(word: str, columns: Sequence[str]) -> tuple[str, str]:
    """The ends of "source:target", also where names hold colons."""
    cuts = [k for k, letter in enumerate(word) if letter == ":"]
    pairs = [(word[:k].strip(), word[k + 1 :].strip()) for k in cuts]
    certain = [pair for pair in pairs if set(pair) <= set(columns)]
    if len(certain) == 1 or len(pairs) == 1:
        return (certain or pairs)[0]
    way_out = (
        "Repeat the option for every edge."
        if "," in word
        else "For names with colons use a file with --knowledge."
    )
    raise ValueError(
        f"An edge is given as source:target, with names of columns; got {word!r}. {way_out}"
    )


def _value(text: str) -> Any:
    if text in WORDS:
        return WORDS[text]
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
