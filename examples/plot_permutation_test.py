"""
Has anything been learned?
==========================

A tuned search on forty rows, and the same search on a hundred permutations of the labels: tuning
and testing are done again on each. The p-value is the share of permutations, the observed labels
among them, that do as well.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

grid = {"n_neighbors": [1, 3, 5, 9, 15]}
rng = np.random.default_rng(0)
y = np.arange(40) % 2
noise = rng.standard_normal((40, 6))
signal = noise + 1.5 * y[:, None] * [1, 0, 0, 0, 0, 0]

figure, axes = plt.subplots(1, 2, figsize=(6.4, 2.4), sharex=True, layout="constrained")
for axis, X, name in zip(axes, [signal, noise], ["one column knows", "noise"], strict=True):
    search = tr.HonestSearchCV(KNeighborsClassifier(), grid, cv=5)
    found = tr.permutation_test(search, X, y, n_permutations=200)
    print(name, found)
    axis.hist(found.null, bins=15, color="0.75")
    axis.axvline(found.observed, color="C0", linewidth=2)
    axis.set_title(f"{name}: p = {found.p_value:.3f}")
    axis.set_xlabel("honest risk")
