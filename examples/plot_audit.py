"""
Three leaks that an audit finds
===============================

This example audits three fitted searches that look fine. The first was fitted on a table with
copies of rows, the second on a column that reveals the label, and the third tried many settings on
few rows. ``tr.audit`` draws the splits of a search again, and says what is wrong and what to do.
"""

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr

rng = np.random.default_rng(1)
y = np.arange(60) % 2
X = rng.standard_normal((60, 10))
X[:, 0] += y
knn = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": list(range(1, 26))}, cv=5)


def audit(X, y, search=knn, **remedy):
    """Fit the search, audit it, and print the findings."""
    found = tr.audit(search.fit(X, y), X, y, **remedy)
    print(", ".join(f"{f.severity}: {f.code}" for f in found.findings))
    return found


# %%
# **Copied rows.** A nearest-neighbour rule finds the copy of a row that was left out, so it looks
# too good. The audit reports the copies. If you tell the audit which rows belong together, it keeps
# them on one side of every split.

mixed, patient = rng.permutation(120), np.tile(np.arange(60), 2)
twice = np.vstack([X, X])[mixed], np.hstack([y, y])[mixed]
copied = audit(*twice)
together = audit(*twice, groups=patient[mixed])

# %%
# **A column that reveals the label**, such as a date of discharge. No split of the rows can show
# this, because the column reveals the label of every row. The audit finds the column because it
# predicts the label alone.

knows = audit(np.column_stack([X, 9 * y]), y)
without = audit(X, y)

# %%
# **Many settings on few rows.** A tree is fitted with each of eighty seeds. The labels are
# shuffled, so that no tree can predict them.

tree, seeds = DecisionTreeClassifier(max_features=1), {"random_state": list(range(80))}
tries = audit(X, rng.permutation(y), GridSearchCV(tree, seeds, cv=5))

# %%
# The figure shows the accuracy that each search claimed, and the honest accuracy after the remedy:

cases = {
    "rows copied": (copied, together.honest),
    "a column that knows": (knows, without.honest),
    "eighty seeds": (tries, tries.honest),
}
(first, *others), honest = cases, {name: risk for name, (_, risk) in cases.items()}
ax = honest[first].plot(label=first, others={name: honest[name] for name in others})
claims = [found.claimed.value for found, _ in cases.values()]
ax.plot(claims, [0.5, 1.5, 2.5], "D", color="C1", markersize=9)
for place, claim in enumerate(claims):
    ax.annotate("claimed", (claim, place + 0.5), (0, 10), textcoords="offset points", ha="center")
ax.set(xlim=(0.2, 1.08), title="What three searches claimed, and what is left of it")
