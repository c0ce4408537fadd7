"""
Which learner is better?
========================

Two tuned learners on the same rows, by their paired losses: the difference of their risks with an
interval that counts how much both move when training rows change, and the set of learners that may
be the best.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import truerisk as tr

X, y = load_breast_cancer(return_X_y=True)
found = tr.assess(["knn", "lda", "logistic", "tree"], X, y, scores=["auc"])
print("may be the best:", found.best_set(0.95), "by AUC:", found.best_set(0.95, score="auc"))

# %%
print(found.difference("knn", "logistic"))

# %%
# Every learner beside the one with the least risk:

figure, axes = plt.subplots(figsize=(6.4, 2.4), layout="constrained")
others = [name for name in reversed(found.ranking) if name != found.best]
for place, name in enumerate(others):
    difference = found.difference(name, found.best)
    ends = difference.interval
    colour = "C0" if name in found.best_set(0.95) else "C1"
    axes.plot([ends.low, ends.high], [place, place], color=colour, alpha=0.4, linewidth=5)
    axes.plot(difference.value, place, "o", color=colour)
axes.set_yticks(range(len(others)), others)
axes.axvline(0, linestyle="--", linewidth=1, color="0.5")
axes.set_xlabel(f"risk above that of {found.best}, 95 % interval (blue: may be the best)")
