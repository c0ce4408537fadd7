"""
Validating a risk model
=======================

``tr.validate`` reports discrimination, calibration and net benefit of a model in three ways: on the
rows that a search held out, on the rows that the model was trained on, and corrected for optimism
by bootstrap samples. In each bootstrap sample the whole procedure is repeated, including the
tuning.
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
# The calibration curve compares the predicted probabilities with the observed shares of events.
# Where the band does not contain the diagonal, the probabilities are wrong.

ax = found.calibration.plot()
ax.set_title("The band of held-out probabilities holds the diagonal")

# %%
# The decision curve shows, for each threshold, the net benefit of treating the patients whose
# predicted probability is above the threshold. It is compared with treating all patients and with
# treating nobody.

ax = found.net_benefit.plot()
_ = ax.set_title("From 10 % on the model gains more; from 50 % on the bands part")
