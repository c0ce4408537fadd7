"""Losses of several candidates on the same rows, with checks that every kind of table needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truerisk.core.arguments import mention, repr_on_one_line
from truerisk.core.errors import BadData, Refusal
from truerisk.core.frozen import frozen
from truerisk.external.predictions import RatedSets, loss_without_outcomes, named, refuse_missing
from truerisk.losses.loss import RowLoss
from truerisk.results.interval import Scale
from truerisk.results.records import FINITE_RANGE

CANDIDATE, ROW, OUTCOME, LOSS, PREDICTION = "candidate", "row", "y", "loss", "prediction"
PROBABILITY = "probability_"


@frozen(eq=False)
class CandidateTable:
    """Losses of all candidates on the same rows, and what is known about candidates and rows.

    `losses[c, i]` is the mean loss of candidate c on row i. For a score of whole sets of rows,
    `rated_sets` holds the predictions, and `losses` is the score's risk plus the influence of each
    row on it. `order` holds the candidates in the order in which they were tried, if it is known.
    `one_row` is the change of each candidate's risk by another predicted label of one row, 0 if
    predictions are no labels.
    """

    names: tuple[str, ...]
    losses: np.ndarray
    scoring: str
    scale: Scale
    groups: np.ndarray | None = None
    order: np.ndarray | None = None
    rated_sets: RatedSets | None = None
    one_row: np.ndarray | float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def risks(self) -> np.ndarray:
        """Each candidate's risk on all rows."""
        return self.losses.mean(axis=1) if self.rated_sets is None else self.rated_sets.risks()


def table_of_losses(
    names: Sequence[str], losses: np.ndarray, scoring: Any, notes: Sequence[str], **facts: Any
) -> CandidateTable:
    """Return a table of row losses, without the candidates that have no loss at all."""
    name, scale = LOSS, Scale()
    if scoring is not None:
        loss = loss_without_outcomes(scoring)
        if not isinstance(loss, RowLoss):
            raise Refusal(
                f"{mention('scoring', scoring)} rates whole sets of rows, which losses of single "
                "rows do not tell: give a line for each candidate and row, with the columns "
                f"{CANDIDATE!r}, {ROW!r}, {OUTCOME!r} and {PREDICTION!r}."
            )
        name, scale = loss.name, loss.scale
    n_known = np.isfinite(losses).sum(axis=1)
    refuse_gaps(names, np.where(n_known > 0, n_known, losses.shape[1]), losses.shape[1])
    failed = [names[c] for c in np.flatnonzero(n_known == 0).tolist()]
    if len(failed) == len(names):
        raise BadData("no candidate has a loss.")
    if failed:
        notes = [*notes, f"candidates without losses were left out: {named(failed)}"]
        if facts.get("order") is not None:
            place = np.cumsum(n_known > 0) - 1
            facts["order"] = np.array([place[c] for c in facts["order"] if n_known[c] > 0])
    losses = losses[n_known > 0]
    return CandidateTable(
        names=tuple(n for n, known in zip(names, n_known, strict=True) if known),
        losses=losses,
        scoring=name,
        scale=scale,
        one_row=1.0 / losses.shape[1] if np.isin(losses, (0, 1)).all() else 0.0,
        notes=tuple(notes),
        **facts,
    )


def refuse_gaps(names: Sequence[str], n_known: np.ndarray, n_rows: int) -> None:
    """Raise BadData if a candidate lacks the losses or predictions of some rows.

    The message names these candidates.
    """
    gaps = np.flatnonzero(n_known < n_rows).tolist()
    if gaps:
        examples = [f"{names[c]} ({n_known[c]} of {n_rows} rows)" for c in gaps]
        raise BadData(
            f"{len(gaps)} of {len(names)} candidates {'lacks' if len(gaps) == 1 else 'lack'} some "
            f"rows: {named(examples)}. Candidates are compared on the same rows: complete them, or "
            "leave these candidates or rows out."
        )


def losses_as_floats(values: Any, owner: str) -> np.ndarray:
    """Convert losses to floats, missing ones to NaN; raise BadData for text and infinity."""
    try:
        numbers = np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan)
    except (TypeError, ValueError):
        cells = np.ravel(np.asarray(values, dtype=object)).tolist()
        first_text = next((cell for cell in cells if not _is_number(cell)), "")
        raise BadData(
            f"{owner} holds {repr_on_one_line(first_text)}, which is no loss. Give a column of "
            "numbers for each candidate, and name a column of groups by "
            f"{mention('groups')}; or give a line for each candidate and row, with the columns "
            f"{CANDIDATE!r} and {ROW!r}."
        ) from None
    if (np.abs(numbers) > FINITE_RANGE.high).any():
        raise BadData(f"{owner} holds an infinite loss: a mean of such losses says nothing.")
    return numbers


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def group_numbers_of(groups: Any, n_rows: int) -> np.ndarray | None:
    """Return the group number of each row, or None without groups."""
    if groups is None:
        return None
    labels = np.asarray(groups)
    refuse_missing("groups", labels)
    if labels.shape != (n_rows,):
        raise BadData(
            f"groups has shape {labels.shape}: it needs one label for each of {n_rows} rows."
        )
    names, group_numbers = np.unique(
        labels.astype(str) if labels.dtype.kind == "O" else labels, return_inverse=True
    )
    if len(names) < 2:
        raise BadData("all rows are of one group: nothing tells how much groups differ.")
    return np.asarray(group_numbers.ravel())


def trial_order(order: Any, n_candidates: int) -> np.ndarray | None:
    """Return the candidates in the order in which they were tried, or None if it is unknown."""
    if order is None or order is False:
        return None
    if order is True:
        return np.arange(n_candidates)
    trial_numbers = losses_as_floats(order, "order")
    if trial_numbers.shape != (n_candidates,):
        raise BadData(
            f"order has shape {trial_numbers.shape}: it needs one trial number for each of "
            f"{n_candidates} candidates, or True if they stand in the order of the trials."
        )
    if len(np.unique(trial_numbers[np.isfinite(trial_numbers)])) < n_candidates:
        raise BadData("order needs a different trial number for each candidate.")
    return np.argsort(trial_numbers, kind="stable")


def checked_mapping(columns: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the columns as one-dimensional arrays of equal length; raise BadData otherwise."""
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    if not arrays:
        raise BadData("the table has no candidate.")
    first_name, first = next(iter(arrays.items()))
    for name, values in arrays.items():
        if values.ndim != 1 or len(values) != len(first):
            raise BadData(
                f"{name!r} has shape {values.shape} and {first_name!r} has shape {first.shape}: "
                "each needs one value for each of the same rows."
            )
    if not len(first):
        raise BadData("the table has no row.")
    return arrays
