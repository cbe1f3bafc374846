"""Models in files: what another version wrote is refused, never half read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpdag
from dpdag import CAM
from dpdag.learners import storage

Fields = dict[str, Any]


def params(facts: Fields) -> Fields:
    return facts["params"]["dict"]


def model(facts: Fields) -> Fields:
    return facts["fitted"]["dict"]["model_"]["fields"]["dict"]


@pytest.mark.parametrize(
    ("part", "change"),
    [
        (params, lambda fields: fields.update(smoothness=1)),
        (model, lambda fields: fields.update(smoothness=1)),
        (model, lambda fields: fields.pop("adjacency")),
        (model, lambda fields: fields["mechanisms"].update(record="Unheard")),
        (model, lambda fields: fields.update(mechanisms={"unheard": 1})),
        (lambda facts: facts, lambda facts: facts.update(learner="Unheard")),
    ],
)
def test_a_model_of_another_version_is_refused_with_the_way_out(
    part: Callable[[Fields], Fields], change: Callable[[Fields], Any], tmp_path: Path
) -> None:
    a = np.linspace(-1, 1, 40)
    CAM(n_bootstrap=0).fit(np.stack([a, np.sin(40 * a) + a], 1)).save(tmp_path)
    facts = json.loads((tmp_path / "model.json").read_text())
    change(part(facts))
    facts["digest"] = storage._digest(facts, tmp_path / "model.safetensors")
    (tmp_path / "model.json").write_text(json.dumps(facts))
    with pytest.raises(ValueError, match="another version of dpdag; fit again") as caught:
        dpdag.load(tmp_path)
    assert str(tmp_path) in str(caught.value)
