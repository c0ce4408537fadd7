"""Shrunk discriminants, above all of more columns than rows, equal scikit-learn's."""

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
    counted,
    data_of,
    family_of,
    fits_made,
    one_fit,
    plan_of,
    require_equal,
    values_of,
)

import truerisk as tr
from truerisk.engines import LinearDiscriminants
from truerisk.engines.discriminants import scatter
from truerisk.engines.discriminants.discriminant import ROUNDING_BOUND_SHARE, ShrunkFit
from truerisk.engines.discriminants.rule import DiscriminantRule
from truerisk.engines.discriminants.scatter import RowsByClass
from truerisk.engines.templates.turned import rotate_about_mean
from truerisk.methods import Pairs
from truerisk.models import LinearDiscriminant
from truerisk.models import learner as learner_of_word

ENGINE = LinearDiscriminants()
SHRUNK = {"shrinkage": [0.01, 0.1, 0.6, 1.0]}
LABEL, PROBABILITY, SCORE = RESPONSES
PRIORS = {"priors": [0.2, 0.5, 0.3]}


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


def learner(solver="lsqr", *, scaled=False, shrinkage=SHRUNK["shrinkage"], **setting):
    """A discriminant alone or behind a scaler, with its grid."""
    model = LinearDiscriminantAnalysis(solver=solver, **setting)
    if not scaled:
        return family_of(model, {"shrinkage": shrinkage})
    grid = {"lineardiscriminantanalysis__shrinkage": shrinkage}
    return family_of(make_pipeline(StandardScaler(), model), grid)


@pytest.mark.parametrize("kind", ["plain", "copied", "constant", "scales", "far"])
@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize("scaled", [False, True])
def test_shrunk_answers_are_those_of_the_learner(kind, solver, scaled):
    """The learner is asked only for digits that it loses itself, where rows lie far from 0."""
    data = data_of(*wide_rows(p=90 if kind == "scales" else 48, kind=kind))
    method = Pairs(FOLDS) if solver == "lsqr" else FOLDS
    with counted() as seen:
        require_equal(ENGINE, learner(solver, scaled=scaled), data, method, RESPONSES)
    assert (seen["asked"] > 0) == (kind == "far" and not scaled)
    assert seen["passes"] > 0


R = family_of(LinearDiscriminant(solver="lsqr"), {**SHRUNK, "divisor": ["n", "n-K"]})


@pytest.mark.parametrize(
    ("shape", "family", "method"),
    [
        *(((24, 26, k), learner(scaled=s), FOLDS) for k in (2, 3) for s in (False, True)),
        *(((24, 21, k), learner(scaled=s), FOLDS) for k in (2, 3) for s in (False, True)),
        *(((20, 160, k), learner(scaled=s), FOLDS) for k in (2, 3) for s in (False, True)),
        ((15, 30, 3), learner(**PRIORS), LOO),
        ((18, 15, 3), learner("eigen"), LOO),
        ((18, 15, 3), learner("eigen", **PRIORS), FOLDS),
        ((30, 90, 2, "copied"), learner(), LOO),  # a row may stand among those learned from
        ((30, 90, 3), learner(), "bootstrap"),
        ((30, 90, 3), learner(**PRIORS), "bootstrap"),
        ((30, 90, 3), learner(n_components=1), "bootstrap"),
        ((30, 90, 2), R, FOLDS),
    ],
)
def test_shrunk_answers_at_any_width(shape, family, method):
    require_equal(ENGINE, family, data_of(*wide_rows(*shape)), method, RESPONSES)


def test_shrunk_scores_have_nine_digits():
    """Of many columns, and of shrinkages between which the conditions differ by a thousand."""
    data = data_of(*wide_rows(40, 240))
    found, expected = both(ENGINE, learner(scaled=True), data, FOLDS, SCORE)
    assert (np.abs(found - expected) <= 1e-9 * (1 + np.abs(expected))).all()


def opposite():
    """Rows whose class means are each other's negative, and two rows that lie at 0 between them."""
    X, y = wide_rows(24, 60)
    X[:12], y[:12], y[12:] = -X[12:], "a", "b"
    X[23] = X[11] = 0
    return data_of(X, y)


WIDE, FAR = data_of(*wide_rows(20, 40)), wide_rows(24, 60)
HALF_WAY = one_fit(24, [*range(11), *range(12, 23)], [11, 23])


@pytest.mark.parametrize(
    ("data", "family", "method", "request_", "least", "most"),
    [
        # A scatter without an inverse is scikit-learn's own business where a user wants it so.
        (WIDE, learner(scaled=True, shrinkage=[None, 0.0, 0.1]), FOLDS, LABEL, 10, 10),
        (opposite(), learner(), HALF_WAY, LABEL, 4, 4),  # rounding decides
        # Far from 0 the learner's own scores keep few digits; labels are clear all the same.
        (data_of(FAR[0] + 1e4, FAR[1]), learner(shrinkage=[1e-3, 0.5]), FOLDS, SCORE, 1, 10),
    ],
)
def test_shrunk_asks_the_learner_where_rounding_decides(
    data, family, method, request_, least, most
):
    assert least <= fits_made(ENGINE, family, data, method, request_)["asked"] <= most
    require_equal(ENGINE, family, data, method, [request_, LABEL])


def fitted(X, codes, s, *, turn):
    """One fit with one shrinkage, on turned rows or on rows as they are."""
    table = rotate_about_mean(X) if turn else None
    classes = RowsByClass.from_rows(X if table is None else table.train_rows, codes)
    rule = DiscriminantRule.from_settings([LinearDiscriminantAnalysis(solver="lsqr").get_params()])
    return ShrunkFit.from_rows(X, table, classes, rule, s)


@pytest.mark.parametrize(("n", "p", "turn"), [(36, 300, True), (200, 60, False)])
def test_shrunk_fit_bounds_what_rounding_did(n, p, turn, monkeypatch):
    """Scores of columns in another order, which is another rounding, move by less."""
    # which asks no row
    monkeypatch.setattr(DiscriminantRule, "has_small_rounding_error", lambda *_: False)
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
            assert (off < min(1.0, ROUNDING_BOUND_SHARE / p**0.5) * doubts).all()
            reached = max(reached, float((off / doubts).max()))
    assert reached > 1e-5  # and no bound that refuses everything


def test_shrunk_indicators_need_neither_the_learner_nor_an_svd(monkeypatch):
    """Collinear columns, of which a product tells no rank: what is added to them is enough."""
    levels = np.random.default_rng(1).integers(0, 5, (400, 12))
    y = np.array(["a", "b"])[(np.arange(400) % 9 == 0) * 1]
    X = np.concatenate([np.eye(5)[column] for column in levels.T], axis=1)
    monkeypatch.setattr(scatter, "svd", None)  # which would take many times longer
    with counted() as seen:
        require_equal(ENGINE, learner(), data_of(X, y), FOLDS, RESPONSES[:2])
    assert seen["asked"] == 0


def test_shrunk_makes_no_matrix_of_the_columns():
    """3,000 columns would have 72 MB of products: less than a sixth of that is ever held."""
    data = data_of(*wide_rows(24, 3000))
    plan = plan_of(FOLDS, data)
    tracemalloc.start()
    values_of(ENGINE, learner(scaled=True), data, plan, LABEL)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 12e6


def test_shrunk_engine_answers_the_wide_learner_of_the_word_as_its_own_fits():
    X, y = wide_rows(24, 200)
    pipeline, grid = learner_of_word(
        "lda", "classification", n_rows=24, n_features=200, n_classes=2
    )
    fast, plain = (
        tr.risk_curve(pipeline, grid, X, y, scoring="brier", engine=engine)
        for engine in ("discriminant", "generic")
    )
    np.testing.assert_allclose(fast.values, plain.values, rtol=1e-7)
