"""Solutions of LogisticPath: KKT conditions, glmnet's numbers, scikit-learn's, and invariances."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets

from truerisk.datasets import make_sparse_gaussian
from truerisk.models import LogisticPath

OWN_RATIO = (
    LogisticRegression().l1_ratio == 0.0
)  # from scikit-learn 1.8 on it alone says the penalty


def problem(rng, n=60, p=8, n_classes=2, kind="normal"):
    """Rows, labels 0 ... n_classes − 1 (all there), weights with zeros among them."""
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-2, 3, p)
    if kind == "offset":
        X = X + 1e4 * np.abs(X).max(axis=0)
    if kind == "copies":
        X[:, 1] = X[:, 0]
        X[:, 2] = 3.7
        X[:, 3] = -2 * X[:, 0] + 1
    if kind == "counts":
        X = rng.poisson(0.4, size=(n, p)).astype(float)
    scores = (X / (X.std(axis=0) + 1e-9)) @ rng.normal(size=(p, n_classes)) / 2
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    weights = rng.integers(0, 4, n) * 0.7
    weights[:n_classes] = 1.0
    return X, y, weights


def violation(X, y, weights, model):
    """How far each solution is from the KKT conditions, relative to the largest gradient there is.

    Written from the objective alone: gradients of the weighted mean log-likelihood, per column of
    variance one.
    """
    w = weights / weights.sum()
    centred = X - w @ X
    scale = np.sqrt(w @ centred**2) if model.standardize else np.ones(X.shape[1])
    moves = np.ptp(X[weights > 0], axis=0) > 0
    codes = np.searchsorted(model.classes_, y)
    coefficients = model.coef_path_.reshape(len(model.lambdas_), -1, X.shape[1])
    intercepts = model.intercept_path_.reshape(len(model.lambdas_), -1)
    worst = []
    for lam, b, b0 in zip(model.lambdas_, coefficients, intercepts):
        scores = X @ b.T + b0
        if len(model.classes_) == 2:
            scores = np.column_stack([np.zeros(len(X)), scores])
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        residual = w[:, None] * (np.eye(len(model.classes_))[codes] - shares)
        residual = residual[:, -len(b0) :]
        g = (centred[:, moves].T @ residual).T / scale[moves]
        slope = (b * scale)[:, moves]
        g = g - lam * (1 - model.l1_ratio) * slope
        on = np.abs(g - lam * model.l1_ratio * np.sign(slope))
        off = np.maximum(0, np.abs(g) - lam * model.l1_ratio)
        norm = np.sqrt(w @ centred[:, moves] ** 2) / scale[moves]
        worst.append(
            max((np.where(slope != 0, on, off) / norm).max(), np.abs(residual.sum(0)).max())
        )
    return np.array(worst)


@pytest.mark.parametrize("kind", ["normal", "offset", "copies", "counts"])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(("n", "p"), [(60, 8), (40, 70)])
@pytest.mark.parametrize("sparse_x", [False, True])
def test_logistic_path_satisfies_the_conditions_of_a_minimum(
    kind, standardize, n_classes, n, p, sparse_x
):
    """KKT to 1e-6 at every λ, with weights, constant, copied and far-off columns, also sparse."""
    rng = np.random.default_rng([n, p, n_classes])
    X, y, weights = problem(rng, n, p, n_classes, kind)
    if kind == "offset" and sparse_x:  # what is not centred loses digits to the mean
        X = X - (1 - 1e-4) * X.mean(axis=0)
    if not standardize:
        X = X / np.where(np.ptp(X, axis=0) > 0, X.std(axis=0), 1.0)
    for l1_ratio in (1.0, 0.3, 0.0):
        model = LogisticPath(
            l1_ratio, 12, standardize=standardize, tol=1e-15, least_ratio=1e-2
        ).fit(sparse.csc_matrix(X) if sparse_x else X, y, weights)
        assert model.converged_.all()
        assert violation(X, y, weights, model).max() < 1e-6


@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_path_passes_over_columns_rightly(n_classes):
    """With many columns most gradients are bounded, not computed, and KKT holds for all of them."""
    rng = np.random.default_rng(3)
    y = np.arange(60) % n_classes
    shared = rng.normal(size=(60, 6))
    X = rng.normal(size=(60, 900)) + 2 * shared @ rng.normal(size=(6, 900))
    X[:, :5] += rng.normal(size=(n_classes, 5))[y]
    for standardize in (True, False):
        model = LogisticPath(n_lambdas=60, standardize=standardize, tol=1e-15).fit(X, y)
        assert violation(X, y, np.ones(60), model).max() < 1e-6


@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_path_of_separable_data_is_whole(n_classes):
    rng = np.random.default_rng(1)
    y = np.arange(50) % n_classes
    X = rng.normal(size=(50, 4)) + 20 * np.eye(4)[y]
    model = LogisticPath(tol=1e-14).fit(X, y)
    assert len(model.lambdas_) == 100
    assert model.converged_.all()
    assert violation(X, y, np.ones(50), model).max() < 1e-6
    assert (model.predict(X) == y).all()


# ---------------------------------------------------------------- glmnet's numbers

I = np.arange(1, 31)  # noqa: E741
J = np.arange(1, 7)
GX = np.sin(1.3 * np.outer(I, J) + J**2) * J
GY = (np.sin(2.1 * I) + GX[:, 0] + 0.3 * GX[:, 1] > 0).astype(int)
GW = 1.0 + I % 3
GZ = (I + (GX[:, 2] > 0) + (GX[:, 0] > 0.5)) % 3
LAMBDAS = [0.2, 0.1, 0.05, 0.01]


def test_logistic_path_of_two_classes_is_glmnets():
    """Coefficients of glmnet 4.1-6, lasso and elastic net, weighted, standardised or not."""
    # i <- 1:30; x <- outer(i, 1:6, function(i, j) sin(1.3 * i * j + j^2) * j)
    # y <- as.integer(sin(2.1 * i) + x[, 1] + 0.3 * x[, 2] > 0); w <- 1 + (i %% 3)
    # glmnet(x, y, family = "binomial", weights = w, lambda = c(.2, .1, .05, .01), thresh = 1e-20)
    lasso = LogisticPath(lambdas=LAMBDAS, tol=1e-18).fit(GX, GY, GW)
    np.testing.assert_allclose(
        lasso.intercept_path_,
        [-0.200670695462, -0.23333276494892, -0.3047843771246, -0.4533984967716],
        rtol=1e-8,
    )
    expected = [
        [0, 0, 0, 0, 0, 0],
        [0.35690812027737, 0.29307329289724, 0, 0, 0.00837377101009, 0],
        [0.8130438055908, 0.5330773060260, 0, 0, 0.0875299341835, 0],
        [1.503749372642, 0.936338165288, 0, 0.0189664704355, 0.200629642538, -0.03234625225],
    ]
    np.testing.assert_allclose(lasso.coef_path_, expected, rtol=1e-7, atol=1e-9)
    # ..., alpha = .4, standardize = FALSE
    net = LogisticPath(0.4, lambdas=LAMBDAS, standardize=False, tol=1e-18).fit(GX, GY, GW)
    third = [0.8086364941523, 0.6717747377729, 0.0248227701715, 0]
    third += [0.1569605213216, -0.0279341705801]
    np.testing.assert_allclose(net.coef_path_[2], third, rtol=1e-7, atol=1e-9)
    assert net.intercept_path_[3] == pytest.approx(-0.47107894890951, rel=1e-8)


def test_logistic_path_of_several_classes_is_glmnets():
    """The ungrouped multinomial of glmnet 4.1-6, intercepts that add up to zero."""
    # z <- (i + (x[, 3] > 0) + (x[, 1] > .5)) %% 3
    # glmnet(x, factor(z), family = "multinomial", alpha = .7, lambda = ..., thresh = 1e-20)
    model = LogisticPath(0.7, lambdas=LAMBDAS, tol=1e-18).fit(GX, GZ)
    expected = [
        [0.0806420154718, -0.0860532565947, 0.0941093368744, 0.1978639661563, 0, 0],
        [-0.7026843047825, 0, -0.0546960397059, -0.0493530182521, 0, -0.0519180011922],
        [0, 0, 0, 0, -0.1931199179446, 0.0378429290502],
    ]
    np.testing.assert_allclose(model.coef_path_[3], expected, rtol=1e-6, atol=1e-8)
    intercepts = [-0.145047856244, 0.0207396760938, 0.1243081801502]
    np.testing.assert_allclose(model.intercept_path_[3], intercepts, rtol=1e-7)


def test_logistic_path_has_the_sequence_of_glmnet():
    """From the smallest λ without coefficients in equal ratios; 1e-2 with few rows, else 1e-4."""
    # glmnet(x, y, family = "binomial", weights = w, nlambda = 5)$lambda
    lasso = LogisticPath(n_lambdas=5).fit(GX, GY, GW)
    expected = 1.92900428036e-01 * 10.0 ** -np.arange(5)
    np.testing.assert_allclose(lasso.lambdas_, expected, rtol=1e-10)
    assert not lasso.coef_path_[0].any()
    few = LogisticPath(n_lambdas=3).fit(GX[:5], [0, 1, 0, 1, 1])
    assert few.lambdas_[2] / few.lambdas_[0] == pytest.approx(1e-2)
    ridge = LogisticPath(0.0, n_lambdas=2).fit(GX, GY, GW)
    assert ridge.lambdas_[0] == pytest.approx(1e3 * lasso.lambdas_[0])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
def test_logistic_path_is_saga_at_a_tight_tolerance(n_classes, l1_ratio):
    """The same coefficients as scikit-learn's saga with C = 1 / (n λ), run to convergence."""
    rng = np.random.default_rng(n_classes)
    X, y, _ = problem(rng, 50, 6, n_classes)
    X = StandardScaler().fit_transform(X)
    ours = LogisticPath(l1_ratio, lambdas=[0.02], standardize=False, tol=1e-18).fit(X, y)
    named = {} if OWN_RATIO else {"penalty": "elasticnet"}
    theirs = LogisticRegression(
        C=1 / (50 * 0.02), l1_ratio=l1_ratio, solver="saga", tol=1e-13, max_iter=100_000, **named
    ).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-7)


def test_logistic_path_ignores_order_units_and_copies():
    """Swapped labels turn the signs; a weight of three is three rows, of zero none."""
    rng = np.random.default_rng(5)
    X, y, weights = problem(rng)
    times = np.rint(weights / 0.7).astype(int)
    base = LogisticPath(0.8, 20, tol=1e-16).fit(X, y, times)
    swapped = clone(base).fit(X, 1 - y, times)
    np.testing.assert_allclose(swapped.coef_path_, -base.coef_path_, rtol=1e-6, atol=1e-9)
    order, rows = rng.permutation(X.shape[1]), np.repeat(np.arange(len(X)), times)
    units, copies = 10.0 ** rng.integers(-3, 4, X.shape[1]), rng.permutation(rows)
    for columns, other in (
        (order, clone(base).fit(X[:, order], y, 1e-3 * times)),
        (slice(None), clone(base).fit(X[copies], y[copies])),
        (slice(None), clone(base).fit(X[times > 0], y[times > 0], times[times > 0])),
    ):
        np.testing.assert_allclose(
            other.coef_path_, base.coef_path_[:, columns], rtol=1e-6, atol=1e-9
        )
    scaled = clone(base).fit(X * units + 3, y, times)
    np.testing.assert_allclose(scaled.coef_path_ * units, base.coef_path_, rtol=1e-6, atol=1e-9)


def test_logistic_path_of_single_precision_and_sparse_x():
    """float32 numbers are taken as doubles, and a sparse X gives the same path."""
    rng = np.random.default_rng(7)
    X, y, weights = problem(rng, kind="counts")
    base = LogisticPath(n_lambdas=15, tol=1e-16).fit(X, y, weights)
    np.testing.assert_array_equal(
        clone(base).fit(X.astype(np.float32), y, weights).coef_path_, base.coef_path_
    )
    for make in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix):
        other = clone(base).fit(make(X), y, weights)
        np.testing.assert_allclose(other.coef_path_, base.coef_path_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(
            other.predict_proba(make(X)), base.predict_proba(X), rtol=1e-7, atol=1e-10
        )


def test_logistic_path_at_names_a_place_or_a_penalty():
    """Places count from the largest λ; a λ off the path is solved for when it is the parameter."""
    X, y, _ = problem(np.random.default_rng(8))
    path = LogisticPath(n_lambdas=20).fit(X, y)
    np.testing.assert_array_equal(path.predict_proba(X), path.predict_proba(X, at=19))
    place = clone(path).set_params(at=7).fit(X, y)
    np.testing.assert_array_equal(place.coef_[0], path.coef_path_[7])
    np.testing.assert_array_equal(place.predict(X), path.predict(X, at=7))
    np.testing.assert_array_equal(path.predict(X, at=float(path.lambdas_[7])), place.predict(X))
    assert place.lambda_ == path.lambdas_[7]
    lam = float(np.sqrt(path.lambdas_[7] * path.lambdas_[8]))
    beside = clone(path).set_params(at=lam, tol=1e-18).fit(X, y)
    np.testing.assert_array_equal(beside.lambdas_, path.lambdas_)
    alone = LogisticPath(lambdas=[lam], tol=1e-18).fit(X, y)
    np.testing.assert_allclose(beside.coef_, alone.coef_, atol=1e-5)
    above = clone(path).set_params(at=10 * path.lambdas_[0]).fit(X, y)
    assert not above.coef_.any()
    with pytest.raises(ValueError, match="is not on the path .the nearest λ is"):
        path.predict(X, at=0.123456)
    with pytest.raises(ValueError, match="the path has 20 places, 0 ... 19"):
        path.predict(X, at=20)
    # Classes of equal weight without coefficients are a tie, however the rows are weighted.
    X = np.arange(6.0)[:, None]
    for weights in (None, [0.1, 0.2, 0.3, 0.3, 0.2, 0.1]):
        model = LogisticPath(at=0).fit(X, [0, 1, 0, 1, 0, 1][:6], weights)
        assert model.predict(X).tolist() == [0] * 6
        assert abs(model.intercept_path_[0]) < 1e-14


def test_logistic_path_warns_of_what_did_not_converge():
    """With few passes the path has its full length, `converged_` is False there, and a warning."""
    X, y, _ = problem(np.random.default_rng(9))
    with pytest.warns(ConvergenceWarning, match="of 30 penalties did not converge in max_iter=4"):
        model = LogisticPath(n_lambdas=30, tol=1e-16, max_iter=4).fit(X, y)
    assert len(model.lambdas_) == len(model.coef_path_) == 30
    assert not model.converged_.all()
    assert np.isfinite(model.coef_path_).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LogisticPath(n_lambdas=30, tol=1e-16).fit(X, y).converged_.all()


def test_logistic_path_is_used_like_any_classifier():
    X, y, _ = problem(np.random.default_rng(10))
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])])
    labels = np.array(["healthy", "ill"])[y]
    pipe = make_pipeline(StandardScaler(), LogisticPath(n_lambdas=10))
    search = GridSearchCV(pipe, {"logisticpath__at": [0, 5, 9]}, cv=3).fit(frame, labels)
    assert set(search.predict(frame)) <= {"healthy", "ill"}
    fitted = LogisticPath(n_lambdas=10, at=5).fit(frame, labels)
    assert fitted.feature_names_in_[0] == "gene 0"
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_log_proba(frame), fitted.predict_log_proba(frame))


def test_logistic_path_checks_labels_as_scikit_learn_does() -> None:
    """Whole numbers in an array take a shorter way to the same answers, refusals and warnings."""
    X = np.random.default_rng(0).normal(size=(24, 2))
    y = np.arange(24) % 2
    short = LogisticPath(n_lambdas=4).fit(X, y)
    for given in (y.tolist(), y.astype(float), y == 1):
        path = LogisticPath(n_lambdas=4).fit(X, given).coef_path_
        assert path.tolist() == short.coef_path_.tolist()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LogisticPath().fit(X, y[1:])
    many = np.arange(24) % 13  # of which scikit-learn warns from 1.7 on
    heard = [_warned(lambda: check_classification_targets(many))]
    for given in (many, many.tolist()):
        model = LogisticPath(n_lambdas=2, least_ratio=0.9)
        heard.append(_warned(lambda model=model, given=given: model.fit(X, given)))
    assert heard[0] == heard[1] == heard[2]


def _warned(act) -> set[str]:
    """What is warned of, once or twice, without the path's own word on convergence."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return {str(w.message) for w in caught if not issubclass(w.category, ConvergenceWarning)}


def test_logistic_path_tolerance_leaves_of_the_likelihood_what_is_stated():
    """At small λ the default leaves more than .01 of -2 log L and no more than .2; 1e-12 .001."""
    X, y = make_sparse_gaussian(500, random_state=0)

    def minus_two_log_likelihood(tol):
        path = LogisticPath(lambdas=10.0 ** -np.linspace(2, 4, 21), tol=tol).fit(X, y)
        scores = np.array([path.decision_function(X, at=k) for k in range(21)])
        return 2 * np.logaddexp(0, -scores * (2 * y - 1)).sum(axis=1)

    least = minus_two_log_likelihood(1e-16)
    assert 0.01 < (minus_two_log_likelihood(LogisticPath().tol) - least).max() < 0.2
    assert np.abs(minus_two_log_likelihood(1e-12) - least).max() < 1e-3
