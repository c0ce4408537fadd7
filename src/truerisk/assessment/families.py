"""Learners of an assessment: those that a user names, or defaults for the size of the data.

The argument is read before the data are checked, since it says whether y holds classes; names
become models afterwards, since their grids depend on the size of the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from truerisk.core.arguments import mention, repr_on_one_line
from truerisk.core.errors import BadData, UnknownName
from truerisk.core.family import Family
from truerisk.core.formats import prefix_errors
from truerisk.core.registry import check_present
from truerisk.data.columns import (
    has_missing_numbers,
    kinds_of_columns,
    message_on_unreadable_column,
    replace_missing_by_nan,
)
from truerisk.data.data import Data, TaskName
from truerisk.data.rows import n_columns
from truerisk.data.targets import MAX_INTEGER_CLASSES
from truerisk.engines.running.doors import shared_steps
from truerisk.estimation.outer_splits import max_n_parts
from truerisk.estimation.problem import (
    EstimationProblem,
    fit_params_module,
    problem_from_data,
    settings_seed,
)
from truerisk.results.interval import tied_groups

NamedLearners = Mapping[str, Family] | Sequence[str] | None
"""Families of learners by name, names of known learners, or None for the default learners."""


def read_learners(learners: Any, seed: int = 0) -> NamedLearners:
    """Read the argument `learners`: a dict of models or (model, grid) pairs, names, or None.

    For (model, distributions, n), n settings are drawn with a random stream of the seed.
    """
    if learners is None or _are_names(learners):
        return None if learners is None else tuple(learners)
    if not isinstance(learners, Mapping):
        raise UnknownName(
            "learners are given as a dict, {'knn': (KNeighborsClassifier(), {'n_neighbors': "
            f"[1, 5]}}), 'lda': model}}, as words, or None; not as {type(learners).__name__}."
        )
    if not learners:
        raise BadData("the dict of learners is empty: there is nothing to assess.")
    families = {}
    for name, learner in learners.items():
        families[str(name)] = _learner_family(str(name), learner, seed)
    if len(families) < len(learners):
        raise UnknownName("two learners have the same name as text: give each its own.")
    if len(set(map(attrgetter("task"), families.values()))) > 1:
        tasks_text = ", ".join(f"{name}: {family.task}" for name, family in families.items())
        raise BadData(
            f"classifiers and regressors cannot be compared on one target ({tasks_text})."
        )
    return families


def learner_task(named_learners: NamedLearners, y: Any) -> TaskName:
    """Return the task of the learners, such as classification.

    Learners that are given as estimators determine the task. For names of learners, y suggests it.

    Classes are labels, booleans, or whole numbers of few values; pairs are outcomes in time. This
    is the rule of table files.
    """
    if isinstance(named_learners, Mapping):
        return next(iter(named_learners.values())).task
    if y is None:
        raise BadData("y is None: an assessment compares predictions with a target.")
    y_values = np.asarray(y)
    if y_values.dtype.names:
        return "survival"
    if y_values.dtype.kind not in "iuf":
        return "classification"
    has_whole_numbers = np.array_equal(y_values, np.round(y_values))
    has_few_values = has_whole_numbers and len(np.unique(y_values)) <= MAX_INTEGER_CLASSES
    return "classification" if has_few_values else "regression"


def data_for_learners(named_learners: NamedLearners, data: Data) -> Data:
    """Return the data for these learners; for named learners, missing values in X become NaN.

    Models get X as it was given.
    """
    if isinstance(named_learners, Mapping):
        return data
    X = replace_missing_by_nan(data.X)
    return data if X is data.X else replace(data, X=X)


def build_families(
    named_learners: NamedLearners, data: Data, methods: Iterable[Any] = (None,)
) -> Mapping[str, Family]:
    """Return one family for each learner name.

    Families that the user gave are returned unchanged. For known names, or for the default learners
    (None), models are made with grids that suit the size of the data.

    The grids also suit the smallest training set of the `methods` that compare and test them.
    """
    if isinstance(named_learners, Mapping):
        return named_learners
    n_features = n_columns(data.X)
    if n_features is None:
        raise BadData("X has no columns to choose learners for; give learners as a dict.")
    size_arguments = {
        "n_classes": data.n_classes,
        "n_rows": data.n_rows,
        "parts": max_n_parts(data, methods),
    }
    return families_from_names(
        named_learners, data.task, columns=_column_layout(data.X, n_features), **size_arguments
    )


def build_problems(
    named_learners: NamedLearners,
    data: Data,
    methods: Iterable[Any],
    sample_weight: Any,
    **shared_arguments: Any,
) -> dict[str, EstimationProblem]:
    """Return the problem of every learner, with the arguments that all of them share.

    Learners that begin with the same pipeline steps share the fits of these steps.
    """
    data = data_for_learners(named_learners, data)
    families = build_families(named_learners, data, methods)
    names_with_shared_step, shared_step_trees = set[str](), None
    if sum(map(attrgetter("is_piped"), families.values())) > 1:
        shared_steps_module = shared_steps()
        names_with_shared_step, shared_step_trees = (
            shared_steps_module.with_equal_first_step(families),
            shared_steps_module.FittedStepTrees(),
        )
    problems = {}
    for name, family in families.items():
        weights: dict[str, Any] = {}
        if sample_weight is not None:
            # If a learner takes no weights, the error message names the learner.
            with prefix_errors(name):
                add_weight = fit_params_module().fit_params_with_weight
                weights = add_weight(family.estimator, sample_weight, {})
        problem = problem_from_data(data, family, fit_params=weights, **shared_arguments)
        problems[name] = (
            replace(problem, step_cache=shared_step_trees)
            if name in names_with_shared_step
            else problem
        )
    return problems


def families_from_names(
    names: Sequence[str] | None,
    task: Any,
    *,
    n_classes: int,
    n_rows: int,
    columns: Mapping[str, Any],
    parts: int = 2,
) -> dict[str, Family]:
    """Return families for names of learners (as in `truerisk assess --models`, or the default).

    `columns` says which columns are numbers and which are text, as `models.learner` takes it, and
    `parts` how small training sets are.
    """
    check_present("truerisk.models.learners")
    from truerisk.models.learners import default_words, learner

    if names is not None:
        _check_learner_names(names)
    size_arguments: dict[str, Any] = {"n_rows": n_rows, "n_classes": n_classes, "parts": parts}
    return {
        name: Family.from_grid(*learner(name, task, **size_arguments, **columns))
        for name in (default_words(task, n_rows) if names is None else names)
    }


def _are_names(learners: Any) -> bool:
    if isinstance(learners, str):
        raise UnknownName(
            f"{mention('learners', learners)}: put words in a list, [{repr_on_one_line(learners)}]."
        )
    return isinstance(learners, list | tuple) and all(isinstance(name, str) for name in learners)


def _check_learner_names(names: Sequence[str]) -> None:
    if not names:
        raise BadData("the list of learners is empty: there is nothing to assess.")
    repeated_names = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated_names:
        raise UnknownName(f"learner {repeated_names[0]!r} is named twice: name each once.")


def _column_layout(X: Any, n_features: int) -> dict[str, Any]:
    """Return which columns hold numbers and which hold text, as arguments of `models.learner`."""
    if hasattr(X, "tocsr"):
        raise BadData(
            "X is sparse, and the learners of words centre their columns: give X.toarray(), or a "
            "dict of models that take sparse rows."
        )
    column_kinds = kinds_of_columns(X) or ("number",) * n_features
    reason = message_on_unreadable_column(X, accepts_text=True)
    if reason is not None:
        raise BadData(reason)
    return {
        "n_features": n_features,
        "numeric": [j for j, column_kind in enumerate(column_kinds) if column_kind == "number"],
        "text": [j for j, column_kind in enumerate(column_kinds) if column_kind == "text"],
        "missing": has_missing_numbers(X),
    }


def _learner_family(name: str, learner: Any, seed: int) -> Family:
    if isinstance(learner, Family):
        return learner
    if not isinstance(learner, tuple | list):
        return Family.from_grid(learner)
    if len(learner) == 3:
        with prefix_errors(name):
            return Family.drawn(learner[0], learner[1], learner[2], settings_seed(seed))
    if len(learner) != 2:
        raise UnknownName(
            f"learner {name!r}: give a model, or a pair (model, grid); (model, distributions, n) "
            "draws n settings."
        )
    return Family.from_grid(*learner)


ADDRESS_PATTERN = re.compile(r" at 0x[0-9A-Fa-f]+")


def sort_names_by_text(families: Mapping[str, Family]) -> list[str]:
    """Sort the learners' names by a text that describes each learner.

    The text consists of the learner's class, parameters and settings.
    """
    text_by_name = {}
    for name, family in families.items():
        estimator_class, params = (
            type(family.estimator),
            sorted(family.estimator.get_params(deep=True).items()),
        )
        text = (
            f"{estimator_class.__module__}.{estimator_class.__qualname__} {params} "
            f"{family.candidates}"
        )
        text_by_name[name] = ADDRESS_PATTERN.sub("", text)
    return sorted(text_by_name, key=text_by_name.__getitem__)


def ranked_names(risks: Mapping[str, float | None], tie_order: Sequence[str]) -> list[str]:
    """Sort the names of learners by risk, the smallest risk first.

    Learners without a risk come last. Learners with equal risks are ordered as in `tie_order`.

    >>> ranked_names({"a": 0.2, "b": None, "c": 0.1, "d": 0.1 + 1e-15}, ["d", "c", "b", "a"])
    ['d', 'c', 'a', 'b']
    """
    values = [np.inf if (risk := risks[name]) is None else risk for name in tie_order]
    return [tie_order[index] for group in tied_groups(values) for index in group]
