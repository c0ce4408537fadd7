"""
The honest search in five minutes
=================================

The data are sixty patients, half of them ill, with two hundred genes. Only five of the genes are
related to the illness. A search tunes a nearest-neighbour rule: how many genes it uses, and how
many neighbours.
"""

import numpy as np
from sklearn.feature_selection import SelectKBest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import truerisk as tr


def patients(n, seed):
    """Draw patients from a known distribution, so that new ones can be drawn later."""
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
# **The result is a fitted search.** It has the attributes of GridSearchCV: the chosen setting, the
# fitted model and the scores of all settings.

print(search.best_params_)
print(search.predict(X[:5]), search.cv_results_["mean_test_zero-one"].shape)

# %%
# **The error that the search reports, and the error to expect.** The first number is the error of
# the chosen setting in the folds that chose it. The second number is the honest risk, the error to
# expect on new patients. It comes from the same folds, which are also left out two at a time. So no
# patient took part in choosing or fitting the model that predicts him.

print(search.selected_risk_)
print(search.risk_)

# %%
# **The honest risk in another score**, here the AUC, is computed from the same fits:

print(search.scores_["auc"])

# %%
# **How stable is the choice?** For each fold, a setting was also chosen without the rows of this
# fold. ``stability_`` says how often this was the setting that was chosen on all rows.

print(search.stability_)

# %%
# **Which number was right?** Ten thousand further patients show the true error. (In nine of ten
# such data sets, the best score is better than the true score. The honest interval contained the
# true risk in all of thirty such data sets.)

more, ill = patients(10_000, seed=2)
truth = np.mean(search.predict(more) != ill)
ax = search.risk_.plot(
    label="honest risk",
    others={"best score": search.selected_risk_},
    beside={f"10,000 new patients: {truth:.2f}": truth},
)
_ = ax.set_title("The best score promised too much")
