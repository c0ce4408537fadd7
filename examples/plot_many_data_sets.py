"""
Methods over many data sets
===========================

This example compares the error rates of four learners on fifteen data sets. The data sets differ in
their columns and in how far their classes are apart. The result is the average rank of each learner
over the data sets, and the critical difference: two learners can be told apart if their average
ranks differ by more.
"""

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

learners = {
    "1-nn": KNeighborsClassifier(1),
    "9-nn": KNeighborsClassifier(9),
    "lda": LinearDiscriminantAnalysis(),
    "bayes": GaussianNB(),
}


def problem(seed):
    """Draw two normal classes in four to eight columns, some of which are not informative."""
    rng = np.random.default_rng(seed)
    y, p = np.arange(80) % 2, rng.integers(4, 9)
    X = rng.standard_normal((80, p)) @ rng.standard_normal((p, p))
    X[:, : p // 2] += y[:, None] * rng.uniform(0.3, 2)
    return X, y


risks = [
    [tr.estimate_risk(model, *problem(seed)).value for model in learners.values()]
    for seed in range(15)
]
found = tr.compare_many(dict(zip(learners, np.transpose(risks), strict=True)))
print(found)

# %%
# The figure shows the average rank of each learner, and below them the groups of learners that
# cannot be told apart.

ax = found.plot()
_ = ax.set_title("lda ranks first; by ranks alone the others are not told apart")
