"""Processes whose causes are categories: one variable, one length scale."""

import pytest
import torch
from torch import Tensor

from dpdag.columns import Table, table_of
from dpdag.evidence.discrete import DiscreteEvidence
from dpdag.evidence.gp import GPEvidence
from dpdag.evidence.gp.inputs import Families, Inputs
from dpdag.evidence.gp.kernels import KERNELS
from dpdag.evidence.gp.marginal import gp_evidence, gp_evidence_and_gradient
from dpdag.evidence.typed import TypedEvidence

SETS = torch.tensor([[0, 1, 0], [0, 1, 1], [0, 0, 1]]).bool()
CHILD = torch.zeros(3, dtype=torch.long)


def table(rows: int = 200) -> Tensor:  # (rows, 3): an effect, a category and a number
    """Each value of the category has another curve, which sums of functions cannot say."""
    generator = torch.Generator().manual_seed(0)
    group = torch.randint(3, (rows,), generator=generator)
    x, noise = torch.randn(2, rows, generator=generator).double()
    curve = torch.stack([torch.sin(2 * x), -torch.sin(2 * x), x / 2])[group, torch.arange(rows)]
    return torch.stack([curve + 0.3 * noise, group.double(), x], -1)


def inputs(values: Tensor) -> Inputs:
    return Inputs.of(values, [1])


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_slopes_in_shared_length_scales_are_those_of_differences(kernel: str) -> None:
    values = table(40)
    read = inputs(values).read(Families.of(CHILD, SETS))
    y = values[:, 0].expand(3, -1)
    parameters = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)

    def value(at: Tensor) -> Tensor:
        return gp_evidence(y.unsqueeze(-1), read.x, read.spread(at), KERNELS[kernel])[:, 0]

    _, slopes, _ = gp_evidence_and_gradient(y, read.x, read.spread(parameters), KERNELS[kernel])
    steps = 1e-5 * torch.eye(4, dtype=torch.float64)
    differences = [(value(parameters + s) - value(parameters - s)) / 2e-5 for s in steps]
    torch.testing.assert_close(
        read.gather(slopes, 2), torch.stack(differences, -1), atol=1e-4, rtol=1e-4
    )


def test_values_of_a_category_are_all_as_far_apart() -> None:
    x = inputs(table()).read(Families.of(CHILD, SETS)).x[0]
    group = table()[:, 1]
    centres = torch.stack([x[group == k].mean(0) for k in range(3)])
    apart = torch.pdist(centres)
    torch.testing.assert_close(apart, apart[:1].expand(3))


def test_columns_that_are_numbers_are_read_as_they_are() -> None:
    values, families = table(), Families.of(CHILD, SETS)
    numbers = Inputs.of(values, [])
    two = numbers._replace(plain=False).read(families)  # as categories are read
    numbers = numbers.read(families)
    for set_, at in zip(SETS, range(3)):
        torch.testing.assert_close(numbers.x[at, :, : int(set_.sum())], values[:, set_])
    torch.testing.assert_close(two.x, numbers.x)
    parameters = torch.arange(12.0).reshape(3, 4)
    torch.testing.assert_close(two.spread(parameters)[1], parameters[1])


def test_a_process_sees_curves_that_differ_by_category() -> None:
    values = table()
    plain = table_of(values)
    own = GPEvidence(Table(*plain), categories=[1])
    together, alone = own.log_evidence(torch.zeros(2).long(), SETS[1:])
    assert together > alone + 50
    discrete = DiscreteEvidence(plain.x, values, ["continuous", "category", "continuous"])
    functions = ("linear", "additive", "gp")
    whole = TypedEvidence(plain, discrete, functions=functions)
    weights = whole.weights(0, SETS[1])
    assert weights.functions[functions.index("gp")] > 0.99


def test_the_first_column_is_read_beside_wider_sets() -> None:
    sets = torch.tensor([[1, 0, 0], [1, 0, 1]]).bool()
    child = torch.full((2,), 1)
    process = Inputs.of(table()[:, [1, 0, 2]], [0])
    together = process.read(Families.of(child, sets)).x[0]
    alone = process.read(Families.of(child[:1], sets[:1])).x[0]
    torch.testing.assert_close(together[:, : alone.shape[1]], alone)
    assert not together[:, alone.shape[1] :].any()
