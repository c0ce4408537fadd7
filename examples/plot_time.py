"""
Rows in the order of time
=========================

The target is a load that is measured every day. It has a weekly pattern, and its level wanders over
time. The features X contain no information about the level. With shuffled folds, each day is tested
by a model that was trained on the days before and after it. With forward validation, each stretch
of days is tested by a model that was trained on earlier days only.
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
# On days far ahead, no rule can have a mean squared error below 1, because the level is not among
# the features. Shuffled folds report a smaller risk, with a narrow interval.

ax = forward.plot(
    label="forward",
    others={"shuffled": shuffled},
    beside={f"least risk of days far ahead: {load.bayes_risk:g}": load.bayes_risk},
)
ax.set_title("Shuffled folds promise what no forecast can keep")

# %%
# The risk is a mean of losses, and ``tr.risk_over_time`` shows how these losses change over time.
# The forecasts may get worse over time, or better as their training windows grow. A test of this
# trend accounts for the dependence between successive losses.

course = tr.risk_over_time(forward, n_stretches=5)
print(course)
ax = course.plot(label="mean loss of a stretch, with its interval")
ax.set_title("Forecasts come and go with the level; no trend is shown")
_ = ax.legend(frameon=False, fontsize="small")
