"""Means of losses equal plain loops: pooled and by fold, weighted, failed fits left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.contracts import Terms
from truerisk.core.errors import FitFailedWarning, Refusal, UnknownName
from truerisk.data.data import Data
from truerisk.losses.loss_words import as_loss
from truerisk.methods.parts import averages
from truerisk.plan.answers import Answers
from truerisk.plan.builder import split_plan
from truerisk.selection.rules import Minimum

RNG = np.random.default_rng(3)
N = 41
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
FOLDS = RNG.integers(4, size=N)
WEIGHTS = RNG.integers(0, 5, size=N).astype(float)
SETTING = Terms(0.95, Minimum())


def plan_of(folds=FOLDS):
    rows = np.arange(N)
    return split_plan(N, [(rows[folds != k], rows[folds == k]) for k in np.unique(folds)])


def answers_of(plan, values, response="label", answered=None):
    shape = (len(values), plan.n_questions)
    return Answers(
        plan=plan,
        response=response,
        values=values,
        answered=np.ones(shape, bool) if answered is None else answered,
        engine="none",
        fit_seconds=np.zeros((len(values), plan.n_fits)),
        answer_seconds=np.zeros((len(values), plan.n_fits)),
    )


def scattered(plan, by_row):
    """Answers that are one value per row, whoever is asked."""
    return by_row[:, plan.positions[0]]


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("average", ["pooled", "fold"])
def test_means_are_those_of_plain_loops(average, weights) -> None:
    """Pooled: one mean over all rows; fold: the mean of the folds' means."""
    data = Data.check(X, Y, task="classification", sample_weight=weights)
    plan, guess = plan_of(), RNG.integers(2, size=(3, N))
    found = averages.tested_by_average(
        answers_of(plan, scattered(plan, guess)), data, as_loss("zero-one", data), SETTING, average
    )
    for one, labels in zip(found, guess, strict=True):
        wrong = (labels != Y).astype(float)
        folds = [np.average(wrong[k == FOLDS], weights=_part(weights, k)) for k in range(4)]
        pooled = np.average(wrong, weights=weights)
        assert one.value == pytest.approx(pooled if average == "pooled" else np.mean(folds))
        assert one.split_risks == pytest.approx(folds)
        assert np.array_equal(one.losses, wrong)
        assert one.loss_rows.tolist() == list(range(N))


def _part(weights, k):
    return None if weights is None else weights[k == FOLDS]


@pytest.mark.parametrize("average", ["pooled", "fold"])
def test_auc_is_of_each_fold_or_of_all_answers(average) -> None:
    """AUC per fold and averaged, or of all answers as one test set."""
    data = Data.check(X, Y, task="classification")
    plan, scores = plan_of(), RNG.normal(size=(2, N))
    found = averages.tested_by_average(
        answers_of(plan, scattered(plan, scores), "score"),
        data,
        as_loss("auc", data),
        SETTING,
        average,
    )
    for one, s in zip(found, scores, strict=True):
        folds = [1 - metrics.roc_auc_score(Y[k == FOLDS], s[k == FOLDS]) for k in range(4)]
        expected = np.mean(folds) if average == "fold" else 1 - metrics.roc_auc_score(Y, s)
        assert one.value == pytest.approx(expected, abs=1e-12)
        assert one.split_risks == pytest.approx(folds)
        assert (one.losses, one.std_error, one.interval) == (None, None, None)
        assert "no per-row losses" in one.notes[-1]


def test_a_row_tested_often_has_the_mean_of_its_losses() -> None:
    """Per-row losses of repeated tests are means over the tests; the risk counts every test."""
    pairs = [(np.arange(10, N), np.arange(6)), (np.arange(10, N), np.arange(4, 10))]
    plan = split_plan(N, pairs)
    data = Data.check(X, Y, task="classification")
    values = RNG.integers(2, size=(1, 12))
    found = averages.tested_by_average(
        answers_of(plan, values), data, as_loss(None, data), SETTING, "pooled"
    )[0]
    rows = np.concatenate([np.arange(6), np.arange(4, 10)])
    wrong = (values[0] != Y[rows]).astype(float)
    assert found.value == pytest.approx(wrong.mean())
    assert found.loss_rows.tolist() == list(range(10))
    assert found.losses == pytest.approx([wrong[rows == r].mean() for r in range(10)])


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_a_row_counts_in_each_fold_as_the_fold_says(weights) -> None:
    """Unequal folds, averaged and repeated: weighted row means add up to the value."""
    folds = np.stack([np.arange(N) % 4, np.digitize(np.arange(N), [6, 31])])
    model, method = LogisticRegression(), tr.methods.KFold(folds=folds, average="fold")
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
    residuals = total - share * est.value
    m = int(own.sum())
    assert est.std_error == pytest.approx(np.sqrt(m / (m - 1) * (residuals**2).sum()))


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
def test_a_failed_fit_leaves_the_rest(loss) -> None:
    """Under any loss, a candidate whose fit failed has no value, and the others keep theirs."""

    class Picky(DecisionTreeClassifier):
        """Fails on training sets without row 0 if told so."""

        def __init__(self, picky=False, max_depth=2, random_state=0):
            super().__init__(max_depth=max_depth, random_state=random_state)
            self.picky = picky

        def fit(self, X, y):
            if self.picky and X[0, 0] != TRUE_FIRST:
                raise ValueError("row 0 is missing")
            return super().fit(X, y)

    TRUE_FIRST = X[0, 0]
    method = tr.methods.KFold(folds=FOLDS)
    engine = tr.engines.Generic(error="warn")
    with pytest.warns(FitFailedWarning, match="1 of 8 fits failed"):
        curve = tr.risk_curve(
            Picky(), {"picky": [True, False]}, X, Y, cv=method, scoring=loss, engine=engine
        )
    alone = tr.estimate_risk(Picky(), X, Y, cv=method, scoring=loss)
    assert curve[0].value is None
    assert np.isnan(curve.values[0])
    assert "1 of 4 fits failed" in curve[0].notes[0]
    assert "row 0 is missing" in curve[0].notes[0]
    assert np.isnan(curve[0].split_risks).sum() == 1
    assert curve[1].value == pytest.approx(alone.value, rel=1e-14)
    assert curve.best == 1


@pytest.mark.parametrize("loss", ["log", "brier", "auc"])
@pytest.mark.parametrize("average", ["pooled", "fold"])
def test_answers_that_are_no_numbers_are_refused(loss, average) -> None:
    """A NaN among the answers of a fit that worked is never averaged away."""
    data = Data.check(X, Y, task="classification")
    plan = plan_of()
    response = as_loss(loss, data).response
    values = RNG.random((2, N) if response == "score" else (2, N, 2))
    values[1, 7] = np.nan
    with pytest.raises(Refusal, match="nan for candidate 1: one of the scores is non-finite"):
        averages.tested_by_average(
            answers_of(plan, values, response), data, as_loss(loss, data), SETTING, average
        )


def test_an_infinite_loss_is_refused() -> None:
    """A callable that gives infinity is named."""
    with pytest.raises(Refusal, match="is inf for candidate 0"):
        tr.estimate_risk(
            LogisticRegression(), X, Y, scoring=lambda y, f: np.where(y == f, 0.0, np.inf)
        )


def test_a_test_set_without_weight_has_no_mean() -> None:
    """Weights of 0 in a whole fold: the fold's mean does not exist."""
    data = Data.check(X, Y, task="classification", sample_weight=np.where(FOLDS == 2, 0.0, 1.0))
    plan = plan_of()
    values = np.zeros((1, N), int)
    with pytest.raises(Refusal, match="all rows of a test set have a sample_weight of 0"):
        averages.tested_by_average(
            answers_of(plan, values), data, as_loss(None, data), SETTING, "fold"
        )


def test_scores_of_a_scorer_cannot_be_pooled() -> None:
    """A scorer rates one model at a time."""
    method = tr.methods.KFold(4, average="pooled")
    with pytest.raises(Refusal, match="use average='fold'"):
        tr.estimate_risk(LogisticRegression(), X, Y, scoring="f1_micro", cv=method)


def test_split_risks_do_not_exist_for_one_row() -> None:
    """AUC of one row does not exist: refused, or NaN where only the pooled one is asked for."""
    data = Data.check(X, Y, task="classification")
    plan = plan_of(np.arange(N))
    answers = answers_of(plan, RNG.normal(size=(1, N)), "score")
    loss = as_loss("auc", data)
    with pytest.raises(Refusal, match="both classes in every test set"):
        averages.split_risks(answers, data, loss)
    assert np.isnan(averages.split_risks(answers, data, loss, lenient=True)).all()


def test_average_is_a_word() -> None:
    """Another word is refused."""
    with pytest.raises(UnknownName, match="average='mean' is unknown"):
        tr.methods.KFold(3, average="mean")


@pytest.mark.parametrize(("word", "average"), [("zero-one", "pooled"), ("accuracy", "fold")])
def test_inside_outer_splits_the_usual_average_is_that_of_the_loss(word, average) -> None:
    """Candidates are compared by the mean that their risk is reported by."""
    data = Data.check(X, Y, task="classification")
    plan = replace(plan_of(), unit=np.zeros(4, np.int32))
    answers, loss = answers_of(plan, RNG.integers(2, size=(2, N))), as_loss(word, data)
    quick = Terms(0.95, Minimum(), with_errors=False)
    inside = tr.methods.KFold(folds=FOLDS).reduce_units(answers, data, loss, quick)[0]
    whole = averages.tested_by_average(answers, data, loss, SETTING, average)
    assert [t.value for t in inside] == pytest.approx([t.value for t in whole], abs=1e-14)


def test_quick_reduction_gives_the_same_values() -> None:
    """Without standard errors the values are bit for bit those with them."""
    data = Data.check(X, Y, task="classification")
    plan = plan_of()
    answers = answers_of(plan, RNG.integers(2, size=(5, N)))
    quick = Terms(0.95, Minimum(), with_errors=False)
    full, fast = (
        averages.tested_by_average(answers, data, as_loss(None, data), s, None)
        for s in (SETTING, quick)
    )
    assert [t.value for t in full] == [t.value for t in fast]
    assert all(t.std_error is None for t in fast)
