"""`plan_development`: what Riley et al. ask, and what pmsampsize says of it."""

from __future__ import annotations

import math

import pytest
from scipy.stats import norm

import truerisk as tr
from truerisk.core.errors import BadArgument, Refusal, UnknownName

BINARY = {"parameters": 24, "prevalence": 0.174}


def rows(needed) -> list[int]:
    return [one.n for one in needed.criteria]


# pmsampsize 1.1.3 of R 4.2.2, results_table[, "Samp_size"] of
# pmsampsize(type="b", csrsquared=.288, parameters=24, prevalence=.174), and so on
@pytest.mark.parametrize(
    ("outcome", "options", "wanted"),
    [
        ("binary", {**BINARY, "r2": 0.288}, [623, 662, 221]),
        ("binary", {"parameters": 12, "prevalence": 0.05, "r2": 0.049}, [2144, 709, 73]),
        (
            "binary",
            {"parameters": 3, "prevalence": 0.5, "r2": 0.05, "shrinkage": 0.95},
            [1110, 77, 385],
        ),
        (
            "continuous",
            {"parameters": 25, "r2": 0.2, "mean": 1.9, "sd": 0.6},
            [918, 401, 259, 38],
        ),
        ("continuous", {"parameters": 5, "r2": 0.7, "mean": 20, "sd": 10}, [20, 32, 239, 32]),
        ("continuous", {"parameters": 2, "r2": 0.1, "mean": 0.5, "sd": 3}, [4, 37, 236]),
        (
            "time-to-event",
            {"parameters": 30, "r2": 0.051, "rate": 0.065, "horizon": 2, "follow_up": 2.07},
            [5143, 1039],
        ),
        (
            "time-to-event",
            {"parameters": 10, "r2": 0.126, "rate": 0.2, "horizon": 5, "follow_up": 3},
            [664, 219],
        ),
    ],
)
def test_development_as_pmsampsize_has_it(outcome, options, wanted):
    """By each criterion; what it gives for the overall risk in time and for the mean is not asked.

    Of these it tells the interval at the largest other number, and its search for the mean stops
    after one step.
    """
    needed = tr.plan_development(outcome, **options)
    assert rows(needed)[: len(wanted)] == wanted
    assert needed.n == max(rows(needed))


def test_nagelkerke_is_a_share_of_what_a_perfect_model_has():
    """Which it is by the prevalence, or by the events a person has."""
    binary = tr.plan_development(parameters=12, prevalence=0.05, nagelkerke=0.15)
    assert binary.assumed["r2"] == pytest.approx(0.15 * (1 - (0.05**0.05 * 0.95**0.95) ** 2))
    time = {"parameters": 10, "rate": 0.2, "horizon": 5, "follow_up": 3}
    in_time = tr.plan_development("time-to-event", **time, nagelkerke=0.15)
    assert in_time.assumed["r2"] == pytest.approx(
        0.15 * (1 - math.exp(2 * 0.6 * math.log(0.6 / math.e)))
    )


def test_an_auc_foresees_an_r2():
    """Nearly that of pmsampsize, which draws a million rows: .2902 and 661 rows."""
    needed = tr.plan_development(**BINARY, auc=0.89)
    assert needed.assumed["r2"] == pytest.approx(0.2902, abs=1.5e-3)
    assert needed.n == pytest.approx(661, abs=3)
    assert needed.events == pytest.approx(needed.n * 0.174)
    assert needed.per_parameter == pytest.approx(needed.events / 24)


def test_the_overall_risk_and_the_mean_are_known_at_n_and_not_before():
    """By their own formulas: the ends of the risk by the rate's, the mean by Student's t."""
    by_time = {"parameters": 1, "r2": 0.4, "rate": 0.3, "horizon": 1, "follow_up": 1}
    n = rows(tr.plan_development("time-to-event", **by_time))[2]
    risk = 1 - math.exp(-0.3)

    def ends(n: int) -> list[float]:
        away = norm.ppf(0.975) * math.sqrt(0.3 / n)
        return [1 - math.exp(-(0.3 + side * away)) for side in (-1, 1)]

    assert max(abs(end - risk) for end in ends(n)) <= 0.05 < abs(ends(n - 1)[0] - risk)
    of_mean = tr.plan_development("continuous", parameters=2, r2=0.1, mean=0.5, sd=3)
    assert of_mean.n == rows(of_mean)[3] == 12449  # t √(9 · .9 / n) ≤ .05; pmsampsize says 237


def test_what_is_asked_for_more_exactly_takes_more_rows():
    """Each margin and factor has its own criteria."""
    line = {"parameters": 5, "r2": 0.3, "mean": 1, "sd": 2}
    before = rows(tr.plan_development("continuous", **line))
    for options, places in (({"optimism": 0.01}, [1]), ({"ratio": 1.05}, [2, 3])):
        after = rows(tr.plan_development("continuous", **line, **options))
        assert [k for k in range(4) if after[k] > before[k]] == places
    assert rows(tr.plan_development(**BINARY, r2=0.2, margin=0.01))[2] == 5522


def test_a_line_may_explain_nearly_everything():
    """No shrinkage bounds the R² of a line; of classes and times it does, by its formula."""
    assert tr.plan_development("continuous", parameters=3, r2=0.99, mean=9, sd=1).n == 237


def test_it_prints_what_shall_hold():
    """A line a criterion, under the number."""
    assert str(tr.plan_development(**BINARY, r2=0.288)).splitlines()[::2] == [
        "662 rows (116 events, 4.8 per parameter) to develop a model of a binary outcome",
        "-------------------------------------------------------",
        "an apparent R² (Nagelkerke) 0.05 too high at most   662",
    ]


LINE = {"outcome": "continuous", "parameters": 2}


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (BINARY, UnknownName, "one of r2=, nagelkerke=, auc="),
        ({**BINARY, "r2": 0.2, "auc": 0.7}, UnknownName, "one of r2=, auc="),
        ({"parameters": 3, "r2": 0.2}, UnknownName, "prevalence= is missing"),
        ({**BINARY, "outcome": "binry"}, UnknownName, "did you mean 'binary'"),
        (
            {**BINARY, "outcome": "survival"},
            UnknownName,
            "Known: binary, continuous, time-to-event",
        ),
        (
            {"outcome": "time-to-event", "parameters": 3, "r2": 0.1, "rate": 50, "horizon": 5}
            | {"follow_up": 4},
            BadArgument,
            "200 events per person, who has one at most",
        ),
        ({**BINARY, "r2": 0.2, "sd": 1}, UnknownName, "of a continuous"),
        ({**BINARY, "r2": 0.7}, Refusal, "below 0.603"),
        ({**BINARY, "r2": "x"}, BadArgument, "r2='x'"),
        ({**BINARY, "auc": 0.5}, BadArgument, "better than chance"),
        ({**BINARY, "r2": 0.2, "ratio": 1.1}, UnknownName, "ratio= is foreseen of a continuous"),
        ({**LINE, "r2": 0.1, "mean": 1, "sd": 1, "ratio": 1}, BadArgument, "use a factor above 1"),
        (
            {**LINE, "r2": 0.1, "mean": 1, "sd": 1, "margin": 0.1},
            UnknownName,
            "margin= is foreseen",
        ),
        ({**LINE, "mean": 1, "sd": 1}, UnknownName, "r2= is missing"),
        ({**LINE, "auc": 0.8, "mean": 1, "sd": 1}, UnknownName, "auc= is not known"),
        ({**LINE, "r2": 0.1, "mean": 1, "sd": -1}, BadArgument, "sd=-1: use a number above 0"),
        ({**LINE, "r2": 0.1, "mean": 1e-9, "sd": 9}, Refusal, "a mean farther from 0"),
        ({**BINARY, "r2": 1e-11}, Refusal, "more than 1e.09 rows are needed"),
        ({**BINARY, "parameters": 2.5, "r2": 0.2}, BadArgument, "a whole number of them"),
    ],
)
def test_what_cannot_be_developed_is_refused(options, error, words):
    """By a sentence that names the argument."""
    with pytest.raises(error, match=words):
        tr.plan_development(**options)
