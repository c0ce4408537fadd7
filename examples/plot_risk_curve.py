"""
A risk curve, three ways
========================

Two round Gaussian clouds, 50 rows. The apparent risk falls to zero with flexible rules, the
cross-validated risk does not, and since the problem is known, the true risk of every rule fitted
on these rows can be drawn beside them.
"""

import matplotlib.pyplot as plt
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

X, y = tr.datasets.make_simple(50, random_state=1)
ks = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21]
grid = {"n_neighbors": ks}

figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
for method in ("apparent", "10-fold"):
    curve = tr.risk_curve(KNeighborsClassifier(), grid, X, y, method=method)
    axes.plot(ks, curve.values, "o-", markersize=4, label=method)

true = [
    tr.datasets.make_simple.true_risk(KNeighborsClassifier(k).fit(X, y), n_test=20_000).value
    for k in ks
]
axes.plot(ks, true, "k--", label="true risk")
axes.axhline(tr.datasets.make_simple.bayes_risk, color="0.6", linewidth=1, label="Bayes risk")
axes.set_xlabel("n_neighbors")
axes.set_ylabel("zero-one risk")
axes.legend()

# %%
# The display of one curve has error bars and marks the chosen setting.

tr.risk_curve(KNeighborsClassifier(), grid, X, y, rule="1-se").plot()
plt.show()
