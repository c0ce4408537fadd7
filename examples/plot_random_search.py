"""
Settings drawn at random
========================

Sixty settings of a support vector machine are drawn at random. The logarithms of C and gamma are
uniformly distributed. All settings are compared on the same folds of 60 rows. The risk of the best
setting is the smallest of sixty estimates, so it is too small. The honest risk accounts for the
choice. (It was larger than the risk of the best setting in ten of twelve such searches.)
"""

import matplotlib.pyplot as plt
from scipy.stats import loguniform
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import truerisk as tr

X, y = tr.datasets.make_difficult(60, random_state=0)
model = make_pipeline(StandardScaler(), SVC())
space = {"svc__C": loguniform(0.01, 1000), "svc__gamma": loguniform(0.0001, 1)}
search = tr.HonestSearchCV(model, space, n_iter=60, cv="5-fold").fit(X, y)
print({name: f"{value:.3g}" for name, value in search.best_params_.items()})
print(f"selected risk {search.selected_risk_.value:.4f}; honest {search.risk_}")

# %%
# The figure shows every setting with its cross-validated risk. The best setting is marked by a
# ring.

settings = search.cv_results_["params"]
C, gamma = ([setting[f"svc__{name}"] for setting in settings] for name in ("C", "gamma"))
figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
points = axes.scatter(C, gamma, c=search.curve_.values, cmap="viridis_r", vmax=0.3)
best = C[search.best_index_], gamma[search.best_index_]
axes.scatter(*best, s=160, fc="none", ec="red")
axes.set(xscale="log", yscale="log", xlabel="C", ylabel="gamma")
promised, honest = search.selected_risk_.value, search.risk_.value
axes.set_title(f"The best of sixty, in red, promises {promised:.3f}; it keeps {honest:.3f}")
figure.colorbar(points, label="zero-one risk")
