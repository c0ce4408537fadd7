"""Every estimator of ours keeps the contract of scikit-learn."""

import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.utils.validation import has_fit_parameter
from tests.support.estimator_checks import estimator_checks

from truerisk import models

QUICK = {
    "imputer": IterativeImputer(sample_posterior=True, max_iter=2),
    "n_imputations": 2,
    "random_state": 0,
}
SMALL = {"max_iter": 40, "min_samples_leaf": 2, "random_state": 0}
STOPPED = [
    models.EarlyStopping(kind(**SMALL), random_state=0)
    for kind in (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
    if has_fit_parameter(kind(), "X_val")  # from scikit-learn 1.7 on
]
CHECKED = [
    models.LinearDiscriminant(),
    models.QuadraticDiscriminant(reg_param=0.1),
    models.FisherClassifier("balanced"),
    models.LogisticPath(0.5, at=0.01, n_lambdas=12),
    models.Memoriser(),
    models.MultipleImputation(LogisticRegression(), **QUICK),
    models.MultipleImputation(LinearRegression(), **QUICK),
    models.ParzenClassifier("maximum-likelihood", per_class=True, kernel="epanechnikov"),
    models.ThresholdClassifier(LogisticRegression(), cost=(1, 2), cv=2, random_state=0),
]
# a weight of 2 is no second row where rows are drawn
WEIGHTED = {"check_sample_weight_equivalence_on_dense_data"}
CHECKS = [*estimator_checks(*CHECKED), *estimator_checks(*STOPPED, without=WEIGHTED)]


# up to scikit-learn 1.7 its quadratic analysis warns of classes with few rows, which a check draws
@pytest.mark.filterwarnings("ignore:The covariance matrix of class:scipy.linalg.LinAlgWarning")
@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_estimator_keeps_the_contract_of_scikit_learn(estimator, check) -> None:
    """All of scikit-learn's estimator checks pass."""
    check(estimator)
