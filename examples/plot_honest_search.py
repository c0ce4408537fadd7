"""
The honest search in five minutes
=================================

Sixty patients, half of them ill; two hundred genes, five of which know something. A search tunes
how many genes a nearest-neighbour rule looks at, and how many neighbours it asks.
"""

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
search = tr.HonestSearchCV(model, grid, scoring=["zero-one", "auc"]).fit(X, y)

# %%
# **It is a fitted search**, with what GridSearchCV has: the setting, the model, the scores of all
# settings.

print(search.best_params_)
print(search.predict(X[:5]), search.cv_results_["mean_test_zero-one"].shape)

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
# **Who was right?** Ten thousand further patients say. (The best score looks better than the truth
# on nine of ten such data sets; the honest interval held it on all of thirty.)

more, ill = patients(10_000, seed=2)
truth = np.mean(search.predict(more) != ill)
ax = search.risk_.plot(
    label="honest risk",
    others={"best score": search.selected_risk_},
    beside={f"10,000 new patients: {truth:.2f}": truth},
)
_ = ax.set_title("The best score promised too much")
