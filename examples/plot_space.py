"""
Folds in space
==============

Rows near each other are alike. Random folds test a row by a model that saw its neighbours, which
tells how the model does among the places it was trained on, and not how it does elsewhere. Here are
thirty fields over a square, of which the western half is sampled; the eastern half is where the
model goes.
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
# Errors in space go together: 300 rows say as much as a few dozen would that had nothing to do with
# each other. Random folds, told nothing of places, promise too much of the places beyond, and too
# surely. The intervals of blocks and of buffers are as wide as they must be.

order, place = np.argsort(truth), np.arange(30)
figure, panels = plt.subplots(1, 3, figsize=(9, 4), sharex=True, sharey=True, layout="constrained")
for ax, name, left, right in zip(panels, ways, low[:, order], high[:, order], strict=True):
    holds = (left <= truth[order]) & (truth[order] <= right)
    ax.hlines(place, left, right, color=np.where(holds, "C0", "C1"), linewidth=2)
    ax.plot(truth[order], place, "k.", markersize=5)
    ax.set(title=f"{name}: {holds.sum()} of 30 hold", yticks=[], xlabel="share of wrong labels")
_ = panels[0].set_ylabel("fields; black: the truth in the east\norange intervals miss it")

# %%
# A split of the blocks, and one with a buffer: models are trained on the dots, and tested on the
# squares. The crosses take no part.

figure, axes = plt.subplots(1, 2, figsize=(9, 6), layout="constrained")
for ax, method in zip(axes, (tr.methods.Blocks(5), tr.methods.Buffered(0.12, k=5)), strict=True):
    method.plot(places[sample], y=y[sample], ax=ax)
