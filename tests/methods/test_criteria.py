"""Criteria from one fit: Cp and GCV, the likelihood, and what refuses them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.core.errors import BadData, FitFailedWarning, Refusal
from truerisk.data.data import Data
from truerisk.methods.criteria import Likelihood, has_exact_fit, squares
from truerisk.testing.cases import numbers

X = np.arange(1, 21)[:, None] / 10
Y = np.r_[0.211, 0.376, 0.629, 0.728, 0.788, 0.968, 1.116, 1.094, 0.903, 0.783]
Y = np.r_[Y, 0.746, 0.68, 0.283, 0.313, 0.017, -0.132, -0.31, -0.474, -0.571, -0.653]
WEIGHTS = np.r_[0.54, 0.69, 1.51, 1.47, 1.42, 1.08, 2.0, 1.97, 1.53, 1.48]
WEIGHTS = np.r_[WEIGHTS, 1.53, 1.08, 0.7, 1.58, 1.29, 0.97, 1.23, 1.83, 1.9, 1.04]
WAVE = np.cos(3 * X[:, 0]).round(3)
TWO = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1])
THREE = np.array([0, 0, 1, 0, 1, 2, 0, 1, 1, 1, 2, 1, 0, 2, 1, 2, 2, 1, 2, 2])
POLYNOMIAL = make_pipeline(PolynomialFeatures(include_bias=False), LinearRegression())
DEGREES = {"polynomialfeatures__degree": [1, 2, 3, 4, 5]}
PLAIN_LOGISTIC = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000)


def values(method, model=POLYNOMIAL, grid=DEGREES, X=X, y=Y, **options):
    return tr.risk_curve(model, grid, X, y, cv=method, **options).values


# R 4: x <- (1:20)/10; for (d in 1:5) { m <- lm(y ~ poly(x, d, raw=TRUE)); c(AIC(m), BIC(m)) }
R_AIC = [
    23.887718809455,
    -12.3066412547821,
    -37.2170109289628,
    -41.9067214104663,
    -41.4284873845218,
]
R_BIC = [26.8749156301169, -8.32371216056615, -32.2383495611929, -35.9323277691424]
R_BIC += [-34.4583614696438]


def test_lines_equal_r() -> None:
    """AIC and BIC of lm, constants included."""
    assert values("aic") == pytest.approx(R_AIC, rel=1e-9)
    assert values("bic") == pytest.approx(R_BIC, rel=1e-9)


def test_weighted_and_collinear_lines_equal_r() -> None:
    """lm(y ~ x, weights=w): 21.7062…, 24.6934…; lm(y ~ x + I(2*x) + I(x^2)) is that of degree 2."""
    line = {"model": LinearRegression(), "grid": None, "sample_weight": WEIGHTS}
    assert values("aic", **line) == pytest.approx([21.7062258834101], rel=1e-12)
    assert values("bic", **line) == pytest.approx([24.6934227040721], rel=1e-12)
    wide = np.hstack([X, 2 * X, X**2])
    assert values("aic", LinearRegression(), None, wide) == pytest.approx([R_AIC[1]], rel=1e-9)


def test_classes_equal_r() -> None:
    """glm(t ~ x + v, binomial) and nnet::multinom(u ~ x + v): AIC and BIC."""
    rows = np.column_stack([X[:, 0], WAVE])
    for labels, aic, bic in (
        (TWO, 32.9286469626504, 35.9158437833124),
        (THREE, 45.6138450666728, 51.5882387079967),
    ):
        assert values("aic", PLAIN_LOGISTIC, None, rows, labels) == pytest.approx([aic], rel=1e-8)
        assert values("bic", PLAIN_LOGISTIC, None, rows, labels) == pytest.approx([bic], rel=1e-8)


def test_aicc_corrects_aic() -> None:
    """+ 2k(k+1)/(n−k−1), k with the variance for numbers and without it for classes."""
    k = np.arange(1, 6) + 2
    expected = np.array(R_AIC) + 2 * k * (k + 1) / (20 - k - 1)
    assert values("aicc") == pytest.approx(expected, rel=1e-9)
    n, p = 20, k - 1  # the corrected form of the document, up to n (log 2 pi) terms
    rss = (
        (Y - POLYNOMIAL.set_params(polynomialfeatures__degree=3).fit(X, Y).predict(X)) ** 2
    ).sum()
    form = n * np.log(rss / n) + n * (n + p[2]) / (n - p[2] - 2)
    assert form + n * np.log(2 * np.pi) == pytest.approx(expected[2])
    rows = np.column_stack([X[:, 0], WAVE])
    found = values("aicc", PLAIN_LOGISTIC, None, rows, TWO)
    assert found == pytest.approx([32.9286469626504 + 2 * 3 * 4 / 16], rel=1e-8)


def test_cp_and_gcv_are_their_formulas() -> None:
    """σ² of degree 5. R: (RSS + 2 (d+1) s2)/20 and RSS/20/(1-(d+1)/20)^2."""
    cp = [0.144249886686203, 0.0227816826494911, 0.0076170896617631, 0.00657014323396187]
    gcv = [0.176793994941056, 0.0293585556727616, 0.00863060639666986, 0.00702802893172246]
    assert values("cp") == pytest.approx([*cp, 0.00680388009565677], rel=1e-9)
    assert values("gcv") == pytest.approx([*gcv, 0.00747679131390854], rel=1e-9)


def test_gcv_is_leave_one_out_with_equal_leverages() -> None:
    """On a circle every leverage is p/n, so GCV is the exact leave-one-out."""
    turn = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    for model in (LinearRegression(), Ridge(3.0)):
        found = tr.estimate_risk(model, circle, Y, cv="gcv").value
        assert found == pytest.approx(tr.estimate_risk(model, circle, Y, cv="loo").value)


def test_cp_with_the_true_variance_is_unbiased() -> None:
    """Over 300 draws of labels, mean Cp is the squared risk at the same x's with fresh labels."""
    rng = np.random.default_rng(0)
    truth, sigma = np.sin(2 * X[:, 0]), 0.5
    grid = {"alpha": [0.01, 3.0]}
    hats = []
    for alpha in grid["alpha"]:
        centred = X - X.mean()
        hats.append(1 / 20 + centred @ centred.T / ((centred**2).sum() + alpha))
    gaps = []
    for _ in range(300):
        y = truth + sigma * rng.standard_normal(20)
        found = values(tr.methods.Cp(sigma2=sigma**2), Ridge(), grid, X, y)
        risk = [((H @ y - truth) ** 2).mean() + sigma**2 for H in hats]
        gaps.append(found - risk)
    gaps = np.array(gaps)
    assert (np.abs(gaps.mean(axis=0)) < 3 * gaps.std(axis=0) / np.sqrt(len(gaps))).all()
    assert (
        "variance 0.25 (given)"
        in tr.estimate_risk(Ridge(), X, Y, cv=tr.methods.Cp(sigma2=0.25)).notes[0]
    )


def test_weights_are_precisions() -> None:
    """Squares are weighted, and their mean is by the sum of the weights."""
    model = LinearRegression()
    found = tr.estimate_risk(model, X, Y, cv=tr.methods.Cp(sigma2=1.0), sample_weight=WEIGHTS)
    fit = model.fit(X, Y, sample_weight=WEIGHTS).predict(X)
    rss = (WEIGHTS * (Y - fit) ** 2).sum()
    assert found.value == pytest.approx((rss + 2 * 2 * 1.0) / WEIGHTS.sum())
    gcv = tr.estimate_risk(model, X, Y, cv="gcv", sample_weight=WEIGHTS).value
    assert gcv == pytest.approx(rss / WEIGHTS.sum() / 0.9**2)


def test_per_row_stands_beside_log_loss() -> None:
    """AIC/(2n) is the apparent log loss plus p/n."""
    model = DecisionTreeClassifier(max_leaf_nodes=2, random_state=0)
    found = tr.estimate_risk(model, X, TWO, cv=tr.methods.AIC(per_row=True))
    apparent = tr.estimate_risk(model, X, TWO, cv="apparent", scoring="log")
    assert found.scoring == apparent.scoring == "log"
    assert found.value == pytest.approx(apparent.value + 2 / 20)
    assert found.value == values("aic", model, None, X, TWO)[0] / 40
    assert found.method == "aic (per row)"


def test_what_a_result_says() -> None:
    """One fit; a conditional risk; its own loss; no standard error, and why."""
    est = tr.risk_curve(POLYNOMIAL, DEGREES, X, Y, cv="aic")[2]
    assert (est.scoring, est.target, est.n_fits) == ("-2 log L", "CER", 5)
    assert (est.std_error, est.interval) == (None, None)
    assert est.notes[0] == "-2 log L -47.217 + 10 for 5 parameters"
    assert "standard error" in est.notes[-1]
    assert tr.estimate_risk(LinearRegression(), X, Y, cv="gcv").scoring == "squared"


def test_each_criterion_selects() -> None:
    """rule="min" takes degree 4; the frame and a search put them beside cross-validation."""
    curves = [tr.risk_curve(POLYNOMIAL, DEGREES, X, Y, cv=w) for w in ("loo", "cp", "aic")]
    assert [curve.best for curve in curves[1:]] == [3, 3]
    frame = curves[0].to_frame(curves[1:])
    assert curves[0].frame(others=curves[1:]).equals(frame)
    assert frame["method"].tolist() == ["loo"] * 5 + ["cp"] * 5 + ["aic"] * 5
    assert frame["scoring"].tolist() == ["squared"] * 10 + ["-2 log L"] * 5
    assert frame["chosen"].sum() == 3
    search = tr.HonestSearchCV(POLYNOMIAL, DEGREES, cv="aic", outer="4-fold").fit(X, Y)
    assert search.best_params_ == {"polynomialfeatures__degree": 4}
    assert search.optimism_ is None  # a squared error and an AIC do not compare
    assert search.risk_.scoring == "squared"
    assert search.best_score_ == pytest.approx(-R_AIC[3])


def test_nested_validation_may_tune_by_a_criterion() -> None:
    """In each outer split the criterion sees the outer training rows alone."""
    curve = tr.risk_curve(POLYNOMIAL, DEGREES, X, Y, cv=tr.methods.Nested("4-fold", "bic"))
    plan = curve.evaluation.plan
    for unit, told in enumerate(curve.evaluation.units):
        question = plan.questions("outer")[unit]
        rows, _ = plan.train_rows(int(plan.fit[question]))
        alone = values("bic", X=X[rows], y=Y[rows])
        assert told.candidate == alone.argmin()
        assert told.inner_risk == pytest.approx(alone.min())
    assert curve.procedure.scoring == "squared"


def test_assess_keeps_criteria_beside_cross_validation() -> None:
    """Zero-one tunes and tests; AIC has its own loss in its curve."""
    found = tr.assess(
        {"tree": (DecisionTreeClassifier(random_state=0), {"max_leaf_nodes": [2, 3]})},
        *tr.datasets.make_simple(40, random_state=0),
        cv=["4-fold", "aic"],
        outer="4-fold",
    )
    curve = found.criteria["tree"]["aic"]
    assert curve.common.scoring == "-2 log L"
    assert found.curves["tree"].common.scoring == "zero-one"


def test_a_candidate_without_residuals_has_no_value() -> None:
    """Degrees of freedom as many as rows: no value and a reason; the others keep theirs."""
    grid = {"n_neighbors": [1, 2, 5]}
    for word in ("cp", "gcv", "aic", "aicc", "bic"):
        curve = tr.risk_curve(KNeighborsRegressor(), grid, X, Y, cv=word)
        assert curve[0].value is None
        assert "20 degrees of freedom of n = 20 rows" in curve[0].notes[0]
        assert curve[2].value is not None
        assert curve.best > 0
    assert "of the largest candidate, 10 of n = 20" in values_note("cp", grid)
    with pytest.raises(Refusal, match="value for no candidate: no value: 20 degrees"):
        values("aic", KNeighborsRegressor(1), None)


def values_note(word, grid):
    return tr.risk_curve(KNeighborsRegressor(), grid, X, Y, cv=word)[2].notes[0]


def test_aicc_needs_two_rows_more_than_parameters() -> None:
    """N − k − 1 ≤ 0 has no value: 17 coefficients of 20 rows have one, 18 have not."""
    wide = np.random.default_rng(0).normal(size=(20, 18))
    model = make_pipeline(PolynomialFeatures(1, include_bias=False), LinearRegression())
    fine = tr.estimate_risk(model, wide[:, :16], Y, cv="aicc")
    assert np.isfinite(fine.value)  # k = 18
    with pytest.raises(Refusal, match="n - k - 1 = 0 for n = 20 rows and k = 19 parameters"):
        tr.estimate_risk(model, wide[:, :17], Y, cv="aicc")


def test_likelihoods_without_a_bound_have_no_value() -> None:
    """A label of probability 0, and a fit without residuals."""
    thrice, labels = np.repeat(X, 3, axis=0), np.tile([0, 0, 1], 20)  # 2 of 3 copies are seen
    with pytest.raises(Refusal, match="gives some label probability 0"):
        values("aic", KNeighborsClassifier(2), None, thrice, labels)
    with pytest.raises(Refusal, match="the fit is exact"):
        values("bic", LinearRegression(), None, X, 3 * X[:, 0])


def test_failed_fits_are_told() -> None:
    """With error="warn" the failed candidate has no value and says why; the others have one."""
    grid = {"n_neighbors": [5, 21]}
    engine = tr.engines.Generic(error="warn")
    with pytest.warns(FitFailedWarning):
        curve = tr.risk_curve(KNeighborsRegressor(), grid, X, Y, cv="cp", engine=engine)
    assert curve[0].value is not None
    assert curve[1].value is None
    assert "fits failed" in curve[1].notes[0]


CLASSES = {"model": DecisionTreeClassifier(max_depth=1), "y": TWO}
LINE = {"model": LinearRegression(), "y": Y}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (CLASSES | {"cv": "cp"}, "method 'cp' estimates a squared risk.*use 'aic'"),
        (CLASSES | {"cv": "gcv"}, "'gcv' estimates a squared risk"),
        (CLASSES | {"cv": "aic", "scoring": "zero-one"}, "reports in loss '-2 log L' and not in"),
        (CLASSES | {"cv": "aic", "sample_weight": WEIGHTS}, "no sample_weight in classif"),
        (LINE | {"cv": "cp", "scoring": "absolute"}, "reports in loss 'squared' and not in 'abso"),
        (LINE | {"cv": "bic", "groups": TWO}, "would ignore the groups"),
        (LINE | {"cv": "aic", "sample_weight": TWO * 1.0}, "a row of weight 0 has no"),
        (LINE | {"cv": "aic", "y": np.column_stack([Y, Y])}, "one target and y has 2"),
        (LINE | {"cv": tr.methods.AIC(per_row=True)}, "use 'cp' or 'gcv'"),
        (LINE | {"cv": "cp", "model": SVR()}, "degrees of freedom of SVR"),
        (CLASSES | {"cv": "bic", "model": SVC()}, "SVC gives no probabilities"),
        (CLASSES | {"cv": tr.methods.Nested("4-fold", "aic")}, "use scoring='log'"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_what_cannot_be_served_is_refused(given, message) -> None:
    """With a sentence that says what to do instead."""
    grid = {"max_depth": [1, 2]} if "Nested" in repr(given["cv"]) else None
    with pytest.raises(Refusal, match=message):
        tr.risk_curve(grid=grid, X=X, **given)


def test_losses_that_the_criterion_stands_on_may_be_named() -> None:
    """Squared for numbers, log for classes: the result is the same."""
    assert tr.estimate_risk(LinearRegression(), X, Y, cv="aic", scoring="squared").value > 0
    found = tr.estimate_risk(CLASSES["model"], X, TWO, cv="bic", scoring="log")
    assert found.scoring == "-2 log L"


def test_a_plan_that_asks_for_no_freedom_is_refused() -> None:
    """A foreign plan is no plan of a criterion; an unlikely variance is none."""
    method = tr.methods.AIC()
    data = numbers().data
    plan = replace(method.plan(data, None), extra=None)
    from truerisk.testing.cases import evaluate

    with pytest.raises(BadData, match="asks for no degrees of freedom"):
        evaluate(method, numbers(), plan=plan)
    with pytest.raises(BadData, match="sigma2=0"):
        tr.methods.Cp(sigma2=0)


def test_engines_without_freedom_are_passed_over() -> None:
    """Nearest neighbours have an engine that states no degrees of freedom: the reason is kept."""
    est = tr.estimate_risk(KNeighborsClassifier(5), X, TWO, cv="aic")
    assert est.engine == "generic"
    assert est.refusals["knn"] == "it does not state the degrees of freedom of its models."
    with pytest.raises(Refusal, match="does not state the degrees of freedom"):
        tr.estimate_risk(KNeighborsClassifier(5), X, TWO, cv="aic", engine="knn")


@pytest.mark.parametrize("executor", [None, 2])
def test_freedom_comes_back_from_workers(executor) -> None:
    """The same values here and in worker processes."""
    assert values("gcv", n_jobs=executor) == pytest.approx(values("gcv"))


Y_LIKELIHOOD = np.array([1.0, 2.0, 4.0, 8.0])
FITS = np.array([[1.5, 2.5, 3.0, 7.0], [1.0, 2.0, 4.0, 9.0]])
ROWS = np.arange(4)
DATA = Data.check(Y_LIKELIHOOD[:, None], Y_LIKELIHOOD, task="regression")


@pytest.mark.parametrize("weights", [None, np.array([0.5, 1.0, 2.0, 3.0])])
def test_numbers_are_gaussian_with_the_variance_at_its_maximum(weights) -> None:
    """The sum of normal log-densities, the variance of row i being RSS/(n w_i)."""
    w = np.ones(4) if weights is None else weights
    found = Likelihood("regression").of_set(DATA, ROWS, FITS, weights)
    for fit, one in zip(FITS, found, strict=True):
        variance = (w * (Y_LIKELIHOOD - fit) ** 2).sum() / 4 / w
        assert one == pytest.approx(
            -2 * stats.norm(fit, np.sqrt(variance)).logpdf(Y_LIKELIHOOD).sum()
        )
        assert variance[0] * w[0] * 4 == pytest.approx(squares(DATA, ROWS, fit[None], weights)[0])


def test_classes_have_the_log_of_their_probability() -> None:
    """−2 Σ log p; infinite where a label has probability 0."""
    data = Data.check(Y_LIKELIHOOD[:3, None], [0, 1, 1], task="classification")
    p = np.array([[[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]])
    found = Likelihood("classification").of_set(data, np.arange(3), p, None)
    assert found[0] == pytest.approx(-2 * np.log(0.9 * 0.8 * 0.5))
    assert found[1] == np.inf


def test_an_exact_fit_has_no_bound() -> None:
    """Residuals of rounding are none."""
    fits = np.array([Y_LIKELIHOOD, Y_LIKELIHOOD * (1 + 1e-15), Y_LIKELIHOOD * (1 + 1e-12)])
    rss = squares(DATA, ROWS, fits, None)
    assert has_exact_fit(DATA, ROWS, rss, None).tolist() == [True, True, False]
    found = Likelihood("regression").of_set(DATA, ROWS, fits, None)
    assert np.isneginf(found).tolist() == [True, True, False]


@pytest.mark.parametrize("tol", [1e-7, 0.1, 1])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("engine", ["auto", "generic"])
def test_criteria_of_a_path_are_those_of_its_minima(engine, depth, l1_ratio, tol) -> None:
    """The tolerance of predictions leaves -2 log L too high, and other columns at 0."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 60))
    y = (0.6 * X[:, :5].sum(axis=1) + rng.logistic(size=120) > 0).astype(int)

    def of(tol: float, engine: str) -> np.ndarray:
        model = tr.models.LogisticPath(l1_ratio=l1_ratio, tol=tol)
        name = "at"
        for _ in range(depth):
            model, name = make_pipeline(model), f"{type(model).__name__.lower()}__{name}"
        return values("aic", model, {name: [60, 75, 90, 99]}, X, y, engine=engine)

    assert of(tol, engine) == pytest.approx(of(1e-14, engine), abs=1e-3)


def test_a_tolerance_that_cannot_be_used_is_refused_by_criteria_too() -> None:
    """True is no number, and 2 is no share."""
    y = np.arange(20) % 2
    for tol in (True, 2.0):
        with pytest.raises(ValueError, match=f"tol={tol}"):
            values("aic", tr.models.LogisticPath(tol=tol), {"at": [50]}, X, y)
