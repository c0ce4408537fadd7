"""Means of losses equal plain loops: pooled and by fold, weighted, failed fits left out."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import checked, normal_rows

import truerisk as tr
from truerisk import extend
from truerisk.exceptions import FitFailedWarning
from truerisk.extend import Answers, Refusal, Terms
from truerisk.losses.loss_words import as_loss
from truerisk.methods import KFold
from truerisk.methods.parts.averages import split_risks
from truerisk.plan.builder import plan_from_splits
from truerisk.selection import Minimum

N = 41
X, Y, _ = normal_rows(N, 3, seed=3)
RNG = np.random.default_rng(3)
FOLDS = RNG.integers(4, size=N)
WEIGHTS = RNG.integers(0, 5, size=N).astype(float)
ROWS = np.arange(N)
TERMS = Terms(0.95, Minimum())
DATA = checked(X, Y)


def plan_of(folds=FOLDS):
    return plan_from_splits(N, [(ROWS[folds != k], ROWS[folds == k]) for k in np.unique(folds)])


def averaged(plan, values, loss, average, data=DATA, terms=TERMS):
    """Risks of answers, of which `values` holds one for each row and candidate, or each test."""
    loss = as_loss(loss, data)
    if values.shape[1] == N:
        values = values[:, plan.positions[0]]
    return extend.tested_by_average(answers_of(plan, values, loss), data, loss, terms, average)


def answers_of(plan, values, loss):
    fits = np.zeros((len(values), plan.n_fits))
    answered = np.ones((len(values), plan.n_questions), bool)
    return Answers(plan, loss.response, values, answered, "none", fits, fits)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("average", ["pooled", "fold"])
def test_average_is_that_of_plain_loops(average, weights):
    """Pooled: one mean over all rows; fold: the mean of the folds' means."""
    data, guess = checked(X, Y, sample_weight=weights), RNG.integers(2, size=(3, N))
    w = np.ones(N) if weights is None else weights
    for one, labels in zip(averaged(plan_of(), guess, "zero-one", average, data), guess):
        wrong = (labels != Y).astype(float)
        folds = [np.average(wrong[k == FOLDS], weights=w[k == FOLDS]) for k in range(4)]
        pooled = np.average(wrong, weights=w)
        assert one.value == pytest.approx(pooled if average == "pooled" else np.mean(folds))
        assert one.split_risks == pytest.approx(folds)
        assert np.array_equal(one.losses, wrong)
        assert one.loss_rows.tolist() == ROWS.tolist()


@pytest.mark.parametrize("average", ["pooled", "fold"])
def test_average_auc_is_of_each_fold_or_of_all_answers(average):
    scores = RNG.normal(size=(2, N))
    for one, s in zip(averaged(plan_of(), scores, "auc", average), scores, strict=True):
        folds = [1 - metrics.roc_auc_score(Y[k == FOLDS], s[k == FOLDS]) for k in range(4)]
        expected = np.mean(folds) if average == "fold" else 1 - metrics.roc_auc_score(Y, s)
        assert one.value == pytest.approx(expected, abs=1e-12)
        assert one.split_risks == pytest.approx(folds)
        assert (one.losses, one.std_error, one.interval) == (None, None, None)
        assert "computed from whole test sets" in one.notes[-1]


def test_average_gives_a_row_tested_often_the_mean_of_its_losses():
    rows = np.r_[0:6, 4:10]
    plan = plan_from_splits(N, [(ROWS[10:], rows[:6]), (ROWS[10:], rows[6:])])
    values = RNG.integers(2, size=(1, 12))
    (found,) = averaged(plan, values, None, "pooled")
    wrong = (values[0] != Y[rows]).astype(float)
    assert found.value == pytest.approx(wrong.mean())
    assert found.loss_rows.tolist() == list(range(10))
    assert found.losses == pytest.approx([wrong[rows == r].mean() for r in range(10)])


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_average_over_unequal_repeated_folds_counts_rows_as_their_folds_say(weights):
    folds = np.stack([ROWS % 4, np.digitize(ROWS, [6, 31])])
    model, method = LogisticRegression(), KFold(folds=folds, average="fold")
    given = {"scoring": "brier", "sample_weight": weights, "interval": "beta-cv"}
    est = tr.estimate_risk(model, X, Y, cv=method, **given)
    w = np.ones(N) if weights is None else weights
    share, total = np.zeros(N), np.zeros(N)
    for repeat in folds:
        for k in np.unique(repeat):
            out = repeat == k
            fit = LogisticRegression().fit(X[~out], Y[~out], sample_weight=w[~out])
            mine = w[out] / w[out].sum() / 7  # 4 + 3 folds
            share[out] += mine
            total[out] += mine * (fit.predict_proba(X[out])[:, 1] - Y[out]) ** 2
    own = share > 0
    assert est.losses[own] == pytest.approx(total[own] / share[own])
    assert np.isfinite(est.losses).all()
    assert share @ est.losses == pytest.approx(est.value)
    residuals, m = total - share * est.value, int(own.sum())
    assert est.std_error == pytest.approx(np.sqrt(m / (m - 1) * (residuals**2).sum()))


class Picky(DecisionTreeClassifier):
    """Fails on training sets without row 0 if told so."""

    def __init__(self, picky=False, max_depth=2, random_state=0):
        super().__init__(max_depth=max_depth, random_state=random_state)
        self.picky = picky

    def fit(self, rows, y):
        if self.picky and rows[0, 0] != X[0, 0]:
            raise ValueError("row 0 is missing")
        return super().fit(rows, y)


@pytest.mark.parametrize(
    "loss",
    [
        "zero-one",
        tr.losses.Cost([[0, 1], [2, 0]]),
        "log",
        "brier",
        "auc",
        lambda y, f: (y != f).astype(float),
        metrics.hamming_loss,
        "accuracy",
    ],
    ids=["zero-one", "cost", "log", "brier", "auc", "callable", "rated", "scorer"],
)
def test_average_leaves_out_a_failed_fit_under_any_loss(loss):
    given = {"cv": KFold(folds=FOLDS), "scoring": loss}
    engine = tr.engines.Generic(error="warn")
    with pytest.warns(FitFailedWarning, match="1 of 8 fits failed"):
        curve = tr.risk_curve(Picky(), {"picky": [True, False]}, X, Y, engine=engine, **given)
    alone = tr.estimate_risk(Picky(), X, Y, **given)
    assert curve[0].value is None
    assert np.isnan(curve.values[0])
    assert "1 of 4 fits failed" in curve[0].notes[0]
    assert "row 0 is missing" in curve[0].notes[0]
    assert np.isnan(curve[0].split_risks).sum() == 1
    assert curve[1].value == pytest.approx(alone.value, rel=1e-14)
    assert curve.best == 1


@pytest.mark.parametrize("loss", ["log", "brier", "auc"])
@pytest.mark.parametrize("average", ["pooled", "fold"])
def test_average_refuses_answers_that_are_no_numbers(loss, average):
    """A NaN among the answers of a fit that worked is never averaged away."""
    values = RNG.random((2, N) if loss == "auc" else (2, N, 2))
    values[1, 7] = np.nan
    with pytest.raises(Refusal, match="nan for candidate 1: one of the scores is non-finite"):
        averaged(plan_of(), values, loss, average)


def no_number_of_few(model, X, y):
    """A scorer that does not exist on a test set without positive rows."""
    return np.mean(model.predict(X) == y) if y.any() else np.nan


INFINITE = {"scoring": lambda y, f: np.where(y == f, 0.0, np.inf)}
WEIGHTLESS = {"sample_weight": np.where(FOLDS == 2, 0.0, 1.0)}
LACKING = np.where(FOLDS == 3, 0, ROWS % 2)
REPEATED = KFold(folds=np.array([ROWS % 5, FOLDS]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (INFINITE, "is inf for candidate 0"),
        (WEIGHTLESS, "all rows of a test set have a sample_weight of 0"),
        ({"scoring": "f1_micro", "cv": KFold(4, average="pooled")}, "use average='fold'"),
        ({"y": LACKING, "scoring": "auc"}, r"It is fold 3\.$"),
        ({"y": LACKING, "scoring": "average-precision"}, r"It is fold 3\.$"),
        ({"y": LACKING, "scoring": no_number_of_few}, r"It is fold 3\.$"),
        ({"y": LACKING, "scoring": ["zero-one", "auc"]}, r"It is fold 3\.$"),
        ({"y": LACKING, "scoring": ["zero-one", no_number_of_few]}, r"It is fold 3\.$"),
        ({"y": LACKING, "scoring": "auc", "cv": REPEATED}, r"It is fold 3 of repetition 1\.$"),
    ],
    ids=["inf", "weight", "pool", "auc", "ap", "scorer", "further", "further scorer", "repeated"],
)
def test_average_refuses_a_test_set_without_the_loss(options, message):
    given = {"X": X, "y": Y, "cv": KFold(folds=FOLDS, average="fold")} | options
    with pytest.raises(Refusal, match=message):
        tr.estimate_risk(GaussianNB(), **given)


def test_split_risks_of_single_rows_do_not_exist_for_auc():
    """Refused, or NaN where only the pooled one is asked for."""
    loss = as_loss("auc", DATA)
    answers = answers_of(plan_of(ROWS), RNG.normal(size=(1, N)), loss)
    with pytest.raises(Refusal, match="both classes in every test set"):
        split_risks(answers, DATA, loss)
    assert np.isnan(split_risks(answers, DATA, loss, lenient=True)).all()


@pytest.mark.parametrize(("word", "average"), [("zero-one", "pooled"), ("accuracy", "fold")])
def test_average_inside_outer_splits_is_that_of_the_loss(word, average):
    """Candidates are compared by the mean that their risk is reported by."""
    plan, guess = plan_of(), RNG.integers(2, size=(2, N))
    loss = as_loss(word, DATA)
    answers = answers_of(
        replace(plan, unit=np.zeros(4, np.int32)), guess[:, plan.positions[0]], loss
    )
    quick = Terms(0.95, Minimum(), with_errors=False)
    inside = KFold(folds=FOLDS).reduce_units(answers, DATA, loss, quick)[0]
    whole = averaged(plan, guess, word, average)
    assert [t.value for t in inside] == pytest.approx([t.value for t in whole], abs=1e-14)


def test_average_without_errors_has_the_same_values():
    guess, quick = RNG.integers(2, size=(5, N)), Terms(0.95, Minimum(), with_errors=False)
    full, fast = (averaged(plan_of(), guess, None, None, terms=t) for t in (TERMS, quick))
    assert [t.value for t in full] == [t.value for t in fast]
    assert all(t.std_error is None for t in fast)
