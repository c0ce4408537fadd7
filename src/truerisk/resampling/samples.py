"""Bootstrap samples: how often each row is drawn; plain, within classes, or whole groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.arguments import as_array
from truerisk.core.errors import BadData, TrueRiskWarning
from truerisk.core.table.data import Data
from truerisk.core.warned import warn

__all__ = ["draw_samples", "given_samples"]


def draw_samples(
    data: Data, n_samples: int, rng: np.random.Generator, *, stratify: bool = False
) -> np.ndarray:
    """`(n_samples, n_rows)` times that each row is drawn, n draws with replacement.

    With groups, as many groups are drawn as there are, each with all of its rows. With `stratify`
    each class (or the groups of each class) is drawn from by itself, as often as it has members.
    """
    n_rows = data.n_rows
    member = np.arange(n_rows) if data.groups is None else _numbered(data.groups)
    n_members = int(member.max()) + 1
    if stratify and data.codes is not None:
        classes = _classes_of_members(data, member, n_members)
        parts = [np.flatnonzero(classes == c) for c in np.unique(classes)]
    else:
        parts = [np.arange(n_members)]
    times = np.zeros((n_samples, n_members), dtype=np.int64)
    for part in parts:
        picked = part[rng.integers(len(part), size=(n_samples, len(part)))]
        times += _counted(picked, n_members)
    if data.groups is not None:
        times = times[:, member]
    if data.codes is not None and data.row_ids is None:  # said once, of the whole data
        _warn_missing_classes(data, times)
    return times


def given_samples(samples: Any, data: Data) -> np.ndarray:
    """The times that each row is drawn in given samples, lists of row numbers."""
    if data.row_ids is not None:
        raise BadData(
            "samples are given for all rows, and here a part of them is to be sampled (inside an "
            "outer split): leave samples out, so that they are drawn."
        )
    try:
        drawn = as_array(samples)
    except ValueError:
        drawn = np.empty(0)
    if drawn.ndim != 2 or drawn.dtype.kind not in "iu" or not drawn.size:
        raise BadData(
            f"samples of shape {np.shape(drawn)} are no (replicates, n) array of row numbers."
        )
    if drawn.min() < 0 or drawn.max() >= data.n_rows:
        bad = int(np.flatnonzero(((drawn < 0) | (drawn >= data.n_rows)).any(axis=1))[0])
        raise BadData(
            f"sample {bad} names rows outside 0 … {data.n_rows - 1}: samples hold row numbers."
        )
    return _counted(drawn, data.n_rows)


def _warn_missing_classes(data: Data, times: np.ndarray) -> None:
    held = times @ np.eye(data.n_classes, dtype=np.int64)[data.codes_of(np.arange(data.n_rows))]
    lacking = (held == 0).sum(axis=0)
    if lacking.any():
        worst = int(lacking.argmax())
        warn(
            f"{lacking[worst]} of {len(times)} bootstrap samples hold no row of class "
            f"{data.label(worst)!r}: some learners cannot be fitted on them. Draw within the "
            "classes, tr.methods.Bootstrap(..., stratify=True), or merge classes.",
            TrueRiskWarning,
        )


def _numbered(groups: np.ndarray) -> np.ndarray:
    return np.unique(groups, return_inverse=True)[1].ravel()


def _counted(drawn: np.ndarray, n_members: int) -> np.ndarray:
    """How often each member occurs in each line."""
    places = drawn + np.arange(len(drawn))[:, None] * n_members
    counted = np.bincount(places.ravel(), minlength=len(drawn) * n_members)
    return counted.reshape(len(drawn), n_members)


def _classes_of_members(data: Data, member: np.ndarray, n_members: int) -> np.ndarray:
    """The class of each row, or of each group, whose rows must then be of one class."""
    classes = np.zeros(n_members, dtype=np.int64)
    classes[member] = data.class_codes
    mixed = np.unique(member[classes[member] != data.class_codes])
    if len(mixed):
        raise BadData(
            f"{len(mixed)} groups hold rows of several classes, so that groups cannot be drawn "
            "within classes: use stratify=False."
        )
    return classes
