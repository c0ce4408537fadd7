"""
A risk curve, three ways
========================

Two round Gaussian clouds, 200 rows. The apparent risk falls to zero with flexible rules, the
cross-validated risk does not, and since the problem is known, the true risk of every rule fitted
on these rows can be drawn beside them.
"""

from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

problem = tr.datasets.make_simple
X, y = problem(200, random_state=1)
ks = [45, 31, 21, 15, 11, 9, 7, 5, 3, 1]  # the simplest first, as the rule of one error takes it
grid = {"n_neighbors": ks}
curve = tr.risk_curve(KNeighborsClassifier(), grid, X, y, cv="10-fold", rule="1-se")
apparent = tr.risk_curve(KNeighborsClassifier(), grid, X, y, cv="apparent")
true = [
    problem.true_risk(KNeighborsClassifier(k).fit(X, y), n_test=20_000, random_state=2).value
    for k in ks
]

# %%
# The ring is what each would choose.

ax = curve.plot(others={"apparent": apparent})
ax.plot(ks, true, "k--", label="true risk of the same rules")
ax.axhline(problem.bayes_risk, color="0.6", linewidth=1, label="Bayes risk: no rule has less")
ax.set_ylim(0, 0.25)
ax.legend(frameon=False)
ax.set_title("Cross-validation follows the truth; the apparent risk falls to zero")

# %%
# Alone, a curve has a band of a standard error, and marks the setting that the rule chose: here the
# largest number of neighbours within one standard error of the least risk.

ax = curve.plot()
_ = ax.set_title("The rule of one standard error")
