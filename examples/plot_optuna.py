"""
A study of Optuna: is its best value real?
==========================================

Eighty patients have twenty measurements, and three of these are related to the illness. A study of
Optuna looks for the weight of every measurement and for the number of neighbours. Its sampler TPE
learns from earlier trials. Every trial stores the losses of its held-out rows, and
``tr.audit_table`` says how much of the best value is left.
"""

import matplotlib.pyplot as plt
import numpy as np
import optuna
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

optuna.logging.set_verbosity(optuna.logging.WARNING)


def patients(n, seed):
    """Draw patients from a known distribution, so that new ones can be drawn later."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, 20))
    X[:, :3] += 0.6 * y[:, None]
    return X, y


X, y = patients(80, seed=0)


def model_of(trial):
    """Return the weights and the neighbours that a trial proposes."""
    weights = np.array([trial.suggest_float(f"weight_{j}", 0, 1) for j in range(20)])
    return weights, KNeighborsClassifier(trial.suggest_int("neighbours", 1, 15))


def objective(trial):
    """Rate a trial by the same five folds as every other, and store the losses of all rows."""
    weights, model = model_of(trial)
    wrong = cross_val_predict(model, X * weights, y, cv=5) != y
    trial.set_user_attr("losses", wrong.astype(int).tolist())
    return wrong.mean()


def study_and_audit(sampler):
    """Run a study of one hundred trials, and audit the table of its losses."""
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=100)
    losses = {trial.number: trial.user_attrs["losses"] for trial in study.trials}
    return study, tr.audit_table(losses, scoring="zero-one", order=True)


# %%
# **A study by TPE.** Its trials depend on the scores of earlier trials, and the audit finds this.
# The corrected value is still too good, because the weights themselves were fitted to the rows. So
# there is no interval. (In fifteen such data sets, the best value was .26 on average, the corrected
# value .35, and the error on new patients .40.)

tpe, audit = study_and_audit(optuna.samplers.TPESampler(seed=0))
print(audit.conclusion.replace(". ", ".\n"))
print(*(f"{finding.severity}: {finding.code}" for finding in audit.findings), sep="\n")

# %%
# **A study at random.** No trial depends on earlier ones, so there is an interval. (It contained
# the error on new patients in all fifteen data sets.)

random, audit_of_random = study_and_audit(optuna.samplers.RandomSampler(seed=0))
print(audit_of_random.conclusion.replace(". ", ".\n"))

# %%
# **The picture.** The data are simulated, so the error on 10,000 new patients is known. TPE found
# the better model, but its best value is further from the truth. To get an interval after TPE, test
# the best model once on rows that the study has not seen, or let ``HonestSearchCV`` `repeat the
# study <../adaptive-searches.html#a-study-of-optuna>`__ in outer folds.

new, ill = patients(10_000, seed=1)
fig, panels = plt.subplots(1, 2, figsize=(8, 4.2), sharey=True, layout="constrained")
panels[0].set(title="TPE: the corrected value is too good", ylabel="share of wrong answers")
panels[1].set(title="at random: the interval holds the truth")
for ax, study, audited in zip(panels, (tpe, random), (audit, audit_of_random), strict=True):
    values = [trial.value for trial in study.trials]
    weights, model = model_of(study.best_trial)
    truth = np.mean(model.fit(X * weights, y).predict(new * weights) != ill)
    ax.plot(values, ".", color="C7", label="trials")
    ax.step(range(100), np.minimum.accumulate(values), color="C1", label="best value so far")
    ax.axhline(audited.honest.value, color="C0", label="corrected")
    if interval := audited.honest.interval:
        ax.axhspan(interval.low, interval.high, color="C0", alpha=0.15, label="its interval")
    ax.axhline(truth, color="C3", linestyle="--", label="on new patients")
    ax.set_xlabel("trial")
_ = fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=5)
