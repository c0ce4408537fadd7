"""
Rows in the order of time
=========================

A load by the day wanders about its weekly pattern, and X says nothing of the level. Shuffled folds
test each day by models that saw the days before and after it; forward validation tests each stretch
by a model of the past alone.
"""

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
# Shuffled folds promise less, and are sure of it.

ax = forward.plot(
    label="forward",
    others={"shuffled": shuffled},
    beside={f"least risk of days far ahead: {load.bayes_risk:g}": load.bayes_risk},
)
ax.set_title("Shuffled folds promise what no forecast can keep")

# %%
# The losses along time show what the number is a mean of. Whether the forecasts get worse, or
# better as their windows grow, is a question with a test of its own: it counts that losses depend
# on those before them.

course = tr.risk_over_time(forward, n_stretches=5)
print(course)
ax = course.plot(label="mean loss of a stretch, with its interval")
ax.set_title("Forecasts come and go with the level; no trend is shown")
_ = ax.legend(frameon=False, fontsize="small")
