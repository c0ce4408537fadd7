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
    require_equal,
    require_equal_or_failing,
)

import truerisk as tr
from truerisk.core.contracts import Request, RunOptions, Streams
from truerisk.core.errors import FitFailed
from truerisk.engines.discriminants.discriminant import LinearDiscriminants
from truerisk.engines.templates import task as tasks
from truerisk.models import LinearDiscriminant

ENGINE = LinearDiscriminants()
LEARNERS = {
    "svd": (LinearDiscriminantAnalysis(), None),
    "lsqr": (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [None, 0.01, 0.3, 1.0]}),
    "eigen": (LinearDiscriminantAnalysis(solver="eigen"), {"shrinkage": [0.0, 0.1, 0.9]}),
    "R": (LinearDiscriminant(solver="lsqr"), {"shrinkage": [0.0, 0.2], "divisor": ["n", "n-K"]}),
    "scaled": (make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()), None),
}
PLAIN = family_of(LinearDiscriminantAnalysis())
KIT = {  # of every kind of setting one; the other values of the grids are compared below
    "svd": LEARNERS["svd"],
    "lsqr": (LEARNERS["lsqr"][0], {"shrinkage": [None, 0.3]}),
    "R": (LEARNERS["R"][0], {"shrinkage": [0.2], "divisor": ["n", "n-K"]}),
}


@pytest.mark.parametrize("check", kit(ENGINE, KIT))
def test_conforms(check) -> None:
    """The published checks of any engine, for every solver."""
    check()


# ---------------------------------------------------------------- against fitting one by one


@pytest.mark.parametrize("word", LEARNERS)
@pytest.mark.parametrize(("n_classes", "own_priors"), [(2, False), (3, True)])
@pytest.mark.parametrize("method", [LOO, FOLDS, tr.methods.MonteCarlo(4), tr.methods.Apparent()])
def test_equals_fitting_one_by_one(word, n_classes, own_priors, method) -> None:
    """Two classes and three, estimated and given priors, every solver and shrinkage."""
    model, grid = LEARNERS[word]
    if own_priors:
        priors = [0.2, 0.8] if n_classes == 2 else [0.2, 0.5, 0.3]
        last = "lineardiscriminantanalysis__" if word == "scaled" else ""
        grid = (grid or {}) | {f"{last}priors": [priors]}
    X, y = drawn(20, 4, n_classes, seed=n_classes)
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


@settings(deadline=None, max_examples=8)
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
    require_equal_or_failing(ENGINE, family, data, seed, RESPONSES[:2])


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
    data = data_of(X, y)
    plan = copies_and_flips(data)
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
    fitted, steps = [], tasks.fitted_steps
    monkeypatch.setattr(tasks, "fitted_steps", lambda *given: fitted.append(1) or steps(*given))
    require_equal(ENGINE, family, data, FOLDS, [RESPONSES[1]])
    assert bool(fitted) == bool(passes)  # folds of their own are not scaled either


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
