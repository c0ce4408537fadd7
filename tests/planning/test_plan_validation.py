"""`plan_validation`: what Riley et al. and Archer et al. ask, and what pmvalsampsize says of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

import truerisk as tr
from truerisk.core.errors import BadArgument, Refusal, UnknownName
from truerisk.planning.model_size import LinearPredictor

CLASSES = {"prevalence": 0.2, "auc": 0.7, "threshold": 0.2}
NUMBERS = {"outcome": "continuous", "r2": 0.5, "sd": 20, "mean_width": 10}
EXAMPLE_WITHOUT_FIGURE = tr.plan_validation(**CLASSES)


def rows(needed) -> list[int]:
    return [one.n for one in needed.criteria]


# pmvalsampsize 0.1.0: a million drawn rows, and standard errors in steps of .0001
@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (
            {"prevalence": 0.018, "auc": 0.8, "linear_predictor": (-5, 2.5), "oe_width": 1},
            [905, 4563, 4252],
        ),
        (
            {
                "prevalence": 0.1,
                "auc": 0.75,
                "linear_predictor": (-2.5, 1),
                "threshold": 0.1,
                "sensitivity": 0.5,
                "specificity": 0.8,
            },
            [3461, 5615, 1008, 1201],
        ),
    ],
)
def test_validation_as_pmvalsampsize_has_it(options, wanted):
    """Within what drawing and steps leave: a third of a per cent."""
    needed = tr.plan_validation(**options)
    assert rows(needed) == pytest.approx(wanted, rel=3e-3)
    assert needed.n == max(rows(needed))


# pmvalsampsize of Stata, 1.0.1 (that of R has no continuous outcome), by its formulas with standard
# errors in steps of .0001: type(c) rsq(.9) varobs(.089) citlciwidth(.08), its own example; and the
# examples of Archer et al. (R² .5, variance 400, width 10). It never asks fewer than 235 residuals.
@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"r2": 0.9, "sd": math.sqrt(0.089), "mean_width": 0.08}, [56, 22, 44, 235]),
        ({"r2": 0.5, "sd": 20, "mean_width": 10}, [769, 31, 386, 235]),
    ],
)
def test_numbers_are_validated_as_pmvalsampsize_has_it(options, wanted):
    """A row less where its standard error, in steps, made one more."""
    needed = tr.plan_validation("continuous", **options)
    assert rows(needed) == pytest.approx(wanted, abs=1)
    assert needed.n == max(rows(needed))
    assert needed.events is None


def test_intervals_of_numbers_are_as_wide_as_was_asked():
    """By drawing: a calibrated model's R², mean error and slope in so many people."""
    rng, r2 = np.random.default_rng(0), 0.5

    def spread(n: int) -> list[float]:
        said = rng.normal(scale=math.sqrt(r2), size=(4000, n))
        seen = said + rng.normal(scale=math.sqrt(1 - r2), size=said.shape)
        missed = seen - said
        explained = 1 - missed.var(axis=1) / seen.var(axis=1)
        centred = said - said.mean(axis=1, keepdims=True)
        slope = (centred * seen).sum(axis=1) / (centred**2).sum(axis=1)
        return [each.std() for each in (explained, missed.mean(axis=1), slope)]

    needed = rows(tr.plan_validation("continuous", r2=r2, sd=1, mean_width=0.1))
    asked = np.array([0.1, 0.1, 0.2]) / (2 * norm.ppf(0.975))
    drawn = [spread(n)[k] for k, n in enumerate(needed[:3])]
    assert drawn == pytest.approx(asked, rel=0.05)


@pytest.mark.parametrize(("auc", "prevalence"), [(0.6, 0.5), (0.75, 0.1), (0.95, 0.01)])
def test_the_linear_predictor_has_its_auc_and_its_prevalence(auc, prevalence):
    """And the rates of a threshold, by drawing; it is calibrated."""
    scores = LinearPredictor.of_auc(auc, prevalence)
    assert scores.auc == pytest.approx(auc, abs=1e-6)
    assert scores.prevalence == pytest.approx(prevalence, rel=1e-8)
    rng, n = np.random.default_rng(0), 400_000
    ill = rng.random(n) < prevalence
    distance = math.sqrt(2) * norm.ppf(auc)
    linear = rng.normal(size=n) * distance + (ill - 0.5) * distance**2
    threshold = prevalence / 2  # at the prevalence both rates are equal
    acted = expit(linear + math.log(prevalence / (1 - prevalence))) >= threshold
    drawn = acted[ill].mean(), 1 - acted[~ill].mean()
    assert drawn[0] > drawn[1] + 0.05
    assert scores.rates(threshold) == pytest.approx(drawn, abs=0.03)


def test_a_linear_predictor_that_is_foreseen_otherwise_is_said():
    """Its own prevalence and AUC beside those that were given; none where they agree."""
    notes = tr.plan_validation(prevalence=0.018, auc=0.8, linear_predictor=(-5, 2.5)).notes
    assert "has prevalence 0.0523, not 0.018" in notes[0]
    assert "has AUC 0.927, not 0.8" in notes[1]
    assert tr.plan_validation(prevalence=0.1054, auc=0.749, linear_predictor=(-2.5, 1)).notes == ()


@pytest.mark.parametrize(
    ("plain", "words"),
    [
        (CLASSES, ("oe_width", "slope_width", "auc_width", "benefit_width")),
        (NUMBERS, ("r2_width", "mean_width", "slope_width")),
    ],
)
def test_what_is_asked_for_more_exactly_takes_more_rows(plain, words):
    """Each width has its own criterion; the level has all of them."""
    before = rows(tr.plan_validation(**plain))
    for place, word in enumerate(words):
        after = rows(tr.plan_validation(**{**plain, word: 0.05}))
        assert [one > two for one, two in zip(after, before, strict=True)] == [
            place == where for where in range(4)
        ]
    sure = rows(tr.plan_validation(**plain, confidence_level=0.99))
    assert all(one > two for one, two in zip(sure, before, strict=True))


def test_the_residual_spread_is_known_to_a_factor():
    """A factor of its own, and no other criterion."""
    before, after = (rows(tr.plan_validation(**NUMBERS, **o)) for o in ({}, {"ratio": 1.05}))
    assert after[:3] == before[:3]
    assert after[3] > 3 * before[3]


NONE = {"prevalence": None, "auc": None}


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"auc": 0.5}, BadArgument, "better than chance"),
        (
            {"auc": None},
            UnknownName,
            "auc= is missing. Of a binary outcome",
        ),
        ({"r2": 0.5}, UnknownName, "r2= is foreseen of a continuous outcome, not of a binary one"),
        ({"ratio": 1.2}, UnknownName, "ratio= is foreseen of a continuous outcome"),
        (NUMBERS, UnknownName, "prevalence= is foreseen of a binary outcome"),
        ({**NONE, **NUMBERS, "mean_width": None}, UnknownName, "mean_width= is missing"),
        ({**NONE, **NUMBERS, "mean_width": -1}, BadArgument, "mean_width=-1: use a number above 0"),
        ({**NONE, **NUMBERS, "sd": "20"}, BadArgument, "sd='20': use a number above 0"),
        ({**NONE, **NUMBERS, "r2": 1}, BadArgument, "r2=1: use a number between 0 and 1"),
        ({**NONE, **NUMBERS, "oe_width": 0.1}, UnknownName, "oe_width= is foreseen of a binary"),
        ({**NONE, **NUMBERS, "ratio": 1}, BadArgument, "a factor above 1"),
        ({"outcome": "survival"}, UnknownName, "Known: binary, continuous"),
        ({"prevalence": 0}, BadArgument, "prevalence=0: use a number between 0 and 1"),
        ({"specificity": 0.5}, UnknownName, "threshold= is missing"),
        ({"benefit_width": 0.1}, UnknownName, "threshold= is missing"),
        ({"linear_predictor": 3}, BadArgument, "linear_predictor=3"),
        ({"auc_width": 0}, BadArgument, "auc_width=0: use the width of an interval, above 0 and 1"),
        ({"auc_width": 5}, BadArgument, "1 at most"),
        ({"slope_width": 0}, BadArgument, "slope_width=0: use the width .* and 100 at most"),
        ({"prevalence": 1e-12}, Refusal, "an event that is less rare"),
        ({"linear_predictor": (99, 0.001)}, Refusal, "the same, or sure, of everybody"),
    ],
)
def test_what_cannot_be_validated_is_refused(options, error, words):
    """By a sentence that names the argument."""
    with pytest.raises(error, match=words):
        tr.plan_validation(**{"prevalence": 0.1, "auc": 0.8, **options})
