"""Plans for numbers that are denormal, huge or of other types: a plan, or one sentence."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import truerisk as tr
from truerisk.extend import TrueRiskError

ODD = (
    *(5e-324, 1e-310, 1e-160, 1e-100, 1e-17, 1e-12, 1e-8, 1 - 1e-12, 1 - 2**-53, 1.0000001),
    *(10**9, 10**9 + 1, 1e17, 2**62, 10**30, 1e100, 1e160, 1e308, 10**400, -1e-320, -0.0),
    *(np.nan, np.inf, True, "x", 1j, [1], (1, 2), (1e-320, 1), (1e308, 1e308)),
    *(Fraction(1, 3), Decimal("0.1"), np.float32(0.1), np.array(0.2), np.array([0.2, 0.3]), {}),
)
PLANS = {
    "sample": (tr.plan_sample, {"error": 0.2, "width": 0.1, "n": 500}),
    "shared sample": (tr.plan_sample, {"error": {30: 0.3, 90: 0.2}, "n": 120}),
    "development": (tr.plan_development, {"parameters": 4, "prevalence": 0.2, "auc": 0.8}),
    "development of numbers": (
        tr.plan_development,
        {"outcome": "continuous", "parameters": 5, "r2": 0.2, "mean": 1.9, "sd": 0.6},
    ),
    "development in time": (
        tr.plan_development,
        {"outcome": "time-to-event", "parameters": 5, "r2": 0.1}
        | {"rate": 0.1, "horizon": 2, "follow_up": 2},
    ),
    "validation": (tr.plan_validation, {"prevalence": 0.2, "auc": 0.8, "threshold": 0.3}),
    "validation of numbers": (
        tr.plan_validation,
        {"outcome": "continuous", "r2": 0.3, "sd": 1, "mean_width": 0.2},
    ),
}
MORE = {
    "sample": ("confidence_level", "assurance", "prior"),
    "shared sample": ("confidence_level", "prior"),
    "development": ("shrinkage", "optimism", "margin", "confidence_level"),
    "development of numbers": ("ratio", "shrinkage", "optimism", "confidence_level"),
    "development in time": ("margin", "confidence_level"),
    "validation": ("slope_width", "linear_predictor", "benefit_width", "confidence_level"),
    "validation of numbers": ("r2_width", "ratio", "confidence_level"),
}


def wrong_with_plan(plan, given):
    """Return why there is neither a plan that can be shown and read, nor one sentence; else ""."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            made = plan(**given)
        except TrueRiskError as refused:
            sentence = str(refused)
            return "" if sentence.isprintable() and len(sentence) < 600 else sentence
        made.to_html()
        again = type(made).from_json(made.to_json())
    return "" if again.to_json() == made.to_json() else "it comes back as another"


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in PLANS for name in (*PLANS[kind][1], *MORE[kind])]
)
def test_plan_of_odd_numbers_is_made_or_refused(kind, name):
    plan, given = PLANS[kind]
    found = {repr(odd): wrong_with_plan(plan, {**given, name: odd}) for odd in ODD}
    assert not {odd: wrong for odd, wrong in found.items() if wrong}


SIZES = [{10**30: 0.2}, {2**53 + 1: 0.2, 9: 0.3}, {5: 5e-324}, {1.5: 0.2}]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *[
            pytest.param(
                lambda sizes=sizes: tr.plan_sample(sizes, n=100), "error=", id=f"sizes {i}"
            )
            for i, sizes in enumerate(SIZES)
        ],
        pytest.param(
            lambda: tr.ErrorPosterior(3, 20, of=5), "of=5: say in words", id="label that is no text"
        ),
    ],
)
def test_odd_sizes_and_labels_are_refused_with_a_sentence(call, message):
    with pytest.raises(TrueRiskError, match=message):
        call()


def test_plan_sample_of_very_many_rows_sums_over_few_counts():
    few = tr.plan_sample({30: 0.3, 90: 0.2}, n=10**6).best
    many = tr.plan_sample({30: 0.3, 90: 0.2}, n=10**8).best
    assert few.ub == pytest.approx(0.2, abs=1e-3)
    assert many.width == pytest.approx(few.width / 10, rel=0.01)
