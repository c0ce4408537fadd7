"""
A gate that bad models do not pass
==================================

A model may be merged if it errs on at most 35 % of new rows. Twenty searches are run, each on other
patients. Which models pass a gate on the best score, and which pass a gate on the honest interval?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import SelectKBest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import truerisk as tr
from truerisk.exceptions import BoundMissed

BOUND = 0.35


def patients(n, seed):
    """Draw patients from a known distribution, so that new ones can be drawn later."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, 200))
    X[:, :5] += 0.6 * y[:, None]
    return X, y


def passes(risk):
    """Return True if the interval of a risk keeps the bound."""
    try:
        risk.require(zero_one=BOUND)
    except BoundMissed:
        return False
    return True


model = make_pipeline(SelectKBest(), KNeighborsClassifier())
grid = {"selectkbest__k": [1, 5, 20, 50], "kneighborsclassifier__n_neighbors": [1, 5, 15]}
best, upper, truth, passed = [], [], [], []
for seed in range(20):
    search = tr.HonestSearchCV(model, grid).fit(*patients(60, seed))
    X, y = patients(10_000, 1_000 + seed)
    best.append(search.selected_risk_.value)
    upper.append(search.risk_.interval.high)
    truth.append(np.mean(search.predict(X) != y))
    passed.append(passes(search.risk_))

# %%
# **The best score lets bad models pass.** It is the best of twelve noisy numbers, so it keeps the
# bound although most of these models err on more than 35 % of new patients. The gate on the
# interval, ``search.risk_.require(zero_one=0.35)``, lets none of these pass.

best, upper, truth = np.array(best), np.array(upper), np.array(truth)
print(f"models that err on more than {BOUND:.0%}: {np.sum(truth > BOUND)} of 20")
print(f"of these, the gate on the best score passes {np.sum((best <= BOUND) & (truth > BOUND))}")
print(f"of these, the gate on the interval passes {np.sum(passed & (truth > BOUND))}")

# %%
# **The picture.** A gate passes what lies below the line. Models to the right of the vertical line
# are too bad to be merged.

fig, ax = plt.subplots()
ax.axhline(BOUND, color="C7")
ax.axvline(BOUND, color="C7")
ax.plot(truth, best, "o", color="C1", label="best score")
ax.plot(truth, upper, "o", color="C0", label="upper end of the honest interval")
ax.set(xlabel="errors on new patients", ylabel="what the gate reads", ylim=(0.2, 0.95))
ax.set_title("Below the line: merged")
_ = ax.legend(loc="upper left")

# %%
# **More rows make good models pass.** An honest gate asks for evidence. With 60 patients nothing
# shows that a model keeps the bound; with 600 patients the interval is narrow enough.

search = tr.HonestSearchCV(model, grid).fit(*patients(600, seed=0))
print(search.risk_)
search.risk_.require(zero_one=BOUND)
