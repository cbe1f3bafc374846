# %% [markdown]
# # The Sachs protein network
#
# Eleven proteins measured in 853 human immune cells. The network that was published with the
# data has 17 edges. How much of it can be learned from the measurements alone?

# %%
import sys

import matplotlib

matplotlib.use("agg")
import pandas as pd

from dpdag import DAGPosterior, datasets, metrics

picture = sys.argv[1] if len(sys.argv) > 1 else "sachs-learned.png"

data = datasets.load("Sachs")
learner = DAGPosterior(random_state=0, verbose=False).fit(data.frame)

# %% [markdown]
# Which functions and which noise hold the evidence of every column that has causes:

# %%
for part in ("functions", "noise"):
    weights = {own["column"]: own[part] for own in learner.choice_ if own["parents"]}
    print(pd.DataFrame(weights).T.round(2).to_string())

# %% [markdown]
# How well are the edges ranked, and how far is the graph from the consensus?

# %%
ranking = metrics.edge_auc(learner.edge_scores_, data.adjacency)
print({name: round(value, 3) for name, value in ranking.items()})

report = metrics.edge_report(data.adjacency, learner.adjacency_)
print(
    f"{learner.adjacency_.sum()} edges learned: {report.true_positives} as in the consensus, "
    f"{report.reversed} reversed, {report.false_positives - report.reversed} not in it"
)
print("structural Hamming distance:", metrics.shd(data.adjacency, learner.adjacency_))

# %% [markdown]
# Edge by edge:

# %%
edges = learner.to_edges()
known = set(data.graph.edges)
edges["consensus"] = [
    "yes" if (a, b) in known else "reversed" if (b, a) in known else "no"
    for a, b in zip(edges["source"], edges["target"])
]
print(edges.round(3).to_string(index=False))

# %% [markdown]
# And as a picture: wider and darker edges are more probable.

# %%
axes = learner.plot()
axes.figure.savefig(picture, dpi=110)
print("picture:", picture)
