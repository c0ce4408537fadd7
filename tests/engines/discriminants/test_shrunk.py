"""Shrunk discriminants, above all of more columns than rows, equal scikit-learn's."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.engines.closed_forms import (
    FOLDS,
    LOO,
    RESPONSES,
    both,
    copies_and_flips,
    counted,
    data_of,
    each_of_both,
    family_of,
    require_equal,
)

from truerisk.contracts import Request, RunOptions, Streams
from truerisk.engines.discriminants import scatter
from truerisk.engines.discriminants.discriminant import SHARE, LinearDiscriminants, ShrunkFit
from truerisk.engines.discriminants.rule import DiscriminantRule
from truerisk.engines.discriminants.scatter import Classes
from truerisk.engines.templates.turned import turned_about_mean
from truerisk.methods.pairs import Pairs
from truerisk.models import LinearDiscriminant

ENGINE = LinearDiscriminants()
SHRUNK = {"shrinkage": [0.01, 0.1, 0.6, 1.0]}
LABEL = Request("label")


def wide_rows(n=30, p=90, n_classes=2, kind="plain", seed=0):
    """Few rows of many columns whose classes overlap."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 3)) @ rng.normal(size=(3, p))
    X += 0.3 * rng.normal(size=(n_classes, p))[y]
    if kind == "copied":
        X[n // 2 :], y[n // 2 :] = X[: n - n // 2], y[: n - n // 2]
    if kind == "constant":
        X[:, ::3] = 2.0
    if kind == "scales":
        X *= np.logspace(-4, 3, p)
    if kind == "far":
        X += 100.0
    return X, np.array(["a", "b", "c"])[y]


def learner(solver="lsqr", *, scaled=False, **setting):
    """A discriminant alone or behind a scaler, with its grid."""
    model = LinearDiscriminantAnalysis(solver=solver, **setting)
    if not scaled:
        return family_of(model, SHRUNK)
    grid = {f"lineardiscriminantanalysis__{name}": values for name, values in SHRUNK.items()}
    return family_of(make_pipeline(StandardScaler(), model), grid)


@pytest.mark.parametrize("kind", ["plain", "copied", "constant", "scales", "far"])
@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize("scaled", [False, True])
def test_answers_are_those_of_the_learner(kind, solver, scaled, monkeypatch) -> None:
    """Labels to the letter, probabilities and scores to 1e-8.

    The learner is asked only for digits that it loses itself, where rows lie far from 0.
    """
    X, y = wide_rows(p=90 if kind == "scales" else 48, kind=kind)
    with counted(monkeypatch) as seen:
        for method in (Pairs(FOLDS),) if solver == "lsqr" else (FOLDS,):
            require_equal(ENGINE, learner(solver, scaled=scaled), data_of(X, y), method, RESPONSES)
    assert (seen["asked"] > 0) == (kind == "far" and not scaled)
    assert seen["passes"] > 0


def test_a_row_left_out_and_its_copy() -> None:
    """The row that is tested may stand among those that are learned from."""
    X, y = wide_rows(kind="copied")
    require_equal(ENGINE, learner(), data_of(X, y), LOO, RESPONSES)


@pytest.mark.parametrize(("n", "p"), [(24, 26), (24, 21), (20, 160)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_answers_at_any_width(n, p, n_classes) -> None:
    """Hardly more columns than rows, more than the rows of a fold, and very many more."""
    X, y = wide_rows(n, p, n_classes)
    for scaled in (False, True):
        require_equal(ENGINE, learner(scaled=scaled), data_of(X, y), FOLDS, RESPONSES)


@pytest.mark.parametrize("setting", [{}, {"priors": [0.2, 0.5, 0.3]}, {"n_components": 1}])
def test_bootstrap_and_flipped_labels(setting) -> None:
    """Copies of rows and labels replaced, with priors of the classes and few components."""
    X, y = wide_rows(n_classes=3)
    data, family = data_of(X, y), learner(**setting)
    plan = copies_and_flips(data)
    for request, found, expected in each_of_both(ENGINE, family, data, plan, RESPONSES):
        assert request.response != "label" or (found == expected).all()
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-11)


def test_the_divisor_of_r() -> None:
    """LinearDiscriminant divides by n − K, and is answered so."""
    X, y = wide_rows()
    grid = {**SHRUNK, "divisor": ["n", "n-K"]}
    family = family_of(LinearDiscriminant(solver="lsqr"), grid)
    require_equal(ENGINE, family, data_of(X, y), FOLDS, RESPONSES)


def test_decision_values_to_nine_digits() -> None:
    """Of many columns, and of shrinkages between which the conditions differ by a thousand."""
    X, y = wide_rows(40, 240)
    data = data_of(X, y)
    plan = FOLDS.plan(data, Streams(0))
    found, expected = both(ENGINE, learner(scaled=True), data, plan, Request("score"))
    assert (np.abs(found - expected) <= 1e-9 * (1 + np.abs(expected))).all()


def test_what_is_not_shrunk_is_asked_of_the_learner(monkeypatch) -> None:
    """A scatter without an inverse is scikit-learn's own business where a user wants it so."""
    X, y = wide_rows(20, 40)
    model = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis(solver="lsqr"))
    family = family_of(model, {"lineardiscriminantanalysis__shrinkage": [None, 0.0, 0.1]})
    with counted(monkeypatch) as seen:
        require_equal(ENGINE, family, data_of(X, y), FOLDS, [LABEL])
    assert seen["asked"] == 2 * 5


def test_labels_that_rounding_decides_are_asked_of_the_learner(monkeypatch) -> None:
    """A row half way between two class means, which has the same score under both."""
    X, y = wide_rows(24, 60)
    X[:12], y[:12], y[12:] = -X[12:], "a", "b"
    X[23] = X[11] = 0  # each class mean is the other's negative, and these rows lie at 0
    data, family = data_of(X, y), learner()
    plan = last_two_apart(data)
    with counted(monkeypatch) as seen:
        both(ENGINE, family, data, plan, LABEL)
    assert seen["asked"] == len(SHRUNK["shrinkage"])


def last_two_apart(data):
    """One fit on all rows but 11 and 23, which it is asked about."""
    from truerisk.plan.blocks import ALL
    from truerisk.plan.builder import PlanBuilder

    builder = PlanBuilder(data.n_rows)
    rows = builder.block(np.array([11, 23]))
    builder.ask((ALL, (rows,)), (rows, ()))
    return builder.build()


def test_scores_of_which_digits_are_lost_are_asked_of_the_learner(monkeypatch) -> None:
    """Far from 0 the learner's own scores keep few digits; labels are clear all the same."""
    X, y = wide_rows(24, 60)
    data, family = (
        data_of(X + 1e4, y),
        family_of(LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [1e-3, 0.5]}),
    )
    plan = FOLDS.plan(data, Streams(0))
    with counted(monkeypatch) as seen:
        found, expected = both(ENGINE, family, data, plan, Request("score"))
    assert 0 < seen["asked"] <= 10
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    require_equal(ENGINE, family, data, FOLDS, [LABEL])


def fitted(X, codes, s, *, turn):
    """One fit with one shrinkage, on turned rows or on rows as they are."""
    table = turned_about_mean(X) if turn else None
    classes = Classes.of(X if table is None else table.shown, codes)
    rule = DiscriminantRule.of([LinearDiscriminantAnalysis(solver="lsqr").get_params()])
    return ShrunkFit.of(X, table, classes, rule, s)


@pytest.mark.parametrize(("n", "p", "turn"), [(36, 300, True), (200, 60, False)])
def test_the_bound_is_above_what_rounding_did(n, p, turn, monkeypatch) -> None:
    """Scores of columns in another order, which is another rounding, move by less."""
    monkeypatch.setattr(DiscriminantRule, "rounds_little", lambda *_: False)  # which asks no row
    rng = np.random.default_rng(0)
    X, y = wide_rows(n + 4, p)
    X += 30.0  # where rows lie far from 0 the bound counts, also of few columns
    codes, rows, asked = (y == "b").astype(int)[:n], X[:n], X[n:]
    reached = 0.0
    for s in (1e-3, 1e-2):
        model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=s)
        scores, doubts = fitted(rows, codes, s, turn=turn).scores(asked, s)
        for _ in range(3):
            order = rng.permutation(p)
            said = model.fit(rows[:, order], codes).decision_function(asked[:, order])
            off = np.abs(scores[:, 1] - scores[:, 0] - said)
            assert (off < min(1.0, SHARE / p**0.5) * doubts).all()
            reached = max(reached, float((off / doubts).max()))
    assert reached > 1e-5  # and no bound that refuses everything


def test_indicators_are_shrunk_without_the_learner(monkeypatch) -> None:
    """Collinear columns, of which a product tells no rank: what is added to them is enough."""
    rng = np.random.default_rng(1)
    levels, y = rng.integers(0, 5, (400, 12)), np.array(["a", "b"])[(np.arange(400) % 9 == 0) * 1]
    X = np.concatenate([np.eye(5)[column] for column in levels.T], axis=1)
    with monkeypatch.context() as patch:
        patch.setattr(scatter, "svd", None)  # which would take many times longer
        with counted(monkeypatch) as seen:
            require_equal(ENGINE, learner(), data_of(X, y), FOLDS, RESPONSES[:2])
    assert seen["asked"] == 0


def test_no_matrix_of_the_columns_is_made() -> None:
    """3,000 columns would have 72 MB of products: less than a sixth of that is ever held."""
    X, y = wide_rows(24, 3000)
    data = data_of(X, y)
    plan = FOLDS.plan(data, Streams(0))
    tracemalloc.start()
    ENGINE.run(learner(scaled=True), data, plan, LABEL, RunOptions())
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 12e6


def test_wide_learner_of_the_word_is_answered_as_its_own_fits_answer():
    """More columns than rows: the engine and LinearDiscriminant(solver="auto") agree."""
    from truerisk.estimation.estimate import risk_curve
    from truerisk.models.learners import learner

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 200)), np.arange(24) % 2
    X[:, 0] += 2 * y
    pipeline, grid = learner("lda", "classification", n_rows=24, n_features=200, n_classes=2)
    fast, plain = (
        risk_curve(pipeline, grid, X, y, scoring="brier", engine=engine)
        for engine in ("discriminant", "generic")
    )
    np.testing.assert_allclose(fast.values, plain.values, rtol=1e-7)
