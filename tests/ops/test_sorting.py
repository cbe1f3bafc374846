import torch

from dpdag.ops.enumeration import all_orders
from dpdag.ops.graphs import reachability
from dpdag.ops.precedence import precedence_mask, soft_precedence_mask
from dpdag.ops.sorting import constrained_argsort, soft_sort, soft_sort_mask, untangle


def random_partial_order(n: int, seed: int, density: float = 0.3) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    edges = (torch.rand(n, n, generator=generator) < density).triu(1)
    shuffle = torch.randperm(n, generator=generator)
    return reachability(edges[shuffle][:, shuffle])


def test_constrained_sort_respects_every_relation() -> None:
    for seed, n in enumerate([1, 2, 7, 70, 130]):  # beyond one and two machine words
        before = random_partial_order(n, seed, density=2 / n)
        scores = torch.randn(20, n, generator=torch.Generator().manual_seed(seed))
        mask = precedence_mask(constrained_argsort(scores, before))
        assert bool(mask[:, before].all())


def test_constrained_sort_without_relations_is_a_plain_sort() -> None:
    scores = torch.randn(50, 80, generator=torch.Generator().manual_seed(0))
    free = torch.zeros(80, 80, dtype=torch.bool)
    expected = scores.argsort(-1, descending=True)
    torch.testing.assert_close(constrained_argsort(scores, free), expected)


def test_constrained_sort_reaches_every_linear_extension() -> None:
    before = torch.zeros(4, 4, dtype=torch.bool)
    before[0, 3] = before[1, 3] = True
    orders = all_orders(4)
    extensions = orders[precedence_mask(orders)[:, before].all(-1)]
    scores = torch.randn(5000, 4, generator=torch.Generator().manual_seed(0))
    reached = torch.unique(constrained_argsort(scores, before), dim=0)
    torch.testing.assert_close(reached, torch.unique(extensions, dim=0))


def test_soft_sort_is_row_stochastic_and_hard_in_the_limit() -> None:
    scores = torch.randn(6, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    order = scores.argsort(-1, descending=True)
    soft = soft_sort(scores, order, temperature=0.7)
    torch.testing.assert_close(soft.sum(-1), torch.ones(6, 5, dtype=torch.float64))
    torch.testing.assert_close(soft.argmax(-1), order)
    hard = soft_sort(scores, order, temperature=1e-4)
    torch.testing.assert_close(hard, torch.nn.functional.one_hot(order).double())


def test_soft_sort_gradient() -> None:
    scores = torch.tensor([0.3, -1.0, 2.0, 0.9], dtype=torch.float64, requires_grad=True)
    order = scores.detach().argsort(descending=True)
    assert torch.autograd.gradcheck(lambda s: soft_sort(s, order, temperature=0.5), scores)


def test_untangle_makes_scores_descend_and_keeps_sorted_ones() -> None:
    scores = torch.randn(10, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    order = scores.argsort(-1, descending=True)
    torch.testing.assert_close(untangle(scores, order, margin=1.0), scores)
    other = torch.arange(6).expand(10, 6)
    assert bool((untangle(scores, other, margin=1.0).diff(dim=-1) <= 0).all())


def test_fused_mask_equals_soft_sort_followed_by_the_mask() -> None:
    generator = torch.Generator().manual_seed(3)
    scores = torch.randn(4, 7, dtype=torch.float64, generator=generator, requires_grad=True)
    order = scores.detach().argsort(-1, descending=True)
    upstream = torch.randn(4, 7, 7, dtype=torch.float64, generator=generator)
    plain = soft_precedence_mask(soft_sort(scores, order, temperature=0.6), order)
    fused = soft_sort_mask(scores, order, temperature=0.6)
    torch.testing.assert_close(fused, plain)
    (expected,) = torch.autograd.grad(plain, scores, upstream)
    (actual,) = torch.autograd.grad(fused, scores, upstream)
    torch.testing.assert_close(actual, expected)
