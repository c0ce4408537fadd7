"""Survival outcomes: an event indicator with the time of the event or of censoring."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.arguments import to_row_array
from truerisk.core.errors import BadData, Refusal

ADVICE_ON_PAIRS = (
    "give a structured array of a boolean (whether the event came) and a time, as "
    "sksurv.util.Surv.from_arrays(event, time) makes it"
)


def survival_target(y: Any, n: int) -> np.ndarray:
    """Convert an array of (event, time) pairs to two columns: event indicator (1 or 0) and time."""
    outcome = to_row_array("y", y, ADVICE_ON_PAIRS)
    field_names = outcome.dtype.names or ()
    field_kinds = [outcome.dtype[name].kind for name in field_names]
    if (
        outcome.ndim != 1
        or len(field_names) != 2
        or field_kinds[0] != "b"
        or field_kinds[1] not in "iuf"
    ):
        raise BadData(f"y is no outcome in time: {ADVICE_ON_PAIRS}.")
    if len(outcome) != n:
        raise BadData(f"X has {n} rows and y has {len(outcome)}: they must be equally long.")
    had_event, time = (outcome[name].astype(np.float64) for name in field_names)
    bad_rows = np.flatnonzero(~np.isfinite(time) | (time < 0))
    if len(bad_rows):
        raise BadData(
            f"the time of row {bad_rows[0]} is {time[bad_rows[0]]:g}: times are finite and not "
            "negative; leave these rows out."
        )
    if not had_event.any():
        raise BadData("the event came in no row: there is nothing to predict.")
    return np.column_stack([had_event, time])


def as_pairs(y: np.ndarray, pair_dtype: np.dtype[Any]) -> np.ndarray:
    """Convert the event and time columns back to the structured array type that the user passed."""
    pairs = np.empty(len(y), dtype=pair_dtype)
    for name, column in zip(pair_dtype.names or (), y.T, strict=True):
        pairs[name] = column
    return pairs


def uncensored_probability(
    y: np.ndarray, weights: np.ndarray | None, query_times: np.ndarray, *, past: bool
) -> Any:
    """Return the Kaplan-Meier probability that a row is uncensored just before the given times.

    If `past` is True, the probability is that of being uncensored beyond these times.

    If an event and a censoring have the same time, the event counts as the earlier one.
    """
    row_weights = np.ones(len(y)) if weights is None else weights
    had_event, (distinct_times, time_index) = y[:, 0] == 1, np.unique(y[:, 1], return_inverse=True)
    n_events, n_censored = (
        np.bincount(time_index, row_weights * is_counted, len(distinct_times))
        for is_counted in (had_event, ~had_event)
    )
    n_at_risk = np.cumsum((n_events + n_censored)[::-1])[::-1] - n_events
    uncensored_probabilities = np.cumprod(
        1 - np.divide(n_censored, n_at_risk, out=np.zeros_like(n_censored), where=n_at_risk > 0)
    )
    n_times_before = np.searchsorted(distinct_times, query_times, side="right" if past else "left")
    return np.concatenate([[1.0], uncensored_probabilities])[n_times_before]


def outcome_at_horizon(
    y: np.ndarray, weights: np.ndarray | None, horizon: float
) -> dict[str, np.ndarray]:
    """Return for each row its class (1 if the event came by the horizon, else 0) and its weight.

    The weights are inverse probabilities of censoring (Graf et al., 1999). Let G be the probability
    of being uncensored, estimated from all rows. The weight of a row is multiplied by 1/G(its time)
    if its event came by the horizon, by 1/G(horizon) if it was followed past the horizon, and by 0
    if it was censored before.
    """
    had_event, time = y.T
    event_by_horizon, followed_past_horizon = (had_event == 1) & (time <= horizon), time > horizon
    if not followed_past_horizon.any():
        raise Refusal(
            f"no row was followed past the time {horizon:.12g}: choose one below {time.max():.12g}."
        )
    uncensored_prob_at_event = np.where(
        event_by_horizon, uncensored_probability(y, weights, time, past=False), 1.0
    )
    uncensored_prob_at_horizon = float(
        uncensored_probability(y, weights, np.array([horizon]), past=True)[0]
    )
    censoring_weights = (
        event_by_horizon / uncensored_prob_at_event
        + followed_past_horizon / uncensored_prob_at_horizon
    )
    row_weights = censoring_weights if weights is None else censoring_weights * weights
    return {"codes": event_by_horizon.astype(np.int64), "sample_weight": row_weights}
