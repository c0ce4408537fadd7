"""Outcomes in time: whether the event came, when it came or a row was last seen, and censoring."""

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
    """Two columns, 1 where the event came (else 0) and the time, of an array of such pairs."""
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
    """The two columns as the structured array that they were given as."""
    pairs = np.empty(len(y), dtype=kind)
    for name, column in zip(kind.names or (), y.T, strict=True):
        pairs[name] = column
    return pairs


def follow_up(y: np.ndarray, weights: np.ndarray | None, at: np.ndarray, *, past: bool) -> Any:
    """The chance of being followed up to these times, or `past` them: Kaplan and Meier's.

    Whoever has the event and whoever is last seen at the same time: the event came first.
    """
    w = np.ones(len(y)) if weights is None else weights
    came, (times, place) = y[:, 0] == 1, np.unique(y[:, 1], return_inverse=True)
    events, lost = (np.bincount(place, w * own, len(times)) for own in (came, ~came))
    exposed = np.cumsum((events + lost)[::-1])[::-1] - events
    stays = np.cumprod(1 - np.divide(lost, exposed, out=np.zeros_like(lost), where=exposed > 0))
    before = np.searchsorted(times, at, side="right" if past else "left")
    return np.concatenate([[1.0], stays])[before]


def came_by(y: np.ndarray, weights: np.ndarray | None, horizon: float) -> dict[str, np.ndarray]:
    """Whether the event came by this time (1 or 0), and what each row weighs.

    Rows that were lost before are made up for by others: a row whose event came by then weighs
    1/G(its time) times as much, one that is followed past it 1/G(it), a lost one 0, where G is the
    chance of being followed (Graf et al., 1999), of all rows.
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
