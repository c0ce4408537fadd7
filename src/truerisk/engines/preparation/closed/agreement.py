"""Comparison of the closed forms of preprocessing steps with the installed scikit-learn.

A closed form is used only if it agrees with scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from truerisk.core.identity import imported_class
from truerisk.engines.preparation.closed.coded_data import SourceCells, SourceTable
from truerisk.engines.preparation.closed.step_tables import (
    ClosedForm,
    CodedTable,
    Table,
    as_learner_input,
)
from truerisk.engines.prepared import call_or_none

N_ROWS, N_TRAIN_ROWS, N_CLASSES = 90, 50, 3
Parameters = Mapping[str, Any]
UNKNOWN_ACCEPTING_VALUES = ("ignore", "infrequent_if_exist", "use_encoded_value")
DEFAULT_PARAMETERS: tuple[Parameters, ...] = ({},)
MOST_FREQUENT = "most_frequent"
RARE_CATEGORY_PARAMETERS: Parameters = {
    "handle_unknown": "infrequent_if_exist",
    "max_categories": 3,
}

EXAMPLES_BY_STEP: Mapping[str, tuple[str, tuple[Parameters, ...]]] = {
    "StandardScaler": ("numbers", ({}, {"with_mean": False})),
    "MinMaxScaler": ("numbers", ({}, {"feature_range": (-1, 2), "clip": True})),
    "MaxAbsScaler": ("numbers", DEFAULT_PARAMETERS),
    "RobustScaler": ("numbers", ({}, {"quantile_range": (10, 80)})),
    "OneHotEncoder": (
        "texts",
        (
            {"handle_unknown": "ignore"},
            RARE_CATEGORY_PARAMETERS,
            {"drop": "if_binary"},
            {"min_frequency": 0.2},
        ),
    ),
    "OrdinalEncoder": ("texts", ({}, {"handle_unknown": "use_encoded_value", "unknown_value": -1})),
    "FunctionTransformer": ("numbers", DEFAULT_PARAMETERS),
    "VarianceThreshold": ("numbers", ({}, {"threshold": 0.5})),
    "SelectKBest": ("numbers", ({"k": 2},)),
    "SelectPercentile": ("numbers", ({"percentile": 50},)),
}
"""Kind of the simulated table and parameters with which each class of steps is tested."""


@cache
def agrees_with_sklearn(class_path: str, make_form: Callable[[Any], ClosedForm]) -> bool:
    """Return True if our closed form of a step gives the output of the installed scikit-learn.

    A closed form computes what the step's `fit` and `transform` compute, without calling them. The
    comparison runs once per process and class of steps, and takes a few milliseconds.
    """
    examples = call_or_none(lambda: list(_make_examples(class_path)))
    return examples is not None and all(
        _agrees_on_example(make_form, *example) for example in examples
    )


@cache
def agrees_on_frame_class(frame_path: str, make_form: Callable[[Any], ClosedForm]) -> bool:
    """Return True if closed forms and the installed scikit-learn treat this frame class alike.

    They are compared on a ColumnTransformer that selects columns of a frame by their names.
    """
    frame_class = imported_class(frame_path)
    return all(
        _agrees_on_frame(frame_class, make_form, cell_kind) for cell_kind in ("texts", "numbers")
    )


def _agrees_on_frame(
    frame_class: Any, make_form: Callable[[Any], ClosedForm], cell_kind: str
) -> bool:
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    names = ["a", "b", "c", "d"]
    frame = frame_class(dict(zip(names, _simulated_table(cell_kind).T.tolist(), strict=True)))
    y, train_rows = np.arange(N_ROWS) % N_CLASSES, np.arange(1, N_ROWS)
    step = StandardScaler() if cell_kind == "numbers" else OneHotEncoder(sparse_output=False)
    column_transformer = ColumnTransformer([("some", step, names[1:3])])
    # make_form comes before the fit, because it raises NoClosedForm for a step that is fitted.
    closed_form = make_form(column_transformer)
    expected_output = call_or_none(
        lambda: column_transformer.fit_transform(frame[1:], y[train_rows])
    )
    if expected_output is None:
        return False
    table, _ = closed_form(SourceCells.from_source(SourceTable(frame), train_rows), y[train_rows])
    return _has_same_cells(_learner_cells(table), expected_output)


def _make_examples(class_path: str) -> Iterator[tuple[Any, str]]:
    module, _, name = class_path.partition(":")
    step_class = getattr(import_module(module), name)
    if name in EXAMPLES_BY_STEP:
        table_kind, settings = EXAMPLES_BY_STEP[name]
        yield from ((step_class(**setting), table_kind) for setting in settings)
    elif name == "SimpleImputer":
        yield step_class(strategy=MOST_FREQUENT), "texts with gaps"
        yield step_class(strategy="constant", fill_value="b5"), "texts with gaps"
        for strategy in ("mean", "median", MOST_FREQUENT):
            yield step_class(strategy=strategy, add_indicator=True), "numbers with gaps"
    else:
        yield _composite_example(step_class, name)


def _composite_example(step_class: Any, name: str) -> tuple[Any, str]:
    from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

    scaler, encoder = StandardScaler(), OneHotEncoder(handle_unknown="ignore")
    if name == "ColumnTransformer":
        return step_class([("a", encoder, [0, 2]), ("b", "drop", [1])], remainder=encoder), "texts"
    return step_class([("a", scaler), ("b", MaxAbsScaler())]), "numbers"


def _agrees_on_example(make_form: Callable[[Any], ClosedForm], step: Any, table_kind: str) -> bool:
    """Return True if a closed form and its step transform simulated rows equally.

    Both are fitted on rows with copies and applied to test rows. The test rows have
    unknown categories if the step accepts these.
    """
    X, y = _simulated_table(table_kind), np.arange(N_ROWS) % N_CLASSES
    repeated_rows = np.repeat(np.arange(N_TRAIN_ROWS), 1 + np.arange(N_TRAIN_ROWS) % 2)
    accepts_unknown = (
        getattr(step, "handle_unknown", "") in UNKNOWN_ACCEPTING_VALUES
        and getattr(step, "drop", None) is None
    )
    test_rows = np.arange(
        N_TRAIN_ROWS // 2,
        N_ROWS if accepts_unknown or table_kind.startswith("numbers") else N_TRAIN_ROWS,
    )
    source, closed_form = SourceTable(X), make_form(step)
    expected_outputs = call_or_none(
        lambda: (
            step.fit_transform(X[repeated_rows], y[repeated_rows]),
            step.transform(X[test_rows]),
        )
    )
    if expected_outputs is None:
        return False
    table, transform = closed_form(SourceCells.from_source(source, repeated_rows), y[repeated_rows])
    outputs = (
        _learner_cells(table),
        _learner_cells(transform(SourceCells.from_source(source, test_rows))),
    )
    return all(map(_has_same_cells, outputs, expected_outputs))


def _simulated_table(table_kind: str) -> np.ndarray:
    """Simulate a table of numbers or of texts.

    The numbers are rounded and of several magnitudes; some texts are frequent and others rare. Some
    cells are missing if the kind ends with "gaps".
    """
    rng = np.random.default_rng(0)
    if table_kind.startswith("texts"):
        category_numbers = np.minimum(rng.geometric(0.3, (N_ROWS, 4)), [2, 4, 6, 8])
        category_numbers[-1] = 9  # The last row has a value that is in no training set.
        X = np.char.add("b", category_numbers.astype(str)).astype(object)
    else:
        X = np.round(
            rng.normal(size=(N_ROWS, 4)) * [0.1, 1.0, 30.0, 1e4] + [0.0, 1e3, 1.0, -7.0], 2
        )
    if table_kind.endswith("gaps"):
        X[rng.random(X.shape) < 0.1] = np.nan
    return X


def _learner_cells(table: Table) -> Any:
    """Return the entries of a table as a learner receives them.

    Texts, which a learner never receives, are returned as an array of objects.
    """
    if not isinstance(table, CodedTable):
        return as_learner_input(table)
    columns = zip(table.codes.T, table.levels, strict=True)
    return np.array(
        [
            [column_levels.cells[category_code] for category_code in codes]
            for codes, column_levels in columns
        ],
        object,
    ).T


def _has_same_cells(table: Any, expected_table: Any) -> bool:
    """Return True if two tables have equal entries, and both are dense or both are sparse."""
    if hasattr(table, "toarray") != hasattr(expected_table, "toarray"):
        return False
    table, expected_table = (
        one_table.toarray() if hasattr(one_table, "toarray") else one_table
        for one_table in (table, expected_table)
    )
    return table.shape == expected_table.shape and bool((table == expected_table).all())
