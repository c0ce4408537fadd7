"""The engines of discriminants give the answers of scikit-learn and of MASS, or refuse."""

import re

import numpy as np
import pytest
from sklearn.covariance import LedoitWolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from tests.engines.closed_forms import (
    FOLDS,
    LOO,
    RESPONSES,
    both,
    counted,
    data_of,
    drawn,
    family_of,
    fits_made,
    kit,
    last_two_rows,
    one_fit,
    outcome,
    plan_of,
    refusal_of,
    require_equal,
    require_same_outcome,
)

from truerisk.contracts import RunOptions
from truerisk.engines import FisherDiscriminants, LinearDiscriminants, QuadraticDiscriminants
from truerisk.engines.templates import task as tasks
from truerisk.extend import ALL, PlanBuilder, Request, Streams
from truerisk.methods import Apparent, Bootstrap, KFold, MonteCarlo
from truerisk.models import FisherClassifier, LinearDiscriminant, QuadraticDiscriminant

LDA, QDA = LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
LINEAR, QUADRATIC = LinearDiscriminants(), QuadraticDiscriminants()
FISHER = FisherDiscriminants()
LABEL, PROBABILITY, SCORE = RESPONSES
BOTH = {"threshold": ["least-squares", "balanced"]}
LINEARS = {
    "svd": (LDA(), None),
    "lsqr": (LDA(solver="lsqr"), {"shrinkage": [None, 0.01, 0.3, 1.0]}),
    "eigen": (LDA(solver="eigen"), {"shrinkage": [0.0, 0.1, 0.9]}),
    "R": (LinearDiscriminant(solver="lsqr"), {"shrinkage": [0.0, 0.2], "divisor": ["n", "n-K"]}),
    "scaled": (make_pipeline(StandardScaler(), LDA()), None),
}
QUADRATICS = {
    "plain": (QDA(), None),
    "grid": (QDA(), {"reg_param": [0.0, 0.01, 0.4, 1.0]}),
    "R": (QuadraticDiscriminant(), {"reg_param": [0.0, 0.2], "divisor": ["n", "n-1"]}),
    "scaled": (make_pipeline(StandardScaler(), QDA(reg_param=0.1)), None),
}
FISHERS = {
    "both": (FisherClassifier(), BOTH),
    "scaled": (make_pipeline(StandardScaler(), FisherClassifier("balanced")), None),
}
LEARNERS = [
    (engine, word, *learner)
    for engine, learners in ((LINEAR, LINEARS), (QUADRATIC, QUADRATICS), (FISHER, FISHERS))
    for word, learner in learners.items()
]
CHECKS = [  # of every kind of setting one; the other values of the grids are compared below
    *kit(
        LINEAR,
        {
            "svd": LINEARS["svd"],
            "lsqr": (LINEARS["lsqr"][0], {"shrinkage": [None, 0.3]}),
            "R": (LINEARS["R"][0], {"shrinkage": [0.2], "divisor": ["n", "n-K"]}),
        },
    ),
    *kit(
        QUADRATIC,
        {
            "grid": (QDA(), {"reg_param": [0.0, 0.4]}),
            "R": (QUADRATICS["R"][0], {"reg_param": [0.2], "divisor": ["n", "n-1"]}),
        },
    ),
    *kit(FISHER, FISHERS),
]


@pytest.mark.parametrize("check", CHECKS)
def test_discriminants_conform(check):
    check()


@pytest.mark.parametrize(  # the learners of an engine take turns
    ("engine", "word", "model", "grid", "n_classes", "method"),
    [
        (*learner, n_classes, (LOO, FOLDS)[(i + n_classes) % 2])
        for i, learner in enumerate(LEARNERS)
        for n_classes in (2, 3)
    ],
)
def test_discriminants_equal_fitting_one_by_one(engine, word, model, grid, n_classes, method):
    if n_classes == 3 and engine is not FISHER:
        last = f"{model.steps[-1][0]}__" if word == "scaled" else ""
        grid = (grid or {}) | {f"{last}priors": [[0.2, 0.5, 0.3]]}
    data = data_of(*drawn(24, 4, n_classes, seed=n_classes))
    requests = [LABEL, SCORE] if engine is FISHER else RESPONSES
    require_equal(engine, family_of(model, grid), data, method, requests)


@pytest.mark.parametrize("weighty", [0, 1, 20])
def test_fisher_weighs_rows(weighty):
    """A class all of whose rows, or all but the one left out, have weight 0 still has rows."""
    X, y = drawn(20, 2, 2)
    weights = 1.0 + np.arange(20) % 4 / 2
    weights[np.flatnonzero(y == "b")[weighty:]] = 0
    data = data_of(X, y, sample_weight=weights)
    for method in (LOO, FOLDS, MonteCarlo(4), Apparent()) if weighty == 20 else (LOO,):
        require_equal(FISHER, family_of(*FISHERS["both"]), data, method, [LABEL, SCORE])


# R 4.2.2, MASS 7.3-58.2:
#   i <- 0:26; y <- factor(rep(0:2, c(12, 8, 7)))
#   x <- cbind((7 * i) %% 11, (5 * i * i) %% 13) / 4 + cbind(c(0, 2, 1)[y], c(0, 1, 3)[y])
#   lda(x, y, CV = TRUE)$posterior[seq(1, 27, by = 4), ]              # and qda
#   mean(lda(x, y, CV = TRUE)$class != y)
LDA_OF_MASS = [
    [9.999737109364e-01, 2.624614831654e-05, 4.291530631534e-08],
    [9.807150732972e-01, 1.924392557110e-02, 4.100113173842e-05],
    [9.961253979506e-01, 1.789378849535e-03, 2.085223199839e-03],
    [1.292647776526e-02, 9.731960166570e-01, 1.387750557773e-02],
    [2.808587596692e-01, 6.118105925572e-01, 1.073306477736e-01],
    [2.593695091635e-06, 3.171127984216e-03, 9.968262783207e-01],
    [3.040484800803e-03, 7.558756396856e-03, 9.894007588023e-01],
]
QDA_OF_MASS = [
    [0.9998458856741113, 2.752260499310e-07, 0.0001538390998390],
    [0.9988761387609540, 8.906950415642e-04, 0.0002331661974817],
    [0.9902792087280483, 2.004198264729e-04, 0.0095203714454787],
    [0.0159888123861768, 9.804849529585e-01, 0.0035262346553066],
    [0.3174774918006461, 5.898875411512e-01, 0.0926349670481562],
    [0.0000185068452074, 2.800246701223e-03, 0.9971812464535696],
    [0.0025530020721505, 3.260626571259e-02, 0.9648407322152589],
]


@pytest.mark.parametrize(
    ("engine", "model", "posterior", "error"),
    [
        (LINEAR, LinearDiscriminant, LDA_OF_MASS, 0.2222222222222),
        (QUADRATIC, QuadraticDiscriminant, QDA_OF_MASS, 0.1851851851852),
    ],
)
def test_discriminants_left_out_are_those_of_mass(engine, model, posterior, error):
    """With R's divisor and the priors of all rows; no model is fitted for it."""
    i, y = np.arange(27), np.repeat([0, 1, 2], [12, 8, 7])
    X = np.c_[(7 * i) % 11, (5 * i * i) % 13] / 4 + np.array([[0, 0], [2, 1], [1, 3]])[y]
    data, family = data_of(X, y), family_of(model(priors=[12 / 27, 8 / 27, 7 / 27]))
    with counted() as seen:
        plan = LOO.plan(data, Streams(0))
        answers = engine.run(family, data, plan, PROBABILITY, RunOptions()).values[0]
    assert np.allclose(answers[::4], posterior, rtol=1e-11)
    assert seen == {"asked": 0, "passes": 0}
    assert (answers.argmax(axis=1) != y).mean() == pytest.approx(error)


@pytest.mark.parametrize(("engine", "word", "model", "grid"), LEARNERS)
def test_discriminants_of_plain_rows_make_no_fit(engine, word, model, grid):
    data, family = data_of(*drawn(40, 3, 2)), family_of(model, grid)
    if word != "scaled" or engine is LINEAR:
        assert fits_made(engine, family, data, LOO) == {"asked": 0, "passes": 0}
    assert fits_made(engine, family, data, FOLDS)["asked"] == 0


@pytest.mark.parametrize(
    ("scaler", "solver", "passes"),
    [(StandardScaler(), "svd", 0), (MinMaxScaler(), "svd", 40), (StandardScaler(), "lsqr", 40)],
)
def test_discriminants_let_scaling_go_where_it_changes_nothing(scaler, solver, passes, monkeypatch):
    """A StandardScaler before a discriminant that is not shrunk; any other step is fitted."""
    model = LDA(solver=solver, shrinkage=0.3 if solver == "lsqr" else None)
    family, data = family_of(make_pipeline(scaler, model)), data_of(*drawn(40, 3, 2))
    with counted() as seen:
        require_equal(LINEAR, family, data, LOO, [PROBABILITY])
    assert seen["passes"] == passes
    fitted, steps = [], tasks.fit_steps
    monkeypatch.setattr(tasks, "fit_steps", lambda *given: fitted.append(1) or steps(*given))
    require_equal(LINEAR, family, data, FOLDS, [PROBABILITY])
    assert bool(fitted) == bool(passes)  # folds of their own are not scaled either


@pytest.mark.parametrize(("engine", "word", "model", "grid"), LEARNERS)
def test_discriminants_ask_the_learner_about_ties(engine, word, model, grid):
    """A row as near to one class as to the other gets the learner's label, whatever rounding."""
    X = np.array([[-2.0, 0], [-1, 1], [-1, -1], [-3, 1], [2, 0], [1, 1], [1, -1], [3, 1]])
    data = data_of(np.r_[X, [[0.0, 3], [0, -3]]], [0, 0, 0, 0, 1, 1, 1, 1, 0, 1])
    found, expected = both(engine, family_of(model, grid), data, last_two_rows(10), LABEL)
    assert (found == expected).all()


def test_quadratic_answers_rows_left_out_in_any_order_and_twice():
    """Questions to fits that lack a row come in any order, two to one fit, other fits between."""
    builder = PlanBuilder(30)
    blocks = [builder.block(np.array([row])) for row in range(30)]
    fold = builder.block(np.arange(5))
    for row in (17, 3, 17, 29, 0, 3, 8):
        builder.ask((ALL, (blocks[row],)), (blocks[row], ()))
        builder.ask((ALL, (fold,)), (fold, ()))
    data = data_of(*drawn(30, 3, 2, seed=5))
    for request in RESPONSES:
        ours, theirs = both(
            QUADRATIC, family_of(*QUADRATICS["grid"]), data, builder.build(), request
        )
        assert np.allclose(ours, theirs, rtol=1e-7, atol=1e-9)


# ---------------------------------------------------------------- classes that are missing

ONE, TWO = data_of(*drawn(23, 3, 3, sizes=[12, 10, 1])), data_of(*drawn(12, 2, 2, sizes=[11, 1]))
THREE, PLAIN = data_of(*drawn(32, 2, 3, sizes=[14, 12, 6])), data_of(*drawn(30, 2, 2))
LACKING = one_fit(32, np.arange(26), np.arange(26, 32))
LONE = one_fit(30, [0, 2, 4], [1, 3])
SINGLE, PAIR = (one_fit(30, np.r_[0:30:2, 1 : 2 * few : 2], [29]) for few in (1, 2))
PRIORS = [0.2, 0.5, 0.3]
ONE_CLASS = "fold 11.*y holds one class only"


@pytest.mark.parametrize(
    ("engine", "model", "data", "method", "expected"),
    [
        # Without its one row a class is gone: its probability is 0, and the rest goes on.
        (LINEAR, LDA(), ONE, LOO, (22, 2)),
        (LINEAR, LDA(solver="lsqr"), ONE, LOO, (22, 2)),
        (LINEAR, LDA(solver="lsqr", shrinkage=0.3), ONE, LOO, (22, 2)),
        (LINEAR, LinearDiscriminant(), ONE, LOO, (22, 2)),
        (QUADRATIC, QDA(), THREE, LACKING, (0, 2)),
        # Three priors for two classes are an error of the fit, with its place.
        (LINEAR, LDA(priors=PRIORS), ONE, LOO, r"test split \(repeat 0, fold 22\)"),
        (QUADRATIC, QDA(priors=PRIORS), THREE, LACKING, ""),
        # A fit that sees one class only, or few rows of one, is put to scikit-learn.
        (LINEAR, LDA(), TWO, LOO, None),
        (LINEAR, LDA(), PLAIN, LONE, None),
        (LINEAR, LDA(n_components=3), THREE, FOLDS, "n_components cannot be larger"),
        (QUADRATIC, QDA(), PLAIN, SINGLE, None),
        (QUADRATIC, QDA(), PLAIN, PAIR, None),
        (QUADRATIC, QDA(reg_param=0.3), PLAIN, SINGLE, None),
        (QUADRATIC, QDA(reg_param=0.3), PLAIN, PAIR, None),
        (FISHER, FisherClassifier(), ONE, LOO, None),
        (FISHER, FisherClassifier(), TWO, LOO, ONE_CLASS),
        (FISHER, FisherClassifier("balanced"), TWO, LOO, ONE_CLASS),
    ],
)
def test_discriminants_of_missing_classes_are_the_learners(engine, model, data, method, expected):
    family = family_of(model)
    requests = [LABEL] if engine is FISHER else [LABEL, PROBABILITY]
    found = [require_same_outcome(engine, family, data, method, one) for one in requests]
    if isinstance(expected, tuple):
        assert found[1][0][0][expected] == 0
    elif expected is not None:
        assert re.search(expected, found[0])


@pytest.mark.parametrize("method", [LOO, KFold(2), Bootstrap("oob", 6)], ids=["loo", "2", "oob"])
@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.filterwarnings("ignore::truerisk.exceptions.TrueRiskWarning")
def test_linear_discriminants_of_classes_of_one_row_and_equal_means_are_asked(solver, method):
    """Scikit-learn warns of a covariance of one row, and divides 0 by 0 where all means are one."""
    family, heard = family_of(LDA(solver=solver)), 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 14))
        X = rng.integers(-1, 2, size=(n, 1)).astype(float)
        y = np.array(["a", "b", "c"])[rng.integers(0, int(rng.integers(2, 4)), n)]
        if len(np.unique(y)) > 1:
            data = data_of(X, y)
            heard += bool(
                require_same_outcome(LINEAR, family, data, plan_of(method, data, seed), LABEL)[1]
            )
    assert heard
    data = data_of(*drawn(30, 3, 2))
    assert outcome(LINEAR, family, data, plan_of(LOO, data))[1] == []  # no fit that is not made


# ---------------------------------------------------------------- refusals

LSQR = {"solver": "lsqr"}
REFUSED = {
    LINEAR: [
        (RidgeClassifier(), "the learner is RidgeClassifier, not LinearDiscriminantAnalysis or"),
        (LDA(solver="qr"), "solver='qr' is no solver"),
        (LDA(**LSQR, shrinkage="auto"), "'auto' is estimated anew"),
        (LDA(shrinkage=0.1), "shrinkage=0.1 is none that solver 'svd'"),
        (LDA(**LSQR, shrinkage=1.5), "shrinkage=1.5 is none"),
        (LDA(**LSQR, covariance_estimator=LedoitWolf()), "a covariance_estimator is given"),
        (LDA(tol=-1.0), "tol=-1.0 is no tolerance"),
        (LDA(n_components=0), "n_components=0 is no number"),
        (LDA(n_components="1"), "n_components='1' is no number"),
        (LDA(priors=[1.0, 0.0]), "not positive shares that sum to 1"),
        (LDA(priors=[0.5, 0.7]), "not positive shares that sum to 1"),
        (LDA(priors=["a", "b"]), "are no numbers"),
        (LDA(priors=[0.2, 0.3, 0.5]), "there are 3 priors, and y has 2"),
        (LinearDiscriminant(divisor="n-1"), "divisor='n-1' is unknown"),
    ],
    QUADRATIC: [
        (LDA(), "the learner is LinearDiscriminantAnalysis, not Quadratic"),
        (QDA(reg_param=1.5), "reg_param=1.5 does not lie between"),
        (QDA(reg_param="a"), "reg_param='a' does not lie between"),
        (QDA(tol=-1), "tol=-1 is no tolerance"),
        (QDA(priors=[1.0, 0.0]), "not positive shares that sum to 1"),
        (QDA(priors=[0.2, 0.3, 0.5]), "there are 3 priors, and y has 2"),
        (QuadraticDiscriminant(divisor="n-K"), "divisor='n-K' is unknown"),
    ],
    FISHER: [
        (RidgeClassifier(), "the learner is RidgeClassifier, not FisherClassifier."),
        (FisherClassifier("middle"), "threshold='middle' is unknown."),
    ],
}
if "solver" in QDA().get_params():  # from scikit-learn 1.8 on
    REFUSED[QUADRATIC] += [
        (QDA(solver="eigen"), "solver='eigen' is not 'svd'."),
        (QDA(shrinkage=0.1), "shrinkage or a covariance_estimator"),
    ]


@pytest.mark.parametrize(
    ("engine", "model", "reason"),
    [(engine, *row) for engine, rows in REFUSED.items() for row in rows],
)
def test_discriminants_refuse_settings_that_they_do_not_cover(engine, model, reason):
    assert reason in refusal_of(engine, model, data_of(*drawn(20, 2, 2)), FOLDS)


@pytest.mark.parametrize(
    ("engine", "model", "columns", "reason"),
    [
        (LINEAR, LDA(), 19, "a 19 x 19 scatter of 20 rows has no inverse, and it is not shrunk."),
        (QUADRATIC, QDA(), 10, "the scatter of class 'a' (10 rows, 10 columns) has no inverse."),
        (FISHER, FisherClassifier(), 19, "the least squares of 20 rows have no unique solution."),
    ],
)
def test_discriminants_refuse_data_and_requests(engine, model, columns, reason):

    def said(shape=(20, 2, 2), request=LABEL, **fit_params):
        data = data_of(*drawn(*shape), **fit_params)
        return refusal_of(engine, model, data, FOLDS, request)

    if engine is not FISHER:  # which takes weights
        assert said(sample_weight=np.ones(20)) == "fit parameters (sample_weight) are given."
    scorer = Request("scored", get_scorer("accuracy"))
    assert said(request=scorer) == "a scikit-learn scorer needs the fitted model itself."
    assert "more classes than two" in said((20, 2, 3), SCORE)
    assert said((20, columns, 2)) == reason
    assert said((20, columns - 1, 2)) is None
