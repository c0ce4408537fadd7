"""The table data set × method, read from a frame, a mapping, or an array.

A cell is a number, or the results of the splits (folds, repetitions) of that data set, which are
the same for all methods; its value is their mean. None and NaN are missing values. Data sets on
which a method has no value are treated by an explicit rule of the `RankTerms`, with a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truerisk.comparison.hierarchical import FEWEST_SETS, FEWEST_SPLITS
from truerisk.core.arguments import as_array, check_level, mention, shown
from truerisk.core.errors import BadArgument, BadData, Refusal, UnknownName
from truerisk.core.formats import first_few
from truerisk.core.frozen import frozen
from truerisk.core.registry import closest
from truerisk.results.comparison import check_rope
from truerisk.results.interval import ROPE

MOST_SETS, MOST_METHODS = 2_000, 50
WAYS = (
    "give a frame with a row per data set and a column per method, a mapping of method to values, "
    "or an array (data sets, methods)"
)


@frozen(eq=False)
class Scores:
    """Values `(data sets, methods)`, NaN if missing.

    `splits` holds, for each data set, the results `(splits, methods)` of which its values are
    means, and `correlation` the correlation of two splits due to overlapping training sets; None if
    unknown.
    """

    data_sets: tuple[str, ...]
    methods: tuple[str, ...]
    values: np.ndarray
    splits: tuple[np.ndarray | None, ...] = ()
    correlation: tuple[float | None, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n, k = self.values.shape
        if k < 2:
            raise Refusal(f"{_counted(k, 'method')}: a comparison needs at least two.")
        if n < 2:
            raise Refusal(
                f"{_counted(n, 'data set')}: what holds on one says nothing of others; a "
                "comparison over data sets needs at least two. Two rules on the rows of one data "
                "set compare by tr.compare."
            )
        if n > MOST_SETS or k > MOST_METHODS:
            raise Refusal(
                f"{n} data sets and {k} methods: at most {MOST_SETS} and {MOST_METHODS} are "
                "compared."
            )
        _refuse_twice(self.methods, "method")
        _refuse_twice(self.data_sets, "data set")
        for method, column in zip(self.methods, self.values.T, strict=True):
            if np.isnan(column).all():
                raise Refusal(f"method '{method}' has no value on any data set: leave it out.")

    def taken(self, rows: np.ndarray) -> Scores:
        """Return the data sets with these indices."""
        return Scores(
            tuple(self.data_sets[i] for i in rows),
            self.methods,
            self.values[rows],
            tuple(self.splits[i] for i in rows) if self.splits else (),
            tuple(self.correlation[i] for i in rows) if self.correlation else (),
            self.notes,
        )


def _counted(n: int, what: str) -> str:
    return f"{n or 'no'} {what}{'' if n == 1 else 's'}"


def _refuse_twice(names: Sequence[str], what: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise BadData(f"two {what}s are called '{name}': give each a name of its own.")


def read_scores(
    table: Any, methods: Any = None, data_sets: Any = None, correlation: Any = None
) -> Scores:
    """Return the table that a user gave."""
    if isinstance(table, Scores):
        return table
    cells, columns, rows = _cells(table)
    names = _named(methods, columns, len(cells[0]) if cells else 0, "method")
    sets = _named(data_sets, rows, len(cells), "data set")
    read = [
        [_cell(cell, sets[i], names[j]) for j, cell in enumerate(row)]
        for i, row in enumerate(cells)
    ]
    values = np.array([[cell.mean() if cell.size else np.nan for cell in row] for row in read])
    splits = tuple(_of_one_set(row, sets[i]) for i, row in enumerate(read))
    if correlation is not None and all(of_set is None for of_set in splits):
        raise BadData(
            "correlation is that of single splits, and each method has one number on each data "
            "set: give the results of all splits, or leave it out."
        )
    return Scores(
        sets,
        names,
        values.reshape(len(sets), len(names)),
        splits,
        _correlations(correlation, len(sets)),
    )


def _cells(table: Any) -> tuple[list[list[Any]], Sequence[Any] | None, Sequence[Any] | None]:
    """Return rows of cells, and the names of columns and rows if they are known."""
    if hasattr(table, "columns") and hasattr(table, "to_numpy"):
        return _of_frame(table)
    if isinstance(table, Mapping):
        # A method maps to values in one order, or to a mapping of data set to value.
        columns = list(table.values())
        inner = [isinstance(column, Mapping) for column in columns]
        if columns and all(inner):
            rows = list(dict.fromkeys(name for column in columns for name in column))
            return [[column.get(row) for column in columns] for row in rows], list(table), rows
        sizes = {len(c) if isinstance(c, Sequence | np.ndarray) else -1 for c in columns}
        if any(inner) or len(sizes) > 1 or -1 in sizes or any(isinstance(c, str) for c in columns):
            raise BadData(f"the methods of scores have values of unlike length or kind: {WAYS}.")
        return [list(row) for row in zip(*columns, strict=True)], list(table), None
    try:
        array = as_array(table, np.float64)
    except ValueError:
        raise BadData(f"{mention('scores', table)} is no table of numbers: {WAYS}.") from None
    if array.ndim not in (2, 3):
        raise BadData(f"scores has shape {array.shape}: {WAYS}.")
    return [list(row) for row in array], None, None


def _of_frame(frame: Any) -> tuple[list[list[Any]], Sequence[Any], Sequence[Any] | None]:
    """Read numeric columns as methods; a text column or the index names the data sets."""
    columns = {name: list(frame[name]) for name in frame.columns}
    texts = [name for name, cells in columns.items() if any(isinstance(c, str) for c in cells)]
    if len(texts) > 1:
        raise BadData(
            f"columns '{texts[0]}' and '{texts[1]}' hold text: one names the data sets, and the "
            "others are the values of methods."
        )
    names = columns.pop(texts[0]) if texts else getattr(frame, "index", None)
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    return rows, list(columns), None if names is None else list(names)


def _named(names: Any, of_table: Sequence[Any] | None, n: int, what: str) -> tuple[str, ...]:
    argument = what.replace(" ", "_") + "s"
    if names is None:
        defaults = of_table if of_table is not None else range(1, n + 1)
        return tuple(str(name) for name in defaults)
    if isinstance(names, str) or not isinstance(names, Sequence | np.ndarray) or len(names) != n:
        raise BadData(f"{mention(argument, names)}: give {n} names, one for each {what}.")
    return tuple(str(name) for name in names)


def _cell(value: Any, data_set: str, method: str) -> np.ndarray:
    """Return the results of a cell: one number, several splits, or none if it is missing."""
    try:
        results = np.atleast_1d(as_array(np.nan if value is None else value, np.float64))
    except ValueError:
        results = np.array([np.inf])
    if results.ndim > 1 or np.isinf(results).any():
        raise BadData(
            f"the value of '{method}' on '{data_set}' is {shown(value)}, no finite number; what "
            "is missing is None or NaN."
        )
    return results[:0] if np.isnan(results).any() else results


def _of_one_set(row: Sequence[np.ndarray], data_set: str) -> np.ndarray | None:
    """Return the splits of a data set as columns; None if a cell is missing or a single number."""
    sizes = {len(cell) for cell in row if len(cell)}
    if len(sizes) > 1:
        raise BadData(
            f"on '{data_set}' methods have {min(sizes)} to {max(sizes)} results: give all of them "
            "the results of the same splits."
        )
    whole = all(len(cell) > 1 for cell in row)
    return np.stack(row, axis=1) if whole else None


def _correlations(value: Any, n: int) -> tuple[float | None, ...]:
    if value is None:
        return (None,) * n
    try:
        rho = np.broadcast_to(as_array(value, np.float64), (n,))
    except ValueError:
        rho = np.array([np.nan])
    if not ((rho >= 0) & (rho < 1)).all():
        raise BadData(
            f"{mention('correlation', value)}: give n_test / (n_train + n_test) of the splits (0 "
            f"where they share no rows), one number or one for each of {n} data sets."
        )
    return tuple(rho.tolist())


WORDS = {
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
class RankTerms:
    """Options of the comparison: `better` is "lower" or "higher".

    `control` is the reference method.
    """

    better: str = "lower"
    missing: str = "leave-out"
    pairwise: str = "wilcoxon"
    control: str | None = None
    rope: float = ROPE
    confidence_level: float = 0.95
    random_state: int = 0

    def __post_init__(self) -> None:
        for name, words in WORDS.items():
            choice = getattr(self, name)
            if not isinstance(choice, str) or choice not in words:
                nearest = closest(choice, words) if isinstance(choice, str) else None
                known = "; ".join(f"{label!r}: {about}" for label, about in words.items())
                raise UnknownName(f"{mention(name, choice)}{nearest or '.'} Known: {known}.")
        check_rope(self.rope)
        check_level("confidence_level", self.confidence_level)
        seed: Any = self.random_state
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise BadArgument(f"{mention('random_state', seed)}: use an integer of at least 0.")

    @property
    def alpha(self) -> float:
        """The level of the tests."""
        return 1 - self.confidence_level

    @property
    def sign(self) -> int:
        """The factor that makes lower values better."""
        return 1 if self.better == "lower" else -1


MOST_NAMED = 5


@frozen(eq=False)
class RankTable:
    """The data sets that take part; `for_ranks` is finite except for methods that rank last."""

    scores: Scores
    for_ranks: np.ndarray
    left_out: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def no_splits(self) -> str | None:
        """Reason why no hierarchical test is possible, or None; empty if no splits were given."""
        scores = self.scores
        if all(splits is None for splits in scores.splits):
            return ""
        if len(scores.data_sets) < FEWEST_SETS:
            return f"it needs {FEWEST_SETS} data sets"
        for name, splits, correlation in zip(
            scores.data_sets, scores.splits, scores.correlation, strict=True
        ):
            if splits is None or len(splits) < FEWEST_SPLITS:
                return f"it needs {FEWEST_SPLITS} results of every method on '{name}'"
            if correlation is None:
                return f"how splits correlate on '{name}' is not known (correlation=)"
        return None


def rank_table(scores: Scores, terms: RankTerms) -> RankTable:
    """Apply the rule for missing cells, with a note on its effect."""
    lacking = np.isnan(scores.values)
    oriented = terms.sign * scores.values
    if not lacking.any():
        return RankTable(scores, oriented, (), ())
    if terms.missing == "last":
        # A comparison needs two data sets on which both methods have values.
        known = (~np.isnan(scores.values)).astype(int)
        both = known.T @ known
        for a, b in zip(*np.triu_indices(len(scores.methods), 1), strict=True):
            if both[a, b] < 2:
                raise Refusal(
                    f"'{scores.methods[a]}' and '{scores.methods[b]}' have values on "
                    f"{both[a, b] or 'no'} common data set{'' if both[a, b] == 1 else 's'}: leave "
                    "one of them out."
                )
        notes = (_last(scores, lacking),)
        return RankTable(scores, np.where(lacking, np.inf, oriented), (), notes)
    rows = np.flatnonzero(~lacking.any(1))
    left_out = tuple(scores.data_sets[i] for i in np.flatnonzero(lacking.any(1)))
    if len(rows) < 2:
        worst = int(lacking.sum(0).argmax())
        raise Refusal(
            f"only {len(rows)} of {len(scores.data_sets)} data sets have a value of every method; "
            f"'{scores.methods[worst]}' lacks most ({int(lacking[:, worst].sum())}): leave it out, "
            f"or use {mention('missing', 'last')}."
        )
    whole = scores.taken(rows)
    return RankTable(whole, oriented[rows], left_out, (_left_out(scores, lacking, left_out),))


def _left_out(scores: Scores, lacking: np.ndarray, left_out: tuple[str, ...]) -> str:
    counts = ", ".join(
        f"{method} on {int(n)}"
        for method, n in zip(scores.methods, lacking.sum(0), strict=True)
        if n
    )
    return (
        f"{len(left_out)} of {len(scores.data_sets)} data sets take no part, as a method has no "
        f"value there ({counts}): {first_few(left_out, MOST_NAMED)}"
    )


def _last(scores: Scores, lacking: np.ndarray) -> str:
    cells = [
        f"{scores.methods[j]} on {scores.data_sets[i]}"
        for i, j in zip(*lacking.nonzero(), strict=True)
    ]
    return (
        f"{len(cells)} of {lacking.size} cells are missing and rank last (those of one data set "
        f"tied): {first_few(cells, MOST_NAMED)}; differences of two methods are of the data sets "
        "on which both have values"
    )
