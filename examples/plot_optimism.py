"""
The score that was maximised flatters
=====================================

The labels below are tosses of a coin, so every rule has the true risk 1/2. Nearest neighbours are
tuned over 20 settings on 40 rows, thirty times. The risk that the search minimised lies below 1/2
in nearly every run. The risk of the procedure, estimated by nested cross-validation, does not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

grid = {"n_neighbors": list(range(1, 21))}
selected, honest = [], []
for seed in range(30):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 5)), np.arange(40) % 2
    search = tr.HonestSearchCV(
        KNeighborsClassifier(), grid, select_by="5-fold", outer="5-fold", random_state=seed
    ).fit(X, y)
    selected.append(search.selected_risk_.value)
    honest.append(search.risk_.value)

figure, axes = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
axes.boxplot([honest, selected], orientation="horizontal", widths=0.6)
axes.set_yticks([1, 2], ["risk_", "selected_risk_"])
axes.axvline(0.5, linewidth=1, linestyle="--", color="0.5")
axes.set_xlabel("estimated zero-one risk (truth: 0.5)")

# %%
# The means over the thirty runs:

print(f"selected_risk_ {np.mean(selected):.3f}   risk_ {np.mean(honest):.3f}   truth 0.5")
