"""
Box plots of tuned learners
===========================

A mean says nothing of its spread. With ``outer="monte-carlo"`` every learner is tuned anew inside
each of 25 random splits and tested outside: the whole distribution of its risk, as in the INSA
lecture. The splits are the same for all learners, so that their differences can be tested.
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
# Splits share training rows, so 25 of them are not 25 independent tests: the corrected t test of
# Nadeau and Bengio counts that, and the Bayesian form says how likely a difference that matters is.

knn, lda = found.risks["knn"], found.risks["lda"]
print(tr.compare(knn, lda))
print(tr.compare(knn, lda, test="bayes", rope=0.02))
