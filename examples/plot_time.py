"""
Rows in the order of time
=========================

A load by the day wanders about its weekly pattern, and X says nothing of the level. Shuffled folds
test each day by models that saw the days before and after it; forward validation tests each stretch
by a model of the past alone.
"""

import matplotlib.pyplot as plt
from sklearn.tree import DecisionTreeRegressor

import truerisk as tr

load = tr.datasets.make_daily_load
X, y = load(1200, random_state=0)
dates = load.dates(1200)
tree = DecisionTreeRegressor(min_samples_leaf=20, random_state=0)
shuffled = tr.estimate_risk(tree, X, y)
forward = tr.estimate_risk(tree, X, y, time=dates)
print(shuffled, forward, *forward.notes, sep="\n")

# %%
# No rule can have a squared risk below 1 on days far ahead: the level is not among the features.
# The losses along time show what either number is a mean of.

_, ax = plt.subplots(figsize=(7, 3.5))
for est, name in ((shuffled, "10-fold, shuffled"), (forward, "forward-5")):
    course = tr.risk_over_time(est, dates, n_stretches=20)
    middle = course.starts + (course.ends - course.starts) // 2
    ax.plot(middle, course.values, "o-", label=f"{name}: {est.value:.2f}")
ax.axhline(load.bayes_risk, color="0.5", linestyle=":", label="least risk of days far ahead")
ax.set(ylabel="squared loss", ylim=(0, None))
ax.legend()
ax.figure.autofmt_xdate()

# %%
# Whether the forecasts get worse, or better as their windows grow, is a question with a test of its
# own: it counts that losses depend on those before them.

print(tr.risk_over_time(forward, n_stretches=5))
plt.show()
