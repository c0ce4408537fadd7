"""
Genes: from selection bias to an honest number
==============================================

The data are sixty-two tissues with two thousand genes, and the genes have nothing to do with the
labels. So nothing can be learned, and every rule errs on half of all new tissues. A linear
discriminant uses the genes that differ most between the classes. The example compares three ways to
report its error.
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
    """Draw 62 tissues, and return the risk of the discriminant as reported in each way."""
    rng = np.random.default_rng(seed)
    y = np.arange(62) % 2
    X = rng.standard_normal((62, 2000))

    # First way: genes selected outside. The ten best genes are found on all tissues, and then the
    # discriminant is cross-validated. So each test tissue has influenced which genes were kept.
    outside = tr.estimate_risk(lda, SelectKBest(k=10).fit_transform(X, y), y)

    # Second way: the best score of a search. The selection is a step of the pipeline, as it should
    # be, but the number of genes is chosen by the same folds that give the score.
    search = tr.HonestSearchCV(make_pipeline(SelectKBest(), lda), grid).fit(X, y)

    # Third way: the honest risk, which is the risk of the whole procedure of selecting genes,
    # choosing their number and fitting.
    return outside, search.selected_risk_, search.risk_


# %%
# New tissues are drawn ten times, because a single set of 62 tissues decides nothing. The honest
# risks vary around the true risk of one half, and their intervals say how much they vary.

ways = list(zip(*map(three_ways, range(10)), strict=True))
for risk in ways[2]:
    print(risk)

# %%
# The figure shows the risks of the ten data sets for each way of reporting.

names = ["genes selected outside", "best score of a search", "honest risk"]
_, ax = plt.subplots(figsize=(8, 3), layout="constrained")
values = [[risk.value for risk in risks] for risks in ways]
ax.boxplot(values[::-1], vert=False, tick_labels=names[::-1], widths=0.5)
ax.axvline(0.5, linestyle="--", color="C1", label="the truth: nothing can be learned")
ax.set(xlim=(0, 0.8), xlabel="share of wrong labels, ten data sets")
ax.figure.legend(loc="outside upper center", frameon=False)
