"""
The lecture in ten cells
========================

Laurent, Besse, Albert, Maugis and Roustant teach risk estimation and model selection at INSA
Toulouse. Here is their lecture as a notebook, on a problem whose truth is known: a curve,
sin(4x + 1), with noise of standard deviation ½, so that no rule has a risk below ¼.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import truerisk as tr


def draw(n_rows, seed):
    """Rows of the problem: as many as one likes."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n_rows, 1))
    return x, np.sin(4 * x[:, 0] + 1) + rng.normal(0, 0.5, n_rows)


# %%
# **1. Loss and risk.** The loss of an answer is its squared error, the risk its mean over all rows
# that may come. Twenty thousand fresh rows say it well enough; a data set of thirty rows does not.

X, y = draw(30, seed=0)
fresh, labels = draw(20_000, seed=1)
degrees = list(range(1, 10))
models = [make_pipeline(PolynomialFeatures(d), LinearRegression()) for d in degrees]
for x, answer in ((X, y), (fresh, labels)):
    losses = (answer - np.sin(4 * x[:, 0] + 1)) ** 2
    print(f"mean loss of the best rule on {len(x):5} rows: {losses.mean():.3f}")

# %%
# **2. The empirical risk is optimistic.** The error on the rows that were learned falls with every
# degree. The true risk is least at degree 4.


def risk(model, X, y):
    """The true risk of what these rows teach."""
    return np.mean((model.fit(X, y).predict(fresh) - labels) ** 2)


poly = make_pipeline(PolynomialFeatures(), LinearRegression())
grid = {"polynomialfeatures__degree": degrees}
apparent = tr.risk_curve(poly, grid, X, y, cv="apparent").values
true = np.array([risk(model, X, y) for model in models])
_, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
ax.plot(degrees, apparent, "o-", label="training error")
ax.plot(degrees, true, "o-", label="risk on 20,000 fresh rows")
ax.axhline(0.25, color="0.5", linewidth=1, label="noise: no rule has less")
ax.set(
    xlabel="degree of the polynomial",
    ylim=(0, 1),
    title="Only the true risk is least at degree 4",
)
_ = ax.legend(frameon=False)

# %%
# **3. Bias and variance.** What a degree cannot reach is its approximation error; what thirty rows
# do not tell is the estimation error. The first falls as the degree grows. The second rises from
# degree 4 on, and there the risk is least.

best = np.sin(4 * fresh[:, 0] + 1)
sets = [draw(30, seed) for seed in range(100, 120)]
for degree, model in zip(degrees[:7], models, strict=False):
    mean = np.mean([risk(model, X, y) for X, y in sets])
    bias = np.mean((model.fit(fresh, best).predict(fresh) - best) ** 2)
    print(f"degree {degree}: approximation {bias:.3f}, estimation {mean - 0.25 - bias:.3f}")

# %%
# **4. Penalties.** Cp, AIC and BIC add a price for each parameter. That of BIC is log n where AIC
# has 2, so it never chooses a higher degree than AIC does.


def chosen(**how):
    """The degrees chosen on the twenty data sets."""
    curves = [tr.risk_curve(poly, grid, X, y, **how) for X, y in sets]
    return [curve.best_params["polynomialfeatures__degree"] for curve in curves]


for word in ("cp", "aic", "bic"):
    print(f"{word}: degrees 1 to 9 in", np.bincount(chosen(cv=word), minlength=10)[1:])

# %%
# **5. Validation.** Two thirds of the rows learn, one third chooses. Other random thirds of the
# same thirty rows find other errors.

for seed in range(5):
    held = tr.risk_curve(poly, grid, X, y, cv="holdout", random_state=seed)
    print(f"degree {degrees[held.best]}, validation error {min(held.values):.3f}")

# %%
# **6. Cross-validation.** Folds take turns as validation rows. With K = 2 a model learns half of
# the rows, and its error is too large on average; ten folds and n come close to the risk.

tree = DecisionTreeRegressor(max_depth=2)
print(f"true risk {np.mean([risk(tree, X, y) for X, y in sets]):.3f}")
for word in ("2-fold", "5-fold", "10-fold", "loo"):
    values = [tr.estimate_risk(tree, X, y, cv=word).value for X, y in sets]
    print(f"{word:7} mean {np.mean(values):.3f}, standard deviation {np.std(values):.3f}")

# %%
# **7. Bootstrap.** Models learn rows drawn with replacement. Tested on all rows they look too good,
# on the rows that they missed too bad. .632 mixes the latter with the training error. With one
# neighbour that is 0: .632 is far too small, and .632+ less so.

for k in (3, 1):
    model = KNeighborsRegressor(k)
    print(f"k = {k}: true risk {np.mean([risk(model, X, y) for X, y in sets]):.3f}")
    for word in ("bootstrap", "oob", ".632", ".632+"):
        values = [tr.estimate_risk(model, X, y, cv=word).value for X, y in sets]
        print(f"    {word:10} {np.mean(values):.3f}")

# %%
# **8. One standard error.** The simplest degree within one standard error of the least is never
# higher. Of thirty rows a standard error is large, so the rule goes far: here the median risk of
# its choices is higher, and the worst is lower.

for rule in ("min", "1-se"):
    picked = chosen(cv="5-fold", rule=rule)
    true = [risk(models[d - 1], X, y) for d, (X, y) in zip(picked, sets, strict=True)]
    print(f"{rule:4} mean degree {np.mean(picked):.1f}, true risk: ", end="")
    print(f"median {np.median(true):.3f}, worst {max(true):.3f}")

# %%
# **9. Two classes: the ROC curve.** A threshold on the probability trades false for true positives.
# Drawn on new rows, curves show which rule has fewer false positives at a given true positive rate.

X, y = tr.datasets.make_difficult(100, random_state=0)
X_new, y_new = tr.datasets.make_difficult(2000, random_state=1)
_, ax = plt.subplots(figsize=(4.8, 4.4), layout="constrained")
for model in (LogisticRegression(), DecisionTreeClassifier(min_samples_leaf=5, random_state=0)):
    roc = tr.RocCurve.from_scores(y_new, model.fit(X, y).predict_proba(X_new)[:, 1])
    ax.plot(roc.fpr, roc.tpr, label=f"{type(model).__name__}, area {roc.auc:.3f}")
    print(f"{type(model).__name__}: {roc.at_rate(sensitivity=0.9)}")
ax.set(xlabel="false positive rate", ylabel="true positive rate")
ax.set_title("The logistic curve lies above that of the tree")
_ = ax.legend(frameon=False, loc="lower right")

# %%
# **10. Which learner?** Inner folds tune each learner, outer folds test what was tuned. *Honest* is
# the error to report; *selected* is the one that tuning made small.

print(tr.assess(["knn", "lda", "logistic", "tree"], X, y))
