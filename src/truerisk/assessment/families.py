"""The learners of an assessment: what a user named, or the usual ones for the size of the data.

What was named is read before the data are checked, since it says whether y holds classes; words
become models afterwards, since their grids depend on the size of the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from truerisk.core.arguments import mention, shown
from truerisk.core.errors import BadData, UnknownName
from truerisk.core.family import Family
from truerisk.core.formats import named
from truerisk.core.registry import check_present
from truerisk.data.columns import (
    kinds_of_columns,
    number_columns_have_holes,
    unreadable,
    with_plain_gaps,
)
from truerisk.data.data import Data, TaskWord
from truerisk.data.rows import n_columns
from truerisk.data.targets import MOST_INTEGER_CLASSES
from truerisk.engines.running.doors import shared_steps
from truerisk.estimation.outer_splits import n_parts
from truerisk.estimation.problem import Problem, params_branch, problem_on, settings_seed
from truerisk.results.interval import tied_groups

Named = Mapping[str, Family] | Sequence[str] | None
"""Families by name, words of learners, or None for the usual ones."""


def read_learners(learners: Any, seed: int = 0) -> Named:
    """Read what was named: a dict of models or (model, grid) pairs, words, or None.

    Of a (model, distributions, n) the settings are drawn, by a stream of the seed.
    """
    if learners is None or _are_words(learners):
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
        families[str(name)] = _family(str(name), learner, seed)
    if len(families) < len(learners):
        raise UnknownName("two learners have the same name as text: give each its own.")
    if len(set(map(attrgetter("task"), families.values()))) > 1:
        listed = ", ".join(f"{name}: {family.task}" for name, family in families.items())
        raise BadData(f"classifiers and regressors cannot be compared on one target ({listed}).")
    return families


def task_of(named: Named, y: Any) -> TaskWord:
    """Return what the families predict; for words, what y looks like by the rule of table files.

    Classes are labels, booleans, or whole numbers of few values; pairs are outcomes in time.
    """
    if isinstance(named, Mapping):
        return next(iter(named.values())).task
    if y is None:
        raise BadData("y is None: an assessment compares predictions with a target.")
    target = np.asarray(y)
    if target.dtype.names:
        return "survival"
    if target.dtype.kind not in "iuf":
        return "classification"
    whole = np.array_equal(target, np.round(target))
    few = whole and len(np.unique(target)) <= MOST_INTEGER_CLASSES
    return "classification" if few else "regression"


def rows_for(named: Named, data: Data) -> Data:
    """Return the data for these learners: X as it was given for models, plain gaps for words."""
    if isinstance(named, Mapping):
        return data
    X = with_plain_gaps(data.X)
    return data if X is data.X else replace(data, X=X)


def families_of(named: Named, data: Data, methods: Iterable[Any] = (None,)) -> Mapping[str, Family]:
    """Return families by name; for words, or None, models with grids for the size of the data.

    The grids also suit the least training set of the `methods` that compare and test them.
    """
    if isinstance(named, Mapping):
        return named
    columns = n_columns(data.X)
    if columns is None:
        raise BadData("X has no columns to choose learners for; give learners as a dict.")
    size = {"n_classes": data.n_classes, "n_rows": data.n_rows, "parts": n_parts(data, methods)}
    return named_families(named, data.task, columns=_layout(data.X, columns), **size)


def problems_of(
    named_learners: Named, data: Data, methods: Iterable[Any], sample_weight: Any, **terms: Any
) -> dict[str, Problem]:
    """Pose the problem of every learner, on rows as it takes them, with what was asked of all.

    Learners behind the same steps find what the steps of the others gave.
    """
    data = rows_for(named_learners, data)
    families = families_of(named_learners, data, methods)
    alike, steps = set[str](), None
    if sum(map(attrgetter("is_piped"), families.values())) > 1:
        sharing = shared_steps()
        alike, steps = sharing.beginning_alike(families), sharing.Tries()
    problems = {}
    for name, family in families.items():
        weights: dict[str, Any] = {}
        if sample_weight is not None:
            with named(name):  # a learner that takes no weights is refused by its name
                add = params_branch().fit_params_with_weight
                weights = add(family.estimator, sample_weight, {})
        problem = problem_on(data, family, fit_params=weights, **terms)
        problems[name] = replace(problem, steps=steps) if name in alike else problem
    return problems


def named_families(
    words: Sequence[str] | None,
    task: Any,
    *,
    n_classes: int,
    n_rows: int,
    columns: Mapping[str, Any],
    parts: int = 2,
) -> dict[str, Family]:
    """Families of the words of `truerisk assess --models`, the default ones for None.

    `columns` says which columns are numbers and which text, as `models.learner` takes it, and
    `parts` how small training sets are.
    """
    check_present("truerisk.models.learners")
    from truerisk.models.learners import default_words, learner

    if words is not None:
        _refuse_no_or_equal(words)
    size: dict[str, Any] = {"n_rows": n_rows, "n_classes": n_classes, "parts": parts}
    return {
        name: Family.from_grid(*learner(name, task, **size, **columns))
        for name in (default_words(task, n_rows) if words is None else words)
    }


def _are_words(learners: Any) -> bool:
    if isinstance(learners, str):
        raise UnknownName(
            f"{mention('learners', learners)}: put words in a list, [{shown(learners)}]."
        )
    return isinstance(learners, list | tuple) and all(isinstance(w, str) for w in learners)


def _refuse_no_or_equal(words: Sequence[str]) -> None:
    if not words:
        raise BadData("the list of learners is empty: there is nothing to assess.")
    twice = [name for name in dict.fromkeys(words) if words.count(name) > 1]
    if twice:
        raise UnknownName(f"learner {twice[0]!r} is named twice: name each once.")


def _layout(X: Any, n_features: int) -> dict[str, Any]:
    """Return which columns are numbers and which are text, as `models.learner` takes them."""
    if hasattr(X, "tocsr"):
        raise BadData(
            "X is sparse, and the learners of words centre their columns: give X.toarray(), or a "
            "dict of models that take sparse rows."
        )
    kinds = kinds_of_columns(X) or ("number",) * n_features
    why = unreadable(X, text=True)
    if why is not None:
        raise BadData(why)
    return {
        "n_features": n_features,
        "numeric": [j for j, kind in enumerate(kinds) if kind == "number"],
        "text": [j for j, kind in enumerate(kinds) if kind == "text"],
        "missing": number_columns_have_holes(X),
    }


def _family(name: str, learner: Any, seed: int) -> Family:
    if isinstance(learner, Family):
        return learner
    if not isinstance(learner, tuple | list):
        return Family.from_grid(learner)
    if len(learner) == 3:
        with named(name):
            return Family.drawn(learner[0], learner[1], learner[2], settings_seed(seed))
    if len(learner) != 2:
        raise UnknownName(
            f"learner {name!r}: give a model, or a pair (model, grid); (model, distributions, n) "
            "draws n settings."
        )
    return Family.from_grid(*learner)


ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


def by_text(families: Mapping[str, Family]) -> list[str]:
    """Sort names by the text of class, parameters and settings of their learners."""
    texts = {}
    for name, family in families.items():
        kind, params = (
            type(family.estimator),
            sorted(family.estimator.get_params(deep=True).items()),
        )
        text = f"{kind.__module__}.{kind.__qualname__} {params} {family.candidates}"
        texts[name] = ADDRESS.sub("", text)
    return sorted(texts, key=texts.__getitem__)


def ranked(risks: Mapping[str, float | None], order: Sequence[str]) -> list[str]:
    """Sort names by risk, the smallest first, those without one last, equal ones as in `order`.

    >>> ranked({"a": 0.2, "b": None, "c": 0.1, "d": 0.1 + 1e-15}, ["d", "c", "b", "a"])
    ['d', 'c', 'a', 'b']
    """
    values = [np.inf if (risk := risks[name]) is None else risk for name in order]
    return [order[at] for group in tied_groups(values) for at in group]
