"""
Does the model do as well for everybody?
========================================

This example validates a model of tumours separately for subgroups of tumours with different cell
sizes. For each subgroup it reports the error rate and the Brier score, with simultaneous intervals,
which contain the true values of all subgroups at once with the stated probability. It also reports
values that are shrunk towards their mean, as far as noise explains the differences between the
subgroups. The right figure shows how much the predictions of single rows change if a further fold
is left out of the training rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr

cells = load_breast_cancer(as_frame=True)
X = cells.data[["mean texture", "mean smoothness", "mean concavity", "mean symmetry"]]
ends = [" 7 to 11", "11 to 13", "13 to 16", "16 to 22", "22 to 28"]
radius = np.array(ends)[np.digitize(cells.data["mean radius"], [11, 13, 16, 22])]
model = make_pipeline(StandardScaler(), LogisticRegression())
found = tr.validate(model, X, cells.target, subgroups={"radius": radius}, replicates=0)
print(found.subgroups)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
found.subgroups.plot("zero-one", ax=axes[0])
axes[0].set_title("errors by the size of the cells")
_ = found.stability.predictions.plot(ax=axes[1])
