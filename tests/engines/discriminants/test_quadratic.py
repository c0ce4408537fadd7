"""The quadratic discriminant engine equals scikit-learn, and MASS by R's divisor, or refuses."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.metrics import get_scorer
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
    drawn,
    family_of,
    kit,
    last_two_rows,
    require_equal,
    require_equal_or_failing,
    warnings_of,
)

import truerisk as tr
from truerisk.core.contracts import Request, RunOptions, Streams
from truerisk.core.errors import FitFailed
from truerisk.core.plan.blocks import ALL
from truerisk.core.plan.builder import PlanBuilder
from truerisk.engines.discriminants.quadratic import QuadraticDiscriminants
from truerisk.models import QuadraticDiscriminant

ENGINE = QuadraticDiscriminants()
GRID = {"reg_param": [0.0, 0.01, 0.4, 1.0]}
LEARNERS = {
    "plain": (QuadraticDiscriminantAnalysis(), None),
    "grid": (QuadraticDiscriminantAnalysis(), GRID),
    "R": (QuadraticDiscriminant(), {"reg_param": [0.0, 0.2], "divisor": ["n", "n-1"]}),
    "scaled": (make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis(reg_param=0.1)), None),
}
PLAIN = family_of(QuadraticDiscriminantAnalysis())
KIT = {  # of every kind of setting one; the other values of the grids are compared below
    "grid": (LEARNERS["grid"][0], {"reg_param": [0.0, 0.4]}),
    "R": (LEARNERS["R"][0], {"reg_param": [0.2], "divisor": ["n", "n-1"]}),
}


@pytest.mark.parametrize("check", kit(ENGINE, KIT))
def test_conforms(check) -> None:
    """The published checks of any engine."""
    check()


# ---------------------------------------------------------------- against fitting one by one


@pytest.mark.parametrize("word", LEARNERS)
@pytest.mark.parametrize(("n_classes", "own_priors"), [(2, False), (3, True)])
@pytest.mark.parametrize("method", [LOO, FOLDS, tr.methods.MonteCarlo(4), tr.methods.Apparent()])
def test_equals_fitting_one_by_one(word, n_classes, own_priors, method) -> None:
    """Two classes and three, estimated and given priors, every regularisation and divisor."""
    model, grid = LEARNERS[word]
    if own_priors:
        priors = [0.2, 0.8] if n_classes == 2 else [0.2, 0.5, 0.3]
        last = "quadraticdiscriminantanalysis__" if word == "scaled" else ""
        grid = (grid or {}) | {f"{last}priors": [priors]}
    X, y = drawn(24, 4, n_classes, seed=n_classes)
    require_equal(ENGINE, family_of(model, grid), data_of(X, y), method, RESPONSES)


def test_rows_left_out_in_any_order_and_twice_are_answered_in_place() -> None:
    """Questions to fits that lack a row come in any order, two to one fit, other fits between."""
    X, y = drawn(30, 3, 2, seed=5)
    builder = PlanBuilder(30)
    blocks = [builder.block(np.array([row])) for row in range(30)]
    fold = builder.block(np.arange(5))
    for row in (17, 3, 17, 29, 0, 3, 8):
        builder.ask((ALL, (blocks[row],)), (blocks[row], ()))
        builder.ask((ALL, (fold,)), (fold, ()))
    family, data, plan = (
        family_of(QuadraticDiscriminantAnalysis(), GRID),
        data_of(X, y),
        builder.build(),
    )
    for request in RESPONSES:
        ours, theirs = both(ENGINE, family, data, plan, request)
        assert np.allclose(ours, theirs, rtol=1e-7, atol=1e-9)


@settings(deadline=None, max_examples=8)
@given(
    st.integers(0, 10**6),
    st.integers(1, 5),
    st.integers(2, 3),
    st.sampled_from(["plain", "grid", "R"]),
    st.booleans(),
)
def test_equals_on_any_rows(seed, p, n_classes, word, rounded) -> None:
    """Random rows, also on a grid of few values; what fails in scikit-learn fails here."""
    X, y = drawn(22, p, n_classes, seed=seed)
    data = data_of(np.round(X) if rounded else X, y)
    family = family_of(*LEARNERS[word])
    # up to scikit-learn 1.7 a rank is warned of, and the answer may be NaN
    require_equal_or_failing(ENGINE, family, data, seed, RESPONSES[:2], equal_nan=True)


def test_winners_alone_are_answered() -> None:
    """Asked for one candidate per fit it answers that candidate, left-out rows and folds alike."""
    X, y = drawn(30, 3, 2)
    family, data = family_of(QuadraticDiscriminantAnalysis(), GRID), data_of(X, y)
    for method, n_fits in ((LOO, 30), (FOLDS, 5)):
        only = np.arange(n_fits) % len(family)
        require_equal(ENGINE, family, data, method, RESPONSES, only)


def test_copies_and_flips() -> None:
    """Bootstrap samples count copies; a replaced label moves its row to another class."""
    X, y = drawn(36, 3, 3)
    data = data_of(X, y)
    plan = copies_and_flips(data)
    for word in ("plain", "grid", "R"):
        for request in RESPONSES[:2]:
            found, expected = both(ENGINE, family_of(*LEARNERS[word]), data, plan, request)
            assert np.allclose(found, expected, rtol=1e-8, atol=1e-11)


# ---------------------------------------------------------------- R

# R 4.2.2, MASS 7.3-58.2:
#   i <- 0:26; y <- factor(rep(0:2, c(12, 8, 7)))
#   x <- cbind((7 * i) %% 11, (5 * i * i) %% 13) / 4 + cbind(c(0, 2, 1)[y], c(0, 1, 3)[y])
#   qda(x, y, CV = TRUE)$posterior[seq(1, 27, by = 4), ]
MASS = [
    [0.9998458856741113, 2.752260499310e-07, 0.0001538390998390],
    [0.9988761387609540, 8.906950415642e-04, 0.0002331661974817],
    [0.9902792087280483, 2.004198264729e-04, 0.0095203714454787],
    [0.0159888123861768, 9.804849529585e-01, 0.0035262346553066],
    [0.3174774918006461, 5.898875411512e-01, 0.0926349670481562],
    [0.0000185068452074, 2.800246701223e-03, 0.9971812464535696],
    [0.0025530020721505, 3.260626571259e-02, 0.9648407322152589],
]


def test_leave_one_out_is_that_of_mass(monkeypatch) -> None:
    """With R's divisor and the priors of all rows; no model is fitted for it."""
    i, y = np.arange(27), np.repeat([0, 1, 2], [12, 8, 7])
    X = np.c_[(7 * i) % 11, (5 * i * i) % 13] / 4 + np.array([[0, 0], [2, 1], [1, 3]])[y]
    data = data_of(X, y)
    family = family_of(QuadraticDiscriminant(priors=[12 / 27, 8 / 27, 7 / 27]))
    with counted(monkeypatch) as seen:
        plan = LOO.plan(data, Streams(0))
        answers = ENGINE.run(family, data, plan, Request("probability"), RunOptions())
    assert np.allclose(answers.values[0, ::4], MASS, rtol=1e-11)
    assert seen == {"asked": 0, "passes": 0}
    error = (answers.values[0].argmax(axis=1) != y).mean()
    assert error == pytest.approx(0.1851851851852)  # mean(qda(x, y, CV = TRUE)$class != y)


# ---------------------------------------------------------------- one decomposition


@pytest.mark.parametrize("word", ["plain", "grid", "R"])
def test_leave_one_out_is_answered_together(word, monkeypatch) -> None:
    """No train set is looked at, and no model fitted."""
    X, y = drawn(40, 3, 2)
    data, family = data_of(X, y), family_of(*LEARNERS[word])
    with counted(monkeypatch) as seen:
        ENGINE.run(family, data, LOO.plan(data, Streams(0)), RESPONSES[1], RunOptions())
    assert seen == {"asked": 0, "passes": 0}


# ---------------------------------------------------------------- ranks


def outcome(engine, family, data, plan):
    """The answers and what was warned of, or the error."""
    try:
        answers, said = warnings_of(engine, family, data, plan)
    except FitFailed as error:
        return str(error)
    return answers.values, said


@pytest.mark.parametrize(
    "what", ["copied", "constant", "in one class", "once", "nearly", "small", "small in b", "far"]
)
@pytest.mark.parametrize("reg_param", [0.0, 1e-6, 0.01])
def test_ranks_are_decided_by_scikit_learn(what, reg_param) -> None:
    """Where it warns or fails, the engine does as it does; where it does not, numbers are equal."""
    X, y = drawn(40, 3, 2)
    column = {
        "copied": X[:, 0],
        "constant": np.full(40, 0.1),
        "in one class": np.where(y == "a", 1.0, X[:, 2] ** 2),
        "once": (np.arange(40) == 7).astype(float),
        "nearly": X[:, 0] + 0.01 * X[:, 1] ** 2,
        "small": 0.012 * X[:, 1] ** 2,
        "far": 1e10 + 10 * X[:, 1] ** 2,
        "small in b": np.where(y == "b", 1e-3, 1) * X[:, 1] ** 2,
    }[what]
    data = data_of(np.c_[X, column], y)
    for grid in ({"reg_param": [reg_param]}, {"reg_param": [reg_param, 0.5]}):
        family = family_of(QuadraticDiscriminantAnalysis(), grid)
        for method in (LOO, FOLDS):
            plan = method.plan(data, Streams(0))
            ours = outcome(ENGINE, family, data, plan)
            theirs = outcome(tr.engines.Generic(), family, data, plan)
            assert type(ours) is type(theirs)
            if isinstance(ours, str):
                assert ours == theirs
            else:
                # up to 1.7 it warns of a rank, and may answer NaN
                assert np.allclose(ours[0], theirs[0], rtol=1e-8, atol=1e-11, equal_nan=True)
                assert ours[1] == theirs[1]


def test_a_small_variance_is_put_to_scikit_learn(monkeypatch) -> None:
    """Below `tol` it complains; above, every row is answered at once."""
    X, y = drawn(40, 2, 2)
    X /= np.array([X[y == k].std(axis=0).min() for k in "ab"]).min()
    for scale, asks in ((1.0, False), (3e-3, True)):
        data = data_of(X * scale, y)
        with counted(monkeypatch) as seen:
            outcome(ENGINE, PLAIN, data, LOO.plan(data, Streams(0)))
        assert (seen["asked"] > 0) == asks


def test_units_of_columns_do_not_matter() -> None:
    """Columns in other units, and far from 0, are served alike, with any regularisation."""
    X, y = drawn(40, 3, 2)
    far = X * [1, 1e3, 1e5] + [0, 1e5, 0]
    require_equal(ENGINE, PLAIN, data_of(far, y), LOO, RESPONSES[:2])
    family = family_of(QuadraticDiscriminantAnalysis(), GRID)
    require_equal(ENGINE, family, data_of(far, y), LOO, RESPONSES[:2])


def test_ties_are_asked() -> None:
    """A row as near to one class as to the other gets scikit-learn's label, whatever rounding."""
    X = np.array([[-2.0, 0], [-1, 1], [-1, -1], [-3, 1], [2, 0], [1, 1], [1, -1], [3, 1]])
    X = np.r_[X, [[0.0, 3], [0, -3]]]
    data = data_of(X, [0, 0, 0, 0, 1, 1, 1, 1, 0, 1])
    for word in ("plain", "grid", "R"):
        family = family_of(*LEARNERS[word])
        found, expected = both(ENGINE, family, data, last_two_rows(10), RESPONSES[0])
        assert (found == expected).all()


# ---------------------------------------------------------------- classes that are missing


def test_a_class_that_a_fit_does_not_see() -> None:
    """A fold without a class gives it probability 0; with priors of all classes it fails alike."""
    X, y = drawn(32, 2, 3, sizes=[14, 12, 6])
    data = data_of(X, y)
    builder = PlanBuilder(32)
    rest, last = builder.block(np.arange(26)), builder.block(np.arange(26, 32))
    builder.ask((rest, ()), (last, ()))
    plan = builder.build()
    found, expected = both(ENGINE, PLAIN, data, plan, RESPONSES[1])
    assert np.allclose(found, expected, rtol=1e-8, atol=1e-11)
    assert (found[0, :, 2] == 0).all()
    family = family_of(QuadraticDiscriminantAnalysis(priors=[0.2, 0.5, 0.3]))
    ours, theirs = (outcome(e, family, data, plan) for e in (ENGINE, tr.engines.Generic()))
    assert isinstance(ours, str)
    assert ours == theirs


def test_a_class_left_with_too_few_rows() -> None:
    """A fit that sees one row of a class, or as many as columns, is put to scikit-learn."""
    X, y = drawn(30, 2, 2)
    data = data_of(X, y)
    for few in (1, 2):
        builder = PlanBuilder(30)
        rows = np.r_[np.flatnonzero(data.codes == 0), np.flatnonzero(data.codes == 1)[:few]]
        seen, rest = builder.block(np.sort(rows)), builder.block(np.array([29]))
        builder.ask((seen, ()), (rest, ()))
        for model in (PLAIN, family_of(QuadraticDiscriminantAnalysis(reg_param=0.3))):
            outcomes = [
                outcome(e, model, data, builder.build()) for e in (ENGINE, tr.engines.Generic())
            ]
            assert type(outcomes[0]) is type(outcomes[1])
            if isinstance(outcomes[0], str):
                assert outcomes[0] == outcomes[1]
            else:
                assert np.allclose(outcomes[0][0], outcomes[1][0], rtol=1e-8, atol=1e-11)
                assert outcomes[0][1] == outcomes[1][1]


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (LinearDiscriminantAnalysis(), "the learner is LinearDiscriminantAnalysis, not Quadratic"),
        (QuadraticDiscriminantAnalysis(reg_param=1.5), "reg_param=1.5 does not lie between"),
        (QuadraticDiscriminantAnalysis(reg_param="a"), "reg_param='a' does not lie between"),
        (QuadraticDiscriminantAnalysis(tol=-1), "tol=-1 is no tolerance"),
        (QuadraticDiscriminantAnalysis(priors=[1.0, 0.0]), "not positive shares that sum to 1"),
        (QuadraticDiscriminantAnalysis(priors=[0.2, 0.3, 0.5]), "there are 3 priors, and y has 2"),
        (QuadraticDiscriminant(divisor="n-K"), "divisor='n-K' is unknown"),
    ],
)
def test_settings_it_does_not_cover(model, reason) -> None:
    """Each has its sentence."""
    data = data_of(*drawn(20, 2, 2))
    said = ENGINE.refuse(family_of(model), data, FOLDS.plan(data, Streams(0)), RESPONSES[0])
    assert said is not None
    assert re.search(reason, said), said


@pytest.mark.skipif(
    "solver" not in QuadraticDiscriminantAnalysis().get_params(), reason="from scikit-learn 1.8 on"
)
def test_other_solvers_are_refused() -> None:
    """The eigen solver and its shrinkage are another estimate."""
    data = data_of(*drawn(20, 2, 2))
    plan = FOLDS.plan(data, Streams(0))
    for model, reason in (
        (QuadraticDiscriminantAnalysis(solver="eigen"), "solver='eigen' is not 'svd'."),
        (QuadraticDiscriminantAnalysis(shrinkage=0.1), "shrinkage or a covariance_estimator"),
    ):
        said = ENGINE.refuse(family_of(model), data, plan, RESPONSES[0])
        assert said is not None
        assert reason in said


def test_data_and_requests_it_does_not_cover() -> None:
    """Fit parameters, scorers, scores of three classes, classes with too few rows."""
    plan = FOLDS.plan(data_of(*drawn(20, 2, 2)), Streams(0))

    def said(shape=(20, 2, 2), request=RESPONSES[0], **fit_params):
        return ENGINE.refuse(PLAIN, data_of(*drawn(*shape), **fit_params), plan, request)

    assert said(sample_weight=np.ones(20)) == "fit parameters (sample_weight) are given."
    scorer = Request("scored", get_scorer("accuracy"))
    assert said(request=scorer) == "a scikit-learn scorer needs the fitted model itself."
    assert "more classes than two" in said((20, 2, 3), Request("score"))
    assert said((20, 10, 2)) == "the scatter of class 'a' (10 rows, 10 columns) has no inverse."
    assert said((20, 9, 2)) is None


def test_auto_takes_it_and_says_so() -> None:
    """`engine="auto"` answers a curve over reg_param with it."""
    X, y = drawn(40, 3, 2)
    curve = tr.risk_curve(QuadraticDiscriminantAnalysis(), GRID, X, y, method="loo")
    assert curve[0].engine == "quadratic"
    generic = tr.risk_curve(
        QuadraticDiscriminantAnalysis(), GRID, X, y, method="loo", engine="generic"
    )
    assert curve.values.tolist() == generic.values.tolist()
