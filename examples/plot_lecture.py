"""
The lecture in ten cells
========================

Laurent, Besse, Albert, Maugis and Roustant teach risk estimation and model selection at INSA
Toulouse. This notebook follows their lecture on a problem whose true risk is known. The target is
the curve sin(4x + 1) plus noise with standard deviation ½, so that no rule has a risk below ¼.
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
    """Draw any number of rows of the problem."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n_rows, 1))
    return x, np.sin(4 * x[:, 0] + 1) + rng.normal(0, 0.5, n_rows)


# %%
# **1. Loss and risk.** The loss of a prediction is its squared error. The risk of a rule is the
# mean loss over all rows that may come. The mean loss on twenty thousand fresh rows is close to the
# risk; the mean loss on a data set of thirty rows is not.

X, y = draw(30, seed=0)
fresh, labels = draw(20_000, seed=1)
degrees = list(range(1, 10))
models = [make_pipeline(PolynomialFeatures(d), LinearRegression()) for d in degrees]
for x, answer in ((X, y), (fresh, labels)):
    losses = (answer - np.sin(4 * x[:, 0] + 1)) ** 2
    print(f"mean loss of the best rule on {len(x):5} rows: {losses.mean():.3f}")

# %%
# **2. The empirical risk is optimistic.** The error on the training rows decreases with every
# degree of the polynomial. The true risk is smallest at degree 4.


def risk(model, X, y):
    """Fit the model on these rows and return its true risk."""
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
# **3. Bias and variance.** The *approximation error* of a degree is the error of the best
# polynomial of this degree. The *estimation error* is the additional error that arises because only
# thirty rows were seen. The approximation error decreases with the degree. The estimation error
# increases from degree 4 on, and at degree 4 the risk is smallest.

best = np.sin(4 * fresh[:, 0] + 1)
sets = [draw(30, seed) for seed in range(100, 120)]
for degree, model in zip(degrees[:7], models, strict=False):
    mean = np.mean([risk(model, X, y) for X, y in sets])
    bias = np.mean((model.fit(fresh, best).predict(fresh) - best) ** 2)
    print(f"degree {degree}: approximation {bias:.3f}, estimation {mean - 0.25 - bias:.3f}")

# %%
# **4. Penalties.** Cp, AIC and BIC add a penalty for each parameter to the training error. The
# penalty of BIC is log n where that of AIC is 2, so BIC never chooses a higher degree than AIC.


def chosen(**how):
    """Return the degrees that were chosen on the twenty data sets."""
    curves = [tr.risk_curve(poly, grid, X, y, **how) for X, y in sets]
    return [curve.best_params["polynomialfeatures__degree"] for curve in curves]


for word in ("cp", "aic", "bic"):
    print(f"{word}: degrees 1 to 9 in", np.bincount(chosen(cv=word), minlength=10)[1:])

# %%
# **5. Validation.** The model is fitted on two thirds of the rows, and the degree is chosen on the
# remaining third. Different random splits of the same thirty rows give different errors.

for seed in range(5):
    held = tr.risk_curve(poly, grid, X, y, cv="holdout", random_state=seed)
    print(f"degree {degrees[held.best]}, validation error {min(held.values):.3f}")

# %%
# **6. Cross-validation.** Each of K folds serves once as the validation rows. With K = 2 a model is
# trained on half of the rows, and its error is too large on average. With ten folds, and with n
# folds (leave-one-out), the mean comes close to the true risk.

tree = DecisionTreeRegressor(max_depth=2)
print(f"true risk {np.mean([risk(tree, X, y) for X, y in sets]):.3f}")
for word in ("2-fold", "5-fold", "10-fold", "loo"):
    values = [tr.estimate_risk(tree, X, y, cv=word).value for X, y in sets]
    print(f"{word:7} mean {np.mean(values):.3f}, standard deviation {np.std(values):.3f}")

# %%
# **7. Bootstrap.** Models are trained on rows that are drawn with replacement. Tested on all rows,
# they look too good. Tested only on the rows that they did not draw (out-of-bag, ``oob``), they
# look too bad. The .632 estimate is a weighted mean of the out-of-bag error and the training error.
# With one neighbour the training error is 0, so the .632 estimate is far too small. The .632+
# estimate is too small by less.

for k in (3, 1):
    model = KNeighborsRegressor(k)
    print(f"k = {k}: true risk {np.mean([risk(model, X, y) for X, y in sets]):.3f}")
    for word in ("bootstrap", "oob", ".632", ".632+"):
        values = [tr.estimate_risk(model, X, y, cv=word).value for X, y in sets]
        print(f"    {word:10} {np.mean(values):.3f}")

# %%
# **8. The one-standard-error rule** chooses the lowest degree whose risk is within one standard
# error of the smallest risk. So it never chooses a higher degree than the rule that takes the
# smallest risk. With thirty rows a standard error is large, and the rule often chooses a much lower
# degree. Here the median true risk of its choices is higher, and the worst one is lower.

for rule in ("min", "1-se"):
    picked = chosen(cv="5-fold", rule=rule)
    true = [risk(models[d - 1], X, y) for d, (X, y) in zip(picked, sets, strict=True)]
    print(f"{rule:4} mean degree {np.mean(picked):.1f}, true risk: ", end="")
    print(f"median {np.median(true):.3f}, worst {max(true):.3f}")

# %%
# **9. The ROC curve for two classes.** A lower threshold on the probability gives more true
# positives and more false positives. The curves are computed on new rows. They show which rule has
# fewer false positives at a given true positive rate.

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
# **10. Which learner?** Inner folds tune each learner, and outer folds test the tuned learner. The
# number to report is the *honest* error. The *selected* error is too small, because tuning chose
# the setting for which it is smallest.

print(tr.assess(["knn", "lda", "logistic", "tree"], X, y))
