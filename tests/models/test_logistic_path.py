"""LogisticPath keeps the contract of scikit-learn, answers where it is asked, and refuses."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from tests.models.test_logistic_path_solutions import GX, GY, problem
from tests.support.estimator_checks import estimator_checks

from truerisk.models import LogisticPath

CHECKED = LogisticPath(0.5, at=0.01, n_lambdas=12)


@pytest.mark.parametrize(("estimator", "check"), list(estimator_checks(CHECKED)))
def test_it_keeps_the_contract_of_scikit_learn(estimator, check) -> None:
    """All of scikit-learn's estimator checks pass, for an elastic net."""
    check(estimator)


# ---------------------------------------------------------------- where it answers


def test_at_names_a_place_or_a_penalty():
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


def test_what_at_cannot_name_is_refused():
    """A λ off the path, a place beyond its end, and what is neither."""
    X, y, _ = problem(np.random.default_rng(8))
    path = LogisticPath(n_lambdas=5).fit(X, y)
    with pytest.raises(ValueError, match="is not on the path .the nearest λ is"):
        path.predict(X, at=0.123456)
    with pytest.raises(ValueError, match="the path has 5 places, 0 ... 4"):
        path.predict(X, at=5)
    with pytest.raises(ValueError, match="neither a place"):
        LogisticPath(at="last").fit(X, y)
    with pytest.raises(ValueError, match="no penalty"):
        LogisticPath(at=-0.5).fit(X, y)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"l1_ratio": 1.2}, "l1_ratio=1.2 is no number between 0 and 1"),
        ({"n_lambdas": 0}, "n_lambdas=0 is no whole number"),
        ({"lambdas": [0.1, -1.0]}, "lambdas must be positive"),
        ({"lambdas": []}, "lambdas must be positive"),
        ({"tol": 0}, "tol=0 is no number"),
        ({"max_iter": 2.5}, "max_iter=2.5 is no whole number"),
        ({"least_ratio": "small"}, "least_ratio='small' is no number"),
    ],
)
def test_a_parameter_that_cannot_be_is_named(setting, message):
    """The sentence names the parameter and what it was."""
    with pytest.raises(ValueError, match=message):
        LogisticPath(**setting).fit(GX, GY)


def test_one_class_and_no_weight_are_refused():
    """Nothing to fit is a sentence, also where a class is there without weight."""
    with pytest.raises(ValueError, match="only one class"):
        LogisticPath().fit(GX, GY, np.where(GY == 1, 1.0, 0.0))
    with pytest.raises(ValueError, match="zero for every row"):
        LogisticPath().fit(GX, GY, np.zeros(30))


def test_a_tie_goes_to_the_first_class():
    """Classes of equal weight without coefficients are a tie, however the rows are weighted."""
    X = np.arange(6.0)[:, None]
    for weights in (None, [0.1, 0.2, 0.3, 0.3, 0.2, 0.1]):
        model = LogisticPath(at=0).fit(X, [0, 1, 0, 1, 0, 1][:6], weights)
        assert model.predict(X).tolist() == [0] * 6
        assert abs(model.intercept_path_[0]) < 1e-14


def test_what_did_not_converge_is_there_and_said():
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


def test_it_is_used_like_any_classifier():
    """In a pipeline and a search over `at`, on a frame, and after a pickle."""
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


def test_labels_are_checked_as_scikit_learn_does_in_every_form() -> None:
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


# ---------------------------------------------------------------- how close the default stops


def test_what_a_tolerance_leaves_of_the_likelihood_is_as_stated():
    """At small λ the default leaves more than .01 of -2 log L and no more than .2; 1e-12 .001."""
    from truerisk.datasets import make_sparse_gaussian

    X, y = make_sparse_gaussian(500, random_state=0)

    def minus_two_log_likelihood(tol):
        path = LogisticPath(lambdas=10.0 ** -np.linspace(2, 4, 21), tol=tol).fit(X, y)
        scores = np.array([path.decision_function(X, at=k) for k in range(21)])
        return 2 * np.logaddexp(0, -scores * (2 * y - 1)).sum(axis=1)

    least = minus_two_log_likelihood(1e-16)
    assert 0.01 < (minus_two_log_likelihood(LogisticPath().tol) - least).max() < 0.2
    assert np.abs(minus_two_log_likelihood(1e-12) - least).max() < 1e-3
