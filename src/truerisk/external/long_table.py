"""Read a table with a line for each candidate and row: a loss, or the outcome and predictions.

candidate, row, [y], loss | prediction | probability_<class>..., [fold, repeat, group, order]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.errors import BadArgument, BadData
from truerisk.core.frozen import frozen
from truerisk.external.candidate_table import (
    CANDIDATE,
    LOSS,
    OUTCOME,
    PREDICTION,
    PROBABILITY,
    ROW,
    CandidateTable,
    group_numbers_of,
    losses_as_floats,
    refuse_gaps,
    table_of_losses,
    trial_order,
)
from truerisk.external.predictions import (
    RatedSets,
    class_named,
    class_names,
    encoded_predictions,
    finite_numbers,
    label_text,
    named,
    outcome_data,
    refuse_missing,
    refuse_scorer,
)
from truerisk.losses.loss import RowLoss
from truerisk.losses.loss_words import as_loss


def read_long_table(
    columns: dict[str, np.ndarray], scoring: Any, positive: Any, groups: Any, order: Any
) -> CandidateTable:
    """Build a table of candidates from the columns of a long table.

    The `groups`, if given, are a label for each line.
    """
    if order is not None and order is not False:
        raise BadArgument(
            f"{mention('order', order)}: this table has a line for each candidate and row, so "
            "order is the name of a column."
        )
    predictions = [n for n in columns if n == PREDICTION or n.startswith(PROBABILITY)]
    missing = [n for n in (ROW, OUTCOME) if n not in columns and (n == ROW or LOSS not in columns)]
    if LOSS not in columns and not predictions:
        missing.append(f"{PREDICTION} (or {PROBABILITY}<class>, or {LOSS})")
    if missing:
        raise BadData(
            f"a table with the column {CANDIDATE!r} has a line for each candidate and row, and "
            f"this one lacks: {', '.join(missing)}. It has: {named(list(columns))}."
        )
    lines = _Lines.from_columns(columns)
    if groups is None and "group" in columns:
        groups = columns["group"]
    if groups is not None:
        groups = lines.of_rows("group", np.asarray(groups))
    trials = lines.of_candidates("order", columns["order"]) if "order" in columns else None
    facts = {
        "groups": group_numbers_of(groups, len(lines.rows)),
        "order": trial_order(trials, len(lines.candidates)),
    }
    if LOSS in columns:
        losses = lines.mean_by_row(lines.spread(losses_as_floats(columns[LOSS], "column 'loss'")))
        return table_of_losses(lines.candidates, losses, scoring, (), **facts)
    return _table_of_predictions(lines, columns, scoring, positive, facts)


@frozen(eq=False)
class _Lines:
    """Candidate and position that each line of a long table refers to.

    A position is a row in one repeat of the folds. Every candidate has one line for each position.
    Positions are sorted by repeat, fold and row, so that a test set is a slice of them.
    """

    candidates: tuple[str, ...]
    rows: tuple[str, ...]
    candidate_of_line: np.ndarray
    row_of_line: np.ndarray
    position_of_line: np.ndarray
    row_of_position: np.ndarray
    test_sets: tuple[slice, ...]

    @classmethod
    def from_columns(cls, columns: Mapping[str, np.ndarray]) -> _Lines:
        """Return the places of all lines; raise if a candidate lacks a row or has it twice."""
        candidates, candidate_of_line = _numbered(CANDIDATE, columns)
        rows, row_of_line = _numbered(ROW, columns, sort=True)
        repeat, fold = (
            _numbered(n, columns, sort=True)[1] if n in columns else np.zeros_like(row_of_line)
            for n in ("repeat", "fold")
        )
        tests, test_of_line = np.unique(
            np.column_stack([repeat, row_of_line]), axis=0, return_inverse=True
        )
        test_of_line = test_of_line.ravel()
        counts = np.zeros((len(candidates), len(tests)), dtype=np.int64)
        np.add.at(counts, (candidate_of_line, test_of_line), 1)
        if counts.max() > 1:
            c, test = np.argwhere(counts > 1)[0]
            remedy = "" if "repeat" in columns else " Number repeated tests in a column 'repeat'."
            raise BadData(
                f"candidate {candidates[c]!r} has {counts[c, test]} lines for row "
                f"{rows[tests[test, 1]]}{' in one repeat' if not remedy else ''}.{remedy}"
            )
        refuse_gaps(candidates, counts.sum(axis=1), len(tests))
        fold_of_test = np.empty(len(tests), dtype=np.int64)
        fold_of_test[test_of_line] = fold
        differs = np.flatnonzero(fold_of_test[test_of_line] != fold)
        if len(differs):
            raise BadData(
                f"row {rows[row_of_line[differs[0]]]} is in one fold for a candidate and in "
                "another for a second one: candidates are compared on the same folds."
            )
        test_order = np.lexsort((tests[:, 1], fold_of_test, tests[:, 0]))
        set_keys = np.column_stack([tests[:, 0], fold_of_test])[test_order]
        starts = np.flatnonzero(np.diff(set_keys, axis=0, prepend=-1).any(axis=1)).tolist()
        return cls(
            candidates,
            rows,
            candidate_of_line,
            row_of_line,
            np.argsort(test_order)[test_of_line],
            tests[test_order, 1],
            tuple(map(slice, starts, [*starts[1:], len(tests)])),
        )

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Arrange the values of lines in an array of shape (candidates, positions, ...)."""
        shape = (len(self.candidates), len(self.row_of_position), *values.shape[1:])
        table = np.empty(shape, dtype=values.dtype)
        table[self.candidate_of_line, self.position_of_line] = values
        return table

    def mean_by_row(self, losses: np.ndarray) -> np.ndarray:
        """Return the mean loss of each row over its positions, which are its repeats."""
        n_tests = np.bincount(self.row_of_position)
        sums = [np.bincount(self.row_of_position, one) for one in losses]
        return np.asarray(np.array(sums) / n_tests)

    def of_rows(self, name: str, values: np.ndarray) -> np.ndarray:
        """Return the value of each row in a column; raise if a row has two."""
        return _one_value(name, values, self.row_of_line, self.rows, "row")

    def of_candidates(self, name: str, values: np.ndarray) -> np.ndarray:
        """Return the value of each candidate in a column; raise if a candidate has two."""
        return _one_value(name, values, self.candidate_of_line, self.candidates, "candidate")


def _one_value(
    name: str, values: np.ndarray, owner_of_line: np.ndarray, owners: tuple[str, ...], noun: str
) -> np.ndarray:
    if len(values) != len(owner_of_line):
        raise BadData(
            f"{name} has {len(values)} values for {len(owner_of_line)} lines: a table with a line "
            "for each candidate and row needs one for each line, or the name of a column."
        )
    refuse_missing(f"column {name!r}", values)
    found = np.empty(len(owners), dtype=values.dtype)
    found[owner_of_line] = values
    differs = np.flatnonzero(found[owner_of_line] != values)
    if len(differs):
        owner = owners[owner_of_line[differs[0]]]
        raise BadData(
            f"column {name!r} has {values[differs[0]]!s} and {found[owner_of_line[differs[0]]]!s} "
            f"for {noun} {owner}: give each {noun} one value."
        )
    return found


def _numbered(
    name: str, columns: Mapping[str, np.ndarray], *, sort: bool = False
) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the distinct values of a column as texts and the number of each line's value.

    They stand in the order of their first line, or sorted: numbers by size, texts by letters.
    """
    values = columns[name]
    refuse_missing(f"column {name!r}", values)
    texts = [label_text(value) for value in values.tolist()]
    names = list(dict.fromkeys(texts))
    if sort:
        is_numeric = values.dtype.kind in "iuf"
        names.sort(key=float if is_numeric else str)
    numbers = {name: number for number, name in enumerate(names)}
    return tuple(names), np.array([numbers[text] for text in texts], dtype=np.int64)


def _table_of_predictions(
    lines: _Lines,
    columns: Mapping[str, np.ndarray],
    scoring: Any,
    positive: Any,
    facts: Mapping[str, Any],
) -> CandidateTable:
    """Return the table of the losses of predictions, by a loss of rows or a score of test sets."""
    given = {n.removeprefix(PROBABILITY): n for n in columns if n.startswith(PROBABILITY)}
    data = outcome_data(lines.of_rows(OUTCOME, columns[OUTCOME]), scoring, bool(given))
    loss = as_loss(scoring, data, class_named(positive, data))
    refuse_scorer(loss, scoring)
    probabilities = None
    if given:
        labels = class_names(data)
        if set(given) != set(labels):
            raise BadData(
                f"y has the classes {named(labels)}, and the columns of probabilities are of "
                f"{named(list(given))}: each class needs a column {PROBABILITY}<class>."
            )
        probabilities = np.column_stack(
            [finite_numbers(columns[given[n]], f"column {given[n]!r}") for n in labels]
        )
    encoded = encoded_predictions(data, loss, columns.get(PREDICTION), probabilities)
    values, rows = lines.spread(encoded), lines.row_of_position
    common: dict[str, Any] = {
        "names": lines.candidates,
        "scoring": loss.name,
        "scale": loss.scale,
        **facts,
    }
    if isinstance(loss, RowLoss):
        losses = lines.mean_by_row(loss.of_rows(data, rows, values))
        if not np.isfinite(losses).all():
            c, row = np.argwhere(~np.isfinite(losses))[0]
            raise BadData(
                f"candidate {lines.candidates[c]!r} has an infinite loss on row {lines.rows[row]}: "
                "its probability of the observed class is 0."
            )
        is_error_count = loss.response == "label" and loss.binary
        one_row = 1.0 / losses.shape[1] if is_error_count else 0.0
        return CandidateTable(losses=losses, one_row=one_row, **common)
    rated_sets = RatedSets(data, loss, rows, values, lines.test_sets)
    # A loss that takes no weights refuses here, and not in every bootstrap sample.
    first_set = rows[lines.test_sets[0]]
    loss.of_set(data, first_set, values[:, lines.test_sets[0]], np.ones(len(first_set)))
    return CandidateTable(
        losses=rated_sets.losses_by_influence(),
        one_row=rated_sets.one_row_effects(),
        rated_sets=rated_sets,
        **common,
    )
