"""Every estimator of ours keeps the contract of scikit-learn, and says what it cannot fit."""

from functools import partial
from itertools import count

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
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


COLUMN, ROWS = np.arange(12.0)[:, None], np.random.default_rng(0).normal(size=(12, 3))
LABELS, LETTERS = np.arange(12) % 2, np.repeat(list("abc"), 4)
HALF = make_pipeline(IterativeImputer(sample_posterior=True), IterativeImputer())
WRONG = {
    models.FisherClassifier: [
        ({"threshold": "middle"}, LABELS, None, "threshold='middle' is unknown"),
        ({}, LABELS * 0, None, "y holds one class only"),
        ({}, LABELS, [1, 1], "sample_weight.shape"),
        ({}, LABELS, LABELS - 0.5, "must not be negative"),
        ({}, LABELS, np.zeros(12), "not zero everywhere"),
    ],
    models.LogisticPath: [
        ({"l1_ratio": 1.2}, LABELS, None, "l1_ratio=1.2 is no number between 0 and 1"),
        ({"n_lambdas": 0}, LABELS, None, "n_lambdas=0 is no whole number"),
        ({"lambdas": [0.1, -1.0]}, LABELS, None, "lambdas must be positive"),
        ({"lambdas": []}, LABELS, None, "lambdas must be positive"),
        ({"tol": 0}, LABELS, None, "tol=0 is no number"),
        ({"max_iter": 2.5}, LABELS, None, "max_iter=2.5 is no whole number"),
        ({"least_ratio": "small"}, LABELS, None, "least_ratio='small' is no number"),
        ({"at": "last"}, LABELS, None, "neither a place"),
        ({"at": -0.5}, LABELS, None, "no penalty"),
        ({}, LABELS, LABELS, "only one class"),
        ({}, LABELS, np.zeros(12), "zero for every row"),
    ],
    partial(models.MultipleImputation, LogisticRegression()): [
        *(
            # All tables of an imputer that does not draw would be the same.
            ({"imputer": one}, LABELS, None, "it does not draw, .*sample_posterior=True")
            for one in (SimpleImputer(), IterativeImputer(), HALF)
        ),
        *(({"n_imputations": n}, LABELS, None, "n_imputations") for n in (0, 2.5, "5")),
    ],
    models.ParzenClassifier: [
        (options, LETTERS, None, message)
        for options, message in (
            ({"kernel": "cosine"}, "kernel='cosine' is unknown; use gaussian, exponential"),
            ({"width": "silverman"}, "width='silverman' is unknown; use a number, lissack-fu"),
            ({"width": 0.0}, "width=0.0: widths must be positive"),
            ({"width": True}, "width=True: give one number"),
            (
                {"width": [1.0, 2.0, 3.0]},
                "one number, or with per_class=True one for each of the 3",
            ),
            ({"width": [1.0, 2.0], "per_class": True}, "one for each of the 3 classes"),
            ({"width": [1.0, np.nan, 2.0], "per_class": True}, "must be positive and finite"),
            ({"priors": [0.5, 0.5]}, r"priors has shape \(2,\); give one number for each of the 3"),
            ({"priors": [0.5, 0.6, -0.1]}, "must be probabilities that add up to 1"),
        )
    ],
}
REFUSED = [
    (make(**options), ROWS, y, weights, message)
    for make, wrong in WRONG.items()
    for options, y, weights, message in wrong
]
REFUSED += [
    (models.IntervalClassifier(k), X, y, None, message)
    for k, X, y, message in (
        (2, ROWS, LABELS, r"X has 3 features \(n_features=3\), but .* expecting 1 feature"),
        (0, COLUMN, LABELS, "k=0 is no number of intervals"),
        (True, COLUMN, LABELS, "k=True is no number"),
        (2.0, COLUMN, LABELS, "k=2.0 is no number"),
        (2, [1, 2, 3], [0, 1, 2], "Only binary classification is supported. .* is multiclass"),
        (2, [1, np.nan], [0, 1], "contains NaN"),
    )
]


@pytest.mark.parametrize(("model", "X", "y", "weights", "message"), REFUSED, ids=count())
def test_fit_refuses_what_a_model_cannot_be(model, X, y, weights, message) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, **({} if weights is None else {"sample_weight": weights}))
