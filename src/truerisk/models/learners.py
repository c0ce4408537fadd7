"""Learners by their names in `--models`: a pipeline with a small grid that depends on the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from truerisk.core.errors import BadData, Refusal, UnknownName
from truerisk.core.registry import Registry, parse_registry_table
from truerisk.models.builders import DataSize, Grid, Learner, TaskName
from truerisk.models.preparation import prepare, prepare_categories

registry = Registry(
    "learner",
    parse_registry_table(
        "truerisk.models",
        """
    knn  builders:knn  k nearest neighbours; k is tuned
    lda  builders:lda  linear discriminant; shrinkage is tuned
    logistic  builders:logistic  logistic regression, ridge penalty; C is tuned
    logistic-path  builders:logistic_path  logistic regression, lasso path; its end is tuned
    ridge  builders:ridge  linear regression, ridge penalty; alpha is tuned
    lasso  builders:lasso  linear regression, lasso penalty; alpha is tuned
    svm  builders:svm  support vectors, Gaussian kernel; C and gamma are tuned
    tree  builders:tree  one decision tree; the least leaf is tuned
    forest  builders:forest  100 trees; the features per split are tuned
    boosting  builders:boosting  gradient boosting on histograms; trees and leaves are tuned
    xgboost  builders:xgboost  XGBoost; trees and depth are tuned
    lightgbm  builders:lightgbm  LightGBM; trees and leaves are tuned
    catboost  builders:catboost  CatBoost; trees and depth are tuned
    cox  builders:cox  Cox regression, ridge penalty; alpha is tuned
    cox-lasso  builders:cox_lasso  Cox regression, lasso path; its end is tuned
    survival-forest  builders:survival_forest
        100 trees of outcomes in time; the features per split are tuned
    """,
    ),
)
"""Registry: name of each learner, the object that builds it, and a sentence about it."""


def names(task: TaskName | None = None) -> list[str]:
    """Return the names of all learners, or of the learners for one task.

    Parameters
    ----------
    task : {"classification", "regression", "survival"}, optional
        The task.

    Returns
    -------
    list of str
        The names.

    See Also
    --------
    truerisk.models.learner : Build the pipeline and the grid of a learner.
    assess : Compare learners by their names.

    Examples
    --------
    >>> names("regression")[:6]
    ['knn', 'ridge', 'lasso', 'svm', 'tree', 'forest']
    """
    return [name for name in registry if task is None or task in registry.load(name).tasks]


MAX_ROWS_FOR_SVM = 5_000
"""With more rows, "svm" is no default learner, because its cost grows faster than n²."""

MAX_ROWS_WITHOUT_BOOSTING = 10_000
"""With more rows, "boosting" is a default learner, too.

Two hundred trees of 31 leaves have six thousand values to learn. With some hundred rows boosting
takes ten times as long as the other default learners together, with ten thousand rows three times
as long. With more rows, a few fits are enough for its grid.
"""


def default_words(task: TaskName, n_rows: int = 0) -> tuple[str, ...]:
    """Return the names of the learners that are compared by default.

    The defaults are four cheap learners of different kinds, and boosting as a fifth one for many
    rows. For survival outcomes the defaults are two learners, which need scikit-survival.

    Parameters
    ----------
    task : {"classification", "regression", "survival"}
        The task.
    n_rows : int, default=0
        The number of rows.

    Returns
    -------
    tuple of str
        Names of learners.

    See Also
    --------
    truerisk.models.names : List all names.
    assess : Compare learners.

    Examples
    --------
    >>> default_words("classification"), default_words("regression", 20_000)
    (('knn', 'lda', 'logistic', 'tree'), ('knn', 'ridge', 'lasso', 'tree', 'boosting'))
    """
    if task == "survival":
        return ("cox", "survival-forest")
    boosting_names = ("boosting",) if n_rows > MAX_ROWS_WITHOUT_BOOSTING else ()
    if task == "classification":
        return ("knn", "lda", "logistic", "tree", *boosting_names)
    return (
        "knn",
        "ridge",
        "lasso" if n_rows > MAX_ROWS_FOR_SVM else "svm",
        "tree",
        *boosting_names,
    )


def learner(
    label: str,
    task: TaskName,
    *,
    n_rows: int,
    n_features: int,
    n_classes: int = 0,
    numeric: Sequence[int] | None = None,
    text: Sequence[int] = (),
    missing: bool = False,
    parts: int = 2,
) -> tuple[Any, Grid]:
    """Return the pipeline and the grid of a learner; grid keys are names such as `model__C`.

    Parameters
    ----------
    label : str
        Name of the learner, of those in ``tr.models.names()``.
    task : {"classification", "regression", "survival"}
        The task.
    n_rows : int
        The number of rows; no setting needs more rows than a fold within a fold has.
    n_features : int
        The number of features.
    n_classes : int, default=0
        The number of classes.
    numeric : sequence of int, optional
        Positions of the numeric columns. By default all columns that are not text.
    text : sequence of int, optional
        Positions of the text columns.
    missing : bool, default=False
        True if cells of the numeric columns may be NaN.
    parts : int, default=2
        A training set has at least one of this number of parts of the rows: K + 1 for "forward-K".

    Returns
    -------
    pipeline : Pipeline
        The steps "prepare" (omitted if there is nothing to prepare) and "model".
    grid : dict of str to list
        The settings.

    See Also
    --------
    truerisk.models.names : List the names of learners.
    truerisk.models.prepare : Build the step "prepare".

    Examples
    --------
    >>> pipeline, grid = learner("knn", "classification", n_rows=20, n_features=2, n_classes=2)
    >>> list(pipeline.named_steps), grid
    (['prepare', 'model'], {'model__n_neighbors': [1, 3, 5]})
    """
    registered_learner = _registered_learner(label, task)
    if n_rows < 1 or n_features < 1:
        raise BadData(f"{n_rows} rows and {n_features} features: a learner needs some of both.")
    from sklearn.pipeline import Pipeline

    if numeric is None:
        numeric = [j for j in range(n_features) if j not in set(text)]
    preparation: Any
    if registered_learner.levels == "indicators":
        data_size = DataSize(
            n_rows, n_features, n_classes, has_indicators=len(text) > 0, n_parts=parts
        )
        preparation = prepare(numeric, text, scale=registered_learner.scale, missing=missing)
    else:
        data_size = DataSize(
            n_rows,
            len(numeric) + len(text),
            n_classes,
            n_categorical_columns=len(text),
            n_parts=parts,
        )
        preparation = prepare_categories(numeric, text, registered_learner.levels)
    model, grid = registered_learner.build(task, data_size)
    preparation_steps = [] if preparation == "passthrough" else [("prepare", preparation)]
    return (
        Pipeline([*preparation_steps, ("model", model)]),
        {f"model__{name}": values for name, values in grid.items()},
    )


def _registered_learner(name: str, task: TaskName) -> Learner:
    suitable_names = names(task)
    if not suitable_names:
        raise UnknownName(
            f"there is no task {task!r}: it is classification, regression or survival."
        )
    registered_learner: Learner = registry.load(name)
    if task not in registered_learner.tasks:
        raise Refusal(
            f"{name} does {registered_learner.tasks[0]} only ({registry[name].summary}) and the "
            f"task is {task}: use {', '.join(suitable_names)}."
        )
    return registered_learner
