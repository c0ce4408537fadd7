"""
Which learner is better?
========================

Four tuned learners on the same rows, by their AUC. The intervals of the learners overlap, and yet a
difference can be clear: easy and hard rows are the same for all, so paired errors cancel. The
interval of a difference counts how much both move when training rows change.
"""

from sklearn.datasets import load_breast_cancer

import truerisk as tr

X, y = load_breast_cancer(return_X_y=True)
found = tr.assess(["knn", "lda", "logistic", "tree"], X, y, scoring="roc_auc")
print("may be the best:", found.best_set(0.95))

# %%
print(found.difference("tree", found.best))

# %%
# Every learner on its own.

ax = found.plot_ladder()
ax.set_title("Each on its own: all overlap")

# %%
# How much each lies behind the best, on the same rows.

# sphinx_gallery_thumbnail_number = 2
first, *others = [name for name in found.ranking if name != found.best]
differences = {f"{name} − {found.best}": found.difference(name, found.best) for name in others}
ax = found.difference(first, found.best).plot(label=f"{first} − {found.best}", others=differences)
_ = ax.set_title("Paired: only the tree is shown to be worse")
