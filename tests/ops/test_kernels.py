"""Kernels do what the tensor operations do that they stand in for.

On a GPU, or on a CPU in Triton's interpreter, with ``TRITON_INTERPRET=1`` in the environment.
"""

import os
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from dpdag import DPDAG
from dpdag.distributions import Constraints, DAGDistribution
from dpdag.ops import matching as module
from dpdag.ops.dags import dags_by_seeds
from dpdag.ops.enumeration import all_dags
from dpdag.ops.graphs import is_acyclic
from dpdag.ops.matching import matching, sinkhorn
from dpdag.ops.sorting import soft_sort_mask
from dpdag.ops.straight_through import hard_sigmoid

triton = pytest.importorskip("triton", reason="needs Triton")
tl = pytest.importorskip("triton.language")

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
if not (INTERPRETED or torch.cuda.is_available()):
    pytest.skip("needs a GPU or TRITON_INTERPRET=1", allow_module_level=True)
pytestmark = [] if INTERPRETED else [pytest.mark.gpu]

from dpdag.ops.kernels.draw import perturbed_scores  # noqa: E402
from dpdag.ops.kernels.log_sums import log_sums  # noqa: E402
from dpdag.ops.kernels.matching import assign, optimality_gap  # noqa: E402
from dpdag.ops.kernels.random import edge_uniforms, tile_width  # noqa: E402

DEVICE = "cpu" if INTERPRETED else "cuda"
SIZES = [1, 5, 40, 132] if INTERPRETED else [1, 5, 40, 100, 132, 517]


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(DEVICE)


@triton.jit
def _write(out, seeds, n, n_seeds, n_tiles, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    draw, tile = tl.program_id(0), tl.program_id(2)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    column = tile * WIDTH + tl.arange(0, WIDTH)
    seed = tl.load(seeds + draw % n_seeds)
    value = edge_uniforms(seed, draw // n_seeds, row, tile, n_tiles, ROWS, WIDTH)
    place = draw * n * n + row[:, None] * n + column[None, :]
    tl.store(out + place, value, mask=(row < n)[:, None] & (column < n)[None, :])


def uniforms(n: int, seeds: Tensor, draws: int) -> Tensor:  # (draws, n, n)
    """The numbers behind the edges."""
    out = torch.empty(draws, n, n, device=DEVICE)
    width = tile_width(n)
    n_tiles = -(-n // width)
    grid = (draws, -(-n // 16), n_tiles)
    _write[grid](out, seeds, n, len(seeds), n_tiles, ROWS=16, WIDTH=width)
    return out.double()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("seeds", [[3], [3, 4]])
@pytest.mark.parametrize("edge_tau", [1.0, 1.3])
def test_dags_and_gradients_are_those_of_the_noise(
    n: int, seeds: list[int], edge_tau: float
) -> None:
    batch, samples, tau = 2, 2, 0.7
    seed = torch.tensor(seeds, device=DEVICE)
    psi, phi = normal(batch, n).requires_grad_(), normal(batch, n, n, seed=1).requires_grad_()
    upstream = normal(samples, batch, n, n, seed=2)
    A = dags_by_seeds(psi, phi, seed, (samples,), temperature=tau, edge_temperature=edge_tau)
    actual = torch.autograd.grad(A, (psi, phi), upstream)

    draws = samples * batch
    scores = perturbed_scores(psi.detach(), seed, draws).reshape(samples, batch, n)
    uniform = uniforms(n, seed, draws).reshape(samples, batch, n, n)
    psi64, phi64 = (x.detach().double().requires_grad_() for x in (psi, phi))
    order = scores.argsort(dim=-1, descending=True, stable=True)
    mask = soft_sort_mask(psi64 + (scores - psi64.detach()), order, temperature=tau)
    loops = torch.eye(n, dtype=torch.bool, device=DEVICE)
    noise = torch.log1p(-uniform) - uniform.log()
    expected = hard_sigmoid(phi64.masked_fill(loops, -torch.inf), noise, mask, temperature=edge_tau)
    torch.testing.assert_close(A.double(), expected)
    gradients = torch.autograd.grad(expected, (psi64, phi64), upstream.double())
    for one, two in zip(actual, gradients):
        torch.testing.assert_close(one.double(), two, atol=1e-4, rtol=1e-4)


def test_a_gradient_that_is_one_number_everywhere_needs_no_memory_of_its_own() -> None:
    psi, phi = normal(1, 6).requires_grad_(), normal(1, 6, 6).requires_grad_()
    seeds = torch.tensor([1], device=DEVICE)
    dense = torch.autograd.grad(dags_by_seeds(psi, phi, seeds, (3,)).mul(1).sum(), (psi, phi))
    expanded = torch.autograd.grad(dags_by_seeds(psi, phi, seeds, (3,)).sum(), (psi, phi))
    torch.testing.assert_close(expanded, dense)


def test_random_numbers_are_uniform_and_independent() -> None:
    values = uniforms(120, torch.tensor([0, 1], device=DEVICE), 4).cpu()
    counts = torch.histc(values.float(), 64, 0.0, 1.0)
    expected = values.numel() / 64
    chi2 = float(((counts - expected) ** 2 / expected).sum())
    assert 30 < chi2 < 115  # 63 degrees of freedom: mean 63, standard deviation 11
    centred = (values - 0.5) * 12**0.5
    for axis, shift in ((-1, 1), (-1, 4), (-1, 32), (-2, 1), (0, 1), (0, 2)):
        products = centred * centred.roll(shift, axis)
        assert abs(float(products.mean())) < 4.5 / values.numel() ** 0.5


def test_gumbel_noise_has_its_moments() -> None:
    scores = perturbed_scores(
        torch.zeros(2, 5000, device=DEVICE), torch.tensor([7], device=DEVICE), 4
    )
    assert abs(float(scores.mean()) - 0.5772) < 4.5 * 1.2825 / 20_000**0.5
    assert float(scores.std()) == pytest.approx(1.2825, abs=0.03)
    assert len(scores.unique()) > 19_900


def distribution(n: int) -> DAGDistribution:
    dags = DPDAG(n).to(DEVICE).requires_grad_(False)
    dags.order_logits.copy_(normal(n))
    dags.edge_logits.copy_(normal(n, n, seed=1))
    return dags()


def test_samples_have_the_marginals_and_the_precedence_of_the_distribution() -> None:
    q, draws = distribution(4), 300 if INTERPRETED else 100_000
    assert q.seeded
    A = q.sample((draws,), generator=torch.Generator(DEVICE).manual_seed(0))
    p = q.edge_marginals
    error = (p * (1 - p) / draws).sqrt().clamp_min(1e-9)
    assert float(((A.mean(0) - p) / error).abs().max()) < 4.5
    if not INTERPRETED:  # where every edge is there, the graph is the order
        sure = DPDAG(4).to(DEVICE).requires_grad_(False)
        sure.order_logits.copy_(q.permutation.logits)
        sure.edge_logits.fill_(torch.inf)
        before = sure().sample((draws,)).mean(0)
        p = q.precedence_probabilities
        error = (p * (1 - p) / draws).sqrt().clamp_min(1e-9)
        assert float(((before - p) / error).abs().max()) < 4.5


@pytest.mark.skipif(INTERPRETED, reason="takes more draws than the interpreter makes")
def test_samples_have_the_joint_frequencies_of_the_distribution() -> None:
    q, draws = distribution(3), 400_000
    graphs = all_dags(3).to(DEVICE).float()
    p = q.log_prob(graphs).exp()
    code = 2 ** torch.arange(9, device=DEVICE, dtype=torch.float32).reshape(3, 3)
    seen = (q.sample((draws,)) * code).sum((-2, -1))
    counts = (seen[:, None] == (graphs * code).sum((-2, -1))).sum(0)
    chi2 = float(((counts - draws * p) ** 2 / (draws * p)).sum())
    assert chi2 < len(p) + 5 * (2 * len(p)) ** 0.5


def test_the_same_generator_draws_the_same_dags_with_and_without_gradients() -> None:
    dags = DPDAG(5, batch_shape=(2,)).to(DEVICE)

    def draw(seed: int) -> Tensor:
        return dags().rsample((3,), generator=torch.Generator(DEVICE).manual_seed(seed))

    one = draw(0)
    assert torch.equal(one, draw(0))
    assert not torch.equal(one, draw(1))
    plain = dags().sample((3,), generator=torch.Generator(DEVICE).manual_seed(0))
    assert torch.equal(one, plain)
    assert bool(is_acyclic(one).all())


def test_a_batch_item_with_a_seed_of_its_own_ignores_the_others() -> None:
    psi, phi = normal(3, 5), normal(3, 5, 5)
    seeds = torch.tensor([5, 6, 7], device=DEVICE)
    together = dags_by_seeds(psi, phi, seeds, (2,))
    alone = dags_by_seeds(psi[1:2], phi[1:2], seeds[1:2], (2,))
    assert torch.equal(together[:, 1:2], alone)


@pytest.mark.filterwarnings("ignore:overflow encountered")  # the interpreter's, on the way to σ = 0
def test_extreme_logits_are_obeyed() -> None:
    n = 6
    phi = torch.full((n, n), torch.inf, device=DEVICE)
    phi[0, 3] = -torch.inf
    psi = torch.tensor([1e30, 1e8, 1e8, 0.0, -1e8, -1e30], device=DEVICE).requires_grad_()
    phi.requires_grad_()
    A = dags_by_seeds(psi, phi, torch.tensor([0], device=DEVICE), (4,))
    expected = torch.ones(n, n, device=DEVICE).triu(1)
    expected[0, 3] = 0
    assert bool((expected == A).all())
    for gradient in torch.autograd.grad(A.sum(), (psi, phi)):
        assert bool(gradient.isfinite().all())


def test_knowledge_of_the_order_keeps_to_the_tensor_operations() -> None:
    n = 4
    before = torch.zeros(n, n, dtype=torch.bool, device=DEVICE)
    allowed = ~torch.eye(n, dtype=torch.bool, device=DEVICE)
    free = Constraints(allowed=allowed, required=before, before=before, orders=False)
    assert DPDAG(n, knowledge=free).to(DEVICE)().seeded
    before[0, 1] = True
    assert not DPDAG(n, knowledge=replace(free, before=before, orders=True)).to(DEVICE)().seeded
    assert not DPDAG(n, dtype=torch.float64).to(DEVICE)().seeded


@pytest.mark.parametrize("n", [1, 2, 7, 24] if INTERPRETED else [1, 2, 7, 100, 500])
def test_matchings_are_the_best_and_proved_so(n: int) -> None:
    x = normal(3, n, n)
    columns, gap = assign(x)
    best = module._on_the_host(x)
    totals = [x.double().gather(-1, c.unsqueeze(-1)).sum() for c in (columns, best)]
    torch.testing.assert_close(*totals)
    assert float(gap.max()) < 1e-9
    assert torch.equal(matching(x), columns)


def test_an_unproved_matching_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    x = normal(2, 5, 5)
    best = matching(x)

    def doubtful(matrices: Tensor) -> tuple[Tensor, Tensor]:
        columns = torch.arange(5, device=DEVICE).expand(2, 5).clone()
        return columns, torch.tensor([1.0, torch.inf], device=DEVICE)

    monkeypatch.setattr("dpdag.ops.kernels.matching.assign", doubtful)
    assert torch.equal(matching(x), best)


def test_the_bound_sees_a_worse_matching() -> None:
    x = normal(1, 6, 6)
    columns, _ = assign(x)
    worse = columns.roll(1, -1)
    prices = torch.zeros(1, 6, dtype=torch.float64, device=DEVICE)
    lost = x.gather(-1, columns.unsqueeze(-1)).sum() - x.gather(-1, worse.unsqueeze(-1)).sum()
    assert float(optimality_gap(x, worse, prices)) >= float(lost)
    assert float(optimality_gap(x, torch.zeros_like(columns), prices)) == torch.inf


@pytest.mark.parametrize("n", [1, 3, 70])
def test_log_sums_over_rows_and_columns(n: int) -> None:
    x, shift = 3 * normal(2, n, n), normal(2, n, seed=1)
    torch.testing.assert_close(log_sums(x, shift), (x + shift.unsqueeze(-2)).logsumexp(-1))
    torch.testing.assert_close(log_sums(x.mT, shift), (x.mT + shift.unsqueeze(-2)).logsumexp(-1))


def test_sinkhorn_is_the_same_in_double_precision_without_kernels() -> None:
    x = normal(2, 8, 8).requires_grad_()
    x64 = x.detach().double().requires_grad_()
    soft, plain = sinkhorn(x, tolerance=1e-6), sinkhorn(x64, tolerance=1e-6)
    torch.testing.assert_close(soft.double(), plain, atol=1e-5, rtol=1e-4)
    weight = normal(8, 8, seed=1)
    (one,) = torch.autograd.grad((soft * weight).sum(), x)
    (two,) = torch.autograd.grad((plain * weight.double()).sum(), x64)
    torch.testing.assert_close(one.double(), two, atol=1e-5, rtol=1e-3)
