"""
The honest search in five minutes
=================================

Sixty patients, half of them ill; two hundred genes, five of which know something. A search tunes
how many genes a nearest-neighbour rule looks at, and how many neighbours it asks.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import SelectKBest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import truerisk as tr


def patients(n, seed):
    """Rows of a known problem: new ones can be drawn to see who was right."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, 200))
    X[:, :5] += 0.6 * y[:, None]
    return X, y


X, y = patients(60, seed=0)
model = make_pipeline(SelectKBest(), KNeighborsClassifier())
genes, neighbours = [1, 2, 5, 10, 20, 50], [1, 3, 5, 9, 15]
grid = {"selectkbest__k": genes, "kneighborsclassifier__n_neighbors": neighbours}
search = tr.HonestSearchCV(model, grid, scores=["auc"]).fit(X, y)

# %%
# **It is a fitted search**, with what GridSearchCV has: the setting, the model, the scores of all
# settings.

print(search.best_params_)
print(search.predict(X[:5]), search.cv_results_["mean_test_score"].shape)

# %%
# **What the search would have you believe**, and **what to expect** of the model on new patients.
# The second number comes from the same folds, left out in pairs, so that no patient took part in
# choosing or fitting the model that is asked about him.

print(search.selected_risk_)
print(search.risk_)

# %%
# **In other scores**, from the same fits:

print(search.scores_["auc"])

# %%
# **How firm the choice is**: the folds chose anew without the rows that they test.

print(search.stability_)

# %%
# **Who was right?** Ten thousand further patients say:

more, ill = patients(10_000, seed=1)
truth = np.mean(search.predict(more) != ill)
figure, axes = plt.subplots(figsize=(6.4, 1.9), layout="constrained")
for place, (risk, colour) in enumerate([(search.risk_, "C0"), (search.selected_risk_, "C1")]):
    ends = risk.interval
    axes.plot([ends.low, ends.high], [place, place], color=colour, alpha=0.4, linewidth=6)
    axes.plot(risk.value, place, "o", color=colour)
axes.axvline(truth, linestyle="--", color="0.4")
axes.text(truth, 1.42, f" the truth: {truth:.2f}", color="0.4")
axes.set_yticks([0, 1], ["honest risk", "best score"])
axes.set(ylim=(-0.5, 1.8), xlim=(0, 0.7), xlabel="share of wrong labels, 95 % interval")
