"""
A threshold for costly errors
=============================

A missed case costs five false alarms. The ROC curve shows what every threshold does; the best one
looks better on the scores it was chosen by than it is, and ``ThresholdClassifier`` makes the choice
a part of the fit, so that its risk can be estimated honestly.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.naive_bayes import GaussianNB

import truerisk as tr

X, y = tr.datasets.make_simple(100, random_state=0)
cost = tr.losses.Cost([[0, 1], [5, 0]])  # true class, predicted class

# %%
# Out-of-fold scores of the training rows, their curve, and two thresholds: the one of least cost,
# and the one that finds 95 % of the cases.

tuned = tr.models.ThresholdClassifier(GaussianNB(), cost=(1, 5), random_state=0).fit(X, y)
roc = tr.RocCurve.from_scores(y, tuned.scores_)
cheap, sensitive = roc.at_cost(1, 5), roc.at_rate(sensitivity=0.95)
print(roc)
print(cheap)
print(sensitive)
ax = roc.plot(points=[cheap, sensitive])
ax.set_title("Two thresholds: least cost, and 95 % sensitivity")

# %%
# The cost on the rows that chose the threshold, and on rows that did not: inside 5 folds, and on
# many fresh rows, which only a known problem has. One data set decides nothing; the means of 20 do.

fresh, truth = tr.datasets.make_simple(20_000, random_state=1)
costs = []
for seed in range(20):
    X, y = tr.datasets.make_simple(40, random_state=100 + seed)
    tuned = tr.models.ThresholdClassifier(GaussianNB(), cost=(1, 5), random_state=0).fit(X, y)
    honest = tr.estimate_risk(tuned, X, y, scoring=cost, cv="5-fold")
    wrong = (tuned.predict(fresh) != truth) * np.where(truth == 1, 5, 1)
    costs.append((tuned.operating_point_.cost, honest.value, wrong.mean()))
for name, mean in zip(("chosen by", "estimated", "true"), np.mean(costs, axis=0), strict=True):
    print(f"{name:10} {mean:.3f}")

# sphinx_gallery_thumbnail_number = 2
_, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
names = ["on 20,000 new rows", "honest, inside 5 folds", "on the rows that chose it"]
ax.boxplot(np.array(costs)[:, ::-1], vert=False, tick_labels=names, widths=0.5)
ax.set_xlabel("mean cost of the chosen threshold, 20 data sets")
_ = ax.set_title("A threshold looks cheaper where it was chosen")
