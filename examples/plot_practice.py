"""
Model selection in practice
===========================

Mehta's notes on practical issues in classification, as a notebook: training and test error,
thresholds, ROC curves, the three-way split and cross-validation. The last two cells say what one
would report.
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
# **1. The constant and the memoriser.** A constant errs on training rows as on new ones. A rule
# that knows its rows by heart has no training error, and on new rows it errs wherever the label is
# 1: in three of ten. So a training error may say nothing.

rng = np.random.default_rng(0)
X, y = rng.standard_normal((1000, 1)), rng.random(1000) < 0.3
X_new, y_new = rng.standard_normal((100_000, 1)), rng.random(100_000) < 0.3
for model in (DummyClassifier(), tr.models.Memoriser()):
    training = tr.estimate_risk(model, X, y, cv="apparent").value
    test = np.mean(model.fit(X, y).predict(X_new) != y_new)
    print(f"{type(model).__name__:15} training error {training:.3f}, test error {test:.3f}")

# %%
# **2. Rare classes.** One row in a hundred is positive. To say 0 of every row is wrong of 1 % only,
# and finds none. A good rule is hardly less often wrong, and finds few.

y = (np.arange(20_000) % 100 == 0).astype(int)
X, X_new = (rng.standard_normal((20_000, 1)) + 2 * y[:, None] for _ in range(2))
for model in (DummyClassifier(), GaussianNB()):
    said = model.fit(X, y).predict(X_new)
    print(
        f"{type(model).__name__:15} risk {np.mean(said != y):.4f}, finds {said[y == 1].mean():.3f}"
    )

# %%
# **3. A threshold on the probability.** The lower it is, the more positive rows are found, and the
# smaller is the share of true alarms. Where a missed row costs fifty false alarms, 1/51 or about
# .02 is best; on these rows .013 costs least.

roc = tr.RocCurve.from_scores(y, model.predict_proba(X_new)[:, 1])
for sensitivity in (0.1, 0.5, 0.9):
    print(roc.at_rate(sensitivity=sensitivity))
print(roc.at_cost(1, 50))

# %%
# **4. ROC curves.** Mehta sorts spam from good mail; here malignant tumours are told from benign
# ones. On rows that no model has seen, the additive one (a sum of splines) has the largest area.

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
# **5. All, or almost all.** To find every malignant tumour, many benign ones are called malignant;
# the trees call them all so. Whoever lets one in twenty pass spares a quarter of them or more.

_, ax = plt.subplots(figsize=(5.6, 4), layout="constrained")
for name, roc in curves.items():
    ax.plot(roc.tpr, 1 - roc.fpr, label=name)
    print(f"{name:13}", [round(roc.at_rate(sensitivity=s).specificity, 2) for s in (0.9, 0.95, 1)])
ax.set(xlabel="true positive rate", ylabel="true negative rate")
ax.set_title("The last tumours cost the most false alarms")
_ = ax.legend(frameon=False, loc="lower left")

# %%
# **6. Precision and recall.** Of the tumours called malignant, how many are; of those that are, how
# many are called so.

_, ax = plt.subplots(figsize=(5.6, 4), layout="constrained")
for name, roc in curves.items():
    both = roc.precision_recall()
    ax.plot(both.recall, both.precision, label=name)
    print(f"{name:13} {both}")
ax.set(xlabel="recall", ylabel="precision", ylim=(0, 1.03), title="The last tumours cost precision")
_ = ax.legend(frameon=False, loc="lower left")

# %%
# **7. Train, validate, test.** Neighbours are fitted on half of the rows, chosen on a quarter,
# refitted on both and tested once, on the last quarter. The validation error of the winner is too
# small: it was chosen for being small. The test error agrees with the true risk of such a rule.

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
# **8. Ten folds or leave-one-out?** Every row tests, so less is lost. For nine neighbours the two
# are alike, in mean and in spread; ``truerisk reproduce insa-folds`` has a learner for which they
# are not.

sets = [problem(100, random_state=seed) for seed in range(100)]
for word in ("10-fold", "loo"):
    found = [tr.estimate_risk(KNeighborsClassifier(9), X, y, cv=word).value for X, y in sets]
    print(f"{word:7} mean {np.mean(found):.4f}, standard deviation {np.std(found):.4f}")

# %%
# **9. Folds in folds.** The least error of the folds that chose is too small, as that of a
# validation set is. Where folds outside test what folds inside chose, the mean comes close to the
# true risk.

rows = []
for X, y in sets:
    search = tr.HonestSearchCV(knn, neighbours).fit(X, y)
    true = problem.true_risk(search, n_test=2_000).value
    rows.append((search.selected_risk_.value, search.risk_.value, true))
print("selected {:.3f}, honest {:.3f}, true risk {:.3f}".format(*np.mean(rows, axis=0)))

# %%
# **10. What to report.** Not the least error, but the honest one of the whole procedure, with its
# interval; and no setting on which the folds disagree.

print(tr.assess(["knn", "logistic", "tree"], data.X[:, :10], data.y))
