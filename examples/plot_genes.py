"""
Genes: from selection bias to an honest number
==============================================

Sixty-two tissues, two thousand genes, and labels that are tosses of a coin: nothing can be learned,
and every rule errs on half of all new tissues. Three ways to report the error of a discriminant on
the genes that differ most between the classes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline

import truerisk as tr

lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5)
grid = {"selectkbest__k": [1, 2, 5, 10, 20, 50, 100, 200]}


def three_ways(seed):
    """The risk of tissues that are drawn here, by each way."""
    rng = np.random.default_rng(seed)
    y = np.arange(62) % 2
    X = rng.standard_normal((62, 2000))

    # Genes selected outside: the ten best are found on all tissues, then the discriminant is
    # cross-validated. Each test tissue has had its say in which genes were kept.
    outside = tr.estimate_risk(lda, SelectKBest(k=10).fit_transform(X, y), y)

    # The best score of a search: selection stands in the pipeline, as it should; how many genes to
    # keep is then chosen by the same folds.
    search = tr.HonestSearchCV(make_pipeline(SelectKBest(), lda), grid).fit(X, y)

    # The honest risk is that of selecting, choosing and fitting.
    return outside, search.selected_risk_, search.risk_


# %%
# Ten times new tissues. One set of 62 decides nothing: honest numbers vary about the truth, and
# their intervals say how much.

ways = list(zip(*map(three_ways, range(10)), strict=True))
for risk in ways[2]:
    print(risk)

# %%
names = ["genes selected outside", "best score of a search", "honest risk"]
_, ax = plt.subplots(figsize=(8, 3), layout="constrained")
values = [[risk.value for risk in risks] for risks in ways]
ax.boxplot(values[::-1], vert=False, tick_labels=names[::-1], widths=0.5)
ax.axvline(0.5, linestyle="--", color="C1", label="the truth: nothing can be learned")
ax.set(xlim=(0, 0.8), xlabel="share of wrong labels, ten data sets")
ax.figure.legend(loc="outside upper center", frameon=False)
