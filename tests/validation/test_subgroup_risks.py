"""The risk of every level: its value, intervals that hold together, levels that are too small."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    log_loss,
    make_scorer,
    roc_auc_score,
)
from sklearn.model_selection import TimeSeriesSplit

from truerisk.estimation.problem import problem_from_arguments
from truerisk.estimation.run import compute_risks
from truerisk.extend import Family, Interval, Terms
from truerisk.validation.subgroup_risks import subgroup_risks
from truerisk.validation.subgroups import subgroup_levels

N = 240
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + RNG.logistic(size=N) > 0).astype(int)
SITE = np.repeat(["a", "b", "c", "d"], [120, 80, 34, 6])
EVERY = ("auc", "average-precision", "log", "brier", "f1", "balanced-accuracy")


def told(method="pairs", columns=None, scoring="zero-one", *, y=Y, model=None, **given):
    """Each loss by its word: the risks of all levels, and the computation they rest on."""
    family = Family.from_grid(LogisticRegression() if model is None else model)
    problem = problem_from_arguments(family, X[: len(y)], y, scoring=scoring, **given)
    computed = compute_risks(problem, method)
    levels = subgroup_levels({"site": SITE} if columns is None else columns, None, len(y))
    found = {}
    for name, one in {problem.loss.name: computed, **computed.score_computations}.items():
        terms, tested = Terms(0.95, problem.rule), one.procedure or one.tested[0]
        shaken = None if tested.influences is None else tested.influences.left_two_out
        data = one.problem.data
        event = data.codes == 1 if data.n_classes == 2 else None
        found[name] = subgroup_risks(
            one.answers, shaken, data, one.problem.loss, terms, levels, event
        )
    return found, computed


def out_of_fold(computed, response):
    """The single answer to every row."""
    own = computed.answers
    one = next(a for a in (own, *own.also) if a.response == response)
    values = np.empty((N, *one.values.shape[2:]))
    values[one.plan.positions[0]] = one.values[0]
    return values


def test_subgroup_risks_are_those_of_the_rows_of_a_level():
    """Scikit-learn's score of the out-of-fold answers about the level's rows alone."""
    found, computed = told(scoring=["zero-one", *EVERY])
    labels, probabilities = out_of_fold(computed, "label"), out_of_fold(computed, "probability")
    scores = out_of_fold(computed, "score")
    for code, name in enumerate("abc"):
        mine = name == SITE
        y, p, s = Y[mine], probabilities[mine], scores[mine]
        expected = {
            "zero-one": (labels[mine] != y).mean(),
            "auc": roc_auc_score(y, s),
            "average-precision": average_precision_score(y, s),
            "log": log_loss(y, p),
            "f1": f1_score(y, labels[mine]),
        }
        for word, value in expected.items():
            risk = found[word].levels[code]
            assert risk.value == pytest.approx(value), word
            assert (risk.subgroup.n_rows, risk.subgroup.n_events) == (mine.sum(), y.sum())
    # Rows of weight 0 count in no value.
    weight = np.where(np.arange(N) % 3 == 0, 0.0, 1.0)
    found, computed = told("5-fold", sample_weight=weight)
    labels = out_of_fold(computed, "label")
    mine = (SITE == "a") & (weight > 0)
    assert found["zero-one"].levels[0].value == pytest.approx((labels != Y)[mine].mean())


@pytest.mark.parametrize("loss", ["zero-one", "brier", "log"])
@pytest.mark.parametrize("method", ["pairs", "5-fold", "3x5-fold"])
def test_subgroup_risks_of_all_rows_are_the_risk_of_the_whole(method, loss):
    """A loss of rows: value, standard error and interval are those of the estimate."""
    interval = "log-cv" if loss == "log" else "beta-cv"
    found, computed = told(method, scoring=loss, interval=interval)
    own = computed.procedure or computed.tested[0]
    whole, expected = found[loss].whole, own.read_interval()
    assert whole.value == pytest.approx(own.value)
    assert whole.std_error == pytest.approx(own.read_std_error())
    ends = whole.interval.low, whole.interval.high
    assert ends == pytest.approx((expected.low, expected.high))


def test_subgroup_intervals_hold_together():
    """Wider than alone, and as wide as Šidák's where levels are disjoint, up to simulation.

    A column given twice adds no level to be wrong about.
    """
    risks = told()[0]["zero-one"]
    alone = told(columns={"site": np.where(SITE == "a", "a", "rest")})[0]["zero-one"]
    assert 1.96 < alone.quantile < risks.quantile < 2.4
    assert alone.levels[0].interval.width < risks.levels[0].interval.width
    twice = told(columns={"site": SITE, "again": SITE})[0]["zero-one"].quantile
    assert twice == pytest.approx(risks.quantile, abs=0.02)


def test_subgroup_risks_name_small_levels():
    """Six rows are too few of any loss; a score of both classes needs ten rows of each.

    Forty rows of one patient are one row; a level of weight 0 has no row.
    """
    y = Y.copy()
    y[SITE == "c"] = 0
    y[np.flatnonzero(SITE == "b")] = np.arange(80) < 4
    found = told(y=y, scoring=["zero-one", "auc"])[0]
    assert found["zero-one"].levels[3].reason == "6 rows: at least 10 are needed."
    assert found["zero-one"].levels[2].value is not None
    auc = found["auc"].levels
    assert auc[1].reason == "4 of 80 rows are '1': at least 10 of each class are needed."
    assert auc[2].reason == "no row is '1': at least 10 of each class are needed."
    assert (auc[2].value, auc[2].interval, auc[2].shrunken) == (None, None, None)
    groups = np.concatenate([np.repeat(np.arange(5), 24), np.arange(120) // 2 + 5])
    risks = told("5-fold", groups=groups)[0]["zero-one"]
    assert risks.levels[0].reason == "5 groups of rows: at least 10 are needed."
    assert risks.levels[1].value is not None
    weight = np.where(SITE == "c", 0.0, 1.0)
    risks = told("5-fold", sample_weight=weight)[0]["zero-one"]
    assert risks.levels[2].reason == "all its rows have a sample_weight of 0."
    weight[np.flatnonzero(SITE == "c")[:9]] = 1
    level = told("5-fold", sample_weight=weight)[0]["zero-one"].levels[2]
    assert (level.subgroup.n_rows, level.reason) == (9, "9 rows: at least 10 are needed.")


def test_shrunken_risks_lie_between_level_and_mean():
    risks = told()[0]["zero-one"]
    given = [one for one in risks.levels if one.value is not None]
    assert set(risks.spreads) == {"site"}
    for one in given:
        assert 0 <= one.own_share < 1
    spread = np.ptp([one.shrunken for one in given])
    assert spread < np.ptp([one.value for one in given])
    assert given[0].own_share >= given[2].own_share
    two = told(columns={"half": np.arange(N) % 2})[0]["zero-one"]
    assert [one.shrunken for one in two.levels] == [None, None]


def test_subgroup_risks_without_an_error_have_an_interval():
    """No error in 20 rows is no certainty: its interval reaches up, and it is shrunken."""
    y = (X[:, 0] > 0).astype(int)
    far = np.argsort(-np.abs(X[:, 0]))
    site = np.full(N, "near", dtype=object)
    site[far[:20]], site[far[20:40]] = "far", "between"
    risks = told(y=y, columns={"site": site})[0]["zero-one"]
    still = next(one for one in risks.levels if one.subgroup.level == "far")
    assert (still.value, still.interval.low) == (0, pytest.approx(0, abs=0.01))
    assert still.interval.high > 0.05
    assert still.shrunken > 0


def test_subgroup_risks_without_justification_have_no_interval():
    """Splits forward in time, losses whose interval nobody calibrated, losses without a spread."""
    risks = told(TimeSeriesSplit(5))[0]["zero-one"]
    assert risks.levels[1].interval is None
    assert any("ordered" in note for note in risks.notes)

    def largest(y, predicted):
        return np.abs(y - predicted).max()

    y = X @ [1.0, 0.5, 0.0] + RNG.normal(size=N)
    found = told("5-fold", y=y, scoring=largest, model=LinearRegression())[0]
    risks = next(iter(found.values()))
    assert risks.levels[0].value is not None
    assert risks.levels[0].interval is None
    assert any("no interval was calibrated" in note for note in risks.notes)
    model = DummyClassifier(strategy="prior")
    risks = told("5-fold", y=np.arange(N) % 2, scoring="brier", model=model)[0]["brier"]
    assert risks.levels[0].value == pytest.approx(0.25)
    assert risks.levels[0].interval is None
    assert "spread is 0" in risks.levels[0].reason


@pytest.mark.filterwarnings("ignore:.*given but method")
@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("5-fold", {"time": np.arange(float(N))}),
        ("forward-3", {"time": np.arange(float(N))}),
        ("5-fold", {"block": X[:, :2]}),
    ],
)
def test_subgroup_risks_of_dependent_rows_have_no_interval(method, given):
    risks = told(method, **given)[0]["zero-one"]
    assert risks.levels[0].value is not None
    assert {one.interval for one in (risks.whole, *risks.levels)} == {None}
    assert {one.shrunken for one in risks.levels} == {None}  # which rests on the variance
    assert any("may depend on each other" in note for note in risks.notes)


def test_subgroup_risks_of_scorers_and_failed_fits_have_a_reason():
    """A scorer rates whole test sets; where a fit failed, some rows have no answer."""
    risks = next(iter(told("5-fold", scoring=make_scorer(f1_score, average="micro"))[0].values()))
    assert "scorer" in risks.levels[0].reason
    computed = told("5-fold")[1]
    answers = computed.answers
    failed = replace(answers, answered=np.zeros_like(answers.answered))
    data, loss = computed.problem.data, computed.problem.loss
    levels = subgroup_levels({"site": SITE}, None, N)
    risks = subgroup_risks(failed, None, data, loss, Terms(0.95, computed.problem.rule), levels)
    assert {one.reason for one in risks.levels} == {"a fit failed, so some rows have no answer."}


def test_subgroup_risks_of_a_score_tell_its_loss():
    """Of an AUC 1 minus it; the ends of its interval change places. Shrunken, it is an AUC."""
    levels = told(scoring=["zero-one", "auc"])[0]["auc"].levels
    one, values = levels[0], [each.value for each in levels if each.value is not None]
    assert one.greater_is_better
    assert one.value in one.interval
    assert 0.5 < min(values) <= one.shrunken <= max(values)
    assert one.loss_value == pytest.approx(1 - one.value)
    assert one.loss_interval == Interval(
        1 - one.interval.high, 1 - one.interval.low, one.interval.method,
        one.interval.confidence_level,
    )  # fmt: skip
