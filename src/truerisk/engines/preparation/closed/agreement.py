"""Comparison of closed forms with the installed scikit-learn, before they are trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from truerisk.core.identity import known_class
from truerisk.engines.preparation.closed.coded_data import Cells, Source
from truerisk.engines.preparation.closed.step_tables import Coded, Form, Table, rendered
from truerisk.engines.prepared import unless_it_fails

N, TRAIN, CLASSES = 90, 50, 3
Parameters = Mapping[str, Any]
LENIENT = ("ignore", "infrequent_if_exist", "use_encoded_value")
EVERY: tuple[Parameters, ...] = ({},)
FILL = "most_frequent"
RARE: Parameters = {"handle_unknown": "infrequent_if_exist", "max_categories": 3}

EXAMPLES: Mapping[str, tuple[str, tuple[Parameters, ...]]] = {
    "StandardScaler": ("numbers", ({}, {"with_mean": False})),
    "MinMaxScaler": ("numbers", ({}, {"feature_range": (-1, 2), "clip": True})),
    "MaxAbsScaler": ("numbers", EVERY),
    "RobustScaler": ("numbers", ({}, {"quantile_range": (10, 80)})),
    "OneHotEncoder": (
        "texts",
        ({"handle_unknown": "ignore"}, RARE, {"drop": "if_binary"}, {"min_frequency": 0.2}),
    ),
    "OrdinalEncoder": ("texts", ({}, {"handle_unknown": "use_encoded_value", "unknown_value": -1})),
    "FunctionTransformer": ("numbers", EVERY),
    "VarianceThreshold": ("numbers", ({}, {"threshold": 0.5})),
    "SelectKBest": ("numbers", ({"k": 2},)),
    "SelectPercentile": ("numbers", ({"percentile": 50},)),
}
"""Steps of one class that need no other step, and the table they are tried on."""


@cache
def agrees(place: str, make: Callable[[Any], Form]) -> bool:
    """Return True if the form agrees with scikit-learn.

    It is tested once per process and class, in a few milliseconds.
    """
    examples = unless_it_fails(lambda: list(_examples(place)))
    return examples is not None and all(_agree(make, *one) for one in examples)


@cache
def agrees_on(frame: str, make: Callable[[Any], Form]) -> bool:
    """Return True if scikit-learn accepts frames of this class, and selects columns by name."""
    kind = known_class(frame)
    return all(_agree_on_frame(kind, make, cells) for cells in ("texts", "numbers"))


def _agree_on_frame(kind: Any, make: Callable[[Any], Form], cells: str) -> bool:
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    names = ["a", "b", "c", "d"]
    frame = kind(dict(zip(names, _table(cells).T.tolist(), strict=True)))
    y, train = np.arange(N) % CLASSES, np.arange(1, N)
    step = StandardScaler() if cells == "numbers" else OneHotEncoder(sparse_output=False)
    steps = ColumnTransformer([("some", step, names[1:3])])
    form = make(steps)  # A closed form does not accept a fitted step.
    theirs = unless_it_fails(lambda: steps.fit_transform(frame[1:], y[train]))
    if theirs is None:
        return False
    table, _ = form(Cells.from_source(Source(frame), train), y[train])
    return _have_same_cells(_cells(table), theirs)


def _examples(place: str) -> Iterator[tuple[Any, str]]:
    module, _, name = place.partition(":")
    kind = getattr(import_module(module), name)
    if name in EXAMPLES:
        table, settings = EXAMPLES[name]
        yield from ((kind(**setting), table) for setting in settings)
    elif name == "SimpleImputer":
        yield kind(strategy=FILL), "texts with gaps"
        yield kind(strategy="constant", fill_value="b5"), "texts with gaps"
        for strategy in ("mean", "median", FILL):
            yield kind(strategy=strategy, add_indicator=True), "numbers with gaps"
    else:
        yield _made_of_steps(kind, name)


def _made_of_steps(kind: Any, name: str) -> tuple[Any, str]:
    from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

    scale, encode = StandardScaler(), OneHotEncoder(handle_unknown="ignore")
    if name == "ColumnTransformer":
        return kind([("a", encode, [0, 2]), ("b", "drop", [1])], remainder=encode), "texts"
    return kind([("a", scale), ("b", MaxAbsScaler())]), "numbers"


def _agree(make: Callable[[Any], Form], step: Any, kind: str) -> bool:
    """Compare form and step on a training set with copies, and on unknown categories if allowed."""
    X, y = _table(kind), np.arange(N) % CLASSES
    every = np.repeat(np.arange(TRAIN), 1 + np.arange(TRAIN) % 2)
    lenient = getattr(step, "handle_unknown", "") in LENIENT and getattr(step, "drop", None) is None
    test_rows = np.arange(TRAIN // 2, N if lenient or kind.startswith("numbers") else TRAIN)
    source, form = Source(X), make(step)
    theirs = unless_it_fails(
        lambda: (step.fit_transform(X[every], y[every]), step.transform(X[test_rows]))
    )
    if theirs is None:
        return False
    table, apply = form(Cells.from_source(source, every), y[every])
    ours = _cells(table), _cells(apply(Cells.from_source(source, test_rows)))
    return all(map(_have_same_cells, ours, theirs))


def _table(kind: str) -> np.ndarray:
    """Return rounded numbers of several magnitudes, or texts that are frequent or rare."""
    rng = np.random.default_rng(0)
    if kind.startswith("texts"):
        numbers = np.minimum(rng.geometric(0.3, (N, 4)), [2, 4, 6, 8])
        numbers[-1] = 9  # This value is in no training set.
        X = np.char.add("b", numbers.astype(str)).astype(object)
    else:
        X = np.round(rng.normal(size=(N, 4)) * [0.1, 1.0, 30.0, 1e4] + [0.0, 1e3, 1.0, -7.0], 2)
    if kind.endswith("gaps"):
        X[rng.random(X.shape) < 0.1] = np.nan
    return X


def _cells(table: Table) -> Any:
    """Return the cells as a learner receives them; texts, which it never receives, as objects."""
    if not isinstance(table, Coded):
        return rendered(table)
    columns = zip(table.codes.T, table.levels, strict=True)
    return np.array([[one.cells[code] for code in codes] for codes, one in columns], object).T


def _have_same_cells(ours: Any, theirs: Any) -> bool:
    """Return True if two tables hold the same cells in the same form."""
    if hasattr(ours, "toarray") != hasattr(theirs, "toarray"):
        return False
    ours, theirs = (one.toarray() if hasattr(one, "toarray") else one for one in (ours, theirs))
    return ours.shape == theirs.shape and bool((ours == theirs).all())
