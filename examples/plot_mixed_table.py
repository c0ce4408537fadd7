"""
A mixed table
=============

Real tables contain numbers, words and missing values. The honest risk is the risk of the whole
pipeline: imputing, encoding and tuning are repeated in every training set.
"""

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
score = 0.06 * table.months - 0.0012 * table.income - 1.6 * (table.savings == "much")
late = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "late", "paid")
table.loc[rng.random(n) < 0.1, "income"] = np.nan
table.loc[rng.random(n) < 0.1, "savings"] = None

found = tr.assess(["logistic", "lda", "tree"], table, late, scoring=["zero-one", "auc"])
print(found)

# %%
# The figure shows, for each learner, the risk that tuning has minimised, and the risk to expect,
# with its interval:

ax = found.plot()
_ = ax.set_title("Numbers, words and gaps: all three beat guessing")
