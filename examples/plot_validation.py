"""
Validating a risk model
=======================

``tr.validate`` tells discrimination, calibration and net benefit of the rows that a search held
out, beside what the model looks like on its own rows, and corrected for that by bootstrap samples
in which everything, tuning included, is done anew.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr

table = load_breast_cancer()
X, malignant = table.data[:150, [1, 4, 8, 11]], table.target[:150] == 0
model = make_pipeline(StandardScaler(), LogisticRegression())
search = tr.HonestSearchCV(model, {"logisticregression__C": [0.1, 10.0]}, cv="5-fold")
found = tr.validate(search.fit(X, malignant), X, malignant, replicates=30)
print(found.discrimination)
print(found.calibration)

# %%
# The calibration curve: where the band leaves the diagonal out, probabilities are wrong.

ax = found.calibration.plot()
ax.set_title("The band of held-out probabilities holds the diagonal")

# %%
# The decision curve: the net benefit of treating from a probability on, beside treating all and
# nobody.

ax = found.net_benefit.plot()
_ = ax.set_title("From 10 % on the model gains more; from 50 % on the bands part")
