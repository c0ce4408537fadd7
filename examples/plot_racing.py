"""
A race leaves hopeless settings behind
======================================

Support vectors are tuned over 30 pairs of C and gamma by ten folds. In a race a setting that can
hardly win any more is fitted on no further fold. The honest risk is that of the race: in every
outer training set it is run again.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import truerisk as tr

X, y = load_wine(return_X_y=True)
C, gamma = np.logspace(-2, 2, 5), np.logspace(-4, 1, 6)
grid = {"svc__C": C.tolist(), "svc__gamma": gamma.tolist()}
model = make_pipeline(StandardScaler(), SVC())

# An engine answers this learner's settings at once, so the race is asked for by name.
race = tr.HonestSearchCV(model, grid, cv="racing", engine="generic").fit(X, y)
full = tr.HonestSearchCV(model, grid).fit(X, y)

folds = race.cv_results_["n_resources"].reshape(len(C), len(gamma))
figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
picture = axes.imshow(folds, cmap="Blues", vmin=0, vmax=10, aspect="auto")
for (row, column), n in np.ndenumerate(folds):
    axes.text(column, row, n, ha="center", va="center", color="white" if n > 5 else "black")
axes.set_xticks(range(len(gamma)), [f"{g:g}" for g in gamma])
axes.set_yticks(range(len(C)), [f"{c:g}" for c in C])
figure.colorbar(picture, label="folds that a setting was rated on")
axes.set(xlabel="gamma", ylabel="C", title="Most settings leave the race after one of ten folds")

# %%
# The same choice, and the honest risk of each way of choosing:

print(race.best_params_ == full.best_params_)
print(race.risk_)
print(full.risk_)
print(race.risk_.notes[1])
