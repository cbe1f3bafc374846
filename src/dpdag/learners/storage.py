"""Fitted learners as files of data: tensors and JSON, never code."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from .. import scm
from ..columns import ColumnType, MonotoneColumns
from ..distributions import PERMUTATIONS, Constraints, DAGDistribution, DAGMixture, Knowledge
from ..distributions.edges import EdgeDistribution
from ..evidence.categories import Encoding, FunctionBasis, Indicators
from ..evidence.splines import SplineBasis
from ..mechanisms import FrozenMLP
from ..ops.labels import label_array
from ..posterior import Doubt, SubsetPosterior

FORMAT = 1
_TENSORS, _FACTS = "model.safetensors", "model.json"

# Plain records of tensors and numbers that may appear in a file, by name: of scm, all.
RECORDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(kind for kind in vars(scm).values() if isinstance(kind, type) and is_dataclass(kind)),
        ColumnType,
        Constraints,
        Doubt,
        Encoding,
        FrozenMLP,
        FunctionBasis,
        Indicators,
        Knowledge,
        MonotoneColumns,
        SplineBasis,
        SubsetPosterior,
    )
}

Record = TypeVar("Record", bound=type[Any])


def record(kind: Record) -> Record:
    """Decorate a dataclass of tensors and numbers that may appear in a file."""
    RECORDS[kind.__name__] = kind
    return kind


# Fields by record that had another name when earlier files were written.
RENAMED = {"GPMechanisms": {"linear": "extra"}}


def save_learner(learner: Any, folder: str | Path) -> None:
    """Write a fitted learner to a folder, all or nothing; an existing model there is replaced."""
    folder = Path(folder)
    if folder.exists() and not (folder / _FACTS).is_file() and any(folder.iterdir()):
        raise ValueError(f"'{folder}' exists and holds no model; choose another folder.")
    tensors: dict[str, Tensor] = {}
    skipped = ("callbacks", "checkpoint")
    params = {k: v for k, v in learner.get_params(deep=False).items() if k not in skipped}
    fitted = {k: v for k, v in vars(learner).items() if k.endswith("_")}
    facts = {
        "format": FORMAT,
        "learner": type(learner).__name__,
        "params": _pack(params, "params", tensors),
        "fitted": _pack(fitted, "fitted", tensors),
    }
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        save_file({k: v.contiguous() for k, v in tensors.items()}, partial / _TENSORS)
        facts["digest"] = _digest(facts, partial / _TENSORS)
        (partial / _FACTS).write_text(json.dumps(facts, indent=1))
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def load_learner(folder: str | Path, learners: Mapping[str, type[Any]]) -> Any:
    """Read a fitted learner; anything but an intact file of a known format is refused."""
    folder = Path(folder)
    if (folder / "model" / _FACTS).is_file():  # what the command line wrote around it
        folder = folder / "model"
    if not (folder / _FACTS).is_file() or not (folder / _TENSORS).is_file():
        raise ValueError(f"There is no saved model in '{folder}'.")
    try:
        facts = json.loads((folder / _FACTS).read_text())
        version = facts.get("format")
    except (json.JSONDecodeError, UnicodeDecodeError, AttributeError):
        raise ValueError(f"The model in '{folder}' is damaged: {_FACTS} is not JSON.") from None
    if version != FORMAT:
        raise ValueError(
            f"The model in '{folder}' has format {version!r}; this version of dpdag reads format "
            f"{FORMAT}. Upgrade dpdag or fit again."
        )
    digest = facts.pop("digest", None)
    if digest != _digest(facts, folder / _TENSORS):
        raise ValueError(f"The model in '{folder}' was changed after it was saved; fit it again.")
    tensors = load_file(folder / _TENSORS)  # as they were written, by the digest
    try:
        learner = learners[facts["learner"]](**_unpack(facts["params"], tensors))
        fitted = _unpack(facts["fitted"], tensors)
    except (KeyError, TypeError):  # the file is as it was written, so the code is another
        raise ValueError(
            f"The model in '{folder}' was saved by another version of dpdag; fit again."
        ) from None
    for name, value in fitted.items():
        setattr(learner, name, value)
    return learner


def _digest(facts: dict[str, Any], tensors: Path) -> str:
    text = json.dumps({k: v for k, v in facts.items() if k != "digest"}, sort_keys=True)
    return hashlib.sha256(text.encode() + tensors.read_bytes()).hexdigest()


def _pack(value: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    """JSON for a value; tensors in it go to ``tensors`` under their path."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (Tensor, np.ndarray)):
        if isinstance(value, np.ndarray) and value.dtype == object:
            return {"names": _pack(value.tolist(), name, tensors)["list"]}
        tensor = value.detach().cpu() if isinstance(value, Tensor) else torch.tensor(value)
        tensors[name] = tensor.clone()
        return {"tensor" if isinstance(value, Tensor) else "array": name}
    if isinstance(value, dict):
        return {"dict": {k: _pack(v, f"{name}/{k}", tensors) for k, v in value.items()}}
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [_pack(v, f"{name}/{k}", tensors) for k, v in enumerate(value)]}
    if isinstance(value, pd.DataFrame):
        columns = {str(k): _pack(value[k].to_numpy(), f"{name}/{k}", tensors) for k in value}
        return {"frame": columns}
    if isinstance(value, DAGMixture):
        return {"mixture": _pack(_mixture_parts(value), name, tensors)}
    if type(value).__name__ in RECORDS:
        parts = {f.name: getattr(value, f.name) for f in fields(value)}
        return {"record": type(value).__name__, "fields": _pack(parts, name, tensors)}
    raise ValueError(f"A model with {name} = {value!r} cannot be saved as data.")


def _unpack(value: Any, tensors: dict[str, Tensor]) -> Any:
    if not isinstance(value, dict):
        return value
    if "record" in value:
        new = RENAMED.get(value["record"], {})
        parts = _unpack(value["fields"], tensors)
        return RECORDS[value["record"]](**{new.get(k, k): v for k, v in parts.items()})
    ((kind, inner),) = value.items()
    if kind in ("tensor", "array"):
        return tensors[inner] if kind == "tensor" else tensors[inner].numpy()
    if kind == "dict":
        return {k: _unpack(v, tensors) for k, v in inner.items()}
    if kind in ("list", "tuple"):
        items = [_unpack(v, tensors) for v in inner]
        return items if kind == "list" else tuple(items)
    if kind == "names":
        return label_array(_unpack(label, tensors) for label in inner)
    if kind == "frame":
        return pd.DataFrame({k: _unpack(v, tensors) for k, v in inner.items()})
    if kind == "mixture":
        return _mixture(_unpack(inner, tensors))
    raise KeyError(kind)


def _mixture_parts(mixture: DAGMixture) -> dict[str, Any]:
    permutation, edges = mixture.components.permutation, mixture.components.edges
    name = next(name for name in PERMUTATIONS if PERMUTATIONS[name] is type(permutation))
    return {
        "permutation": name,
        "order_logits": permutation.logits,
        "edge_logits": edges.logits,
        "weights": mixture.weights,
        "constraints": permutation.constraints,
    }


def _mixture(parts: dict[str, Any]) -> DAGMixture:
    known = {"constraints": parts["constraints"]}
    orders = PERMUTATIONS[parts["permutation"]](parts["order_logits"], **known)
    edges = EdgeDistribution(parts["edge_logits"], **known)
    return DAGMixture(DAGDistribution(orders, edges), parts["weights"])
