"""The builder of plans, which collects blocks of rows and test sets.

Equal training sets become one fit. `plan_leave_one_fold_out` builds K-fold plans with array
operations, and `add_training_row_test_sets` adds the training rows of each fit as a test set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.data.rows import splitmix64
from truerisk.plan.blocks import ALL, Blocks, RowSets, offsets_from_lengths
from truerisk.plan.plan import EXTRA_REQUEST_TYPES, Plan

if TYPE_CHECKING:
    from truerisk.plan.extra import Extra

# A row set is a pair: a base block (or ALL), and the blocks that are removed from this base.
RowSet = tuple[int, tuple[int, ...]]


class PlanBuilder:
    """Builder that collects blocks of rows and test sets, and makes a plan of them.

    Parameters
    ----------
    n_rows : int
        The number of rows.

    See Also
    --------
    truerisk.extend.Plan : The plan that it builds.
    truerisk.extend.Averaged : Method whose example uses a builder.

    Examples
    --------
    >>> builder = PlanBuilder(6)
    >>> folds = builder.partition(np.array([0, 0, 1, 1, 2, 2]))
    >>> for k, fold in enumerate(folds):
    ...     builder.ask(train=(ALL, (fold,)), test=(fold, ()), fold=k)
    >>> plan = builder.build()
    >>> plan.n_fits, plan.train_rows(0)[0].tolist(), plan.test_rows(0)[0].tolist()
    (3, [2, 3, 4, 5], [0, 1])
    """

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        # Each block is an array of shape (2, size) with row numbers and multiplicities.
        self._blocks: list[np.ndarray] = []
        self._block_numbers: dict[bytes, int] = {}
        self._fits: dict[tuple[RowSet, tuple[tuple[int, int], ...]], int] = {}
        self._questions: list[tuple[int, RowSet, str, int, int, int]] = []

    def block(self, rows: np.ndarray) -> int:
        """Return the number of the block that has these row numbers; add the block if it is new.

        Repeated rows become counts.

        Parameters
        ----------
        rows : array of int
            Row numbers.

        Returns
        -------
        int
            The number of the block.
        """
        distinct_rows, counts = np.unique(np.asarray(rows, dtype=np.int32), return_counts=True)
        return self._add(distinct_rows, counts)

    def partition(self, labels: np.ndarray) -> list[int]:
        """Add one block of rows per distinct label, in ascending order of the labels.

        The rows are sorted only once.

        Parameters
        ----------
        labels : array, shape (n_rows,)
            The label of each row, such as its fold.

        Returns
        -------
        list of int
            The numbers of the blocks.
        """
        codes = np.unique(labels, return_inverse=True)[1].ravel()
        row_order = np.argsort(codes, kind="stable").astype(np.int32)
        block_starts = np.flatnonzero(np.diff(codes[row_order], prepend=-1))
        return [
            self._add(rows, np.ones_like(rows)) for rows in np.split(row_order, block_starts[1:])
        ]

    def ask(
        self,
        train: RowSet,
        test: RowSet,
        *,
        part: str = "test",
        repeat: int = 0,
        fold: int = 0,
        unit: int = -1,
        flips: Iterable[tuple[int, int]] = (),
    ) -> None:
        """Add a test set: the model trained on the rows `train` predicts the rows `test`.

        Parameters
        ----------
        train : tuple of (int, tuple of int)
            The training rows: a block, or ALL, without other blocks.
        test : tuple of (int, tuple of int)
            The rows to predict, in the same form.
        part : str, default="test"
            The part of the plan.
        repeat : int, default=0
            The number of the repetition.
        fold : int, default=0
            The number of the fold.
        unit : int, default=-1
            The number of the outer fit to which an inner question belongs.
        flips : iterable of (int, int), optional
            Pairs (row, class code): the fit gets this code as the label of the row.
        """
        key = (_sort_row_set(train), tuple(sorted(flips)))
        fit = self._fits.setdefault(key, len(self._fits))
        self._questions.append((fit, _sort_row_set(test), part, repeat, fold, unit))

    def build(self, extra: Extra | None = None) -> Plan:
        """Return the finished plan; `extra` can request results other than predictions.

        Parameters
        ----------
        extra : Extra, optional
            Additional questions of the plan.

        Returns
        -------
        Plan
            The plan.
        """
        fit, test_sets, part_of_test_set, repeat, fold, outer_fits = zip(
            *self._questions, strict=True
        )
        part_names = tuple(dict.fromkeys(part_of_test_set))
        train_sets, flips_by_fit = zip(*self._fits, strict=True)
        fit_flips = [
            (fit_number, *flip)
            for fit_number, flips_of_fit in enumerate(flips_by_fit)
            for flip in flips_of_fit
        ]
        if fit_flips:
            extra = EXTRA_REQUEST_TYPES.load("flips")(
                *np.ascontiguousarray(np.array(fit_flips, np.int32).T)
            )
        rows, counts = np.concatenate([np.empty((2, 0), np.int32), *self._blocks], axis=1)
        offsets = offsets_from_lengths([block.shape[1] for block in self._blocks])
        return Plan(
            n_rows=self.n_rows,
            blocks=Blocks(rows, offsets, None if (counts == 1).all() else counts),
            train=_encode_row_sets(train_sets),
            test=_encode_row_sets(test_sets),
            fit=np.array(fit, dtype=np.int32),
            part=np.array([part_names.index(name) for name in part_of_test_set], dtype=np.int8),
            repeat=np.array(repeat, dtype=np.int32),
            fold=np.array(fold, dtype=np.int32),
            unit=np.array(outer_fits, dtype=np.int32),
            parts=part_names,
            extra=extra,
        )

    def _add(self, rows: np.ndarray, counts: np.ndarray) -> int:
        block = np.array([rows, counts], dtype=np.int32)
        block_number = self._block_numbers.setdefault(block.tobytes(), len(self._blocks))
        if block_number == len(self._blocks):
            self._blocks.append(block)
        return block_number


def plan_one_fit(n_rows: int, rows: np.ndarray | None = None) -> Plan:
    """Plan one fit on all rows, tested on all rows or on given rows (ascending and distinct)."""
    test_rows = np.empty(0, np.int32) if rows is None else np.asarray(rows, dtype=np.int32)
    offsets = np.array([0] if rows is None else [0, len(test_rows)], np.int64)
    no_removed_blocks = np.empty(0, np.int32), np.zeros(2, np.int64)
    return Plan.from_folds(
        n_rows=n_rows,
        blocks=Blocks(test_rows, offsets),
        train=RowSets(np.full(1, ALL, np.int32), *no_removed_blocks),
        test=RowSets(np.full(1, ALL if rows is None else 0, np.int32), *no_removed_blocks),
        fit=np.zeros(1, np.int32),
        parts=("apparent",),
    )


def plan_from_splits(n_rows: int, splits: Sequence[tuple[np.ndarray, np.ndarray]]) -> Plan:
    """Build a plan from any (train, test) pairs of row numbers, in the most compact encoding."""
    builder = PlanBuilder(n_rows)
    for fold, (train, test) in enumerate(splits):
        test_block = builder.block(test)
        # The complement of the test set is the most compact encoding of a training set.
        # It is possible if each row is in exactly one of the two sets.
        is_used = np.zeros(n_rows, dtype=bool)
        is_used[train] = is_used[test] = True
        is_complement = len(train) + len(test) == n_rows and bool(is_used.all())
        train_set = (ALL, (test_block,)) if is_complement else (builder.block(train), ())
        builder.ask(train=train_set, test=(test_block, ()), fold=fold)
    return builder.build()


def plan_leave_one_fold_out(n_rows: int, partitions: Sequence[np.ndarray]) -> Plan:
    """Plan leave-one-fold-out fits for several partitions, each given as one label per row.

    For each label, the fit is trained on all rows without this label and tested on the rows with
    it.
    """
    sorted_row_lists, block_sizes, repeats, folds = [], [], [], []
    for repeat, labels in enumerate(partitions):
        sorted_rows, counts = sort_rows_by_label(labels)
        sorted_row_lists.append(sorted_rows)
        block_sizes.append(counts)
        repeats.append(np.full(len(counts), repeat))
        folds.append(np.arange(len(counts)))
    n_blocks = sum(map(len, block_sizes))
    block_numbers = np.arange(n_blocks, dtype=np.int32)
    whole_blocks = RowSets(block_numbers, np.empty(0, np.int32), np.zeros(n_blocks + 1, np.int64))
    plan = Plan.from_folds(
        n_rows=n_rows,
        blocks=Blocks(
            np.concatenate(sorted_row_lists).astype(np.int32),
            offsets_from_lengths(np.concatenate(block_sizes)),
        ),
        train=RowSets(np.full(n_blocks, ALL, np.int32), block_numbers, np.arange(n_blocks + 1)),
        test=whole_blocks,
        fit=block_numbers,
        repeat=np.concatenate(repeats).astype(np.int32),
        fold=np.concatenate(folds).astype(np.int32),
    )
    return plan if len(partitions) == 1 else merge_equal_fits(plan)


def sort_rows_by_label(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows sorted by label, and the number of rows per label.

    Labels 0 … n−1, one for each row, need no sorting.
    """
    row_numbers = np.arange(len(labels))
    if labels.dtype.kind in "iu" and np.array_equal(labels, row_numbers):
        return row_numbers, np.ones(len(labels), dtype=np.int64)
    codes = np.unique(labels, return_inverse=True)[1].ravel()
    return np.argsort(codes, kind="stable"), np.bincount(codes)


def add_training_row_test_sets(plan: Plan) -> Plan:
    """Return the plan with a further test set for each test set: the training rows of its fit.

    The additional test sets follow the others, in the same order.
    """
    if plan.has_drawn_fits or "flips" in plan.needs:
        raise Refusal(
            "a train score is that of rows that a fit was shown as they are, and this method draws "
            "them at random or shows other labels: use return_train_score=False, or folds."
        )
    train_sets = plan.train.take(plan.fit)
    offsets = np.concatenate([plan.test.offsets, plan.test.offsets[-1] + train_sets.offsets[1:]])
    test_sets = RowSets(
        np.concatenate([plan.test.base, train_sets.base]),
        np.concatenate([plan.test.removed_blocks, train_sets.removed_blocks]),
        offsets,
    )
    part_numbers = np.concatenate([plan.part, np.full_like(plan.part, len(plan.parts))])
    repeated_fields: dict[str, Any] = {
        name: np.tile(getattr(plan, name), 2) for name in ("fit", "repeat", "fold", "unit")
    }
    return replace(
        plan, test=test_sets, part=part_numbers, parts=(*plan.parts, "apparent"), **repeated_fields
    )


def to_row_numbers(numbers_or_mask: Any) -> np.ndarray:
    """Return the row numbers that a splitter yields as numbers or as a mask."""
    rows = np.asarray(numbers_or_mask)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


def _sort_row_set(rows: RowSet) -> RowSet:
    base_block, removed_blocks = rows
    return int(base_block), tuple(sorted(set(map(int, removed_blocks))))


def _encode_row_sets(row_sets: Sequence[RowSet]) -> RowSets:
    base_blocks, removed_blocks = zip(*row_sets, strict=True)
    removed_block_list = np.concatenate(removed_blocks).astype(np.int32)
    return RowSets(
        np.array(base_blocks, dtype=np.int32),
        removed_block_list,
        offsets_from_lengths(list(map(len, removed_blocks))),
    )


def merge_equal_fits(plan: Plan) -> Plan:
    """Return the plan with a single fit for all training sets that are equal.

    Equal training sets are identified by 64-bit keys of their content.
    """
    blocks, train, extra_requests = plan.blocks, plan.train, plan.extra
    row_keys = splitmix64(np.arange(plan.n_rows, dtype=np.uint64) + np.uint64(1))
    if blocks.counts is None:
        row_hashes = splitmix64(row_keys + np.uint64(1))[blocks.rows]
    # Each row's key and count are added before they are hashed.
    # With a product, two copies of row 0 would have the same key as row 1.
    else:
        row_hashes = splitmix64(row_keys[blocks.rows] + blocks.counts.astype(np.uint64))
    cumulative_row_hashes = np.concatenate([[np.uint64(0)], np.cumsum(row_hashes)])
    block_keys = splitmix64(
        cumulative_row_hashes[blocks.offsets[1:]]
        - cumulative_row_hashes[blocks.offsets[:-1]]
        + np.uint64(7)
    )
    cumulative_block_keys = np.concatenate(
        [[np.uint64(0)], np.cumsum(block_keys[train.removed_blocks])]
    )
    keys = splitmix64(np.append(block_keys, np.uint64(3))[train.base])
    keys = (
        keys + cumulative_block_keys[train.offsets[1:]] - cumulative_block_keys[train.offsets[:-1]]
    )
    extra_keys = None if extra_requests is None else extra_requests.fit_keys(plan.n_fits)
    if extra_keys is not None:
        keys = keys + extra_keys
    # The plan is returned unchanged if no two training sets are equal, which is the usual case.
    if (np.diff(np.sort(keys)) > 0).all():
        return plan
    _, first_fits, key_numbers = np.unique(keys, return_index=True, return_inverse=True)
    fits = np.sort(first_fits)
    new_fit_numbers = np.searchsorted(fits, first_fits[key_numbers.ravel()]).astype(np.int32)
    if extra_requests is not None:
        extra_requests = extra_requests.select(np.arange(plan.n_questions), fits)
    return replace(
        plan, train=train.take(fits), fit=new_fit_numbers[plan.fit], extra=extra_requests
    )
