"""
A mixed table
=============

Numbers, words and gaps, as tables are. The honest risk is that of the whole pipeline: imputing,
encoding and tuning are repeated wherever rows are left out.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import truerisk as tr

rng = np.random.default_rng(0)
n = 500
table = pd.DataFrame(
    {
        "income": rng.lognormal(7.5, 0.6, n),
        "age": rng.integers(19, 75, n).astype(float),
        "months": rng.integers(4, 60, n),
        "job": rng.choice(["none", "unskilled", "skilled", "manager"], n, p=[0.1, 0.3, 0.4, 0.2]),
        "savings": rng.choice(["little", "some", "much"], n),
    }
)
score = 0.03 * table.months - 0.0006 * table.income - 0.8 * (table.savings == "much")
late = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "late", "paid")
table.loc[rng.random(n) < 0.1, "income"] = np.nan
table.loc[rng.random(n) < 0.1, "savings"] = None

found = tr.assess(["logistic", "lda", "tree"], table, late, scores=["auc"])
print(found)

# %%
# What was minimised, and what to expect, with its interval:

figure, axes = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
for place, learner in enumerate(found.learners.values()):
    honest, selected = learner.risk, learner.selected
    axes.plot(
        [honest.interval.low, honest.interval.high], [place, place], color="C0", alpha=0.4, lw=5
    )
    axes.plot(honest.value, place, "o", color="C0", label="honest" if place == 0 else None)
    axes.plot(selected.value, place, "o", color="C1", label="best score" if place == 0 else None)
axes.set_yticks(range(len(found.learners)), list(found.learners))
axes.axvline(found.constant.risk, linestyle="--", linewidth=1, color="0.5")
axes.set_xlabel("share of wrong labels (dashed: always the more frequent one)")
axes.legend()
