"""
Model selection in practice
===========================

This notebook follows Mehta's notes on practical issues in classification: training and test error,
thresholds, ROC curves, the three-way split and cross-validation. The last two cells show which
number to report.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr

# %%
# **1. A constant rule and a memoriser.** A constant rule errs as often on training rows as on new
# rows. A rule that memorises its training rows has no training error. On new rows it errs whenever
# the label is 1, that is, on three of ten rows. So a training error may say nothing about the risk.

rng = np.random.default_rng(0)
X, y = rng.standard_normal((1000, 1)), rng.random(1000) < 0.3
X_new, y_new = rng.standard_normal((100_000, 1)), rng.random(100_000) < 0.3
for model in (DummyClassifier(), tr.models.Memoriser()):
    training = tr.estimate_risk(model, X, y, cv="apparent").value
    test = np.mean(model.fit(X, y).predict(X_new) != y_new)
    print(f"{type(model).__name__:15} training error {training:.3f}, test error {test:.3f}")

# %%
# **2. Rare classes.** One row in a hundred is positive. A rule that predicts 0 for every row is
# wrong on only 1 % of the rows, but finds no positive row. A good rule is wrong hardly less often,
# and finds few of the positive rows.

y = (np.arange(20_000) % 100 == 0).astype(int)
X, X_new = (rng.standard_normal((20_000, 1)) + 2 * y[:, None] for _ in range(2))
for model in (DummyClassifier(), GaussianNB()):
    said = model.fit(X, y).predict(X_new)
    print(
        f"{type(model).__name__:15} risk {np.mean(said != y):.4f}, finds {said[y == 1].mean():.3f}"
    )

# %%
# **3. A threshold on the probability.** The lower the threshold, the more positive rows are found,
# and the smaller is the share of true positives among the alarms. If a missed positive row costs as
# much as fifty false alarms, the best threshold in theory is 1/51, or about .02. On these rows the
# threshold .013 has the smallest cost.

roc = tr.RocCurve.from_scores(y, model.predict_proba(X_new)[:, 1])
for sensitivity in (0.1, 0.5, 0.9):
    print(roc.at_rate(sensitivity=sensitivity))
print(roc.at_cost(1, 50))

# %%
# **4. ROC curves.** Mehta distinguishes spam from other mail; here malignant tumours are
# distinguished from benign ones. The curves are computed on rows that no model has seen. The
# additive model (a sum of splines) has the largest area under its curve.

data = tr.datasets.load("breast-cancer")
X, y = data.X[:, :10], (data.y == 0).astype(int)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
leaves = {"min_samples_leaf": 5, "random_state": 0}
models = {
    "additive": make_pipeline(StandardScaler(), SplineTransformer(4), LogisticRegression()),
    "tree": DecisionTreeClassifier(**leaves),
    "weighted tree": DecisionTreeClassifier(class_weight={0: 5, 1: 1}, **leaves),
}
curves = {}
for name, model in models.items():
    curves[name] = tr.RocCurve.from_scores(y_new, model.fit(X, y).predict_proba(X_new)[:, 1])
    print(f"{name:13} {curves[name]}")

# %%
# **5. All tumours, or almost all.** If every malignant tumour must be found, many benign tumours
# are called malignant; the trees then call all tumours malignant. If one malignant tumour in twenty
# may be missed, at least a quarter of the benign tumours are recognised as benign.

_, ax = plt.subplots(figsize=(5.6, 4), layout="constrained")
for name, roc in curves.items():
    ax.plot(roc.tpr, 1 - roc.fpr, label=name)
    print(f"{name:13}", [round(roc.at_rate(sensitivity=s).specificity, 2) for s in (0.9, 0.95, 1)])
ax.set(xlabel="true positive rate", ylabel="true negative rate")
ax.set_title("The last tumours cost the most false alarms")
_ = ax.legend(frameon=False, loc="lower left")

# %%
# **6. Precision and recall.** Precision is the share of malignant tumours among those that are
# called malignant. Recall is the share of the malignant tumours that are called malignant.

_, ax = plt.subplots(figsize=(5.6, 4), layout="constrained")
for name, roc in curves.items():
    both = roc.precision_recall()
    ax.plot(both.recall, both.precision, label=name)
    print(f"{name:13} {both}")
ax.set(xlabel="recall", ylabel="precision", ylim=(0, 1.03), title="The last tumours cost precision")
_ = ax.legend(frameon=False, loc="lower left")

# %%
# **7. Train, validate, test.** Nearest-neighbour rules are fitted on half of the rows, and the
# number of neighbours is chosen on a quarter of the rows. The chosen rule is refitted on both
# parts, and tested once on the last quarter. The validation error of the chosen rule is too small,
# because the rule was chosen for its small validation error. The test error agrees with the true
# risk of such a rule.

neighbours = {"n_neighbors": list(range(1, 32, 2))}
problem, knn = tr.datasets.make_simple, KNeighborsClassifier()
rows = []
for seed in range(200):
    X, y = problem(100, random_state=seed)
    split = tr.risk_curve(knn, neighbours, X, y, cv="three-way")
    rule = KNeighborsClassifier(**split.best_params).fit(*problem(75, random_state=200 + seed))
    true = problem.true_risk(rule, n_test=2_000).value
    rows.append((min(split.values), split.procedure.value, true))
print("validation {:.3f}, test {:.3f}, true risk {:.3f}".format(*np.mean(rows, axis=0)))

# %%
# **8. Ten folds or leave-one-out?** In cross-validation every row is tested, so fewer rows are lost
# for training. For nine neighbours, ten folds and leave-one-out give about the same mean and the
# same spread. ``truerisk reproduce insa-folds`` shows a learner for which they differ.

sets = [problem(100, random_state=seed) for seed in range(100)]
for word in ("10-fold", "loo"):
    found = [tr.estimate_risk(KNeighborsClassifier(9), X, y, cv=word).value for X, y in sets]
    print(f"{word:7} mean {np.mean(found):.4f}, standard deviation {np.std(found):.4f}")

# %%
# **9. Nested folds.** The smallest cross-validated error is too small, as the smallest error on a
# validation set is, because the same folds have chosen the setting. If inner folds choose the
# setting and outer folds test it, the mean error comes close to the true risk.

rows = []
for X, y in sets:
    search = tr.HonestSearchCV(knn, neighbours).fit(X, y)
    true = problem.true_risk(search, n_test=2_000).value
    rows.append((search.selected_risk_.value, search.risk_.value, true))
print("selected {:.3f}, honest {:.3f}, true risk {:.3f}".format(*np.mean(rows, axis=0)))

# %%
# **10. What to report.** Report the honest error of the whole procedure with its interval, and not
# the smallest error. Do not report a setting on which the folds disagree.

print(tr.assess(["knn", "logistic", "tree"], data.X[:, :10], data.y))
