"""The quadratic discriminant engine equals scikit-learn, and MASS by R's divisor, or refuses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.engines.closed_forms import (
    FOLDS,
    LOO,
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
from truerisk.contracts import Streams
from truerisk.core.errors import FitFailed
from truerisk.engines.discriminants.quadratic import QuadraticDiscriminants
from truerisk.models import QuadraticDiscriminant
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder

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
REFUSED = [
    (LinearDiscriminantAnalysis(), "the learner is LinearDiscriminantAnalysis, not Quadratic"),
    (QuadraticDiscriminantAnalysis(reg_param=1.5), "reg_param=1.5 does not lie between"),
    (QuadraticDiscriminantAnalysis(reg_param="a"), "reg_param='a' does not lie between"),
    (QuadraticDiscriminantAnalysis(tol=-1), "tol=-1 is no tolerance"),
    (QuadraticDiscriminantAnalysis(priors=[1.0, 0.0]), "not positive shares that sum to 1"),
    (QuadraticDiscriminantAnalysis(priors=[0.2, 0.3, 0.5]), "there are 3 priors, and y has 2"),
    (QuadraticDiscriminant(divisor="n-K"), "divisor='n-K' is unknown"),
]


@pytest.mark.parametrize("check", kit(ENGINE, KIT))
def test_conforms(check) -> None:
    """The published checks of any engine."""
    check()


# ---------------------------------------------------------------- against fitting one by one


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


# ---------------------------------------------------------------- R


# ---------------------------------------------------------------- one decomposition


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
