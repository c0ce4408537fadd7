"""Survival outcomes: an event indicator, the time of the event or of censoring, and weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.arguments import even_array
from truerisk.core.errors import BadData, Refusal

AS_PAIRS = (
    "give a structured array of a boolean (whether the event came) and a time, as "
    "sksurv.util.Surv.from_arrays(event, time) makes it"
)


def survival_target(y: Any, n: int) -> np.ndarray:
    """Return two columns, the event indicator (1 or 0) and the time, from an array of pairs."""
    target = even_array("y", y, AS_PAIRS)
    names = target.dtype.names or ()
    kinds = [target.dtype[name].kind for name in names]
    if target.ndim != 1 or len(names) != 2 or kinds[0] != "b" or kinds[1] not in "iuf":
        raise BadData(f"y is no outcome in time: {AS_PAIRS}.")
    if len(target) != n:
        raise BadData(f"X has {n} rows and y has {len(target)}: they must be equally long.")
    came, time = (target[name].astype(np.float64) for name in names)
    wrong = np.flatnonzero(~np.isfinite(time) | (time < 0))
    if len(wrong):
        raise BadData(
            f"the time of row {wrong[0]} is {time[wrong[0]]:g}: times are finite and not negative; "
            "leave these rows out."
        )
    if not came.any():
        raise BadData("the event came in no row: there is nothing to predict.")
    return np.column_stack([came, time])


def as_pairs(y: np.ndarray, kind: np.dtype[Any]) -> np.ndarray:
    """Convert the two columns back to the structured array that was given."""
    pairs = np.empty(len(y), dtype=kind)
    for name, column in zip(kind.names or (), y.T, strict=True):
        pairs[name] = column
    return pairs


def follow_up(y: np.ndarray, weights: np.ndarray | None, at: np.ndarray, *, past: bool) -> Any:
    """Return the Kaplan-Meier probability of follow-up up to these times, or `past` them.

    If an event and a censoring have the same time, the event counts as the earlier one.
    """
    w = np.ones(len(y)) if weights is None else weights
    came, (times, place) = y[:, 0] == 1, np.unique(y[:, 1], return_inverse=True)
    events, lost = (np.bincount(place, w * own, len(times)) for own in (came, ~came))
    exposed = np.cumsum((events + lost)[::-1])[::-1] - events
    stays = np.cumprod(1 - np.divide(lost, exposed, out=np.zeros_like(lost), where=exposed > 0))
    before = np.searchsorted(times, at, side="right" if past else "left")
    return np.concatenate([[1.0], stays])[before]


def came_by(y: np.ndarray, weights: np.ndarray | None, horizon: float) -> dict[str, np.ndarray]:
    """Return whether the event came by the horizon (1 or 0), and the weight of each row.

    The weights are inverse probabilities of censoring (Graf et al., 1999). Let G be the probability
    of being uncensored, estimated from all rows. The weight of a row is multiplied by 1/G(its time)
    if its event came by the horizon, by 1/G(horizon) if it was followed past the horizon, and by 0
    if it was censored before.
    """
    came, time = y.T
    by_then, later = (came == 1) & (time <= horizon), time > horizon
    if not later.any():
        raise Refusal(
            f"no row was followed past the time {horizon:.12g}: choose one below {time.max():.12g}."
        )
    followed = np.where(by_then, follow_up(y, weights, time, past=False), 1.0)
    past = float(follow_up(y, weights, np.array([horizon]), past=True)[0])
    counts = by_then / followed + later / past
    weighed = counts if weights is None else counts * weights
    return {"codes": by_then.astype(np.int64), "sample_weight": weighed}
