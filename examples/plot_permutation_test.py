"""
Has anything been learned?
==========================

This example fits a tuned search on forty rows, and repeats it on two hundred permutations of the
labels. Tuning and testing are repeated for each permutation. The p-value is the share of
permutations whose risk is at most the observed risk; the observed labels count as one of the
permutations. In the left figure, two of the six columns are related to the class. In the right
figure, no column is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

grid = {"n_neighbors": [1, 3, 5, 9, 15]}
rng = np.random.default_rng(0)
y = np.arange(40) % 2
noise = rng.standard_normal((40, 6))
signal = noise + 2 * y[:, None] * [1, 1, 0, 0, 0, 0]

figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for ax, X, name in zip(axes, [signal, noise], ["two columns know", "noise alone"], strict=True):
    search = tr.HonestSearchCV(KNeighborsClassifier(), grid, cv=5)
    found = tr.permutation_test(search, X, y, n_permutations=200)
    print(name, found)
    found.plot(ax=ax)
    ax.set(title=f"{name}: p = {found.p_value:.3f}", xlim=(0, 0.85))
