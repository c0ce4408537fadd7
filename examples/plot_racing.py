"""
A race leaves hopeless settings behind
======================================

A support vector machine is tuned over 30 pairs of C and gamma by ten folds. In a race, the folds
are fitted one after the other, and a setting that can hardly win any more is not fitted on further
folds. The honest risk is the risk of the race: the race is run again in every outer training set.
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

# By default a fast engine computes all settings of this learner at once, so that a race would save
# nothing. ``engine="generic"`` makes single fits, so that the race can run.
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
# Both searches choose the same setting. The honest risks are those of the race and of the search
# with all folds. The last line is a note about the race:

print(race.best_params_ == full.best_params_)
print(race.risk_)
print(full.risk_)
print(race.risk_.notes[1])
