"""The choice of every method on one training set, the error of its rule; the synthetic classes."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import truerisk as tr
from truerisk.core.errors import TrueRiskWarning
from truerisk.core.family import Family
from truerisk.datasets import make_four_class, make_simple
from truerisk.methods.kfold import KFold
from truerisk.models import LogisticPath
from truerisk.papers.bee_choosing import (
    BAYES,
    COSTS,
    LAMBDAS,
    ORACLE,
    SHORT,
    Trained,
    choices_by_size,
    counted,
    draw,
    errors_of,
    logistic,
    machines,
    methods_named,
    true_errors,
    unconverged,
)
from truerisk.selection import as_rule

TRAIN = make_four_class(40, random_state=0)
TEST = make_four_class(400, random_state=1)


@pytest.mark.parametrize("family", [logistic(), machines()])
def test_errors_are_those_of_the_fitted_models(family):
    """Labels from coefficients are those that each model predicts: of four classes, and of two."""
    for drawn in (slice(None), TRAIN[1] < 2):
        X, y = TRAIN[0][drawn], TRAIN[1][drawn]
        trained = Trained.of(family, X, y, counted(*TEST))
        for candidate in (0, len(family) // 2, len(family) - 1):
            model = family.make(candidate).fit(X, y)
            assert trained.errors[candidate] == (model.predict(TEST[0]) != TEST[1]).mean()


def test_the_choice_of_cross_validation_is_grid_search_s():
    """The same folds, the same cost, and so the same error."""
    X, y = TRAIN
    labels = np.arange(len(y)) % 5
    folds = [(np.flatnonzero(labels != f), np.flatnonzero(labels == f)) for f in range(5)]
    family = machines()
    search = GridSearchCV(clone(family.estimator), {"C": list(COSTS)}, cv=folds).fit(X, y)
    trained = Trained.of(family, X, y, counted(*TEST))
    wrong = (search.predict(TEST[0]) != TEST[1]).mean()
    assert trained.choice(KFold(5, folds=labels))[1] == wrong


@pytest.mark.parametrize("rule", ["min", "1-se"])
def test_a_choice_has_its_estimate_its_error_and_its_features(rule):
    """Those that a user finds by the same rule on the same folds, of two classes and of four."""
    for drawn in (TRAIN[1] < 2, slice(None)):
        X, y = TRAIN[0][drawn], TRAIN[1][drawn]
        family, method = logistic(), KFold(5, folds=np.arange(len(y)) % 5)
        curve = tr.risk_curve(
            LogisticPath(lambdas=LAMBDAS), {"at": range(36)}, X, y, method=method, rule=rule
        )
        model = family.make(curve.best).fit(X, y)
        error = (model.predict(TEST[0]) != TEST[1]).mean()
        n_features = model.coef_.any(axis=0).sum()
        trained = Trained.of(family, X, y, counted(*TEST))
        found = trained.choice(method, rule=as_rule(rule))
        assert found == (curve.values[curve.best], error, n_features)


def one_size(family, X, y, errors_of, methods, number=0):
    """What one learner finds on one training set."""
    learners = {"LR": (family, methods)}
    found = choices_by_size((len(y),), learners, lambda n: (X, y, lambda _: errors_of), number)
    return {name.removeprefix("LR "): errors[0] for name, errors in found.items()}


def test_nothing_beats_the_oracle():
    """Every method is asked, and each errs at least as much as the best rule there is."""
    names = ["CV-5", "CV-10", "3×CV-5", "BEEp", "BEEi", "EBIC", "LOO"]
    methods = methods_named(names, standardize=True)
    words = ["5-fold", "10-fold", "3x5-fold", "bee", "bee-improper", "ebic", "loo"]
    assert [method.word for method in methods.values()] == words
    found = one_size(logistic(), *TRAIN, counted(*TEST), methods)
    kept = [f"{name}{what}" for name in names for what in (" estimate", "", " features")]
    assert list(found) == [*kept, ORACLE, SHORT]
    assert min(found[name] for name in methods) >= found[ORACLE]
    assert found[SHORT] == 0


def test_a_path_that_stops_short_is_counted():
    """With one pass per penalty nothing converges: it is said in the findings, not by a warning."""
    family = Family.of(LogisticPath(lambdas=(0.1, 0.001), max_iter=1), {"at": [0, 1]})
    X, y = make_simple(40, random_state=0)
    found = one_size(family, X, y, counted(X, y), methods_named(["CV-5"]))
    assert found[SHORT] == 1


def test_what_no_thread_hears_is_not_known():
    """Warnings of other threads than the main one go their usual way; a zero would say too much."""
    X, y = make_simple(40, random_state=0)
    given = logistic(), X, y, counted(X, y), methods_named(["BEEp"])
    with ThreadPoolExecutor(1) as other:
        assert np.isnan(other.submit(one_size, *given).result()[SHORT])
    assert one_size(*given)[SHORT] == 0


def _warned() -> float:
    with unconverged() as short:
        warnings.warn("some folds hold none of it", TrueRiskWarning, stacklevel=1)
        warnings.warn("not converged", ConvergenceWarning, stacklevel=1)
        warnings.warn("another", UserWarning, stacklevel=1)
    return float(short)


def test_other_warnings_go_their_way():
    """Only those of convergence are collected, and those of rare classes in folds left out."""
    with pytest.warns(UserWarning, match="another") as heard:
        assert _warned() == 1
    assert len(heard) == 1


def test_sizes_are_columns():
    """By name, behind the word of the learner; each size has its own rows."""
    asked = []

    def drawn(size):
        asked.append(size)
        X, y = draw(np.random.default_rng(size), size)
        return X, y, lambda family: errors_of

    methods = methods_named(["CV-5"])
    learners = {"LR": (logistic(), methods)}
    found = choices_by_size((28, 50), learners, drawn, 1)
    assert asked == [28, 50]
    kept = [f"LR CV-5{what}" for what in (" estimate", "", " features")]
    assert list(found) == [*kept, f"LR {ORACLE}", f"LR {SHORT}"]
    for place, size in enumerate((28, 50)):
        X, y, of = drawn(size)
        alone = one_size(logistic(), X, y, of(None), methods, 1)
        assert {name: errors[place] for name, errors in found.items()} == {
            f"LR {name}": error for name, error in alone.items()
        }


def test_the_best_rule_has_the_bayes_error():
    """Φ(−2): the distance of the classes is 4."""
    pair = np.linalg.solve([[1, 0.6], [0.6, 1]], [1.2095, 0.0])
    best = np.r_[np.tile(pair, 7), np.zeros(6)]
    assert true_errors(best[None], np.zeros(1))[0] == pytest.approx(ndtr(-2), abs=1e-5)
    assert round(ndtr(-2), 3) == BAYES


def test_true_errors_by_counting():
    """Of two rules on 200,000 rows, within 4 standard errors; a constant rule errs in half."""
    rng = np.random.default_rng(0)
    X, y = draw(rng, 200_000, 3)
    slopes, intercepts = rng.normal(size=(2, 17)), np.array([0.3, -0.2])
    found = true_errors(slopes, intercepts)
    counted = (y != (X @ slopes.T + intercepts > 0).T).mean(axis=1)
    assert (np.abs(found - counted) < 4 * np.sqrt(found * (1 - found) / len(y))).all()
    assert true_errors(np.zeros((1, 17)), np.ones(1)) == 0.5


def test_classes_are_balanced():
    """Half of the rows of each class, 14 features and the noise."""
    X, y = draw(np.random.default_rng(0), 28, 250)
    assert X.shape == (28, 264)
    assert y.sum() == 14
