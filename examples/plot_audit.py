"""
Three leaks that an audit finds
===============================

A search that is done and looks fine: copies of rows, a column that knows the answer, many settings
on few rows. `tr.audit` draws its splits again and says what is wrong, with a remedy.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

rng = np.random.default_rng(1)
y = np.arange(60) % 2
X = rng.standard_normal((60, 10))
X[:, 0] += y
grid = {"n_neighbors": list(range(1, 26))}


def audit(X, y):
    """What the search claims, and what an audit makes of it."""
    return tr.audit(GridSearchCV(KNeighborsClassifier(), grid, cv=5).fit(X, y), X, y)


mixed = rng.permutation(120)
cases = {
    "as it should be": audit(X, y),
    "rows copied": audit(np.vstack([X, X])[mixed], np.hstack([y, y])[mixed]),
    "a column that knows": audit(np.column_stack([X, 9 * y]), y),
    "labels of no meaning": audit(X, rng.permutation(y)),
}
for name, found in cases.items():
    print(
        name, "-", ", ".join(f"{f.severity}: {f.code}" for f in found.findings) or "nothing found"
    )

# %%
figure, axes = plt.subplots(figsize=(6.4, 2.8), layout="constrained")
for place, found in enumerate(reversed(cases.values())):
    interval = found.honest.interval
    if interval is not None:
        axes.plot([interval.low, interval.high], [place, place], color="C0", alpha=0.4, lw=5)
    axes.plot(found.honest.value, place, "o", color="C0", label="honest" if not place else None)
    axes.plot(found.claimed.value, place, "o", color="C1", label="claimed" if not place else None)
axes.set_yticks(range(len(cases)), list(reversed(cases)))
axes.set_xlabel("share of wrong labels")
axes.legend()
