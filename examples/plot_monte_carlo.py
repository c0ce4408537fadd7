"""
Box plots of tuned learners
===========================

A mean risk does not show how much the risk varies between splits. With ``outer="monte-carlo"``
every learner is tuned anew inside each of 25 random splits, and tested on the other rows of the
split. This gives the whole distribution of its risk over the splits, as in the lecture of INSA
Toulouse. All learners get the same splits, so that their differences can be tested.
"""

from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

X, y = tr.datasets.make_difficult(120, random_state=0)
learners = {
    "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9, 15]}),
    "bayes": GaussianNB(),
    "lda": tr.models.LinearDiscriminant(),
}
found = tr.assess(learners, X, y, cv=["5-fold"], outer="monte-carlo")
ax = found.plot_monte_carlo()
ax.set_title("The same 25 splits: lda errs least, and varies least")

# %%
# Random splits share training rows, so 25 splits are not 25 independent tests. The corrected t test
# of Nadeau and Bengio accounts for this. Its Bayesian version (``test="bayes"``) gives the
# probability that the risks differ by more than ``rope``, here .02.

knn, lda = found.risks["knn"], found.risks["lda"]
print(tr.compare(knn, lda))
print(tr.compare(knn, lda, test="bayes", rope=0.02))
