"""Sample DAGs and let gradients flow through them."""

import torch

from dpdag import DPDAG, Knowledge
from dpdag.ops.graphs import is_acyclic


def main() -> None:
    names = ["rain", "sprinkler", "grass", "shoes"]
    known = Knowledge(
        forbidden=[("grass", "rain")], tiers=[["rain"], ["sprinkler", "grass", "shoes"]]
    )
    dags = DPDAG(n_nodes=4, permutation="topk", knowledge=known, names=names)
    q = dags()
    A = q.rsample((1000,))
    print(f"{len(A)} sampled graphs, all acyclic: {bool(is_acyclic(A).all())}")
    print(
        f"frequency of rain → grass: {A[:, 0, 2].mean():.3f}, exact: {q.edge_marginals[0, 2]:.3f}"
    )

    print("\nLearning to sample a given DAG by the gradient of the squared error:")
    target = torch.tensor([[0.0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    optimiser = torch.optim.Adam(dags.parameters(), lr=0.1)
    for step in range(201):
        loss = (dags().rsample((32,)) - target).square().sum((-2, -1)).mean()
        if step % 50 == 0:
            print(f"  step {step:3d}  expected squared error {loss.item():.3f}")
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    print("\nMost likely graph:")
    for i, j in dags().mode.nonzero().tolist():
        print(f"  {names[i]:>9} → {names[j]:<9}  p = {dags().edge_marginals[i, j]:.3f}")


if __name__ == "__main__":
    main()
