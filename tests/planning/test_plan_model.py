"""Rows to develop and to validate a model: the criteria of Riley and Archer, and what R says."""

import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

import truerisk as tr
from truerisk.exceptions import UnknownName
from truerisk.extend import BadArgument, Data, Refusal
from truerisk.losses.survival_losses import Concordance
from truerisk.planning.model_size import LinearPredictor
from truerisk.planning.survival_size import TimesToEvent
from truerisk.validation.follow_up import CoxFit
from truerisk.validation.observed_expected import estimate_event_share

BINARY = {"parameters": 24, "prevalence": 0.174}
LINE = {"outcome": "continuous", "parameters": 2, "r2": 0.1, "mean": 1, "sd": 1}
TIMED = {"outcome": "time-to-event", "parameters": 10, "rate": 0.2, "horizon": 5, "follow_up": 3}
CLASSES = {"prevalence": 0.2, "auc": 0.7, "threshold": 0.2}
NUMBERS = {"outcome": "continuous", "r2": 0.5, "sd": 20, "mean_width": 10}
TIMES = {"outcome": "time-to-event", "rate": 0.1, "horizon": 5, "follow_up": 4, "concordance": 0.7}
EXAMPLE_WITHOUT_FIGURE = tr.plan_validation(**CLASSES)


def rows(needed):
    return [one.n for one in needed.criteria]


# pmsampsize 1.1.3 of R 4.2.2, results_table[, "Samp_size"] of
# pmsampsize(type="b", csrsquared=.288, parameters=24, prevalence=.174), and so on. What it gives
# for the overall risk in time and for the mean is not asked: of these it tells the interval at the
# largest other number, and its search for the mean stops after one step.
@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({**BINARY, "r2": 0.288}, [623, 662, 221]),
        ({"parameters": 12, "prevalence": 0.05, "r2": 0.049}, [2144, 709, 73]),
        ({"parameters": 3, "prevalence": 0.5, "r2": 0.05, "shrinkage": 0.95}, [1110, 77, 385]),
        ({**LINE, "parameters": 25, "r2": 0.2, "mean": 1.9, "sd": 0.6}, [918, 401, 259, 38]),
        ({**LINE, "parameters": 5, "r2": 0.7, "mean": 20, "sd": 10}, [20, 32, 239, 32]),
        ({**LINE, "mean": 0.5, "sd": 3}, [4, 37, 236]),
        (
            {**TIMED, "parameters": 30, "r2": 0.051, "rate": 0.065, "horizon": 2}
            | {"follow_up": 2.07},
            [5143, 1039],
        ),
        ({**TIMED, "r2": 0.126}, [664, 219]),
    ],
)
def test_plan_development_asks_what_pmsampsize_asks(options, wanted):
    needed = tr.plan_development(**options)
    assert rows(needed)[: len(wanted)] == wanted
    assert needed.n == max(rows(needed))


def test_plan_development_takes_nagelkerke_as_a_share_of_a_perfect_models_r2():
    """Which it is by the prevalence, or by the events a person has."""
    binary = tr.plan_development(parameters=12, prevalence=0.05, nagelkerke=0.15)
    assert binary.assumed["r2"] == pytest.approx(0.15 * (1 - (0.05**0.05 * 0.95**0.95) ** 2))
    in_time = tr.plan_development(**TIMED, nagelkerke=0.15)
    most = 1 - math.exp(2 * 0.6 * math.log(0.6 / math.e))
    assert in_time.assumed["r2"] == pytest.approx(0.15 * most)


def test_plan_development_foresees_an_r2_by_the_auc():
    """Nearly that of pmsampsize, which draws a million rows: .2902 and 661 rows."""
    needed = tr.plan_development(**BINARY, auc=0.89)
    assert needed.assumed["r2"] == pytest.approx(0.2902, abs=1.5e-3)
    assert needed.n == pytest.approx(661, abs=3)
    assert needed.events == pytest.approx(needed.n * 0.174)
    assert needed.per_parameter == pytest.approx(needed.events / 24)


def test_plan_development_bounds_the_overall_risk_and_the_mean_at_n_and_not_before():
    """By their own formulas: the ends of the risk by the rate's, the mean by Student's t."""
    by_time = {"parameters": 1, "r2": 0.4, "rate": 0.3, "horizon": 1, "follow_up": 1}
    n = rows(tr.plan_development("time-to-event", **by_time))[2]
    risk = 1 - math.exp(-0.3)

    def ends(n):
        away = norm.ppf(0.975) * math.sqrt(0.3 / n)
        return [1 - math.exp(-(0.3 + side * away)) for side in (-1, 1)]

    assert max(abs(end - risk) for end in ends(n)) <= 0.05 < abs(ends(n - 1)[0] - risk)
    of_mean = tr.plan_development(**{**LINE, "mean": 0.5, "sd": 3})
    assert of_mean.n == rows(of_mean)[3] == 12449  # t √(9 · .9 / n) ≤ .05; pmsampsize says 237


def test_plan_development_bounds_no_shrinkage_of_a_line():
    """A line may explain nearly everything; of classes and times the shrinkage has its formula."""
    assert tr.plan_development("continuous", parameters=3, r2=0.99, mean=9, sd=1).n == 237


# The first two by pmvalsampsize 0.1.0 of R: a million drawn rows, and standard errors in steps of
# .0001, which leave a third of a per cent. The others by pmvalsampsize 1.0.1 of Stata (that of R
# has no continuous outcome), by its formulas with such steps, which may make a row more:
# type(c) rsq(.9) varobs(.089) citlciwidth(.08), its own example; and the examples of Archer et al.
# (R² .5, variance 400, width 10). It never asks fewer than 235 residuals.
@pytest.mark.parametrize(
    ("options", "wanted", "within"),
    [
        (
            {"prevalence": 0.018, "auc": 0.8, "linear_predictor": (-5, 2.5), "oe_width": 1},
            [905, 4563, 4252],
            {"rel": 3e-3},
        ),
        (
            {"prevalence": 0.1, "auc": 0.75, "linear_predictor": (-2.5, 1), "threshold": 0.1}
            | {"sensitivity": 0.5, "specificity": 0.8},
            [3461, 5615, 1008, 1201],
            {"rel": 3e-3},
        ),
        (
            {**NUMBERS, "r2": 0.9, "sd": math.sqrt(0.089), "mean_width": 0.08},
            [56, 22, 44, 235],
            {"abs": 1},
        ),
        (NUMBERS, [769, 31, 386, 235], {"abs": 1}),
    ],
)
def test_plan_validation_asks_what_pmvalsampsize_asks(options, wanted, within):
    needed = tr.plan_validation(**options)
    assert rows(needed) == pytest.approx(wanted, **within)
    assert needed.n == max(rows(needed))
    assert (needed.events is None) == ("outcome" in options)


def test_plan_validation_of_numbers_gives_intervals_as_wide_as_asked():
    """By drawing: a calibrated model's R², mean error and slope in so many people."""
    rng, r2 = np.random.default_rng(0), 0.5

    def spread(n):
        said = rng.normal(scale=math.sqrt(r2), size=(1500, n))
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


def test_plan_validation_of_times_foresees_the_spread_of_simulated_validations():
    """Greenwood's O/E, the slope of a Cox model and Harrell's C, in 300 tables of 300 rows."""
    times, n, rng = TimesToEvent.from_concordance(0.72, 0.1, 4.0), 300, np.random.default_rng(0)
    baseline = np.median(times.hazards)
    found = []
    for _ in range(300):
        predictor = rng.normal(0, times.sd, n)
        event = rng.exponential(np.exp(-predictor) / baseline)
        lost = rng.exponential(1 / times.censoring, n)
        y = np.column_stack([event <= lost, np.minimum(event, lost)]).astype(float)
        pairs = np.rec.fromarrays([y[:, 0] == 1, y[:, 1]], names="event,time")
        data = Data.check(predictor[:, None], pairs, task="survival")
        loss = Concordance().of_set(data, np.arange(n), predictor[None], None)[0]
        slope = CoxFit.fit(y, predictor, np.ones(n)).coef[0]
        found.append(
            (math.log(estimate_event_share(y, None, 5.0)[0]), slope, 1 - loss, *y.mean(axis=0))
        )
    std_errors = (
        times.log_ratio_std_error(5),
        times.slope_std_error(),
        times.concordance_std_error(),
    )
    means, spread = np.mean(found, axis=0), np.std(found, axis=0) * math.sqrt(n)
    assert spread[:3] == pytest.approx(std_errors, rel=0.12)
    expected = [math.log(times.risk_by(5)), 1, 0.72, 0.4, 4]
    assert means == pytest.approx(expected, rel=0.02)
    # With widths w, n rows have intervals of these widths at the quantile z.
    plan, z = tr.plan_validation(**TIMES | {"concordance": 0.72}), norm.ppf(0.975)
    wanted = np.array([math.asinh(0.1), 0.1, 0.05]) / z
    assert rows(plan) == [math.ceil(each) for each in (np.array(std_errors) / wanted) ** 2]
    assert plan.events == pytest.approx(plan.n * 0.4)


@pytest.mark.parametrize(("auc", "prevalence"), [(0.6, 0.5), (0.75, 0.1), (0.95, 0.01)])
def test_linear_predictor_has_its_auc_and_its_prevalence(auc, prevalence):
    """And the rates of a threshold, by drawing; it is calibrated."""
    scores = LinearPredictor.from_auc(auc, prevalence)
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
    assert scores.sensitivity_and_specificity(threshold) == pytest.approx(drawn, abs=0.03)


def test_plan_validation_notes_a_linear_predictor_that_disagrees():
    """Its own prevalence and AUC beside those that were given; none where they agree."""
    notes = tr.plan_validation(prevalence=0.018, auc=0.8, linear_predictor=(-5, 2.5)).notes
    assert "has prevalence 0.0523, not 0.018" in notes[0]
    assert "has AUC 0.927, not 0.8" in notes[1]
    assert tr.plan_validation(prevalence=0.1054, auc=0.749, linear_predictor=(-2.5, 1)).notes == ()


@pytest.mark.parametrize(
    ("plan", "plain", "options", "places"),
    [
        (tr.plan_development, {**LINE, "sd": 2}, {"optimism": 0.01}, [1]),
        (tr.plan_development, {**LINE, "sd": 2}, {"ratio": 1.05}, [2, 3]),
        (tr.plan_development, {**BINARY, "r2": 0.2}, {"margin": 0.01}, [2]),
        (tr.plan_validation, CLASSES, {"oe_width": 0.05}, [0]),
        (tr.plan_validation, CLASSES, {"slope_width": 0.05}, [1]),
        (tr.plan_validation, CLASSES, {"auc_width": 0.05}, [2]),
        (tr.plan_validation, CLASSES, {"benefit_width": 0.05}, [3]),
        (tr.plan_validation, CLASSES, {"confidence_level": 0.99}, [0, 1, 2, 3]),
        (tr.plan_validation, NUMBERS, {"r2_width": 0.05}, [0]),
        (tr.plan_validation, NUMBERS, {"mean_width": 0.05}, [1]),
        (tr.plan_validation, NUMBERS, {"slope_width": 0.05}, [2]),
        (tr.plan_validation, NUMBERS, {"ratio": 1.05}, [3]),
        (tr.plan_validation, NUMBERS, {"confidence_level": 0.99}, [0, 1, 2, 3]),
    ],
)
def test_criterion_takes_more_rows_where_it_is_asked_for_more_exactly(plan, plain, options, places):
    """Each margin, width and factor has its own criteria; the level has all of them."""
    before, after = rows(plan(**plain)), rows(plan(**{**plain, **options}))
    assert [k for k, n in enumerate(before) if after[k] > n] == places
    assert [k for k, n in enumerate(before) if after[k] != n] == places


def test_plan_development_prints_a_line_a_criterion_under_the_number():
    needed = tr.plan_development(**BINARY, r2=0.288)
    assert str(needed).splitlines()[::2] == [
        "662 rows (116 events, 4.8 per parameter) to develop a model of a binary outcome",
        "-------------------------------------------------------",
        "an apparent R² (Nagelkerke) 0.05 too high at most   662",
    ]
    assert rows(tr.plan_development(**BINARY, r2=0.2, margin=0.01))[2] == 5522


DEVELOP = [
    (BINARY, UnknownName, "one of r2=, nagelkerke= or auc="),
    ({**BINARY, "r2": 0.2, "auc": 0.7}, UnknownName, "one of r2= or auc="),
    ({"parameters": 3, "r2": 0.2}, UnknownName, "prevalence= is missing"),
    ({**BINARY, "outcome": "binry"}, UnknownName, "did you mean 'binary'"),
    ({**BINARY, "outcome": "survival"}, UnknownName, "Known: binary, continuous, time-to-event"),
    ({**TIMED, "r2": 0.1, "rate": 50, "follow_up": 4}, BadArgument, "200 events per person on"),
    ({**BINARY, "r2": 0.2, "sd": 1}, UnknownName, "for a continuous"),
    ({**BINARY, "r2": 0.7}, Refusal, "below 0.603"),
    ({**BINARY, "r2": "x"}, BadArgument, "r2='x'"),
    ({**BINARY, "auc": 0.5}, BadArgument, "better than chance"),
    ({**BINARY, "r2": 0.2, "ratio": 1.1}, UnknownName, "ratio= is for a continuous"),
    ({**LINE, "ratio": 1}, BadArgument, "use a factor above 1"),
    ({**LINE, "margin": 0.1}, UnknownName, "margin= is for a"),
    ({**LINE, "r2": None}, UnknownName, "r2= is missing"),
    ({**LINE, "r2": None, "auc": 0.8}, UnknownName, "auc= is not known"),
    ({**LINE, "sd": -1}, BadArgument, "sd=-1: use a number above 0"),
    ({**LINE, "mean": 1e-9, "sd": 9}, Refusal, "a mean farther from 0"),
    ({**BINARY, "r2": 1e-11}, Refusal, "more than 1e.09 rows are needed"),
    ({**BINARY, "parameters": 2.5, "r2": 0.2}, BadArgument, "a whole number of them"),
]
EVENTS = {"prevalence": 0.1, "auc": 0.8}
VALIDATE = [
    ({**EVENTS, "auc": 0.5}, BadArgument, "better than chance"),
    ({**EVENTS, "auc": None}, UnknownName, "A binary outcome needs prevalence= and auc="),
    ({**EVENTS, "r2": 0.5}, UnknownName, "r2= is for a continuous outcome, and this outcome is b"),
    ({**EVENTS, "ratio": 1.2}, UnknownName, "ratio= is for a continuous outcome"),
    ({**EVENTS, **NUMBERS}, UnknownName, "prevalence= is for a binary outcome"),
    ({**NUMBERS, "mean_width": None}, UnknownName, "mean_width= is missing"),
    ({**NUMBERS, "mean_width": -1}, BadArgument, "mean_width=-1: use a number above 0"),
    ({**NUMBERS, "sd": "20"}, BadArgument, "sd='20': use a number above 0"),
    ({**NUMBERS, "r2": 1}, BadArgument, "r2=1: use a number between 0 and 1"),
    ({**NUMBERS, "oe_width": 0.1}, UnknownName, "oe_width= is for a binary"),
    ({**NUMBERS, "ratio": 1}, BadArgument, "a factor above 1"),
    ({**EVENTS, "outcome": "survival"}, UnknownName, "Known: binary, continuous"),
    ({**EVENTS, "prevalence": 0}, BadArgument, "prevalence=0: use a number between 0 and 1"),
    ({**EVENTS, "specificity": 0.5}, UnknownName, "threshold= is missing"),
    ({**EVENTS, "benefit_width": 0.1}, UnknownName, "threshold= is missing"),
    ({**EVENTS, "linear_predictor": 3}, BadArgument, "linear_predictor=3"),
    ({**EVENTS, "auc_width": 0}, BadArgument, "auc_width=0: use the width .*, above 0 and 1"),
    ({**EVENTS, "auc_width": 5}, BadArgument, "1 at most"),
    ({**EVENTS, "slope_width": 0}, BadArgument, "slope_width=0: use the width .* 100 at most"),
    ({**EVENTS, "prevalence": 1e-12}, Refusal, "an event that is less rare"),
    ({**EVENTS, "linear_predictor": (99, 0.001)}, Refusal, "the same, or sure, of everybody"),
    ({**TIMES, "concordance": 0.5}, BadArgument, "concordance=0.5: a model is better than"),
    ({**TIMES, "concordance": 0.99}, Refusal, "no normal linear predictor has a concordance"),
    (
        {**TIMES, "rate": 0.25},
        BadArgument,
        "1 events per person on average, but a person has at most",
    ),
    ({**TIMES, "horizon": 500}, Refusal, "nobody has had the event or nobody is still followed"),
    ({**TIMES, "auc": 0.7}, UnknownName, "auc= is for a binary outcome"),
]


@pytest.mark.parametrize(
    ("plan", "options", "error", "message"),
    [(tr.plan_development, *row) for row in DEVELOP]
    + [(tr.plan_validation, *row) for row in VALIDATE],
)
def test_plan_of_a_model_names_the_argument_that_it_cannot_take(plan, options, error, message):
    with pytest.raises(error, match=message):
        plan(**options)
