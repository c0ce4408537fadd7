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

rng = np.random.default_rng(3)
y = np.arange(62) % 2
X = rng.standard_normal((62, 2000))
lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5)

# %%
# **Genes selected outside.** The ten best genes are found on all tissues, then the discriminant is
# cross-validated. Each test tissue has had its say in which genes were kept.

chosen = SelectKBest(k=10).fit_transform(X, y)
outside = tr.estimate_risk(lda, chosen, y)
print(outside)

# %%
# **The best score of a search.** Selection stands in the pipeline, as it should; how many genes to
# keep is then chosen by the same folds.

grid = {"selectkbest__k": [1, 2, 5, 10, 20, 50, 100, 200]}
search = tr.HonestSearchCV(make_pipeline(SelectKBest(), lda), grid).fit(X, y)
print(search.selected_risk_)

# %%
# **The honest risk** of selecting, choosing and fitting:

print(search.risk_)

# %%
figure, axes = plt.subplots(figsize=(6.4, 2.4), layout="constrained")
ways = {"selected outside": outside, "best score": search.selected_risk_, "honest": search.risk_}
for place, (name, found) in enumerate(reversed(ways.items())):
    axes.plot([found.interval.low, found.interval.high], [place, place], linewidth=5, alpha=0.4)
    axes.plot(found.value, place, "o", color="C0" if name == "honest" else "C1")
axes.set_yticks(range(3), list(reversed(ways)))
axes.axvline(0.5, linestyle="--", linewidth=1, color="0.5")
axes.set(xlim=(0, 1), xlabel="share of wrong labels, 95 % interval (truth: 0.5)")
