"""
The picture everyone should see
===============================

In this example the labels have nothing to do with the features, so every rule has the true risk
1/2. Forty data sets of 40 rows are drawn, and nearest neighbours are tuned over 20 settings on each
of them. The error that the search reports for its best setting is below 1/2 in nearly every run.
The risk of the whole procedure, estimated by nested cross-validation, varies around 1/2, and its
intervals show how little forty rows say about the risk.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

grid = {"n_neighbors": list(range(1, 21))}
rows = []
for seed in range(40):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 5)), np.arange(40) % 2
    search = tr.HonestSearchCV(
        KNeighborsClassifier(), grid, cv="5-fold", outer="5-fold", random_state=seed
    ).fit(X, y)
    interval = search.risk_.interval
    rows.append((search.selected_risk_.value, search.risk_.value, interval.low, interval.high))
best, honest, low, high = np.array(sorted(rows)).T

figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
place = np.arange(40)
axes.vlines(place, low, high, color="C0", alpha=0.3, linewidth=4)
axes.plot(place, honest, "o", color="C0", markersize=4, label="honest risk, 95 % interval")
axes.plot(place, best, "o", color="C1", markersize=4, label="best score of the search")
axes.axhline(0.5, linewidth=1, linestyle="--", color="0.4")
axes.set(ylim=(0, 1), ylabel="share of wrong labels (truth: 0.5)", xticks=[])
axes.set_xlabel("forty data sets without any signal, by their best score")
axes.legend(loc="upper left", ncols=2)

# %%
# Here are the means over the forty runs. The best score and the honest interval are also counted
# where they lie below one half, which would suggest that something was learned:

print(f"best score   mean {best.mean():.3f}, below one half in {np.sum(best < 0.5)} of 40")
print(f"honest risk  mean {honest.mean():.3f}, its interval below one half in {np.sum(high < 0.5)}")
print(f"the intervals hold one half in {np.sum((low <= 0.5) & (high >= 0.5))}")
