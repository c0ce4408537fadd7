"""ParzenClassifier: kernel densities per class, their leave-one-out form, and their widths."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.neighbors import KernelDensity

from truerisk.models import ParzenClassifier

KERNELS = ["gaussian", "exponential", "epanechnikov", "uniform"]
RNG = np.random.default_rng(8)
Y = np.repeat(["a", "b", "c"], [9, 14, 7])
X = RNG.normal(size=(30, 2)) + np.array([[0, 0], [1.5, 0], [0, 2]])[np.repeat(range(3), [9, 14, 7])]
ORDER = RNG.permutation(30)
X, Y = X[ORDER], Y[ORDER]
FAR = X * 1.7 + 0.3


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]])
def test_parzen_is_bayes_rule_with_the_densities_of_scikit_learn(kernel, per_class, priors) -> None:
    """Priors times scikit-learn's KernelDensity of each class, each with its own width."""
    widths = [6.0, 5.5, 7.0] if per_class else [6.0] * 3
    model = ParzenClassifier(
        widths if per_class else 6.0, per_class=per_class, kernel=kernel, priors=priors
    ).fit(X, Y)
    named = {"uniform": "tophat"}.get(kernel, kernel)
    densities = [
        KernelDensity(bandwidth=width, kernel=named).fit(X[c == Y]).score_samples(FAR)
        for c, width in zip("abc", widths, strict=True)
    ]
    shares = priors or [9 / 30, 14 / 30, 7 / 30]
    joint = np.exp(np.column_stack(densities)) * shares
    expected = joint / joint.sum(axis=1, keepdims=True)
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(model.predict_proba(FAR), expected, rtol=1e-9, atol=1e-12)
    assert (model.predict(FAR) == model.classes_[expected.argmax(axis=1)]).all()


@pytest.mark.parametrize("distance", [1e2, 1e5, 1e12])
def test_parzen_does_not_underflow_far_from_the_data(distance) -> None:
    """However far, the class of the nearest rows answers and probabilities add up to 1."""
    model = ParzenClassifier(0.1).fit([[0.0], [0.2], [1.0]], [0, 0, 1])
    proba = model.predict_proba([[-distance], [distance]])
    assert np.isfinite(proba).all()
    assert proba.sum(axis=1).tolist() == [1.0, 1.0]
    assert model.predict([[-distance], [distance]]).tolist() == [0, 1]


def test_parzen_answers_in_pieces_and_by_priors(monkeypatch) -> None:
    """Cutting the queries into pieces changes no answer; where no kernel reaches, priors answer."""
    model = ParzenClassifier(0.7).fit(X, Y)
    whole = model.predict_proba(FAR)
    monkeypatch.setattr("truerisk.models.parzen.MAX_DISTANCES_IN_MEMORY", 70)
    assert (model.predict_proba(FAR) == whole).all()
    model = ParzenClassifier(1.0, kernel="uniform", priors=[0.7, 0.3]).fit([[0.0], [3.0]], [0, 1])
    proba = model.predict_proba([[100.0], [3.5]])
    np.testing.assert_allclose(proba, [[0.7, 0.3], [0.0, 1.0]], rtol=1e-12)
    one = ParzenClassifier().fit(X, np.zeros(30, int))
    assert (one.predict_proba(FAR) == 1.0).all()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]])
def test_parzen_leave_one_out_is_refitting(kernel, priors) -> None:
    """The kernel matrix minus its diagonal gives what fits without each row give.

    Without the only row of a class the others share.
    """
    model = ParzenClassifier([0.9, 1.3, 1.1], per_class=True, kernel=kernel, priors=priors)
    found = clone(model).fit(X, Y).leave_one_out_proba()
    for i in range(30):
        kept = np.arange(30) != i
        expected = clone(model).fit(X[kept], Y[kept]).predict_proba(X[[i]])[0]
        np.testing.assert_allclose(found[i], expected, rtol=1e-9, atol=1e-12)
    alone = ParzenClassifier(1.0).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    assert alone.leave_one_out_proba()[2].tolist() == [1.0, 0.0]


def log_posterior(width):
    """Mean log posterior probability of the true class, each row left out by refitting."""
    total = 0.0
    for i in range(len(X)):
        kept = np.arange(len(X)) != i
        fitted = ParzenClassifier(width).fit(X[kept], Y[kept])
        with np.errstate(divide="ignore"):
            logs = np.log(fitted.predict_proba(X[[i]])[0])
        total += logs[list(fitted.classes_).index(Y[i])]
    return total / len(X)


def log_likelihood(width, X):
    """Leave-one-out log-likelihood of Gaussian kernels."""
    densities = np.array([multivariate_normal(row, width**2).pdf(X) for row in X])
    np.fill_diagonal(densities, 0)
    return np.log(densities.sum(0) / (len(X) - 1)).sum()


def test_parzen_lissack_fu_maximises_the_posteriors_of_rows_left_out() -> None:
    """No width of a fine grid does better, and a 3 % change of the width does worse."""
    width = ParzenClassifier("lissack-fu").fit(X, Y).width_[0]
    best = log_posterior(width)
    assert best >= max(log_posterior(w) for w in np.geomspace(0.05, 20, 30))
    assert best > log_posterior(width * 1.03)
    assert best > log_posterior(width / 1.03)
    # Own widths gain where classes spread differently.
    wide = X * np.where(Y == "b", 8.0, 1.0)[:, None]
    common = ParzenClassifier().fit(wide, Y)
    own = ParzenClassifier(per_class=True).fit(wide, Y)
    assert len(set(own.width_)) == 3

    def gain(model):
        codes = np.searchsorted(model.classes_, Y)
        return np.log(model.leave_one_out_proba()[np.arange(30), codes]).mean()

    assert gain(own) > gain(common)


def test_parzen_maximum_likelihood_width() -> None:
    """The common width maximises the sum over classes, own widths each their class.

    For two rows at distance r in d dimensions it is r/√d.
    """
    own = ParzenClassifier("maximum-likelihood", per_class=True).fit(X, Y).width_
    common = ParzenClassifier("maximum-likelihood").fit(X, Y).width_
    assert (common == common[0]).all()
    factors = np.array([1.0, 0.5, 0.97, 1.03, 2.0])
    each = [
        [log_likelihood(width * r, X[c == Y]) for r in factors]
        for width, c in zip(own, "abc", strict=True)
    ]
    assert np.argmax(each, axis=1).tolist() == [0, 0, 0]
    together = [sum(log_likelihood(common[0] * r, X[c == Y]) for c in "abc") for r in factors]
    assert np.argmax(together) == 0
    two = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 4.0]])
    width = ParzenClassifier("maximum-likelihood").fit(two, [1, 1]).width_[0]
    assert width == pytest.approx(5 / np.sqrt(3), rel=1e-4)


@pytest.mark.parametrize("width", ["lissack-fu", "maximum-likelihood"])
@pytest.mark.parametrize("kernel", KERNELS[:3])
def test_parzen_width_follows_the_unit(width, kernel) -> None:
    """Lengths in another unit give widths in that unit and the same answers.

    The criterion of the uniform kernel is a step function, whose best step is one of many widths.
    """
    model = ParzenClassifier(width, kernel=kernel).fit(X, Y)
    scaled = ParzenClassifier(width, kernel=kernel).fit(X * 1024, Y)
    np.testing.assert_allclose(scaled.width_, model.width_ * 1024, rtol=1e-6)
    assert (scaled.predict(FAR * 1024) == model.predict(FAR)).all()


@pytest.mark.parametrize("width", ["lissack-fu", "maximum-likelihood"])
@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        ([[0.0]], [0]),
        ([[1.0], [1.0], [1.0]], [0, 1, 1]),
        ([[0.0], [0.0], [2.0], [2.0]], [0, 0, 1, 1]),
        ([[0.0], [1.0]], [0, 1]),
        ([[0.0], [1.0], [5.0]], [0, 0, 1]),
    ],
    ids=["one row", "all equal", "each with a copy", "one per class", "one alone"],
)
def test_parzen_finds_a_width_for_poor_data(width, rows, labels) -> None:
    """Single rows, copies and classes of one row leave a positive, finite width."""
    for per_class in (False, True):
        model = ParzenClassifier(width, per_class=per_class).fit(rows, labels)
        assert (np.isfinite(model.width_) & (model.width_ > 0)).all()
        assert np.isfinite(model.predict_proba(rows)).all()
