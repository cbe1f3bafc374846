"""Samples are DAGs whatever the parameters are; gradients are those of the paper's form."""

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from dpdag import DPDAG, Knowledge
from dpdag.distributions import PERMUTATIONS, DAGMixture
from dpdag.ops.graphs import is_acyclic

FAMILIES = list(PERMUTATIONS)
EXTREMES = [0.0, 1.0, -1.0, 1e-30, 30.0, -30.0, 1e8, -1e30, float("inf"), -float("inf")]


@pytest.mark.parametrize("family", FAMILIES)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_samples_are_acyclic_for_any_parameters(family: str, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 7))
    batch = data.draw(st.lists(st.integers(1, 3), max_size=2))
    sample = data.draw(st.lists(st.integers(0, 3), max_size=2))
    exponents = st.floats(-3, 3)
    dags = DPDAG(
        n,
        family,
        batch_shape=batch,
        temperature=10 ** data.draw(exponents),
        edge_temperature=10 ** data.draw(exponents),
        dtype=data.draw(st.sampled_from([torch.float32, torch.float64])),
    )
    for parameter in dags.parameters():
        size = parameter.numel()
        values = data.draw(st.lists(st.sampled_from(EXTREMES), min_size=size, max_size=size))
        parameter.data = torch.tensor(values, dtype=parameter.dtype).reshape(parameter.shape)
    A = dags().rsample(sample)
    assert A.shape == (*sample, *batch, n, n)
    assert bool(((A == 0) | (A == 1)).all())
    assert bool(is_acyclic(A).all())
    assert bool(is_acyclic(dags().mode).all())
    A.sum().backward()
    for parameter in dags.parameters():
        finite = parameter.isfinite()
        assert bool(parameter.grad[finite].isfinite().all())


@pytest.mark.parametrize("family", FAMILIES)
def test_straight_through_gradient_equals_the_listing_of_the_paper(family: str) -> None:
    n = 6
    dags = DPDAG(n, family, temperature=0.7, edge_temperature=1.3, dtype=torch.float64)
    generator = torch.Generator().manual_seed(3)
    for parameter in dags.parameters():
        parameter.data.normal_(generator=generator)
    weight = torch.randn(n, n, dtype=torch.float64, generator=generator)
    q = dags()
    A = q.rsample(generator=torch.Generator().manual_seed(4))
    expected = torch.autograd.grad((A * weight).sum(), list(dags.parameters()))

    # The same noise through Π, U and the two matrix products of Figure 2.
    generator = torch.Generator().manual_seed(4)
    P = dags().permutation.rsample(generator=generator)
    U = dags().edges.rsample(generator=generator)
    M = torch.ones(n, n, dtype=torch.float64).triu(1)
    reference = U * (P.mT @ M @ P)
    torch.testing.assert_close(A, reference)
    actual = torch.autograd.grad((reference * weight).sum(), list(dags.parameters()))
    torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize("family", FAMILIES)
def test_sample_and_rsample_draw_the_same_dags(family: str) -> None:
    q = DPDAG(5, family)()
    one = q.sample((50,), generator=torch.Generator().manual_seed(0))
    two = q.rsample((50,), generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(one, two.detach())
    assert not one.requires_grad
    assert two.requires_grad


@pytest.mark.parametrize("family", FAMILIES)
def test_generator_leaves_the_global_state_alone(family: str) -> None:
    q = DPDAG(4, family)()
    state = torch.get_rng_state()
    q.rsample((3,), generator=torch.Generator().manual_seed(0))
    assert q.edge_marginals.shape == (4, 4)
    assert torch.equal(torch.get_rng_state(), state)


def test_sinkhorn_marginals_state_their_error() -> None:
    dags = DPDAG(4, "sinkhorn", dtype=torch.float64)
    dags.order_logits.data.normal_(generator=torch.Generator().manual_seed(0))
    q = dags.requires_grad_(False)()
    coarse = q.estimate_edge_marginals(2000, seed=1)
    fine = q.estimate_edge_marginals(50_000, seed=2)
    spread = (coarse.standard_error**2 + fine.standard_error**2).sqrt()
    off = ~torch.eye(4, dtype=torch.bool)
    assert float(((coarse.value - fine.value) / spread)[off].abs().max()) < 4.5
    torch.testing.assert_close(q.edge_marginals, q.estimate_edge_marginals(4096).value)
    samples = q.sample((20_000,), generator=torch.Generator().manual_seed(3))
    torch.testing.assert_close(samples.mean(0), fine.value, atol=0.02, rtol=0)


@pytest.mark.parametrize("family", FAMILIES)
def test_knowledge_holds_in_every_sample(family: str) -> None:
    known = Knowledge(forbidden=[("a", "d")], tiers=[["c", "a"], ["d", "b"], ["e"]])
    dags = DPDAG(5, family, knowledge=known, names=list("abcde"), batch_shape=(3,))
    for parameter in dags.parameters():
        parameter.data.normal_(std=5, generator=torch.Generator().manual_seed(0))
    q = dags()
    for A in (q.rsample((200,)), q.mode, q.edge_marginals, q.modal_edge_probabilities):
        assert bool((A[..., 0, 3] == 0).all())
        for later, earlier in [("d", "a"), ("b", "c"), ("e", "a"), ("e", "d")]:
            assert bool((A[..., "abcde".index(later), "abcde".index(earlier)] == 0).all())
    assert bool((q.sample((2000,)).mean(0)[:, 1, 3] > 0).any())


def test_required_edges_hold_in_every_sample_and_gradients_flow() -> None:
    known = Knowledge(required=[(4, 0), (0, 2)], forbidden=[(1, 3)])
    dags = DPDAG(5, knowledge=known, dtype=torch.float64)
    dags.order_logits.data = torch.tensor([0.0, 1.0, 50.0, 2.0, -50.0], dtype=torch.float64)
    q = dags()
    A = q.rsample((500,))
    assert bool((A[:, 4, 0] == 1).all())
    assert bool((A[:, 0, 2] == 1).all())
    assert bool((A[:, 1, 3] == 0).all())
    assert bool(is_acyclic(A).all())
    torch.testing.assert_close(q.edge_marginals[4, 0], torch.ones((), dtype=torch.float64))
    A[:, 1, 4].sum().backward()
    assert bool(dags.order_logits.grad.isfinite().all())
    assert bool((dags.order_logits.grad != 0).any())


def test_module_state_dict_round_trip_and_dtype() -> None:
    one, two = DPDAG(4, batch_shape=(2,)), DPDAG(4, batch_shape=(2,))
    one.order_logits.data.normal_()
    two.load_state_dict(one.state_dict())
    torch.testing.assert_close(two().edge_marginals, one().edge_marginals)
    assert DPDAG(3).to(torch.float64)().sample().dtype == torch.float64


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")  # dynamo's own
@pytest.mark.parametrize("knowledge", [None, Knowledge(required=[(0, 1)])])
def test_topk_compiles_without_graph_breaks(knowledge: Knowledge | None) -> None:
    dags = DPDAG(4, knowledge=knowledge)
    q = dags()

    def draw(order_logits: torch.Tensor, edge_logits: torch.Tensor) -> torch.Tensor:
        permutation = type(q.permutation)(order_logits, constraints=dags.constraints)
        edges = type(q.edges)(edge_logits, constraints=dags.constraints)
        return edges.rsample((8,)) * permutation.rsample_mask((8,))

    A = torch.compile(draw, backend="aot_eager", fullgraph=True)(
        dags.order_logits, dags.edge_logits
    )
    A.sum().backward()
    assert bool(is_acyclic(A).all())
    assert bool(dags.order_logits.grad.isfinite().all())


def test_marginals_of_a_mixture_stay_probabilities() -> None:
    known = Knowledge(required=[(0, 1)])
    mixture = DAGMixture(DPDAG(3, batch_shape=(7,), knowledge=known)(), torch.full((7,), 1 / 7))
    assert mixture.edge_marginals[0, 1].item() == pytest.approx(1.0)
    assert mixture.edge_marginals.max() <= 1
