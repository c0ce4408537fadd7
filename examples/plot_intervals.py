"""
Intervals that keep their promise
=================================

A 95 % interval promises to contain the true risk on 95 of 100 data sets. This example draws a
hundred data sets of sixty rows from a problem whose true risk is known, and tunes nearest
neighbours over ten settings. The left figure shows the interval of the honest risk. The right
figure shows the usual interval: the mean of the fold scores by which the search chose its setting,
± 1.96 times the standard error of this mean, computed from the standard deviation of the fold
scores.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

problem, n = tr.datasets.make_simple, 100
grid = {"n_neighbors": list(range(1, 21, 2))}
honest, usual, truth = np.empty((n, 2)), np.empty((n, 2)), np.empty(n)
for seed in range(n):
    X, y = problem(60, random_state=seed)
    search = tr.HonestSearchCV(KNeighborsClassifier(), grid, random_state=seed).fit(X, y)
    truth[seed] = problem.true_risk(search, n_test=5_000).value
    honest[seed] = search.risk_.interval.low, search.risk_.interval.high
    kept, K = search.cv_results_, search.n_splits_
    folds = 1 - np.array([kept[f"split{k}_test_score"][search.best_index_] for k in range(K)])
    half = 1.96 * folds.std(ddof=1) / np.sqrt(K)
    usual[seed] = folds.mean() - half, folds.mean() + half

figure, both = plt.subplots(1, 2, figsize=(6.4, 5.4), sharey=True, layout="constrained")
order = np.argsort(truth)
for axes, ends, name in zip(both, (honest, usual), ("honest", "usual"), strict=True):
    low, high = ends[order].T
    holds = (low <= truth[order]) & (truth[order] <= high)
    place = np.arange(n)
    axes.hlines(place[holds], low[holds], high[holds], color="C0", alpha=0.6, linewidth=1.5)
    axes.hlines(place[~holds], low[~holds], high[~holds], color="C1", linewidth=1.5)
    axes.plot(truth[order], place, "k.", markersize=2)
    axes.set(title=f"{name}: {holds.mean():.0%} hold the truth", xlim=(-0.05, 0.55), yticks=[])
    axes.set_xlabel("share of wrong labels")
both[0].set_ylabel("data sets, by their truth (black); orange intervals miss it")

# %%
# A hundred data sets suffice to distinguish a coverage of 95 % from 80 %, but not from 92 %,
# because such a share has a standard error of two percentage points. `The coverage
# <../intervals.html>`__ of every interval was measured on thousands of data sets, from problems
# that were chosen to be hard. The price of a higher coverage is a wider interval:

for name, ends in {"honest": honest, "usual": usual}.items():
    print(f"{name}: mean width {np.ptp(ends, axis=1).mean():.3f}")
