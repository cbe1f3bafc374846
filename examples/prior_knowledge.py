# %% [markdown]
# # What prior knowledge changes
#
# Linear functions with Gaussian noise fit equally well in both directions, so the data alone
# leave directions open. Knowing what comes first in time settles them.

# %%
import sys

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from dpdag import DAGPosterior, Knowledge

picture = sys.argv[1] if len(sys.argv) > 1 else "prior-knowledge.png"

rng = np.random.default_rng(0)
rows = 500
age = rng.normal(50, 10, rows)
weight = 60 + 0.3 * age + 5 * rng.normal(size=rows)
pressure = 90 + 0.5 * weight + 4 * rng.normal(size=rows)
dose = 0.05 * pressure + 0.4 * rng.normal(size=rows)
table = pd.DataFrame({"dose": dose, "pressure": pressure, "weight": weight, "age": age})

# %% [markdown]
# The same learner without knowledge, and with groups of columns in causal order.

# %%
known = Knowledge(tiers=[["age"], ["weight"], ["pressure", "dose"]])
learners = {
    "the data alone": DAGPosterior(random_state=0, verbose=False).fit(table),
    "with tiers": DAGPosterior(random_state=0, verbose=False, knowledge=known).fit(table),
}
for title, learner in learners.items():
    print(f"\n{title}:")
    probabilities = pd.DataFrame(learner.edge_probabilities_, table.columns, table.columns)
    print(probabilities.round(2))

# %% [markdown]
# Two opposite edges of probability one half are one edge of unknown direction. Dashed edges are
# not in the graph, but at least as probable as 0.2.

# %%
figure, both = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for axes, (title, learner) in zip(both, learners.items()):
    learner.plot(ax=axes, threshold=0.2)
    axes.set_title(title)
figure.savefig(picture, dpi=110)
print("picture:", picture)
