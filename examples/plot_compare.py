"""
Which learner is better?
========================

Four tuned learners on the same rows, by their AUC. The intervals of the learners overlap, and yet a
difference can be clear: easy and hard rows are the same for all, so paired errors cancel. The
interval of a difference counts how much both move when training rows change.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import truerisk as tr

X, y = load_breast_cancer(return_X_y=True)
found = tr.assess(["knn", "lda", "logistic", "tree"], X, y, scoring="roc_auc")
print("may be the best:", found.best_set(0.95))

# %%
print(found.difference("tree", found.best))

# %%
# Left, every learner on its own. Right, how much each lies behind the best.

figure, (alone, paired) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
found.plot_ladder(ax=alone)
alone.set_title("each on its own: all overlap")
first, *others = [name for name in found.ranking if name != found.best]
differences = {f"{name} − {found.best}": found.difference(name, found.best) for name in others}
ax = found.difference(first, found.best).plot(
    ax=paired, label=f"{first} − {found.best}", others=differences
)
_ = paired.set_title("paired: only the tree is shown to be worse")
