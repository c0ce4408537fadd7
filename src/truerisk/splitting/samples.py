"""Draw rows at random: a held-out set, bootstrap samples, or nested training sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.arguments import as_array
from truerisk.core.errors import BadData, TrueRiskWarning, warn
from truerisk.data.data import Data
from truerisk.splitting.folds import shuffle_by_class


def draw_held_out(
    data: Data, held_out_share: float, rng: np.random.Generator, *, stratify: bool = True
) -> np.ndarray:
    """Draw a held-out set and return its row numbers, ascending; leave at least one other row."""
    if not 0 < held_out_share < 1:
        raise BadData(
            f"a held-out share of {held_out_share} leaves nothing on one side; use 0 < share < 1."
        )
    if data.n_rows < 2:
        raise BadData("one row (n_samples=1) cannot be split into a training and a test part.")
    if data.groups is not None:
        return _draw_held_out_groups(data.groups, held_out_share, rng)
    strata = data.strata if stratify else None
    shuffled_rows = (
        rng.permutation(data.n_rows) if strata is None else shuffle_by_class(strata, rng)
    )
    n_held_out = min(max(round(data.n_rows * held_out_share), 1), data.n_rows - 1)
    # Rows are held out at equal steps, which begin at a random offset.
    # With a fixed offset, rounding would always favour the last class over the first class.
    cumulative_counts = np.floor(
        np.arange(data.n_rows + 1) * n_held_out / data.n_rows + rng.random()
    )
    return np.sort(shuffled_rows[np.diff(cumulative_counts) > 0])


def _draw_held_out_groups(
    groups: np.ndarray, held_out_share: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw random groups whose share of all rows is as near to the requested share as possible."""
    group_names, group_index, group_sizes = np.unique(
        groups, return_inverse=True, return_counts=True
    )
    if len(group_names) < 2:
        raise BadData("one group cannot be split into two parts: more groups are needed.")
    group_order = rng.permutation(len(group_names))
    cumulative_sizes = np.cumsum(group_sizes[group_order])
    n_drawn_groups = int(np.abs(cumulative_sizes[:-1] - held_out_share * len(groups)).argmin()) + 1
    return np.flatnonzero(np.isin(group_index, group_order[:n_drawn_groups]))


def draw_samples(
    data: Data, n_samples: int, rng: np.random.Generator, *, stratify: bool = False
) -> np.ndarray:
    """Draw bootstrap samples and return how often each sample contains each row.

    The result has shape `(n_samples, n_rows)`, and each sample consists of n_rows draws with
    replacement.

    With groups, each sample draws as many groups as there are, with replacement, each with all of
    its rows. With `stratify` each class (or the groups of each class) is resampled separately, to
    its own size.
    """
    n_rows = data.n_rows
    unit_of_row = np.arange(n_rows) if data.groups is None else _encode_groups(data.groups)
    n_units = int(unit_of_row.max()) + 1
    if stratify and data.codes is not None:
        # Whole groups are drawn from those of each class.
        # A group must therefore not have rows of two classes.
        class_of_unit = np.zeros(n_units, dtype=np.int64)
        class_of_unit[unit_of_row] = data.class_codes
        mixed_units = np.unique(unit_of_row[class_of_unit[unit_of_row] != data.class_codes])
        if len(mixed_units):
            raise BadData(
                f"{len(mixed_units)} groups hold rows of several classes, so that groups cannot "
                "be drawn within classes: use stratify=False."
            )
        units_by_stratum = [
            np.flatnonzero(class_of_unit == class_code) for class_code in np.unique(class_of_unit)
        ]
    else:
        units_by_stratum = [np.arange(n_units)]
    draw_counts = np.zeros((n_samples, n_units), dtype=np.int64)
    for stratum_units in units_by_stratum:
        drawn_units = stratum_units[
            rng.integers(len(stratum_units), size=(n_samples, len(stratum_units)))
        ]
        draw_counts += _count_draws(drawn_units, n_units)
    if data.groups is not None:
        draw_counts = draw_counts[:, unit_of_row]
    # Warn only if samples of all rows are drawn, and not again for subsets of the rows.
    if data.codes is not None and data.row_ids is None:
        class_counts = (
            draw_counts
            @ np.eye(data.n_classes, dtype=np.int64)[data.codes_of(np.arange(data.n_rows))]
        )
        n_samples_without_class = (class_counts == 0).sum(axis=0)
        if n_samples_without_class.any():
            rarest_class = int(n_samples_without_class.argmax())
            warn(
                f"{n_samples_without_class[rarest_class]} of {len(draw_counts)} bootstrap samples "
                "hold no row of class "
                f"{data.label(rarest_class)!r}: some learners cannot be fitted on them. Draw "
                "within the "
                "classes, tr.methods.Bootstrap(..., stratify=True), or merge classes.",
                TrueRiskWarning,
            )
    return draw_counts


def count_given_samples(samples: Any, data: Data) -> np.ndarray:
    """Count how often each row occurs in each sample that the user gave as row numbers."""
    if data.row_ids is not None:
        raise BadData(
            "samples are given for all rows, and here a part of them is to be sampled (inside an "
            "outer split): leave samples out, so that they are drawn."
        )
    try:
        sample_rows = as_array(samples)
    except ValueError:
        sample_rows = np.empty(0)
    if sample_rows.ndim != 2 or sample_rows.dtype.kind not in "iu" or not sample_rows.size:
        raise BadData(
            f"samples of shape {np.shape(sample_rows)} are no (replicates, n) array of row numbers."
        )
    if sample_rows.min() < 0 or sample_rows.max() >= data.n_rows:
        invalid_sample = int(
            np.flatnonzero(((sample_rows < 0) | (sample_rows >= data.n_rows)).any(axis=1))[0]
        )
        raise BadData(
            f"sample {invalid_sample} names rows outside 0 … {data.n_rows - 1}: samples hold row "
            "numbers."
        )
    return _count_draws(sample_rows, data.n_rows)


def _encode_groups(groups: np.ndarray) -> np.ndarray:
    return np.unique(groups, return_inverse=True)[1].ravel()


def _count_draws(drawn_units: np.ndarray, n_units: int) -> np.ndarray:
    """Count how often each member (row or group) occurs in each sample, `(sample, member)`."""
    flat_indices = drawn_units + np.arange(len(drawn_units))[:, None] * n_units
    flat_counts = np.bincount(flat_indices.ravel(), minlength=len(drawn_units) * n_units)
    return flat_counts.reshape(len(drawn_units), n_units)


def shuffle_for_subsamples(data: Data, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Shuffle rows so that every run of consecutive rows is a stratified subsample.

    The rows of each class are shuffled, and row r of the n_c rows of a class gets the position
    (r + u)/n_c, with one random u per class. If there are n rows in all, a run of m rows contains
    m n_c/n rows of the class, to within less than 2. If there are groups, whole groups are shuffled
    instead, without stratification.
    """
    if data.groups is not None:
        _, group_index = np.unique(data.groups[rows], return_inverse=True)
        shuffled_values = rng.permutation(int(group_index.max()) + 1)[group_index.ravel()]
        return rows[np.argsort(shuffled_values, kind="stable")]
    shuffled_values = rng.permutation(rows)
    if data.strata is None:
        return shuffled_values
    class_codes = data.strata[shuffled_values]
    sort_keys = np.empty(len(rows))
    for class_code in np.unique(class_codes):
        is_of_class = class_codes == class_code
        sort_keys[is_of_class] = (np.arange(is_of_class.sum()) + rng.random()) / is_of_class.sum()
    return shuffled_values[np.argsort(sort_keys, kind="stable")]


def cut_subsamples(
    shuffled_rows: np.ndarray, groups: np.ndarray | None, subsample_size: int, max_subsamples: int
) -> list[np.ndarray]:
    """Cut up to `max_subsamples` consecutive runs of `subsample_size` rows from shuffled rows.

    For the same shuffled list, the first run is a subset of the first run of any larger size.

    With groups, each run consists of whole groups whose number of rows is as near to
    `subsample_size` as possible. No run begins where fewer than `subsample_size` rows are left.

    >>> [part.tolist() for part in cut_subsamples(np.array([3, 0, 2, 1]), None, 2, 2)]
    [[0, 3], [1, 2]]
    >>> [part.tolist() for part in cut_subsamples(np.arange(6), np.array(list("aabbcc")), 3, 2)]
    [[0, 1], [2, 3]]
    """
    if groups is None:
        n_subsamples = min(max_subsamples, len(shuffled_rows) // subsample_size)
        return [
            np.sort(shuffled_rows[j * subsample_size : (j + 1) * subsample_size])
            for j in range(n_subsamples)
        ]
    group_ends = _find_group_ends(groups[shuffled_rows])
    samples: list[np.ndarray] = []
    first_index = 0
    while len(samples) < max_subsamples and len(shuffled_rows) - first_index >= subsample_size:
        later_ends = group_ends[group_ends > first_index]
        end_index = int(later_ends[np.abs(later_ends - first_index - subsample_size).argmin()])
        samples.append(np.sort(shuffled_rows[first_index:end_index]))
        first_index = end_index
    return samples


def _find_group_ends(groups: np.ndarray) -> np.ndarray:
    """Return the position after the last row of each group, for rows sorted by group."""
    return np.append(np.flatnonzero(groups[1:] != groups[:-1]) + 1, len(groups))
