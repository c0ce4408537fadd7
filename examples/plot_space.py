"""
Folds in space
==============

Rows near each other are alike. With random folds, a row is tested by a model that was trained on
the neighbours of the row. This shows how well the model predicts among the places it was trained
on, and not how well it predicts elsewhere. This example simulates thirty fields over a square. The
western half of each field is sampled, and the model will be used in the eastern half.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

ways = {"random folds": "5-fold", "blocks": "blocks-5", "buffered": tr.methods.Buffered(0.12)}
field = tr.datasets.FieldProblem(range=0.15)
low, high, truth = np.empty((3, 30)), np.empty((3, 30)), np.empty(30)
for seed in range(30):
    X, y = field(1200, random_state=seed)
    places, west = X[:, :2], X[:, 0] < 0.5
    sample = west.nonzero()[0][:300]
    model = KNeighborsClassifier(15).fit(X[sample], y[sample])
    truth[seed] = np.mean(model.predict(X[~west]) != y[~west])
    for way, method in enumerate(ways.values()):
        block = None if method == "5-fold" else places[sample]
        risk = tr.estimate_risk(model, X[sample], y[sample], cv=method, block=block)
        low[way, seed], high[way, seed] = risk.interval.low, risk.interval.high

# %%
# Errors at nearby places are correlated, so 300 rows contain as much information as a few dozen
# independent rows. Random folds do not know the places. Their risk is too small for places outside
# the sampled half, and their interval is too narrow. The intervals of blocks and of buffered folds
# are as wide as they must be.

order, place = np.argsort(truth), np.arange(30)
figure, panels = plt.subplots(1, 3, figsize=(9, 4), sharex=True, sharey=True, layout="constrained")
for ax, name, left, right in zip(panels, ways, low[:, order], high[:, order], strict=True):
    holds = (left <= truth[order]) & (truth[order] <= right)
    ax.hlines(place, left, right, color=np.where(holds, "C0", "C1"), linewidth=2)
    ax.plot(truth[order], place, "k.", markersize=5)
    ax.set(title=f"{name}: {holds.sum()} of 30 hold", yticks=[], xlabel="share of wrong labels")
_ = panels[0].set_ylabel("fields; black: the truth in the east\norange intervals miss it")

# %%
# The maps show one split into blocks, and one split with a buffer around the tested rows. Models
# are trained on the dots and tested on the squares. The crosses are rows in the buffer, which are
# neither trained on nor tested.

figure, axes = plt.subplots(1, 2, figsize=(9, 6), layout="constrained")
for ax, method in zip(axes, (tr.methods.Blocks(5), tr.methods.Buffered(0.12, k=5)), strict=True):
    method.plot(places[sample], y=y[sample], ax=ax)
