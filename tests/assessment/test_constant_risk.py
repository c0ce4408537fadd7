"""The best constant answer has the smallest risk that ignores the features."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import log_loss

from truerisk.assessment.constant_risk import find_best_constant
from truerisk.estimation.problem import problem_from_arguments
from truerisk.extend import Family
from truerisk.losses import Cost

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(30, 2))
LABELS = np.repeat(["a", "b", "c"], [5, 9, 16])
TWO = np.repeat([0, 1], [10, 20])
NUMBERS = DRAW.exponential(size=30)
HEAVY = np.where(LABELS == "a", 10.0, 1.0)
SHARES = np.tile([1 / 3, 2 / 3], (30, 1))
MEDIAN = np.abs(NUMBERS - np.median(NUMBERS))
CLASS = "always predicting the {} class"


def constant(y, scoring=None, **options):
    """The best constant on these data."""
    numeric = y.dtype.kind == "f"
    family = Family.from_grid(DummyRegressor() if numeric else DummyClassifier())
    return find_best_constant(problem_from_arguments(family, X, y, scoring=scoring, **options))


@pytest.mark.parametrize(
    ("y", "options", "risk", "rule", "losses"),
    [
        (LABELS, {}, 14 / 30, CLASS.format("most frequent"), LABELS != "c"),
        (
            LABELS,
            {"sample_weight": HEAVY},
            25 / 75,
            CLASS.format("most frequent"),
            LABELS != "a",
        ),
        (TWO, {"scoring": Cost([[0, 5], [1, 0]])}, 20 / 30, CLASS.format("cheapest"), ...),
        (TWO, {"scoring": "log"}, log_loss(TWO, SHARES), None, ...),
        (TWO, {"scoring": "brier"}, 2 / 9, None, ...),
        (TWO, {"scoring": "auc"}, 0.5, "ranking at random", None),
        (NUMBERS, {}, NUMBERS.var(), "always predicting the mean", ...),
        (NUMBERS, {"scoring": "absolute"}, MEDIAN.mean(), "always predicting the median", MEDIAN),
        (NUMBERS, {"scoring": lambda y, p: np.abs(y - p)}, MEDIAN.mean(), None, ...),
    ],
)
def test_constant_risk_is_that_of_the_best_constant(y, options, risk, rule, losses):
    found = constant(y, **options)
    assert found.risk == pytest.approx(risk)
    assert rule in (None, found.rule)
    if losses is None:
        assert found.losses is None
    elif losses is not ...:
        np.testing.assert_array_equal(found.losses, losses)


def fussy(y, p):
    """A loss that refuses constants."""
    return np.ones(3) if np.ptp(p) == 0 else np.abs(y - p)


def test_constant_risk_is_missing_for_scorer_and_refusing_loss():
    assert constant(TWO, "jaccard") is None
    assert constant(NUMBERS, fussy) is None
