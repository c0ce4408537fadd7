"""
LightGBM: how many trees?
=========================

LightGBM is tuned over the number of trees and the number of leaves. The setting with the smallest
cross-validated loss is chosen. Which loss can you expect of the tuned model on new rows? And does
early stopping, which finds the number of trees within each fit, do better?
"""

import matplotlib.pyplot as plt
from lightgbm import LGBMClassifier
from sklearn.metrics import log_loss

import truerisk as tr

X, y = tr.datasets.make_difficult(400, random_state=1)
trees, leaves = [10, 25, 50, 100, 200], [3, 7, 31]
grid = {"n_estimators": trees, "num_leaves": leaves}
booster = LGBMClassifier(learning_rate=0.1, random_state=0, n_jobs=1, verbose=-1)
search = tr.HonestSearchCV(booster, grid, scoring="log").fit(X, y)
print(search.best_params_)
print(search.selected_risk_)
print(search.risk_)

# %%
# **Every setting, and the tuned model.** Small trees need many rounds, and large trees soon fit the
# noise. The five numbers of trees together cost one fit in each training set, because a LightGBM
# with 200 trees begins with the trees of a LightGBM with 100 trees. The data are simulated, so the
# loss on 20,000 new rows is known. (The honest interval contained it in 19 of 20 such tables.)

new, truth = tr.datasets.make_difficult(20_000, random_state=99)
true_loss = log_loss(truth, search.predict_proba(new))
best, honest = search.selected_risk_.value, search.risk_
fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
losses = search.curve_.values.reshape(len(trees), len(leaves))
for n_leaves, column in zip(leaves, losses.T, strict=True):
    ax.plot(trees, column, "o-", label=f"{n_leaves} leaves")
ax.vlines(400, honest.interval.low, honest.interval.high, color="C4", linewidth=2)
ax.plot(400, honest.value, "s", color="C4", label="honest, with its interval")
ax.axhline(true_loss, color="C3", linestyle="--", label="tuned, on 20,000 new rows")
ax.set(xscale="log", xlabel="trees", ylabel="log loss")
ax.set_xticks([*trees, 400], [*trees, "tuned"])
ax.minorticks_off()
ax.set_title(f"The best setting promises {best:.3f}; expect {honest.value:.3f}")
_ = ax.legend(frameon=False, fontsize="small")

# %%
# **Early stopping.** ``EarlyStopping`` sets a tenth of each training set aside, and adds trees
# until the loss on these rows no longer improves. No test row decides when a fit ends. The 400 rows
# do not show which way is better: the interval of the difference contains zero. (On new rows, the
# grid was better in 18 of 20 such tables. Early stopping trains on nine tenths of the rows.)

model = tr.models.EarlyStopping(booster.set_params(n_estimators=1_000), random_state=0)
stopped = tr.HonestSearchCV(model, {"estimator__num_leaves": leaves}, scoring="log").fit(X, y)
print(stopped.best_params_, "with", stopped.best_estimator_.n_trees_, "trees")
print(stopped.risk_)
print("early stopping − grid:", tr.compare(stopped, search).interval)
