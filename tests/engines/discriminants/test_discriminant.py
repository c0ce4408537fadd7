"""The linear discriminant engine equals scikit-learn, and MASS by R's divisor, or refuses."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.covariance import LedoitWolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from tests.engines.closed_forms import (
    RESPONSES,
    both,
    counted,
    data_of,
    drawn,
    family_of,
    kit,
    require_equal,
    warnings_of,
)

import truerisk as tr
from truerisk.core.contracts import Request, RunOptions, Streams
from truerisk.core.errors import FitFailed
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import ALL
from truerisk.engines.discriminants.discriminant import LinearDiscriminants
from truerisk.models import LinearDiscriminant

ENGINE = LinearDiscriminants()
LOO, FOLDS = tr.methods.LeaveOneOut(), tr.methods.KFold(5)
OOB = tr.methods.Bootstrap(kind="oob", replicates=6)
LEARNERS = {
    "svd": (LinearDiscriminantAnalysis(), None),
    "lsqr": (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [None, 0.01, 0.3, 1.0]}),
    "eigen": (LinearDiscriminantAnalysis(solver="eigen"), {"shrinkage": [0.0, 0.1, 0.9]}),
    "R": (LinearDiscriminant(solver="lsqr"), {"shrinkage": [0.0, 0.2], "divisor": ["n", "n-K"]}),
    "scaled": (make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()), None),
}
PLAIN = family_of(LinearDiscriminantAnalysis())


@pytest.mark.parametrize("check", kit(ENGINE, {w: LEARNERS[w] for w in ("svd", "lsqr", "R")}))
def test_conforms(check) -> None:
    """The published checks of any engine, for every solver."""
    check()


# ---------------------------------------------------------------- against fitting one by one


@pytest.mark.parametrize("word", LEARNERS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("own_priors", [False, True])
@pytest.mark.parametrize("method", [LOO, FOLDS, tr.methods.MonteCarlo(4), tr.methods.Apparent()])
def test_equals_fitting_one_by_one(word, n_classes, own_priors, method) -> None:
    """Two classes and three, estimated and given priors, every solver and shrinkage."""
    model, grid = LEARNERS[word]
    if own_priors:
        priors = [0.2, 0.8] if n_classes == 2 else [0.2, 0.5, 0.3]
        last = "lineardiscriminantanalysis__" if word == "scaled" else ""
        grid = (grid or {}) | {f"{last}priors": [priors]}
    X, y = drawn(30, 4, n_classes, seed=n_classes)
    require_equal(ENGINE, family_of(model, grid), data_of(X, y), method, RESPONSES)


@pytest.mark.parametrize("shape", [(24, 10), (15, 30), (18, 15)])
@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
def test_wide_data_are_shrunk(shape, solver) -> None:
    """With as many columns as rows or more, shrunk scatters have inverses, and these are served."""
    X, y = drawn(*shape, 3, seed=4)
    for priors in (None, [0.2, 0.5, 0.3]):
        model = LinearDiscriminantAnalysis(solver=solver, priors=priors)
        family = family_of(model, {"shrinkage": [0.05, 0.5, 1.0]})
        for method in (LOO, FOLDS):
            require_equal(ENGINE, family, data_of(X, y), method, RESPONSES[:2])


@settings(deadline=None, max_examples=20)
@given(
    st.integers(0, 10**6),
    st.integers(1, 6),
    st.integers(2, 4),
    st.sampled_from(["svd", "lsqr", "eigen", "R"]),
    st.booleans(),
)
def test_equals_on_any_rows(seed, p, n_classes, word, rounded) -> None:
    """Random rows, also on a grid of few values, leave-one-out and folds at once."""
    X, y = drawn(18, p, n_classes, seed=seed)
    data = data_of(np.round(X) if rounded else X, y)
    family = family_of(*LEARNERS[word])
    for method in (LOO, tr.methods.KFold(3)):
        plan = method.plan(data, Streams(seed))
        for request in RESPONSES[:2]:
            try:
                found, expected = both(ENGINE, family, data, plan, request)
            except FitFailed:
                with pytest.raises(FitFailed):
                    tr.engines.Generic().run(family, data, plan, request, RunOptions())
                continue
            assert np.allclose(found, expected, rtol=1e-8, atol=1e-11)


def test_winners_alone_are_answered() -> None:
    """Asked for one candidate per fit it answers that candidate, left-out rows and folds alike."""
    X, y = drawn(30, 3, 2)
    family, data = family_of(*LEARNERS["lsqr"]), data_of(X, y)
    for method, n_fits in ((LOO, 30), (FOLDS, 5)):
        only = np.arange(n_fits) % len(family)
        require_equal(ENGINE, family, data, method, RESPONSES, only)


@pytest.mark.parametrize("word", LEARNERS)
def test_nested_and_repeated(word) -> None:
    """Nested tuning and repeated folds have the risks of the generic engine."""
    model, grid = LEARNERS[word]
    X, y = drawn(40, 3, 2)
    for method in ("nested", "2x4-fold", "three-way"):
        values = [
            tr.risk_curve(model, grid or {}, X, y, method=method, engine=e, random_state=1).values
            for e in (ENGINE, "generic")
        ]
        assert values[0].tolist() == values[1].tolist()


def test_copies_and_flips() -> None:
    """Bootstrap samples count copies; a replaced label moves its row to another class."""
    X, y = drawn(30, 3, 3)
    data, rng = data_of(X, y), np.random.default_rng(0)
    builder = PlanBuilder(30)
    for _ in range(4):
        sample = builder.block(rng.integers(0, 30, 30))
        builder.ask((sample, ()), (ALL, (sample,)))
    for row in range(0, 30, 4):
        flip = [(row, (int(data.codes[row]) + 1) % 3)]
        builder.ask((ALL, ()), (builder.block(np.array([row])), ()), part="flip", flips=flip)
    plan = builder.build()
    for word in ("svd", "lsqr", "R"):
        for request in RESPONSES[:2]:
            found, expected = both(ENGINE, family_of(*LEARNERS[word]), data, plan, request)
            assert np.allclose(found, expected, rtol=1e-8, atol=1e-11)


# ---------------------------------------------------------------- R

# R 4.2.2, MASS 7.3-58.2:
#   i <- 0:26; y <- factor(rep(0:2, c(12, 8, 7)))
#   x <- cbind((7 * i) %% 11, (5 * i * i) %% 13) / 4 + cbind(c(0, 2, 1)[y], c(0, 1, 3)[y])
#   lda(x, y, CV = TRUE)$posterior[seq(1, 27, by = 4), ]
MASS = [
    [9.999737109364e-01, 2.624614831654e-05, 4.291530631534e-08],
    [9.807150732972e-01, 1.924392557110e-02, 4.100113173842e-05],
    [9.961253979506e-01, 1.789378849535e-03, 2.085223199839e-03],
    [1.292647776526e-02, 9.731960166570e-01, 1.387750557773e-02],
    [2.808587596692e-01, 6.118105925572e-01, 1.073306477736e-01],
    [2.593695091635e-06, 3.171127984216e-03, 9.968262783207e-01],
    [3.040484800803e-03, 7.558756396856e-03, 9.894007588023e-01],
]


def test_leave_one_out_is_that_of_mass(monkeypatch) -> None:
    """With R's divisor and the priors of all rows; no model is fitted for it."""
    i, y = np.arange(27), np.repeat([0, 1, 2], [12, 8, 7])
    X = np.c_[(7 * i) % 11, (5 * i * i) % 13] / 4 + np.array([[0, 0], [2, 1], [1, 3]])[y]
    data = data_of(X, y)
    family = family_of(LinearDiscriminant(priors=[12 / 27, 8 / 27, 7 / 27]))
    with counted(monkeypatch) as seen:
        plan = LOO.plan(data, Streams(0))
        answers = ENGINE.run(family, data, plan, Request("probability"), RunOptions())
    assert np.allclose(answers.values[0, ::4], MASS, rtol=1e-11)
    assert seen == {"asked": 0, "passes": 0}
    error = (answers.values[0].argmax(axis=1) != y).mean()
    assert error == pytest.approx(0.2222222222222)  # mean(lda(x, y, CV = TRUE)$class != y)


# ---------------------------------------------------------------- one decomposition


@pytest.mark.parametrize("word", ["svd", "lsqr", "eigen", "R", "scaled"])
def test_leave_one_out_is_answered_together(word, monkeypatch) -> None:
    """No train set is looked at, and no model fitted."""
    X, y = drawn(40, 3, 2)
    data, family = data_of(X, y), family_of(*LEARNERS[word])
    with counted(monkeypatch) as seen:
        ENGINE.run(family, data, LOO.plan(data, Streams(0)), RESPONSES[1], RunOptions())
    assert seen == {"asked": 0, "passes": 0}


@pytest.mark.parametrize(
    ("scaler", "solver", "passes"),
    [(StandardScaler(), "svd", 0), (MinMaxScaler(), "svd", 40), (StandardScaler(), "lsqr", 40)],
)
def test_scaling_is_let_go_where_it_changes_nothing(scaler, solver, passes, monkeypatch) -> None:
    """A StandardScaler before a discriminant that is not shrunk; any other step is fitted."""
    X, y = drawn(40, 3, 2)
    shrinkage = 0.3 if solver == "lsqr" else None
    model = LinearDiscriminantAnalysis(solver=solver, shrinkage=shrinkage)
    family, data = family_of(make_pipeline(scaler, model)), data_of(X, y)
    with counted(monkeypatch) as seen:
        require_equal(ENGINE, family, data, LOO, [RESPONSES[1]])
    assert seen["passes"] == passes


# ---------------------------------------------------------------- what rounding would decide


@pytest.mark.parametrize("word", ["svd", "lsqr", "R"])
@pytest.mark.parametrize("what", ["copied", "constant", "once", "flat", "sum"])
def test_collinear_columns(word, what, monkeypatch) -> None:
    """Columns copied, constant, constant but for one row, nearly constant, sums of others."""
    X, y = drawn(30, 3, 2)
    column = {
        "copied": X[:, 0],
        "constant": np.full(30, 0.1),
        "once": (np.arange(30) == 7).astype(float),
        "flat": 5.0 + 1e-9 * np.random.default_rng(1).normal(size=30),
        "sum": X.sum(axis=1),
    }[what]
    model, grid = LEARNERS[word]
    if what in ("constant", "flat", "copied", "sum") and word == "lsqr":
        grid = {"shrinkage": [0.01, 0.3]}  # what is not shrunk is solved through noise
    if what in ("constant", "flat", "copied", "sum") and word == "R":
        grid = {"shrinkage": [0.2], "divisor": ["n", "n-K"]}
    data = data_of(np.c_[X, column], y)
    for method in (LOO, FOLDS):
        with counted(monkeypatch) as seen:
            require_equal(ENGINE, family_of(model, grid), data, method, RESPONSES)
        assert (seen["asked"] > 0) == (word == "svd" or what == "once")


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
def test_columns_far_from_zero_are_asked_where_they_are_shrunk(solver, monkeypatch) -> None:
    """Beside cells of 1e9 scikit-learn's scores keep few digits: they are its own."""
    X, y = drawn(30, 3, 2)
    family = family_of(LinearDiscriminantAnalysis(solver=solver), {"shrinkage": [0.1, 0.5]})
    for far, asks in ((1e3, False), (1e9, True)):
        for method in (LOO, FOLDS):
            with counted(monkeypatch) as seen:
                data = data_of(X + np.array([0, far, 0]), y)
                require_equal(ENGINE, family, data, method, [RESPONSES[1]])
            assert (seen["asked"] > 0) == asks


def test_a_row_whose_leverage_is_one_is_asked(monkeypatch) -> None:
    """Without the only row in which a column differs there is no inverse: one fit per response."""
    X, y = drawn(30, 3, 2)
    data = data_of(np.c_[X, np.arange(30) == 7], y)
    with counted(monkeypatch) as seen:
        require_equal(ENGINE, PLAIN, data, LOO, [RESPONSES[1]])
    assert seen == {"asked": 1, "passes": 1}


@pytest.mark.parametrize("scale", [1e-5, 1e-3, 1e5])
def test_units_of_columns_do_not_matter(scale) -> None:
    """Columns in other units are served alike."""
    X, y = drawn(40, 3, 3)
    require_equal(ENGINE, PLAIN, data_of(X * [1, scale, 1 / scale], y), LOO, RESPONSES[:2])


@pytest.mark.parametrize("method", [LOO, FOLDS, tr.methods.Bootstrap("oob", 5)])
def test_directions_that_least_squares_drops_are_asked(method) -> None:
    """The solver lsqr cuts off at the largest eigenvalue of the columns in their own units."""
    X, y = drawn(24, 3, 3)
    family = family_of(LinearDiscriminantAnalysis(solver="lsqr"))
    require_equal(ENGINE, family, data_of(X * [1e4, 1e-4, 1], y), method, RESPONSES[:2])


def test_a_coarse_tol_is_minded() -> None:
    """Where the SVD solver drops directions, of the rows or of the class means, it is asked."""
    X, y = drawn(40, 3, 3)
    X[:, 2] = X[:, 0] + 0.05 * X[:, 2]
    for tol in (0.0, 1e-3, 0.05, 0.3, 0.6, 0.9):
        family = family_of(LinearDiscriminantAnalysis(tol=tol))
        for method in (LOO, FOLDS):
            require_equal(ENGINE, family, data_of(X, y), method, RESPONSES[:2])


@pytest.mark.parametrize("tol", [1e-4, 0.02, 0.2, 0.5])
def test_class_means_on_a_line(tol) -> None:
    """Three class means nearly on a line: the direction across is dropped as scikit-learn does."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 10)
    X = rng.normal(size=(30, 2))
    X -= np.array([X[y == k].mean(axis=0) for k in range(3)])[y]
    family = family_of(LinearDiscriminantAnalysis(tol=tol))
    for off in (0.0, 1e-3, 0.1, 0.3):
        centres = np.array([[0, 0], [1, off], [2, 0]])
        for method in (LOO, FOLDS, tr.methods.Apparent()):
            require_equal(ENGINE, family, data_of(X + centres[y], y), method, RESPONSES[:2])


def test_ties_are_asked() -> None:
    """A row as near to one class as to the other gets scikit-learn's label, whatever rounding."""
    X = np.array([[-2.0, 0], [-1, 1], [-1, -1], [2, 0], [1, 1], [1, -1], [0, 3], [0, -3]])
    data = data_of(X, [0, 0, 0, 1, 1, 1, 0, 1])
    builder = PlanBuilder(8)
    six, two = builder.block(np.arange(6)), builder.block(np.array([6, 7]))
    builder.ask((six, ()), (two, ()))
    for word in ("svd", "lsqr", "R"):
        found, expected = both(
            ENGINE, family_of(*LEARNERS[word]), data, builder.build(), RESPONSES[0]
        )
        assert (found == expected).all()


# ---------------------------------------------------------------- classes that are missing


def test_a_class_of_one_row() -> None:
    """Without its one row a class is gone: its probability is 0, and the rest goes on."""
    X, y = drawn(23, 3, 3, sizes=[12, 10, 1])
    for word in ("svd", "lsqr", "R"):
        plan = require_equal(ENGINE, family_of(*LEARNERS[word]), data_of(X, y), LOO, RESPONSES[:2])
    answers = ENGINE.run(PLAIN, data_of(X, y), plan, RESPONSES[1], RunOptions())
    assert answers.values[0, 22, 2] == 0


def test_one_class_left_is_what_scikit_learn_makes_of_it() -> None:
    """A fit that sees one class only is put to scikit-learn, whatever it answers."""
    X, y = drawn(12, 2, 2, sizes=[11, 1])
    data, plan = data_of(X, y), LOO.plan(data_of(X, y), Streams(0))
    for request in RESPONSES[:2]:
        outcomes = []
        for engine in (ENGINE, tr.engines.Generic()):
            try:
                outcomes.append(
                    engine.run(PLAIN, data, plan, request, RunOptions()).values.tolist()
                )
            except FitFailed as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


def test_priors_of_a_missing_class_fail_as_in_scikit_learn() -> None:
    """Three priors for two classes are an error of the fit, with its place."""
    X, y = drawn(23, 3, 3, sizes=[12, 10, 1])
    family = family_of(LinearDiscriminantAnalysis(priors=[0.2, 0.5, 0.3]))
    data = data_of(X, y)
    plan = LOO.plan(data, Streams(0))
    with pytest.raises(FitFailed, match=r"test split \(repeat 0, fold 22\)"):
        ENGINE.run(family, data, plan, RESPONSES[1], RunOptions())


@pytest.mark.parametrize("method", [LOO, tr.methods.KFold(2), OOB], ids=["loo", "folds", "oob"])
@pytest.mark.parametrize("word", ["svd", "lsqr", "eigen"])
@pytest.mark.filterwarnings("ignore::truerisk.core.errors.TrueRiskWarning")
def test_classes_of_one_row_and_equal_means_are_asked(word, method) -> None:
    """Scikit-learn warns of a covariance of one row, and divides 0 by 0 where all means are one."""
    model = LinearDiscriminantAnalysis(solver=word)
    heard = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 14))
        X = rng.integers(-1, 2, size=(n, 1)).astype(float)
        y = np.array(["a", "b", "c"])[rng.integers(0, int(rng.integers(2, 4)), n)]
        if len(np.unique(y)) < 2:
            continue
        data = data_of(X, y)
        plan = method.plan(data, Streams(seed))
        outcomes = []
        for engine in (ENGINE, tr.engines.Generic()):
            try:
                outcomes.append(warnings_of(engine, family_of(model), data, plan, RESPONSES[0])[1])
            except FitFailed as error:
                outcomes.append([str(error)])
        assert outcomes[0] == outcomes[1], seed
        heard += bool(outcomes[1])
    assert heard


def test_warnings_are_those_of_scikit_learn() -> None:
    """No fit that is not made warns; those that are made are heard, with their number."""
    X, y = drawn(30, 3, 2)
    data = data_of(X, y)
    assert warnings_of(ENGINE, PLAIN, data, LOO.plan(data, Streams(0)))[1] == []
    builder = PlanBuilder(30)
    rows, rest = builder.block(np.array([0, 2, 4])), builder.block(np.array([1, 3]))
    builder.ask((rows, ()), (rest, ()))
    plan = builder.build()  # one class only: scikit-learn divides by zero
    outcomes = []
    for engine in (ENGINE, tr.engines.Generic()):
        try:
            outcomes.append(warnings_of(engine, PLAIN, data, plan, RESPONSES[0])[1])
        except FitFailed as error:
            outcomes.append([str(error)])
    assert outcomes[0] == outcomes[1]


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (RidgeClassifier(), "the learner is RidgeClassifier, not LinearDiscriminantAnalysis or"),
        (LinearDiscriminantAnalysis(solver="qr"), "solver='qr' is no solver"),
        (LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"), "'auto' is estimated anew"),
        (LinearDiscriminantAnalysis(shrinkage=0.1), "shrinkage=0.1 is none that solver 'svd'"),
        (LinearDiscriminantAnalysis(solver="lsqr", shrinkage=1.5), "shrinkage=1.5 is none"),
        (
            LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=LedoitWolf()),
            "a covariance_estimator is given",
        ),
        (LinearDiscriminantAnalysis(tol=-1.0), "tol=-1.0 is no tolerance"),
        (LinearDiscriminantAnalysis(n_components=0), "n_components=0 is no number"),
        (LinearDiscriminantAnalysis(n_components="1"), "n_components='1' is no number"),
        (LinearDiscriminantAnalysis(priors=[1.0, 0.0]), "not positive shares that sum to 1"),
        (LinearDiscriminantAnalysis(priors=[0.5, 0.7]), "not positive shares that sum to 1"),
        (LinearDiscriminantAnalysis(priors=["a", "b"]), "are no numbers"),
        (LinearDiscriminantAnalysis(priors=[0.2, 0.3, 0.5]), "there are 3 priors, and y has 2"),
        (LinearDiscriminant(divisor="n-1"), "divisor='n-1' is unknown"),
    ],
)
def test_settings_it_does_not_cover(model, reason) -> None:
    """Each has its sentence."""
    data = data_of(*drawn(20, 2, 2))
    said = ENGINE.refuse(family_of(model), data, FOLDS.plan(data, Streams(0)), RESPONSES[0])
    assert said is not None
    assert re.search(reason, said), said


def test_data_and_requests_it_does_not_cover() -> None:
    """Fit parameters, scorers, scores of three classes, wide data that are not shrunk."""
    plan = FOLDS.plan(data_of(*drawn(20, 2, 2)), Streams(0))

    def said(shape=(20, 2, 2), request=RESPONSES[0], **fit_params):
        return ENGINE.refuse(PLAIN, data_of(*drawn(*shape), **fit_params), plan, request)

    assert said(sample_weight=np.ones(20)) == "fit parameters (sample_weight) are given."
    scorer = Request("scored", get_scorer("accuracy"))
    assert said(request=scorer) == "a scikit-learn scorer needs the fitted model itself."
    assert "more classes than two" in said((20, 2, 3), Request("score"))
    assert said((20, 19, 2)) == (
        "a 19 x 19 scatter of 20 rows has no inverse, and it is not shrunk."
    )
    assert said((20, 18, 2)) is None


def test_components_do_not_matter_but_too_many_fail() -> None:
    """`n_components` changes no answer; more than a fit has is scikit-learn's error."""
    X, y = drawn(30, 3, 3)
    family = family_of(LinearDiscriminantAnalysis(), {"n_components": [1, 2]})
    require_equal(ENGINE, family, data_of(X, y), LOO, RESPONSES[:2])
    data = data_of(X, y)
    family = family_of(LinearDiscriminantAnalysis(n_components=3))
    with pytest.raises(FitFailed, match="n_components cannot be larger"):
        ENGINE.run(family, data, FOLDS.plan(data, Streams(0)), RESPONSES[0], RunOptions())


def test_auto_takes_it_and_says_so() -> None:
    """`engine="auto"` answers a curve over the shrinkage with it."""
    X, y = drawn(40, 5, 2)
    model, grid = LEARNERS["lsqr"]
    curve = tr.risk_curve(model, grid, X, y, method="loo")
    assert curve[0].engine == "discriminant"
    generic = tr.risk_curve(model, grid, X, y, method="loo", engine="generic")
    assert curve.values.tolist() == generic.values.tolist()
