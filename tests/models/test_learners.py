"""Every word gives a pipeline and a grid that fit the data, and refuses a task it cannot do."""

import re
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import ParameterGrid, cross_val_score
from sklearn.preprocessing import StandardScaler
from tests.support.words import built_here

from truerisk.datasets import load, make_simple
from truerisk.exceptions import UnknownName
from truerisk.extend import BadData, Refusal
from truerisk.models import default_words, learner, names, registry

each_word = pytest.mark.parametrize(("word", "task"), built_here())


def built(word: str, task: Any, n: int, p: int, **options: Any) -> tuple[Any, Any]:
    """The learner for n rows and p features."""
    classes = 2 if task == "classification" else 0
    return learner(word, task, n_rows=n, n_features=p, n_classes=classes, **options)


def problem(task: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A few rows with a signal."""
    X, y = make_simple(n, random_state=0)
    return X, y if task == "classification" else 1000 * X[:, 0] + 50 * y


def test_names_of_learners_and_their_tasks() -> None:
    """The table of words as it stands; a word of one task only is not offered for the other."""
    both = {"knn", "svm", "tree", "forest", "boosting", "xgboost", "lightgbm", "catboost"}
    assert set(names("classification")) == both | {"lda", "logistic", "logistic-path"}
    assert set(names("regression")) == both | {"ridge", "lasso"}
    assert names("survival") == ["cox", "cox-lasso", "survival-forest"]
    assert default_words("survival") == ("cox", "survival-forest")
    assert names() == list(registry)


@pytest.mark.parametrize(("word", "scaled"), [("knn", True), ("logistic", True), ("tree", False)])
def test_learner_of_plain_data_is_a_plain_pipeline(word: str, scaled: bool) -> None:
    """A scaler and the model, or the model alone: nothing that hides it from a fast engine."""
    pipeline, _ = built(word, "classification", 40, 2)
    steps = [step for _, step in pipeline.steps]
    assert [type(step) is StandardScaler for step in steps] == (
        [True, False] if scaled else [False]
    )


@each_word
def test_learner_prepares_text_and_missing_cells_inside(word: str, task: Any) -> None:
    X, y = problem(task, 40)
    X[::7, 0] = np.nan
    mixed = np.column_stack([X, np.resize([0, 1, 2, np.nan], 40)])
    pipeline, grid = built(word, task, 40, 3, text=[2], missing=True)
    setting = next(iter(ParameterGrid(grid)))
    assert np.isfinite(cross_val_score(pipeline.set_params(**setting), mixed, y, cv=2)).all()


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_default_words_are_four_and_boosting_for_many_rows(task: Any) -> None:
    """From the row on that follows 10,000; a bundled table of 569 rows is assessed without it."""
    words = default_words(task)
    assert len(set(words)) == 4
    assert set(words) <= set(names(task))
    assert "boosting" not in default_words(task, 10_000)
    assert default_words(task, 10_001)[-1] == "boosting"


def test_default_words_learn_real_data() -> None:
    """The default learners are right on iris nine times in ten with a middle setting."""
    iris = load("iris")
    for word in default_words("classification"):
        pipeline, grid = learner(word, "classification", n_rows=150, n_features=4, n_classes=3)
        settings = list(ParameterGrid(grid))
        model = pipeline.set_params(**settings[len(settings) // 2])
        assert cross_val_score(model, iris.X, iris.y, cv=5).mean() > 0.9


@pytest.mark.parametrize(
    ("word", "task", "kind", "message"),
    [
        ("lda", "regression", Refusal, "lda does classification only (linear discriminant"),
        ("lda", "regression", Refusal, "use knn, ridge, lasso, svm, tree, forest, boosting,"),
        ("ridge", "classification", Refusal, "ridge does regression only"),
        ("cox", "regression", Refusal, "cox does survival only (Cox regression, ridge penalty;"),
        (
            "tree",
            "survival",
            Refusal,
            "the task is survival: use cox, cox-lasso, survival-forest.",
        ),
        ("forrest", "regression", UnknownName, "no learner 'forrest'; did you mean 'forest'?"),
        ("knn", "ranking", UnknownName, "no task 'ranking'"),
        ("svm", "nothing", BadData, "40 rows and 0 features"),
    ],
)
def test_learner_refuses_with_what_does_fit(
    word: str, task: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=re.escape(message)):
        built(word, {"nothing": "regression"}.get(task, task), 40, 0 if task == "nothing" else 2)


@each_word
def test_learner_fits_in_all_settings_and_beats_a_guess(word: str, task: Any) -> None:
    """Each setting fits without a warning, and the best one learns; no learner draws at random."""
    X, y = problem(task, 40)
    pipeline, grid = built(word, task, 40, 2)
    assert (is_classifier if task == "classification" else is_regressor)(pipeline)
    first, second = (built(word, task, 40, 2)[0].fit(X, y).predict(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    model = pipeline.set_params(**({"model__n_estimators": 10} if word == "forest" else {}))
    settings = list(ParameterGrid(grid))
    scores = [cross_val_score(clone(model).set_params(**s), X, y, cv=2).mean() for s in settings]
    assert np.isfinite(scores).all()
    assert max(scores) > (0.7 if task == "classification" else 0.5)


SIZES = [(3, 1), (20, 2), (40, 2), (100, 8), (200, 13), (569, 30), (60, 2000)]


@each_word
@pytest.mark.parametrize(("n", "p"), SIZES)
def test_learner_grid_is_small_and_fits_the_size(word: str, task: Any, n: int, p: int) -> None:
    """One to ten different settings, the default among them where rows are many enough.

    None asks for over a quarter of the rows, or all features; a vote of two classes has no ties.
    """
    pipeline, grid = built(word, task, n, p)
    settings = [tuple(s.items()) for s in ParameterGrid(grid)]
    assert 1 <= len(set(settings)) == len(settings) <= 10
    assert n < 20 or p == 1 or word == "forest" or len(settings) >= 3
    for name in ("n_neighbors", "min_samples_leaf"):
        assert max(grid.get(f"model__{name}", [1])) <= max(1, n // 4)
    assert max(grid.get("model__max_features", [1])) <= p
    assert task == "regression" or all(k % 2 for k in grid.get("model__n_neighbors", []))
    own = pipeline.get_params()
    assert n < 40 or n < p or {name: own[name] for name in grid} in list(ParameterGrid(grid))


@pytest.mark.parametrize("word", ["svm", "lasso"])
def test_learner_ignores_the_unit_of_the_target(word) -> None:
    """Multiplying y by 1024 (exact in binary) multiplies the predictions by as much."""
    X, y = problem("regression", 40)
    pipeline, _ = built(word, "regression", 40, 2)
    small = pipeline.fit(X, y / 1024).predict(X)
    np.testing.assert_allclose(pipeline.fit(X, y).predict(X), 1024 * small, rtol=1e-9)


@pytest.mark.parametrize(
    ("n", "p", "n_classes", "plain"),
    [(100, 48, 2, True), (100, 49, 2, False), (100, 48, 3, False), (12, 4_000, 2, False)],
)
def test_lda_is_shrunk_where_half_of_the_rows_have_no_inverse(n, p, n_classes, plain) -> None:
    """The scatter of fewer rows than columns is solved through rounding noise: no such setting."""
    size = {"n_rows": n, "n_features": p, "n_classes": n_classes}
    model, grid = learner("lda", "classification", **size)
    shrunk = [0.01, 0.03, 0.1, 0.3, 0.6, 0.9]
    assert grid == {"model__shrinkage": [*[0.0] * plain, *shrunk]}
    assert learner("lda", "classification", text=[1], **size)[1] == {"model__shrinkage": shrunk}
    assert n > p or (model[-1].solver, model[-1].shrinkage) == ("auto", None)


@pytest.mark.parametrize(
    ("word", "task"),
    [
        *[(word, "classification") for word in ("knn", "svm", "tree", "forest")],
        *[(word, "regression") for word in ("knn", "svm", "tree", "forest", "ridge")],
    ],
)
def test_learner_has_the_defaults_of_scikit_learn(word: str, task: Any) -> None:
    """It predicts as the class does with no argument but the seed, on standardised columns."""
    rows, y = problem(task, 60)
    X = np.column_stack([rows, np.random.default_rng(0).normal(size=(60, 6))])
    pipeline, _ = built(word, task, 60, 8)
    plain = clone(pipeline)
    model = plain.named_steps["model"]
    inner = getattr(model, "regressor", model)
    seeds = {"random_state": 0, "kernel": "rbf"}
    fresh = type(inner)(**{k: v for k, v in seeds.items() if k in inner.get_params()})
    plain.set_params(**{"model" if inner is model else "model__regressor": fresh})
    ours, theirs = (one.fit(X, y).predict(X) for one in (pipeline, plain))
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3)
