"""
Folds in space
==============

Rows near each other are alike. Random folds test a row by a model that saw its neighbours, which
tells how the model does among the places it was trained on, and not how it does elsewhere. Here is
a field over a square, of which the western half is sampled; the eastern half is where the model
goes.
"""

import matplotlib.pyplot as plt
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

X, y = tr.datasets.FieldProblem(range=0.15)(1200, random_state=2)
places = X[:, :2]
west = places[:, 0] < 0.5
sample = west.nonzero()[0][:300]
among, beyond = west.nonzero()[0][300:], (~west).nonzero()[0]

# %%
# A split of the blocks, and one with a buffer: models are trained on the dots, and tested on the
# squares. The crosses take no part.

figure, axes = plt.subplots(1, 2, figsize=(9, 6), layout="constrained")
tr.methods.Blocks(5).plot(places[sample], y=y[sample], ax=axes[0])
tr.methods.Buffered(0.08, k=5).plot(places[sample], y=y[sample], ax=axes[1])

# %%
# The model knows the place, and two features. Both questions have an answer: among the sampled
# places random folds are right, and beyond them blocks are nearer.

model = KNeighborsClassifier(15)
risks = {}
for method in ("5-fold", "blocks-5", tr.methods.Buffered(0.08)):
    block = None if method == "5-fold" else places[sample]
    est = tr.estimate_risk(model, X[sample], y[sample], method=method, block=block)
    risks[est.method] = est
    print(f"{est.method:24} {est.value:.3f}  {est.interval}")

model.fit(X[sample], y[sample])
truth = {}
for name, rows in {"among": among, "beyond": beyond}.items():
    truth[name] = float((model.predict(X[rows]) != y[rows]).mean())
    print(f"new places {name:13} {truth[name]:.3f}")

# %%
# The intervals in space are wide: errors go together, so that 300 rows say as much as a few dozen
# would that had nothing to do with each other.

_, ax = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
for height, est in enumerate(reversed(risks.values())):
    ax.plot([est.interval.low, est.interval.high], [height, height], "C0")
    ax.plot(est.value, height, "C0o")
ax.set_yticks(range(len(risks)), list(reversed(risks)))
for name, value in truth.items():
    ax.axvline(value, color="k", linewidth=0.8, linestyle=":" if name == "among" else "--")
    ax.text(value, len(risks) - 0.6, f" {name}", fontsize="small")
ax.set_ylim(-0.4, len(risks) - 0.3)
ax.set_xlabel("risk")
plt.show()
