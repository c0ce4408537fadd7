"""Every word builds a model that learns, and a grid that fits the size of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, cross_val_score
from tests.support.words import built_here

from truerisk.datasets import make_simple
from truerisk.models.learners import learner, names

each_word = pytest.mark.parametrize(("word", "task"), built_here())


def built(word: str, task: Any, n: int, p: int, **options: Any) -> tuple[Any, Any]:
    """The learner for n rows and p features."""
    classes = 2 if task == "classification" else 0
    return learner(word, task, n_rows=n, n_features=p, n_classes=classes, **options)


def problem(task: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A few rows with a signal."""
    X, y = make_simple(n, random_state=0)
    return X, y if task == "classification" else 1000 * X[:, 0] + 50 * y


@each_word
def test_every_setting_fits_and_beats_a_guess(word: str, task: Any) -> None:
    """Each setting fits without a warning, and the best one learns."""
    X, y = problem(task, 40)
    pipeline, grid = built(word, task, 40, 2)
    model = pipeline.set_params(**({"model__n_estimators": 10} if word == "forest" else {}))
    settings = list(ParameterGrid(grid))
    scores = [cross_val_score(clone(model).set_params(**s), X, y, cv=2).mean() for s in settings]
    assert np.isfinite(scores).all()
    assert max(scores) > (0.7 if task == "classification" else 0.5)


@each_word
@pytest.mark.parametrize(("n", "p"), [(3, 1), (20, 2), (569, 30), (60, 2000)])
def test_grids_are_small_and_fit_the_size(word: str, task: Any, n: int, p: int) -> None:
    """One to ten different settings; none asks for over a quarter of the rows, or all features."""
    _, grid = built(word, task, n, p)
    settings = [tuple(s.items()) for s in ParameterGrid(grid)]
    assert 1 <= len(set(settings)) == len(settings) <= 10
    assert n < 20 or p == 1 or word == "forest" or len(settings) >= 3
    for name in ("n_neighbors", "min_samples_leaf"):
        assert max(grid.get(f"model__{name}", [1])) <= max(1, n // 4)
    assert max(grid.get("model__max_features", [1])) <= p


@each_word
def test_two_builds_predict_the_same(word: str, task: Any) -> None:
    """No learner draws at random."""
    X, y = problem(task, 30)
    first, second = (built(word, task, 30, 2)[0].fit(X, y).predict(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_k_is_odd() -> None:
    """A vote of two classes has no ties."""
    _, grid = built("knn", "classification", 569, 30)
    assert all(k % 2 for k in grid["model__n_neighbors"])


def test_the_target_of_svm_and_lasso_has_no_unit() -> None:
    """Multiplying y by 1024 (exact in binary) multiplies the predictions by as much."""
    X, y = problem("regression", 40)
    for word in ("svm", "lasso"):
        pipeline, _ = built(word, "regression", 40, 2)
        small = pipeline.fit(X, y / 1024).predict(X)
        np.testing.assert_allclose(pipeline.fit(X, y).predict(X), 1024 * small, rtol=1e-9)


@pytest.mark.parametrize(
    ("n", "p", "n_classes", "plain"), [(100, 48, 2, True), (100, 49, 2, False), (100, 48, 3, False)]
)
def test_a_discriminant_is_shrunk_where_half_of_the_rows_have_no_inverse(
    n: int, p: int, n_classes: int, plain: bool
) -> None:
    """The scatter of fewer rows than columns is solved through rounding noise: no such setting."""
    _, grid = learner("lda", "classification", n_rows=n, n_features=p, n_classes=n_classes)
    shrunk = [0.01, 0.03, 0.1, 0.3, 0.6, 0.9]
    assert grid["model__shrinkage"] == [*[0.0] * plain, *shrunk]
    size = {"n_rows": n, "n_features": p, "n_classes": n_classes}
    assert learner("lda", "classification", text=[1], **size)[1] == {"model__shrinkage": shrunk}


def test_lda_of_more_columns_than_rows_makes_no_matrix_of_columns() -> None:
    """As it stands it is scikit-learn's default, and each shrinkage is a number as before."""
    model, grid = learner("lda", "classification", n_rows=12, n_features=4_000, n_classes=2)
    assert type(model[-1]).__name__ == "LinearDiscriminant"
    assert (model[-1].solver, model[-1].shrinkage) == ("auto", None)
    assert grid == {"model__shrinkage": [0.01, 0.03, 0.1, 0.3, 0.6, 0.9]}


def test_what_is_not_shrunk_is_noise_where_columns_outnumber_rows() -> None:
    """Another order of the columns moves labels of scikit-learn's own, and not once it shrinks."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 200)), np.arange(60) % 2
    orders = [np.arange(200), *(rng.permutation(200) for _ in range(4))]

    def labels(shrinkage: float) -> list[np.ndarray]:
        model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage)
        return [model.fit(X[:40, o], y[:40]).predict(X[40:, o]) for o in orders]

    assert len(np.unique(labels(0.0), axis=0)) > 1
    assert len(np.unique(labels(0.01), axis=0)) == 1


@each_word
@pytest.mark.parametrize(("n", "p"), [(40, 2), (200, 13), (569, 30), (100, 8)])
def test_the_default_setting_is_among_the_candidates(word: str, task: Any, n: int, p: int) -> None:
    """The pipeline as it is built is one of the settings, so tuning can be held against it."""
    pipeline, grid = built(word, task, n, p)
    own = pipeline.get_params()
    assert {name: own[name] for name in grid} in list(ParameterGrid(grid))


@pytest.mark.parametrize("word", ["knn", "svm", "tree", "forest", "ridge"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_pipeline_as_it_is_built_has_scikit_learns_defaults(word: str, task: Any) -> None:
    """It predicts as the class does with no argument but the seed, on standardised columns."""
    if word not in names(task):
        return
    rng = np.random.default_rng(0)
    X = np.column_stack([problem(task, 60)[0], rng.normal(size=(60, 6))])
    y = problem(task, 60)[1]
    pipeline, _ = built(word, task, 60, 8)
    plain = clone(pipeline)
    model = plain.named_steps["model"]
    inner = getattr(model, "regressor", model)
    kept = {
        k: v for k, v in {"random_state": 0, "kernel": "rbf"}.items() if k in inner.get_params()
    }
    fresh = type(inner)(**kept)
    plain.set_params(model__regressor=fresh) if inner is not model else plain.set_params(
        model=fresh
    )
    np.testing.assert_allclose(
        pipeline.fit(X, y).predict(X), plain.fit(X, y).predict(X), rtol=1e-3, atol=1e-3
    )
