"""
Which settings may be the best?
===============================

The setting with the smallest estimated risk is the best on these rows, but perhaps not on new rows.
The *best set* is a set of settings that contains the setting that is best on new rows with a
probability of 95 %. It is computed from the losses in the folds, without another fit. Here a
setting is a number of nearest neighbours, which grows up to seven tenths of the rows. The more rows
there are, the closer the risk of a setting must be to the smallest risk for the setting to stay in
the set.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

shares = np.geomspace(1 / 80, 0.7, 14)
new_rows, new_labels = tr.datasets.make_difficult(5_000, random_state=99)


def compared(n_rows):
    """Return the risk curve for this number of rows, and each model's risk on 5,000 new rows."""
    X, y = tr.datasets.make_difficult(n_rows, random_state=4)
    neighbours = [int(k) for k in np.round(shares * n_rows)]
    curve = tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": sorted(set(neighbours))}, X, y)
    models = [KNeighborsClassifier(**setting).fit(X, y) for setting in curve.candidates]
    return curve, [float(np.mean(model.predict(new_rows) != new_labels)) for model in models]


found = {n_rows: compared(n_rows) for n_rows in (80, 240, 720)}
for n_rows, (curve, truth) in found.items():
    kept = [curve.candidates.index(setting) for setting in curve.best_set(0.95)]
    away = max(truth[c] for c in kept) - min(truth)
    print(
        f"{n_rows} rows: {len(kept)} settings may be the best, on new rows within {away:.3f} of it"
    )

# %%
# The figure shows the estimated risks of all settings. The dashed line is their risk on the 5,000
# new rows.

figure, panels = plt.subplots(1, 2, figsize=(6.4, 3.6), sharey=True, layout="constrained")
for ax, n_rows in zip(panels, (80, 720), strict=True):
    curve, truth = found[n_rows]
    neighbours = np.array([setting["n_neighbors"] for setting in curve.candidates])
    kept = np.array([setting in curve.best_set(0.95) for setting in curve.candidates])
    ax.plot(neighbours, truth, "--", color="0.4", label="on new rows")
    ax.plot(neighbours[~kept], curve.values[~kept], "o", color="C1", label="shown to be worse")
    ax.plot(neighbours[kept], curve.values[kept], "o", color="C0", label="may be the best")
    ax.set(xscale="log", xlabel="neighbours")
    ax.set_title(f"{n_rows} rows: {kept.sum()} may be the best")
panels[0].set_ylabel("risk by 5-fold")
_ = panels[0].legend(frameon=False, fontsize="small")
