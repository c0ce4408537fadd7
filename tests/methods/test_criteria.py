"""Criteria from one fit: Cp and GCV, the likelihood, and what refuses them."""

from itertools import count

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import checked

import truerisk as tr
from truerisk.extend import Refusal
from truerisk.methods import AIC, Cp, Nested
from truerisk.methods.criteria import MinusTwoLogLikelihood, has_exact_fit, residual_sums_of_squares
from truerisk.models import LogisticPath

X = np.arange(1, 21)[:, None] / 10
Y = np.r_[0.211, 0.376, 0.629, 0.728, 0.788, 0.968, 1.116, 1.094, 0.903, 0.783]
Y = np.r_[Y, 0.746, 0.68, 0.283, 0.313, 0.017, -0.132, -0.31, -0.474, -0.571, -0.653]
WEIGHTS = np.r_[0.54, 0.69, 1.51, 1.47, 1.42, 1.08, 2.0, 1.97, 1.53, 1.48]
WEIGHTS = np.r_[WEIGHTS, 1.53, 1.08, 0.7, 1.58, 1.29, 0.97, 1.23, 1.83, 1.9, 1.04]
WAVES = np.column_stack([X[:, 0], np.cos(3 * X[:, 0]).round(3)])
TWO = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1])
THREE = np.array([0, 0, 1, 0, 1, 2, 0, 1, 1, 1, 2, 1, 0, 2, 1, 2, 2, 1, 2, 2])
POLYNOMIAL = make_pipeline(PolynomialFeatures(include_bias=False), LinearRegression())
DEGREES = {"polynomialfeatures__degree": [1, 2, 3, 4, 5]}
PLAIN_LOGISTIC = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000)
STUMP, NEIGHBOURS = DecisionTreeClassifier(max_leaf_nodes=2, random_state=0), KNeighborsRegressor()


def values(method, model=POLYNOMIAL, grid=DEGREES, X=X, y=Y, **options):
    return tr.risk_curve(model, grid, X, y, cv=method, **options).values


# R 4: x <- (1:20)/10; for (d in 1:5) { m <- lm(y ~ poly(x, d, raw=TRUE)); c(AIC(m), BIC(m)) }
R_AIC = np.r_[23.887718809455, -12.3066412547821, -37.2170109289628]
R_AIC = np.r_[R_AIC, -41.9067214104663, -41.4284873845218]
R_BIC = np.r_[26.8749156301169, -8.32371216056615, -32.2383495611929]
R_BIC = np.r_[R_BIC, -35.9323277691424, -34.4583614696438]
K = np.arange(1, 6) + 2
LINE = {"model": LinearRegression(), "grid": None}
LOGISTIC = {"model": PLAIN_LOGISTIC, "grid": None, "X": WAVES}


@pytest.mark.parametrize(
    ("word", "given", "expected"),
    [
        ("aic", {}, R_AIC),
        ("bic", {}, R_BIC),
        ("aicc", {}, R_AIC + 2 * K * (K + 1) / (20 - K - 1)),
        # lm(y ~ x, weights=w), and lm(y ~ x + I(2*x) + I(x^2)), which is that of degree 2
        ("aic", LINE | {"sample_weight": WEIGHTS}, [21.7062258834101]),
        ("bic", LINE | {"sample_weight": WEIGHTS}, [24.6934227040721]),
        ("aic", LINE | {"X": np.hstack([X, 2 * X, X**2])}, [R_AIC[1]]),
        # glm(t ~ x + v, binomial) and nnet::multinom(u ~ x + v)
        ("aic", LOGISTIC | {"y": TWO}, [32.9286469626504]),
        ("bic", LOGISTIC | {"y": TWO}, [35.9158437833124]),
        ("aicc", LOGISTIC | {"y": TWO}, [32.9286469626504 + 2 * 3 * 4 / 16]),
        ("aic", LOGISTIC | {"y": THREE}, [45.6138450666728]),
        ("bic", LOGISTIC | {"y": THREE}, [51.5882387079967]),
        # σ² of degree 5: (RSS + 2 (d+1) s2)/20 and RSS/20/(1-(d+1)/20)^2
        (
            "cp",
            {},
            [
                *(0.144249886686203, 0.0227816826494911, 0.0076170896617631),
                *(0.00657014323396187, 0.00680388009565677),
            ],
        ),
        (
            "gcv",
            {},
            [
                *(0.176793994941056, 0.0293585556727616, 0.00863060639666986),
                *(0.00702802893172246, 0.00747679131390854),
            ],
        ),
    ],
    ids=count(),
)
def test_criteria_equal_r(word, given, expected):
    """Constants included; k has the variance for numbers and not for classes."""
    assert values(word, **given) == pytest.approx(expected, rel=1e-8)


def test_gcv_is_leave_one_out_with_equal_leverages():
    """On a circle every leverage is p/n, so GCV is the exact leave-one-out."""
    turn = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    for model in (LinearRegression(), Ridge(3.0)):
        found, loo = (tr.estimate_risk(model, circle, Y, cv=cv).value for cv in ("gcv", "loo"))
        assert found == pytest.approx(loo)


def test_cp_with_the_true_variance_is_unbiased():
    """Over 200 draws of labels, mean Cp is the squared risk at the same x's with fresh labels."""
    rng, truth, sigma = np.random.default_rng(0), np.sin(2 * X[:, 0]), 0.5
    grid, centred, gaps = {"alpha": [0.01, 3.0]}, X - X.mean(), []
    hats = [1 / 20 + centred @ centred.T / ((centred**2).sum() + a) for a in grid["alpha"]]
    for _ in range(200):
        y = truth + sigma * rng.standard_normal(20)
        found = values(Cp(sigma2=sigma**2), Ridge(), grid, X, y)
        gaps.append(found - [((H @ y - truth) ** 2).mean() + sigma**2 for H in hats])
    gaps = np.array(gaps)
    assert (np.abs(gaps.mean(axis=0)) < 3 * gaps.std(axis=0) / np.sqrt(len(gaps))).all()
    note = tr.estimate_risk(Ridge(), X, Y, cv=Cp(sigma2=0.25)).notes[0]
    assert "variance 0.25 (given)" in note


def test_criteria_take_weights_as_precisions():
    """Squares are weighted, and their mean is by the sum of the weights."""
    fit = LinearRegression().fit(X, Y, sample_weight=WEIGHTS).predict(X)
    rss, total = (WEIGHTS * (Y - fit) ** 2).sum(), WEIGHTS.sum()
    weighted = LINE | {"sample_weight": WEIGHTS}
    assert values(Cp(sigma2=1.0), **weighted) == pytest.approx([(rss + 2 * 2 * 1.0) / total])
    assert values("gcv", **weighted) == pytest.approx([rss / total / 0.9**2])


def test_aic_per_row_stands_beside_log_loss():
    """AIC/(2n) is the apparent log loss plus p/n."""
    found = tr.estimate_risk(STUMP, X, TWO, cv=AIC(per_row=True))
    apparent = tr.estimate_risk(STUMP, X, TWO, cv="apparent", scoring="log")
    assert found.scoring == apparent.scoring == "log"
    assert found.value == pytest.approx(apparent.value + 2 / 20)
    assert found.value == values("aic", STUMP, None, X, TWO)[0] / 40
    assert found.method == "aic (per row)"


def test_criteria_have_their_own_loss_and_no_standard_error():
    """One fit; a conditional risk. A loss that they stand on may be named."""
    est = tr.risk_curve(POLYNOMIAL, DEGREES, X, Y, cv="aic")[2]
    assert (est.scoring, est.target, est.n_fits) == ("-2 log L", "CER", 5)
    assert (est.std_error, est.interval) == (None, None)
    assert est.notes[0] == "-2 log L -47.217 + 10 for 5 parameters"
    assert "standard error" in est.notes[-1]
    assert tr.estimate_risk(LinearRegression(), X, Y, cv="gcv").scoring == "squared"
    for model, y, loss in ((LinearRegression(), Y, "squared"), (STUMP, TWO, "log")):
        assert tr.estimate_risk(model, X, y, cv="bic", scoring=loss).scoring == "-2 log L"


def test_criteria_choose_in_curves_searches_and_assessments():
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
    found = tr.assess(
        {"tree": (STUMP, {"max_leaf_nodes": [2, 3]})}, X, TWO, cv=["4-fold", "aic"], outer="4-fold"
    )
    assert found.criteria["tree"]["aic"].common.scoring == "-2 log L"
    assert found.curves["tree"].common.scoring == "zero-one"


@pytest.mark.parametrize("word", ["cp", "gcv", "aic", "aicc", "bic"])
def test_criteria_of_a_candidate_without_residuals_have_no_value(word):
    """Degrees of freedom as many as rows: no value and a reason; the others keep theirs."""
    curve = tr.risk_curve(NEIGHBOURS, {"n_neighbors": [1, 2, 5]}, X, Y, cv=word)
    assert curve[0].value is None
    assert "20 degrees of freedom of n = 20 rows" in curve[0].notes[0]
    assert curve[2].value is not None
    assert curve.best > 0
    if word == "cp":
        assert "of the largest candidate, 10 of n = 20" in curve[2].notes[0]


CLASSES = {"model": DecisionTreeClassifier(max_depth=1), "y": TWO}
NUMBERS = {"model": LinearRegression(), "y": Y}
WIDE = np.random.default_rng(0).normal(size=(20, 17))
THRICE = {"X": np.repeat(X, 3, axis=0), "y": np.tile([0, 0, 1], 20)}  # 2 of 3 copies are seen
TUNED = {"cv": Nested("4-fold", "aic"), "grid": {"max_depth": [1, 2]}}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (CLASSES | {"cv": "cp"}, "method 'cp' estimates a squared risk.*use 'aic'"),
        (CLASSES | {"cv": "gcv"}, "'gcv' estimates a squared risk"),
        (CLASSES | {"cv": "aic", "scoring": "zero-one"}, "reports in loss '-2 log L' and not in"),
        (CLASSES | {"cv": "aic", "sample_weight": WEIGHTS}, "no sample_weight in classif"),
        (NUMBERS | {"cv": "cp", "scoring": "absolute"}, "reports in loss 'squared' and not in"),
        (NUMBERS | {"cv": "aic", "sample_weight": TWO * 1.0}, "a row of weight 0 has no"),
        (NUMBERS | {"cv": "aic", "y": np.column_stack([Y, Y])}, "one target and y has 2"),
        (NUMBERS | {"cv": AIC(per_row=True)}, "use 'cp' or 'gcv'"),
        (NUMBERS | {"cv": "cp", "model": SVR()}, "degrees of freedom of SVR"),
        (CLASSES | {"cv": "bic", "model": SVC()}, "SVC gives no probabilities"),
        (CLASSES | TUNED, "use scoring='log'"),
        (NUMBERS | {"cv": "aicc", "X": WIDE}, "n - k - 1 = 0 for n = 20 rows and k = 19 param"),
        (NUMBERS | {"cv": "bic", "y": 3 * X[:, 0]}, "the fit is exact"),
        (THRICE | {"cv": "aic", "model": KNeighborsClassifier(2)}, "some label probability 0"),
        (
            NUMBERS | {"cv": "aic", "model": KNeighborsRegressor(1)},
            "value for no candidate: no value: 20 degrees",
        ),
        (
            CLASSES | {"cv": "aic", "model": KNeighborsClassifier(5), "engine": "knn"},
            "does not state the degrees of freedom",
        ),
    ],
    ids=count(),
)
def test_criteria_refuse_with_what_to_do_instead(given, message):
    with pytest.raises(Refusal, match=message):
        tr.risk_curve(**{"grid": None, "X": X} | given)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(PolynomialFeatures(3, include_bias=False).fit_transform(X), id="degree 3"),
        pytest.param(WIDE[:, :16], id="two rows more than parameters"),
    ],
)
def test_aicc_of_numbers_is_the_corrected_form_of_the_document(rows):
    n, p = 20, rows.shape[1] + 1
    rss = ((Y - LinearRegression().fit(rows, Y).predict(rows)) ** 2).sum()
    form = n * np.log(rss / n) + n * (n + p) / (n - p - 2) + n * np.log(2 * np.pi)
    assert values("aicc", **LINE, X=rows) == pytest.approx([form])


def test_criteria_pass_over_engines_without_freedom():
    """Nearest neighbours have an engine that states no degrees of freedom: the reason is kept."""
    est = tr.estimate_risk(KNeighborsClassifier(5), X, TWO, cv="aic")
    assert est.engine == "generic"
    assert est.refusals["knn"] == "it does not state the degrees of freedom of its models."


Y_4 = np.array([1.0, 2.0, 4.0, 8.0])
FITS = np.array([[1.5, 2.5, 3.0, 7.0], [1.0, 2.0, 4.0, 9.0]])
ROWS = np.arange(4)
DATA = checked(Y_4[:, None], Y_4)


@pytest.mark.parametrize("weights", [None, np.array([0.5, 1.0, 2.0, 3.0])])
def test_likelihood_of_numbers_is_gaussian_with_the_variance_at_its_maximum(weights):
    """The sum of normal log-densities, the variance of row i being RSS/(n w_i)."""
    w = np.ones(4) if weights is None else weights
    found = MinusTwoLogLikelihood("regression").of_set(DATA, ROWS, FITS, weights)
    for fit, one in zip(FITS, found, strict=True):
        variance = (w * (Y_4 - fit) ** 2).sum() / 4 / w
        log_density = stats.norm(fit, np.sqrt(variance)).logpdf(Y_4)
        assert one == pytest.approx(-2 * log_density.sum())
        assert variance[0] * w[0] * 4 == pytest.approx(
            residual_sums_of_squares(DATA, ROWS, fit[None], weights)[0]
        )


def test_likelihood_of_classes_is_that_of_their_probabilities():
    """−2 Σ log p; infinite where a label has probability 0."""
    data = checked(Y_4[:3, None], [0, 1, 1])
    p = np.array([[[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]])
    found = MinusTwoLogLikelihood("classification").of_set(data, np.arange(3), p, None)
    assert found == pytest.approx([-2 * np.log(0.9 * 0.8 * 0.5), np.inf])


def test_likelihood_of_an_exact_fit_has_no_bound():
    """Residuals of rounding are none."""
    fits = np.array([Y_4, Y_4 * (1 + 1e-15), Y_4 * (1 + 1e-12)])
    rss = residual_sums_of_squares(DATA, ROWS, fits, None)
    assert has_exact_fit(DATA, ROWS, rss, None).tolist() == [True, True, False]
    found = MinusTwoLogLikelihood("regression").of_set(DATA, ROWS, fits, None)
    assert np.isneginf(found).tolist() == [True, True, False]


@pytest.mark.parametrize("tol", [1e-7, 1])
@pytest.mark.parametrize(("l1_ratio", "depth"), [(1.0, 0), (0.5, 2)])
@pytest.mark.parametrize("engine", ["auto", "generic"])
def test_criteria_of_a_path_are_those_of_its_minima(engine, depth, l1_ratio, tol):
    """The tolerance of predictions leaves -2 log L too high, and other columns at 0."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(120, 60))
    y = (0.6 * rows[:, :5].sum(axis=1) + rng.logistic(size=120) > 0).astype(int)

    def of(tol: float) -> np.ndarray:
        model, name = LogisticPath(l1_ratio=l1_ratio, tol=tol), "at"
        for _ in range(depth):
            model, name = make_pipeline(model), f"{type(model).__name__.lower()}__{name}"
        return values("aic", model, {name: [60, 75, 90, 99]}, rows, y, engine=engine)

    assert of(tol) == pytest.approx(of(1e-14), abs=1e-3)


@pytest.mark.parametrize("tol", [True, 2.0])
def test_criteria_of_a_path_refuse_a_tolerance_that_is_no_share(tol):
    with pytest.raises(ValueError, match=f"tol={tol}"):
        values("aic", LogisticPath(tol=tol), {"at": [50]}, X, TWO)
