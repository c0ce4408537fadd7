"""What the engines of discriminants have in common: scikit-learn's answers, MASS's, and ties."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import get_scorer
from tests.engines.closed_forms import (
    FOLDS,
    LOO,
    RESPONSES,
    both,
    counted,
    data_of,
    drawn,
    family_of,
    last_two_rows,
    require_equal,
)
from tests.engines.discriminants import test_discriminant as linear
from tests.engines.discriminants import test_fisher as fisher
from tests.engines.discriminants import test_quadratic as quadratic

from truerisk.contracts import Request, RunOptions, Streams
from truerisk.models import LinearDiscriminant, QuadraticDiscriminant

KINDS = {"linear": linear, "quadratic": quadratic, "fisher": fisher}
LEARNERS = [(kind, word) for kind, tests in KINDS.items() for word in tests.LEARNERS]
WITH_PRIORS = [pair for pair in LEARNERS if pair[0] != "fisher"]


@pytest.mark.parametrize(  # the learners of an engine take turns
    ("kind", "word", "n_classes", "own_priors", "method"),
    [
        (*pair, n_classes, n_classes == 3, (LOO, FOLDS)[(i + n_classes) % 2])
        for i, pair in enumerate(WITH_PRIORS)
        for n_classes in (2, 3)
    ],
)
def test_equals_fitting_one_by_one(kind, word, n_classes, own_priors, method) -> None:
    """Two classes and three, estimated and given priors, every solver, shrinkage and divisor."""
    model, grid = KINDS[kind].LEARNERS[word]
    if own_priors:
        last = f"{model.steps[-1][0]}__" if word == "scaled" else ""
        grid = (grid or {}) | {f"{last}priors": [[0.2, 0.5, 0.3]]}
    X, y = drawn(24, 4, n_classes, seed=n_classes)
    require_equal(KINDS[kind].ENGINE, family_of(model, grid), data_of(X, y), method, RESPONSES)


# R 4.2.2, MASS 7.3-58.2:
#   i <- 0:26; y <- factor(rep(0:2, c(12, 8, 7)))
#   x <- cbind((7 * i) %% 11, (5 * i * i) %% 13) / 4 + cbind(c(0, 2, 1)[y], c(0, 1, 3)[y])
#   lda(x, y, CV = TRUE)$posterior[seq(1, 27, by = 4), ]              # and qda
#   mean(lda(x, y, CV = TRUE)$class != y)
MASS = {
    LinearDiscriminant: (
        [
            [9.999737109364e-01, 2.624614831654e-05, 4.291530631534e-08],
            [9.807150732972e-01, 1.924392557110e-02, 4.100113173842e-05],
            [9.961253979506e-01, 1.789378849535e-03, 2.085223199839e-03],
            [1.292647776526e-02, 9.731960166570e-01, 1.387750557773e-02],
            [2.808587596692e-01, 6.118105925572e-01, 1.073306477736e-01],
            [2.593695091635e-06, 3.171127984216e-03, 9.968262783207e-01],
            [3.040484800803e-03, 7.558756396856e-03, 9.894007588023e-01],
        ],
        0.2222222222222,
    ),
    QuadraticDiscriminant: (
        [
            [0.9998458856741113, 2.752260499310e-07, 0.0001538390998390],
            [0.9988761387609540, 8.906950415642e-04, 0.0002331661974817],
            [0.9902792087280483, 2.004198264729e-04, 0.0095203714454787],
            [0.0159888123861768, 9.804849529585e-01, 0.0035262346553066],
            [0.3174774918006461, 5.898875411512e-01, 0.0926349670481562],
            [0.0000185068452074, 2.800246701223e-03, 0.9971812464535696],
            [0.0025530020721505, 3.260626571259e-02, 0.9648407322152589],
        ],
        0.1851851851852,
    ),
}


@pytest.mark.parametrize(
    ("engine", "model"),
    [(linear.ENGINE, LinearDiscriminant), (quadratic.ENGINE, QuadraticDiscriminant)],
)
def test_leave_one_out_is_that_of_mass(engine, model, monkeypatch) -> None:
    """With R's divisor and the priors of all rows; no model is fitted for it."""
    i, y = np.arange(27), np.repeat([0, 1, 2], [12, 8, 7])
    X = np.c_[(7 * i) % 11, (5 * i * i) % 13] / 4 + np.array([[0, 0], [2, 1], [1, 3]])[y]
    data, family = data_of(X, y), family_of(model(priors=[12 / 27, 8 / 27, 7 / 27]))
    with counted(monkeypatch) as seen:
        plan = LOO.plan(data, Streams(0))
        answers = engine.run(family, data, plan, Request("probability"), RunOptions())
    posterior, error = MASS[model]
    assert np.allclose(answers.values[0, ::4], posterior, rtol=1e-11)
    assert seen == {"asked": 0, "passes": 0}
    assert (answers.values[0].argmax(axis=1) != y).mean() == pytest.approx(error)


@pytest.mark.parametrize(
    ("kind", "word"), [pair for pair in LEARNERS if pair[1] != "scaled" or pair[0] == "linear"]
)
def test_leave_one_out_is_answered_together(kind, word, monkeypatch) -> None:
    """No train set is looked at, and no model fitted."""
    X, y = drawn(40, 3, 2)
    data, family = data_of(X, y), family_of(*KINDS[kind].LEARNERS[word])
    with counted(monkeypatch) as seen:
        plan = LOO.plan(data, Streams(0))
        KINDS[kind].ENGINE.run(family, data, plan, RESPONSES[0], RunOptions())
    assert seen == {"asked": 0, "passes": 0}


@pytest.mark.parametrize(
    ("kind", "word"), [("linear", "svd"), ("quadratic", "grid"), ("fisher", "both")]
)
def test_folds_are_answered_without_a_fit(kind, word, monkeypatch) -> None:
    """Of plain rows no setting is left to the learner."""
    X, y = drawn(40, 3, 2)
    data, family = data_of(X, y), family_of(*KINDS[kind].LEARNERS[word])
    with counted(monkeypatch) as seen:
        plan = FOLDS.plan(data, Streams(0))
        KINDS[kind].ENGINE.run(family, data, plan, RESPONSES[0], RunOptions())
    assert seen["asked"] == 0


@pytest.mark.parametrize(("kind", "word"), [pair for pair in LEARNERS if pair[1] != "scaled"])
def test_ties_are_asked(kind, word) -> None:
    """A row as near to one class as to the other gets the learner's label, whatever rounding."""
    X = np.array([[-2.0, 0], [-1, 1], [-1, -1], [-3, 1], [2, 0], [1, 1], [1, -1], [3, 1]])
    data = data_of(np.r_[X, [[0.0, 3], [0, -3]]], [0, 0, 0, 0, 1, 1, 1, 1, 0, 1])
    family = family_of(*KINDS[kind].LEARNERS[word])
    found, expected = both(KINDS[kind].ENGINE, family, data, last_two_rows(10), RESPONSES[0])
    assert (found == expected).all()


REFUSED = [(kind, *row) for kind, tests in KINDS.items() for row in tests.REFUSED]


@pytest.mark.parametrize(("kind", "model", "reason"), REFUSED)
def test_settings_it_does_not_cover(kind, model, reason) -> None:
    """Each has its sentence."""
    data = data_of(*drawn(20, 2, 2))
    plan = FOLDS.plan(data, Streams(0))
    said = KINDS[kind].ENGINE.refuse(family_of(model), data, plan, RESPONSES[0])
    assert said is not None
    assert reason in said


@pytest.mark.parametrize(
    ("kind", "columns", "reason"),
    [
        ("linear", 19, "a 19 x 19 scatter of 20 rows has no inverse, and it is not shrunk."),
        ("quadratic", 10, "the scatter of class 'a' (10 rows, 10 columns) has no inverse."),
        ("fisher", 19, "the least squares of 20 rows have no unique solution."),
    ],
)
def test_data_and_requests_it_does_not_cover(kind, columns, reason) -> None:
    """Fit parameters, scorers, scores of three classes, too many columns for the rows."""
    plan = FOLDS.plan(data_of(*drawn(20, 2, 2)), Streams(0))

    def said(shape=(20, 2, 2), request=RESPONSES[0], **fit_params):
        data = data_of(*drawn(*shape), **fit_params)
        return KINDS[kind].ENGINE.refuse(KINDS[kind].PLAIN, data, plan, request)

    if kind != "fisher":  # which takes weights
        assert said(sample_weight=np.ones(20)) == "fit parameters (sample_weight) are given."
    scorer = Request("scored", get_scorer("accuracy"))
    assert said(request=scorer) == "a scikit-learn scorer needs the fitted model itself."
    assert "more classes than two" in said((20, 2, 3), Request("score"))
    assert said((20, columns, 2)) == reason
    assert said((20, columns - 1, 2)) is None
