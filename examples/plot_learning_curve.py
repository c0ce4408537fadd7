"""
How many rows?
==============

Would more rows help? ``tr.learning_curve`` measures the risk of the whole search for several
smaller numbers of training rows, and extrapolates it with a band, here to four times as many rows.
Every number of training rows is tested on the same rows, and the setting is chosen anew in every
training set.
"""

import matplotlib.pyplot as plt
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

X, y = tr.datasets.make_difficult(100, random_state=0)
search = tr.HonestSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7]}, cv="5-fold")
curve = tr.learning_curve(search, X, y)
ax = curve.plot(to=320)

# %%
# The band is for the mean risk over training sets of a given size. 100 rows say little about 320
# rows. Whether the extrapolation was right can be checked with new rows, which cost nothing in a
# simulation.

print(curve.at(320))
search.set_params(outer=None).fit(*tr.datasets.make_difficult(320, random_state=1))
more, truth = tr.datasets.make_difficult(10_000, random_state=2)
risk = float((search.predict(more) != truth).mean())
ax.plot(320, risk, "k*", markersize=12, label=f"one search on 320 new rows: {risk:.3f}")
ax.legend(frameon=False)
ax.set_title("Measured up to 80 rows, carried on to 320")
print(f"one search on 320 new rows: {risk:.4f}")

# %%
# ``tr.plan_sample`` reads the errors from the curve. It says what to expect of 320 rows, and how to
# divide them between tuning and testing.

print(tr.plan_sample(curve, n=320))
plt.show()
