"""
A risk curve, three ways
========================

The data are 200 rows from two round Gaussian clouds. Three risks of nearest-neighbour rules are
drawn. The apparent risk, on the training rows, falls to zero as the rules become more flexible. The
cross-validated risk does not. Because the distribution of the data is known, the true risk of every
rule that was fitted on these rows can be drawn, too.
"""

from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

problem = tr.datasets.make_simple
X, y = problem(200, random_state=1)
# The one-standard-error rule ("1-se") takes the first setting of the grid as the simplest.
ks = [45, 31, 21, 15, 11, 9, 7, 5, 3, 1]
grid = {"n_neighbors": ks}
curve = tr.risk_curve(KNeighborsClassifier(), grid, X, y, cv="10-fold", rule="1-se")
apparent = tr.risk_curve(KNeighborsClassifier(), grid, X, y, cv="apparent")
true = [
    problem.true_risk(KNeighborsClassifier(k).fit(X, y), n_test=20_000, random_state=2).value
    for k in ks
]

# %%
# The ring on each curve marks the number of neighbours that would be chosen by this curve.

ax = curve.plot(others={"apparent": apparent})
ax.plot(ks, true, "k--", label="true risk of the same rules")
ax.axhline(problem.bayes_risk, color="0.6", linewidth=1, label="Bayes risk: no rule has less")
ax.set_ylim(0, 0.25)
ax.legend(frameon=False)
ax.set_title("Cross-validation follows the truth; the apparent risk falls to zero")

# %%
# If a curve is drawn alone, it has a band of one standard error, and the setting that the rule
# chose is marked. Here this is the largest number of neighbours whose risk is within one standard
# error of the smallest risk.

ax = curve.plot()
_ = ax.set_title("The rule of one standard error")
