"""
Which learner is better?
========================

This example compares four tuned learners on the same rows by their AUC. The intervals of the
learners overlap, and yet a difference between two of them can be clear. The same rows are easy or
hard for all learners, so this part of their errors cancels in the difference. The interval of a
difference also accounts for how much both learners change with their training rows.
"""

from sklearn.datasets import load_breast_cancer

import truerisk as tr

X, y = load_breast_cancer(return_X_y=True)
found = tr.assess(["knn", "lda", "logistic", "tree"], X, y, scoring="roc_auc")
print("may be the best:", found.best_set(0.95))

# %%
print(found.difference("tree", found.best))

# %%
# This figure shows the AUC of each learner with its own interval.

ax = found.plot_ladder()
ax.set_title("Each on its own: all overlap")

# %%
# This figure shows the difference between each learner and the best one on the same rows.

# sphinx_gallery_thumbnail_number = 2
first, *others = [name for name in found.ranking if name != found.best]
differences = {f"{name} − {found.best}": found.difference(name, found.best) for name in others}
ax = found.difference(first, found.best).plot(label=f"{first} − {found.best}", others=differences)
_ = ax.set_title("Paired: only the tree is shown to be worse")
