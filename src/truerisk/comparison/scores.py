"""Read the table of values (data set × method) from a frame, a mapping, or an array.

A cell is a number, or the results of the splits (folds, repetitions) of that data set, which are
the same for all methods; its value is their mean. None and NaN are missing values. Data sets on
which a method has no value are treated by an explicit rule of the `RankOptions`, with a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truerisk.comparison.hierarchical import FEWEST_DATA_SETS, FEWEST_SPLITS
from truerisk.core.arguments import as_array, check_level, mention, repr_on_one_line
from truerisk.core.errors import BadArgument, BadData, Refusal, UnknownName
from truerisk.core.formats import join_first_words
from truerisk.core.frozen import frozen
from truerisk.core.registry import suggestion_for
from truerisk.results.comparison import check_rope
from truerisk.results.interval import DEFAULT_ROPE

MOST_DATA_SETS, MOST_METHODS = 2_000, 50
TABLE_FORMATS = (
    "give a frame with a row per data set and a column per method, a mapping of method to values, "
    "or an array (data sets, methods)"
)


@frozen(eq=False)
class Scores:
    """Table of values `(data sets, methods)`, NaN if missing, with names of rows and columns.

    `split_results` holds, for each data set, the results `(splits, methods)` of which its values
    are means, and `split_correlations` the correlations of two splits due to overlapping training
    sets; an entry is None if it is unknown.
    """

    data_sets: tuple[str, ...]
    methods: tuple[str, ...]
    values: np.ndarray
    split_results: tuple[np.ndarray | None, ...] = ()
    split_correlations: tuple[float | None, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n, k = self.values.shape
        if k < 2:
            raise Refusal(f"{_count_text(k, 'method')}: a comparison needs at least two.")
        if n < 2:
            raise Refusal(
                f"{_count_text(n, 'data set')}: what holds on one says nothing of others; a "
                "comparison over data sets needs at least two. Two rules on the rows of one data "
                "set compare by tr.compare."
            )
        if n > MOST_DATA_SETS or k > MOST_METHODS:
            raise Refusal(
                f"{n} data sets and {k} methods: at most {MOST_DATA_SETS} and {MOST_METHODS} are "
                "compared."
            )
        _refuse_repeated_names(self.methods, "method")
        _refuse_repeated_names(self.data_sets, "data set")
        for method, column in zip(self.methods, self.values.T, strict=True):
            if np.isnan(column).all():
                raise Refusal(f"method '{method}' has no value on any data set: leave it out.")

    def select(self, rows: np.ndarray) -> Scores:
        """Return the scores of the data sets with these indices."""
        return Scores(
            tuple(self.data_sets[i] for i in rows),
            self.methods,
            self.values[rows],
            tuple(self.split_results[i] for i in rows) if self.split_results else (),
            tuple(self.split_correlations[i] for i in rows) if self.split_correlations else (),
            self.notes,
        )


def _count_text(count: int, noun: str) -> str:
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"


def _refuse_repeated_names(names: Sequence[str], named_thing: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise BadData(f"two {named_thing}s are called '{name}': give each a name of its own.")


def read_scores(
    table: Any, methods: Any = None, data_sets: Any = None, correlation: Any = None
) -> Scores:
    """Read the table of values that a user gave, with the names of methods and data sets."""
    if isinstance(table, Scores):
        return table
    cells, columns, rows = _table_cells(table)
    method_names = _names_or_defaults(methods, columns, len(cells[0]) if cells else 0, "method")
    data_set_names = _names_or_defaults(data_sets, rows, len(cells), "data set")
    results = [
        [_read_cell(cell, data_set_names[i], method_names[j]) for j, cell in enumerate(row)]
        for i, row in enumerate(cells)
    ]
    values = np.array([[cell.mean() if cell.size else np.nan for cell in row] for row in results])
    splits = tuple(_split_results(row, data_set_names[i]) for i, row in enumerate(results))
    if correlation is not None and all(results_of_set is None for results_of_set in splits):
        raise BadData(
            "correlation is that of single splits, and each method has one number on each data "
            "set: give the results of all splits, or leave it out."
        )
    return Scores(
        data_set_names,
        method_names,
        values.reshape(len(data_set_names), len(method_names)),
        splits,
        _read_correlations(correlation, len(data_set_names)),
    )


def _table_cells(table: Any) -> tuple[list[list[Any]], Sequence[Any] | None, Sequence[Any] | None]:
    """Return the table as rows of cells, and the names of columns and rows if they are known."""
    if hasattr(table, "columns") and hasattr(table, "to_numpy"):
        return _cells_of_frame(table)
    if isinstance(table, Mapping):
        # A mapping has, for each method, a list of values or a mapping of data set to value.
        columns = list(table.values())
        is_mapping = [isinstance(column, Mapping) for column in columns]
        if columns and all(is_mapping):
            rows = list(dict.fromkeys(name for column in columns for name in column))
            return [[column.get(row) for column in columns] for row in rows], list(table), rows
        column_lengths = {
            len(column) if isinstance(column, Sequence | np.ndarray) else -1 for column in columns
        }
        if (
            any(is_mapping)
            or len(column_lengths) > 1
            or -1 in column_lengths
            or any(isinstance(column, str) for column in columns)
        ):
            raise BadData(
                f"the methods of scores have values of unlike length or kind: {TABLE_FORMATS}."
            )
        return [list(row) for row in zip(*columns, strict=True)], list(table), None
    try:
        array = as_array(table, np.float64)
    except ValueError:
        raise BadData(
            f"{mention('scores', table)} is no table of numbers: {TABLE_FORMATS}."
        ) from None
    if array.ndim not in (2, 3):
        raise BadData(f"scores has shape {array.shape}: {TABLE_FORMATS}.")
    return [list(row) for row in array], None, None


def _cells_of_frame(frame: Any) -> tuple[list[list[Any]], Sequence[Any], Sequence[Any] | None]:
    """Read numeric columns as methods; a text column or the index names the data sets."""
    columns = {name: list(frame[name]) for name in frame.columns}
    text_columns = [
        name for name, cells in columns.items() if any(isinstance(cell, str) for cell in cells)
    ]
    if len(text_columns) > 1:
        raise BadData(
            f"columns '{text_columns[0]}' and '{text_columns[1]}' hold text: one names the data "
            "sets, and the others are the values of methods."
        )
    names = columns.pop(text_columns[0]) if text_columns else getattr(frame, "index", None)
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    return rows, list(columns), None if names is None else list(names)


def _names_or_defaults(
    names: Any, table_names: Sequence[Any] | None, n_names: int, noun: str
) -> tuple[str, ...]:
    argument_name = noun.replace(" ", "_") + "s"
    if names is None:
        defaults = table_names if table_names is not None else range(1, n_names + 1)
        return tuple(str(name) for name in defaults)
    if (
        isinstance(names, str)
        or not isinstance(names, Sequence | np.ndarray)
        or len(names) != n_names
    ):
        raise BadData(
            f"{mention(argument_name, names)}: give {n_names} names, one for each {noun}."
        )
    return tuple(str(name) for name in names)


def _read_cell(cell_value: Any, data_set: str, method: str) -> np.ndarray:
    """Return the results in one cell of the table as an array.

    A cell holds one number, the results of several splits, or nothing if it is missing.
    """
    try:
        results = np.atleast_1d(as_array(np.nan if cell_value is None else cell_value, np.float64))
    except ValueError:
        results = np.array([np.inf])
    if results.ndim > 1 or np.isinf(results).any():
        raise BadData(
            f"the value of '{method}' on '{data_set}' is {repr_on_one_line(cell_value)}, no finite "
            "number; what is missing is None or NaN."
        )
    return results[:0] if np.isnan(results).any() else results


def _split_results(row: Sequence[np.ndarray], data_set: str) -> np.ndarray | None:
    """Return the results of a data set by split and method.

    The result is None unless all cells hold results of several splits.
    """
    cell_sizes = {len(cell) for cell in row if len(cell)}
    if len(cell_sizes) > 1:
        raise BadData(
            f"on '{data_set}' methods have {min(cell_sizes)} to {max(cell_sizes)} results: give "
            "all of them "
            "the results of the same splits."
        )
    have_splits = all(len(cell) > 1 for cell in row)
    return np.stack(row, axis=1) if have_splits else None


def _read_correlations(correlation: Any, n_data_sets: int) -> tuple[float | None, ...]:
    if correlation is None:
        return (None,) * n_data_sets
    try:
        rho = np.broadcast_to(as_array(correlation, np.float64), (n_data_sets,))
    except ValueError:
        rho = np.array([np.nan])
    if not ((rho >= 0) & (rho < 1)).all():
        raise BadData(
            f"{mention('correlation', correlation)}: give n_test / (n_train + n_test) of the "
            f"splits (0 where they share no rows), one number or one for each of "
            f"{n_data_sets} data sets."
        )
    return tuple(rho.tolist())


OPTION_CHOICES = {
    "better": {"lower": "risks and losses", "higher": "accuracy, AUC and other scores"},
    "missing": {
        "leave-out": "a data set on which a method has no value takes part in nothing",
        "last": "a method without a value ranks last; differences are of data sets with both",
    },
    "pairwise": {
        "wilcoxon": "signed-rank tests, which look at two methods alone",
        "ranks": "differences of average ranks, which depend on all methods (Demšar 2006)",
    },
}


@frozen
class RankOptions:
    """Options of a comparison over data sets: `better` is "lower" or "higher".

    `control` is the method with which all others are compared, None for all pairs.
    """

    better: str = "lower"
    missing: str = "leave-out"
    pairwise: str = "wilcoxon"
    control: str | None = None
    rope: float = DEFAULT_ROPE
    confidence_level: float = 0.95
    random_state: int = 0

    def __post_init__(self) -> None:
        for name, choices in OPTION_CHOICES.items():
            choice = getattr(self, name)
            if not isinstance(choice, str) or choice not in choices:
                suggestion = suggestion_for(choice, choices) if isinstance(choice, str) else None
                known_text = "; ".join(
                    f"{label!r}: {description}" for label, description in choices.items()
                )
                raise UnknownName(
                    f"{mention(name, choice)}{suggestion or '.'} Known: {known_text}."
                )
        check_rope(self.rope)
        check_level("confidence_level", self.confidence_level)
        seed: Any = self.random_state
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise BadArgument(f"{mention('random_state', seed)}: use an integer of at least 0.")

    @property
    def alpha(self) -> float:
        """Significance level of the tests."""
        return 1 - self.confidence_level

    @property
    def sign(self) -> int:
        """Factor (1 or −1) by which values are multiplied so that lower values are better."""
        return 1 if self.better == "lower" else -1


MOST_NAMES_IN_NOTE = 5


@frozen(eq=False)
class RankTable:
    """Table of the data sets that take part in a comparison of methods.

    In `oriented_values` lower values are better; they are infinite for methods that rank last.
    """

    scores: Scores
    oriented_values: np.ndarray
    left_out: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def no_hierarchical_reason(self) -> str | None:
        """Reason why the hierarchical test is impossible, or None if it is possible.

        The text is empty if there are no results of single splits.
        """
        scores = self.scores
        if all(splits is None for splits in scores.split_results):
            return ""
        if len(scores.data_sets) < FEWEST_DATA_SETS:
            return f"it needs {FEWEST_DATA_SETS} data sets"
        for name, splits, correlation in zip(
            scores.data_sets, scores.split_results, scores.split_correlations, strict=True
        ):
            if splits is None or len(splits) < FEWEST_SPLITS:
                return f"it needs {FEWEST_SPLITS} results of every method on '{name}'"
            if correlation is None:
                return f"how splits correlate on '{name}' is not known (correlation=)"
        return None


def make_rank_table(scores: Scores, rank_options: RankOptions) -> RankTable:
    """Apply the rule for missing values to the table of scores, and add a note on its effect."""
    is_missing = np.isnan(scores.values)
    oriented_values = rank_options.sign * scores.values
    if not is_missing.any():
        return RankTable(scores, oriented_values, (), ())
    if rank_options.missing == "last":
        # Two methods are compared on at least two data sets on which both have values.
        has_value = (~np.isnan(scores.values)).astype(int)
        n_common = has_value.T @ has_value
        for a, b in zip(*np.triu_indices(len(scores.methods), 1), strict=True):
            if n_common[a, b] < 2:
                raise Refusal(
                    f"'{scores.methods[a]}' and '{scores.methods[b]}' have values on "
                    f"{n_common[a, b] or 'no'} common data "
                    f"set{'' if n_common[a, b] == 1 else 's'}: leave one of them out."
                )
        notes = (_ranked_last_note(scores, is_missing),)
        return RankTable(scores, np.where(is_missing, np.inf, oriented_values), (), notes)
    rows = np.flatnonzero(~is_missing.any(1))
    left_out = tuple(scores.data_sets[i] for i in np.flatnonzero(is_missing.any(1)))
    if len(rows) < 2:
        most_missing_method = int(is_missing.sum(0).argmax())
        raise Refusal(
            f"only {len(rows)} of {len(scores.data_sets)} data sets have a value of every method; "
            f"'{scores.methods[most_missing_method]}' lacks most "
            f"({int(is_missing[:, most_missing_method].sum())}): leave it out, or use "
            f"{mention('missing', 'last')}."
        )
    complete_scores = scores.select(rows)
    return RankTable(
        complete_scores,
        oriented_values[rows],
        left_out,
        (_left_out_note(scores, is_missing, left_out),),
    )


def _left_out_note(scores: Scores, is_missing: np.ndarray, left_out: tuple[str, ...]) -> str:
    missing_counts = ", ".join(
        f"{method} on {int(n)}"
        for method, n in zip(scores.methods, is_missing.sum(0), strict=True)
        if n
    )
    return (
        f"{len(left_out)} of {len(scores.data_sets)} data sets take no part, as a method has no "
        f"value there ({missing_counts}): {join_first_words(left_out, MOST_NAMES_IN_NOTE)}"
    )


def _ranked_last_note(scores: Scores, is_missing: np.ndarray) -> str:
    cells = [
        f"{scores.methods[j]} on {scores.data_sets[i]}"
        for i, j in zip(*is_missing.nonzero(), strict=True)
    ]
    return (
        f"{len(cells)} of {is_missing.size} cells are missing and rank last (those of one data set "
        f"tied): {join_first_words(cells, MOST_NAMES_IN_NOTE)}; differences of two methods are of "
        "the data "
        "sets on which both have values"
    )
