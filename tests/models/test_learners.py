"""Every word gives a pipeline and a grid that fit the data, and refuses a task it cannot do."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import ParameterGrid, cross_val_score
from sklearn.preprocessing import StandardScaler
from tests.support.words import built_here

from truerisk import models
from truerisk.core.errors import BadData, Refusal, UnknownName
from truerisk.datasets import load, make_simple
from truerisk.models.learners import default_words, learner, names, registry

each_word = pytest.mark.parametrize(("word", "task"), built_here())


def built(word: str, task: Any, n: int, p: int, **options: Any) -> tuple[Any, Any]:
    """The learner for n rows and p features."""
    classes = 2 if task == "classification" else 0
    return learner(word, task, n_rows=n, n_features=p, n_classes=classes, **options)


def problem(task: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A few rows with a signal."""
    X, y = make_simple(n, random_state=0)
    return X, y if task == "classification" else 1000 * X[:, 0] + 50 * y


def test_words_and_their_tasks() -> None:
    """The table of words as it stands; a word of one task only is not offered for the other."""
    both = {"knn", "svm", "tree", "forest", "boosting", "xgboost", "lightgbm", "catboost"}
    assert set(names("classification")) == both | {"lda", "logistic"}
    assert set(names("regression")) == both | {"ridge", "lasso"}
    assert names("survival") == ["cox", "cox-lasso", "survival-forest"]
    assert default_words("survival") == ("cox", "survival-forest")
    assert models.names() == list(registry)


@each_word
def test_the_kind_of_model_fits_the_task(word: str, task: Any) -> None:
    """A classification gets a classifier, a regression a regressor."""
    pipeline, _ = built(word, task, 40, 2)
    assert (is_classifier if task == "classification" else is_regressor)(pipeline)


@pytest.mark.parametrize(("word", "scaled"), [("knn", True), ("logistic", True), ("tree", False)])
def test_plain_data_give_a_plain_pipeline(word: str, scaled: bool) -> None:
    """A scaler and the model, or the model alone: nothing that hides it from a fast engine."""
    pipeline, _ = built(word, "classification", 40, 2)
    steps = [step for _, step in pipeline.steps]
    assert [type(step) is StandardScaler for step in steps] == (
        [True, False] if scaled else [False]
    )


@each_word
def test_text_and_missing_cells_are_prepared_inside(word: str, task: Any) -> None:
    """A table with codes of text and missing cells fits and predicts."""
    X, y = problem(task, 40)
    X[::7, 0] = np.nan
    mixed = np.column_stack([X, np.resize([0, 1, 2, np.nan], 40)])
    pipeline, grid = built(word, task, 40, 3, text=[2], missing=True)
    setting = next(iter(ParameterGrid(grid)))
    assert np.isfinite(cross_val_score(pipeline.set_params(**setting), mixed, y, cv=2)).all()


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_four_words_by_default(task: Any) -> None:
    """Four different words, all of which do the task."""
    words = default_words(task)
    assert len(set(words)) == 4
    assert set(words) <= set(names(task))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_boosting_is_a_default_of_many_rows(task: Any) -> None:
    """From the row on that follows 10,000; a bundled table of 569 rows is assessed without it."""
    assert "boosting" not in default_words(task, 10_000)
    assert default_words(task, 10_001)[-1] == "boosting"


def test_default_learners_learn_real_data() -> None:
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
    ],
)
def test_what_does_not_fit_is_refused_with_what_does(
    word: str, task: Any, kind: type[Exception], message: str
) -> None:
    """The refusal has the reason and the words that do."""
    with pytest.raises(kind, match=re.escape(message)):
        built(word, task, 40, 2)


def test_no_rows_or_features_are_refused() -> None:
    """A grid for nothing is not made up."""
    with pytest.raises(BadData, match=r"40 rows and 0 features"):
        built("svm", "classification", 40, 0)
