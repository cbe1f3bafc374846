"""What is too large is refused or announced before it starts."""

import pytest
import torch

from dpdag.evidence.additive import AdditiveEvidence
from dpdag.evidence.base import Evidence
from dpdag.evidence.gp import GPEvidence
from dpdag.learners.integrated import forecast


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (AdditiveEvidence, "Comparing 3 columns needs about .* use fewer columns"),
        (GPEvidence, "A Gaussian process on 50 rows needs about .* lower 'rows'"),
    ],
)
def test_more_than_the_memory_is_refused(
    kind: type[Evidence], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.randn(50, 3, generator=torch.Generator().manual_seed(0)).double()
    kind(x)
    monkeypatch.setattr("dpdag.ops.memory.available_bytes", lambda device: 100)
    with pytest.raises(MemoryError, match=message):
        kind(x)


def test_long_searches_are_announced() -> None:
    assert forecast(torch.zeros(1000, 20), "gp") is None
    assert forecast(torch.zeros(1000, 100), "additive") is None
    text = forecast(torch.zeros(9000, 100), "gp")
    assert text is not None
    assert "100 columns with Gaussian processes on 1500 of 9000 rows takes some 6 to 17" in text
