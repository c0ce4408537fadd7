"""
A threshold for costly errors
=============================

In this example a missed case costs as much as five false alarms. The ROC curve shows the true and
false positive rate of every threshold. The threshold that is chosen as the best looks better than
it is on the scores by which it was chosen. ``ThresholdClassifier`` makes the choice of the
threshold a part of the fit, so that the risk of the whole can be estimated honestly.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.naive_bayes import GaussianNB

import truerisk as tr

X, y = tr.datasets.make_simple(100, random_state=0)
cost = tr.losses.Cost([[0, 1], [5, 0]])  # true class, predicted class

# %%
# The ROC curve is computed from out-of-fold scores of the training rows. Two thresholds are marked
# on it: the one with the smallest cost, and the one that finds 95 % of the cases.

tuned = tr.models.ThresholdClassifier(GaussianNB(), cost=(1, 5), random_state=0).fit(X, y)
roc = tr.RocCurve.from_scores(y, tuned.scores_)
cheap, sensitive = roc.at_cost(1, 5), roc.at_rate(sensitivity=0.95)
print(roc)
print(cheap)
print(sensitive)
ax = roc.plot(points=[cheap, sensitive])
ax.set_title("Two thresholds: least cost, and 95 % sensitivity")

# %%
# Three costs of the chosen threshold are compared: on the rows by which it was chosen, in 5-fold
# cross-validation that chooses the threshold anew in every training set, and on many fresh rows,
# which are available because the data are simulated. One data set decides nothing, so the means
# over 20 data sets are printed.

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
