# %% [markdown]
# # Interventions and counterfactuals on a learned model
#
# Observational data of a dose that is given by severity: the sicker get more. Seeing a high dose
# therefore means something else than giving one.

# %%
import sys

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from dpdag import DAGPosterior

picture = sys.argv[1] if len(sys.argv) > 1 else "interventions.png"
rng = np.random.default_rng(0)


def simulate(rows, do_dose=None):
    """The truth, which the learner does not know."""
    severity = rng.normal(2, 0.8, rows)
    dose = 3 * np.tanh(severity - 2) + 5 + 1.5 * rng.normal(size=rows)
    dose = dose if do_dose is None else np.full(rows, do_dose)
    symptoms = severity**2 - 0.5 * dose + 4 + 0.4 * rng.normal(size=rows)
    return pd.DataFrame({"severity": severity, "dose": dose, "symptoms": symptoms})


table = simulate(800)
learner = DAGPosterior(random_state=0, verbose=False).fit(table)
print(learner.to_edges().round(3).to_string(index=False))

# %% [markdown]
# Seeing: patients with higher doses have more symptoms. Doing: a higher dose lowers them.

# %%
doses = np.linspace(1, 9, 9)
seen, learned, true = [], [], []
for dose in doses:
    near = table[(table["dose"] - dose).abs() < 0.5]
    seen.append(near["symptoms"].mean())
    drawn = learner.sample(4000, do={"dose": dose}, random_state=0)
    learned.append(drawn["symptoms"].mean())
    true.append(simulate(4000, do_dose=dose)["symptoms"].mean())
curves = pd.DataFrame({"dose": doses, "seen": seen, "do, learned": learned, "do, true": true})
print(curves.round(2).to_string(index=False))

# %%
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(doses, seen, "o:", color="0.5", label="seen at this dose")
axes.plot(doses, true, "-", color="#1b2330", label="given this dose (true)")
axes.plot(doses, learned, "s--", color="#c2571a", label="given this dose (learned)")
axes.set(xlabel="dose", ylabel="mean symptoms")
axes.legend(frameon=False)
figure.savefig(picture, dpi=110)
print("picture:", picture)

# %% [markdown]
# Counterfactuals: the same three patients, their own noise kept, had they got a dose of 9.

# %%
patients = table.head(3)
otherwise = learner.counterfactual(patients, do={"dose": 9.0})
print(pd.concat({"was": patients, "would have been": otherwise}, axis=1).round(2).to_string())
