"""The training rows of each fit and the rows that it predicts; a plan is drawn once and replayed.

A plan stores rows once, in a pool of *blocks* (a fold, a bootstrap sample with its counts, a single
row). A training or test set refers to the pool: it is a base, which is all rows or one block, minus
some blocks. So leave-one-out of n rows takes O(n) memory, "all but folds 2 and 5" is three
integers, and an engine can exploit the structure. Fits with equal training sets are one fit,
however many test sets it predicts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.core.arguments import RenamedAttribute
from truerisk.core.errors import BadData
from truerisk.core.frozen import frozen
from truerisk.core.registry import Registry, parse_registry_table
from truerisk.plan.blocks import (
    ALL,
    Blocks,
    RowSets,
    count_removed_rows,
    is_in_block,
    offsets_from_lengths,
    select_lists,
)

if TYPE_CHECKING:
    from truerisk.plan.extra import Extra

EXTRA_REQUEST_TYPES = Registry(
    "extra",
    parse_registry_table(
        "truerisk.plan.extras",
        """
    counted  counted:Counted  how many training rows of each class an answer rests on
    flips  flips:Flips  labels that fits are shown instead of the rows' own
    laws  laws:Laws  train sets drawn at random
    moves  moves:Moves  points drawn around rows
    freedom  model_facts:ModelFacts  degrees of freedom of fitted models
    rules  model_facts:ModelFacts  linear rules of fitted models
    out_of_bag  own_rows:OutOfBagRows  answers of the members of an ensemble fitted without a row
    taken_out  own_rows:TakenOutRows  answers with a row taken out of a model to first order
    """,
    ),
)

TEST_SET_FIELDS = {"part": np.int8, "repeat": np.int32, "fold": np.int32, "unit": np.int32}
"""The arrays that assign each question of a plan to its part, repetition, fold and unit."""


@frozen(eq=False)
class Plan:
    """Plan of a method: its fits, and the test sets ("questions") that these fits predict.

    Question q asks fit `fit[q]` to predict the rows `test_rows(q)`.

    Parameters
    ----------
    n_rows : int
        The number of rows.
    blocks : Blocks
        The sets of rows of which training and test sets are composed.
    train : RowSets
        The training set of each fit.
    test : RowSets
        The rows of each question.
    fit : array of int, shape (n_questions,)
        The fit that answers each question.
    part : array of int, shape (n_questions,)
        The part of each question, as a position in `parts`.
    repeat : array of int, shape (n_questions,)
        The repetition of each question within its part.
    fold : array of int, shape (n_questions,)
        The fold of each question within its part.
    unit : array of int, shape (n_questions,)
        The outer fit to which an inner question belongs; -1 for other questions.
    parts : tuple of str
        The names of the parts: "test", "inner", "outer", "apparent".
    extra : Extra, optional
        Additional questions, of one of the types in `EXTRA_REQUEST_TYPES`.

    See Also
    --------
    truerisk.extend.PlanBuilder : Builds a plan.
    truerisk.extend.Answers : The answers to a plan.

    Examples
    --------
    >>> import numpy as np
    >>> import truerisk as tr
    >>> from truerisk.extend import Data, Streams
    >>> data = Data.check(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1], task="classification")
    >>> plan = tr.methods.KFold(3).plan(data, Streams(0))
    >>> plan.n_fits, plan.n_questions, plan.train_sizes.tolist()
    (3, 3, [4, 4, 4])
    """

    n_rows: int
    blocks: Blocks
    train: RowSets
    test: RowSets
    fit: np.ndarray
    part: np.ndarray
    repeat: np.ndarray
    fold: np.ndarray
    unit: np.ndarray
    parts: tuple[str, ...]
    extra: Extra | None = None

    n_fits: int = field(init=False, repr=False)
    n_questions: int = field(init=False, repr=False)
    needs: Mapping[str, str] = field(init=False, repr=False)
    has_drawn_fits: bool = field(init=False, repr=False)
    test_sizes: np.ndarray = field(init=False, repr=False)
    test_offsets: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Compute the numbers of fits and test sets, and further fields derived from the others.

        `test_sizes` holds the number of rows of each test set. `test_offsets` holds the start of
        each test set's predictions in the flat list of all predictions. `needs` holds the
        capabilities that an engine must have, each with the reason to refuse an engine that lacks
        it. `has_drawn_fits` is true if training sets are drawn at random.
        """
        test_sizes = self._row_set_sizes(self.test)
        vars(self).update(
            n_fits=len(self.train.base),
            n_questions=len(self.fit),
            needs={} if self.extra is None else self.extra.needs,
            has_drawn_fits=self.extra is not None and self.extra.draws_training_sets,
            test_sizes=test_sizes,
            test_offsets=offsets_from_lengths(test_sizes),
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all fields of the plan, shortened to 16 hexadecimal digits."""
        hasher = hashlib.sha256(f"{self.n_rows}|{'|'.join(self.parts)}".encode())
        for name, array in self._arrays().items():
            hasher.update(name.encode())
            hasher.update(np.ascontiguousarray(array).data.cast("B") if array.size else b"")
        return hasher.hexdigest()[:16]

    of = RenamedAttribute("from_folds")

    @classmethod
    def from_folds(
        cls,
        n_rows: int,
        blocks: Blocks,
        train: RowSets,
        test: RowSets,
        fit: np.ndarray,
        **others: Any,
    ) -> Plan:
        """Build a plan from folds, with one part "test", one repetition and one fold by default.

        Parameters
        ----------
        n_rows : int
            The number of rows.
        blocks : Blocks
            The sets of rows of which training and test sets are composed.
        train : RowSets
            The training set of each fit.
        test : RowSets
            The rows of each question.
        fit : array of int
            The fit that answers each question.
        **others
            Other fields of the plan.

        Returns
        -------
        Plan
            The plan.
        """
        n_test_sets = len(fit)
        defaults: dict[str, Any] = {"part": np.zeros(n_test_sets, np.int8), "parts": ("test",)}
        defaults |= {
            "repeat": np.zeros(n_test_sets, np.int32),
            "fold": np.zeros(n_test_sets, np.int32),
        }
        defaults["unit"] = np.full(n_test_sets, -1, np.int32)
        return cls(n_rows, blocks, train, test, fit, **defaults | others)

    # -- rows and sizes, which engines read --------------------------------------------------

    def train_rows(self, fit: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the distinct training rows of a fit in ascending order, and the count of each row.

        The counts are None if all of them are 1.

        Parameters
        ----------
        fit : int
            The number of the fit.

        Returns
        -------
        rows : array of int
            The row numbers.
        counts : array of int or None
            How often each row is in the training set.
        """
        return self._rows_and_counts(self.train, fit)

    def test_rows(self, question: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the distinct rows of a test set in ascending order, and the count of each row.

        The counts are None if all of them are 1.

        Parameters
        ----------
        question : int
            The number of the question.

        Returns
        -------
        rows : array of int
            The row numbers.
        counts : array of int or None
            How often each row is tested.
        """
        return self._rows_and_counts(self.test, question)

    @cached_property
    def questions_of(self) -> tuple[np.ndarray, np.ndarray]:
        """Test sets sorted by fit, and the offset of each fit's test sets in this order."""
        # If test set i belongs to fit i, for every i, the test sets are sorted already.
        if np.array_equal(self.fit, np.arange(self.n_fits)):
            return np.arange(self.n_fits), np.arange(self.n_fits + 1)
        test_set_order = np.argsort(self.fit, kind="stable")
        return test_set_order, np.searchsorted(self.fit[test_set_order], np.arange(self.n_fits + 1))

    @cached_property
    def positions(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Row number of every prediction, in the order of the test sets, and the count of this row.

        The counts are None if all of them are 1.
        """
        if len(self.test.removed_blocks):
            rows_and_counts = [self.test_rows(test_set) for test_set in range(self.n_questions)]
            rows = np.concatenate([rows for rows, _ in rows_and_counts])
            if all(counts is None for _, counts in rows_and_counts):
                return rows, None
            filled_counts = [
                np.ones(len(rows)) if counts is None else counts for rows, counts in rows_and_counts
            ]
            return rows, np.concatenate(filled_counts)
        blocks, base_blocks = self.blocks, self.test.base
        rows, counts, offsets = blocks.rows, blocks.counts, blocks.offsets
        if counts is None and np.array_equal(base_blocks, np.arange(len(offsets) - 1)):
            return rows, None  # The test sets are the blocks in the order in which they are stored.
        # All rows are appended as one more block, so that the base ALL becomes a block number.
        if (base_blocks == ALL).any():
            rows = np.concatenate([rows, np.arange(self.n_rows, dtype=np.int32)])
            offsets = np.append(offsets, len(rows))
            if counts is not None:
                counts = np.concatenate([counts, np.ones(self.n_rows, np.int32)])
        block_positions = select_lists(
            offsets, np.where(base_blocks == ALL, len(offsets) - 2, base_blocks)
        )[1]
        position_counts = None if counts is None else counts[block_positions]
        return rows[block_positions], None if position_counts is None or (
            position_counts == 1
        ).all() else position_counts

    @cached_property
    def train_sizes(self) -> np.ndarray:
        """Number of training rows of each fit, counting copies."""
        train_sizes = self._row_set_sizes(self.train)
        if self.blocks.counts is not None:
            cumulative_counts = np.concatenate([[0], np.cumsum(self.blocks.counts)])[
                self.blocks.offsets
            ]
            has_block_base, removes_no_block = (
                self.train.base != ALL,
                np.diff(self.train.offsets) == 0,
            )
            train_sizes[has_block_base & removes_no_block] = np.diff(cumulative_counts)[
                self.train.base[has_block_base & removes_no_block]
            ]
            for fit in np.flatnonzero(has_block_base & ~removes_no_block):
                rows, counts = self.train_rows(int(fit))
                train_sizes[fit] = len(rows) if counts is None else counts.sum()
        return train_sizes if self.extra is None else self.extra.train_sizes(train_sizes)

    @cached_property
    def least_train_sizes(self) -> np.ndarray:
        """Lower bound of each fit's number of distinct training rows.

        It is exact if the blocks that are removed from a training set are disjoint.
        """
        cumulative_sizes = np.concatenate(
            [[0], np.cumsum(self.blocks.sizes[self.train.removed_blocks])]
        )
        n_removed_rows = (
            cumulative_sizes[self.train.offsets[1:]] - cumulative_sizes[self.train.offsets[:-1]]
        )
        base_blocks = self.train.base
        base_sizes = np.where(
            base_blocks == ALL, self.n_rows, np.append(self.blocks.sizes, 0)[base_blocks]
        )
        return base_sizes - n_removed_rows

    # -- parts of the plan ------------------------------------------------------------------

    def questions(self, part: str) -> np.ndarray:
        """Return the numbers of the test sets ("questions") of a named part of the plan.

        Parameters
        ----------
        part : str
            Name of the part.

        Returns
        -------
        array of int
            The numbers of its questions.
        """
        if part not in self.parts:
            return np.empty(0, np.int64)
        return np.flatnonzero(self.part == self.parts.index(part))

    def part_named(self, name: str) -> Plan:
        """Return the plan of one named part, which is built once and cached.

        Parameters
        ----------
        name : str
            Name of the part.

        Returns
        -------
        Plan
            The plan of the part.
        """
        plan_by_part: dict[str, Plan] = vars(self).setdefault("by_part", {})
        if name not in plan_by_part:
            plan_by_part[name] = self.select(self.questions(name))
        return plan_by_part[name]

    def select(self, questions: np.ndarray) -> Plan:
        """Return the plan of some test sets and their fits; rows keep their numbers.

        Parameters
        ----------
        questions : array of int
            Numbers of questions.

        Returns
        -------
        Plan
            The smaller plan.
        """
        fits, new_fits = np.unique(self.fit[questions], return_inverse=True)
        return Plan(
            n_rows=self.n_rows,
            blocks=self.blocks,
            train=self.train.take(fits),
            test=self.test.take(questions),
            fit=new_fits.ravel().astype(np.int32),
            part=self.part[questions],
            repeat=self.repeat[questions],
            fold=self.fold[questions],
            unit=self.unit[questions],
            parts=self.parts,
            extra=None if self.extra is None else self.extra.select(questions, fits),
        )

    def asks_like(self, other: Plan) -> bool:
        """Return True if both plans have the same fits and test sets; their parts may differ.

        Parameters
        ----------
        other : Plan
            The other plan.

        Returns
        -------
        bool
            True if fits and questions are equal.
        """
        own_arrays, other_arrays = self._arrays(), other._arrays()
        are_equal = self.n_rows == other.n_rows and own_arrays.keys() == other_arrays.keys()
        for name in own_arrays.keys() - TEST_SET_FIELDS.keys():
            are_equal = are_equal and np.array_equal(own_arrays[name], other_arrays[name])
        return are_equal

    # -- rows of the fit itself ---------------------------------------------------------------

    @cached_property
    def own_rows(self) -> np.ndarray:
        """Mask of the test sets that consist of exactly the training rows of their fit.

        Their risks are apparent risks. Training sets with copies of rows do not count.
        """
        test_sizes = self.test_sizes
        is_apparent_test: np.ndarray = (
            (test_sizes > 0) & (test_sizes == self.train_sizes[self.fit]) & ~self.without_row
        )
        for test_set in np.flatnonzero(is_apparent_test).tolist():
            has_no_copies = (
                self.train_rows(int(self.fit[test_set]))[1] is None
                and self.test_rows(test_set)[1] is None
            )
            is_apparent_test[test_set] = has_no_copies and self.seen(test_set).all()
        return is_apparent_test

    @cached_property
    def without_row(self) -> np.ndarray:
        """Mask of the test sets whose rows are each predicted by a model made without that row."""
        if self.extra is None:
            return np.zeros(self.n_questions, dtype=bool)
        return self.extra.is_row_left_out(self.fit)

    def seen(self, question: int) -> np.ndarray:
        """Return a mask of the rows of a test set that are in the training set of its fit.

        Parameters
        ----------
        question : int
            The number of the question.

        Returns
        -------
        array of bool
            True for rows in the training set.
        """
        test_rows, fit = self.test_rows(question)[0], int(self.fit[question])
        base_block = int(self.train.base[fit])
        is_training_row = (
            np.ones(len(test_rows), bool)
            if base_block == ALL
            else is_in_block(self.blocks[base_block], test_rows)
        )
        for block in self.train.get_removed_blocks(fit):
            is_training_row &= ~is_in_block(self.blocks[int(block)], test_rows)
        return is_training_row

    # -- JSON -------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Convert the plan to plain lists, from which `from_dict` restores an equal plan.

        Returns
        -------
        dict
            The content of the plan.
        """
        plan_content: dict[str, Any] = {"fingerprint": self.fingerprint}
        plan_content |= {"n_rows": self.n_rows, "parts": list(self.parts)}
        plan_content |= {name: array.tolist() for name, array in self._arrays().items()}
        return plan_content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Plan:
        """Return the plan that `to_dict` wrote; raise BadData if the content is no valid plan.

        Parameters
        ----------
        content : mapping
            The content that `to_dict` returned.

        Returns
        -------
        Plan
            The plan.
        """
        try:
            plain_fields = ("fingerprint", "n_rows", "parts")
            arrays = {
                field_name: np.asarray(value)
                for field_name, value in content.items()
                if field_name not in plain_fields
            }
            counts = arrays.get("blocks.counts")
            name_prefixes = {name.partition(".")[0] for name in arrays}
            extra_name = next(
                (extra_name for extra_name in EXTRA_REQUEST_TYPES if extra_name in name_prefixes),
                None,
            )
            plan = cls(
                n_rows=int(content["n_rows"]),
                blocks=Blocks(
                    arrays["blocks.rows"].astype(np.int32),
                    arrays["blocks.offsets"].astype(np.int64),
                    None if counts is None else counts.astype(np.int32),
                ),
                train=RowSets.from_arrays(arrays, "train"),
                test=RowSets.from_arrays(arrays, "test"),
                fit=arrays["fit"].astype(np.int32),
                **{name: arrays[name].astype(dtype) for name, dtype in TEST_SET_FIELDS.items()},
                parts=tuple(map(str, content["parts"])),
                extra=None
                if extra_name is None
                else EXTRA_REQUEST_TYPES.load(extra_name).from_arrays(arrays),
            )
        except (ArithmeticError, LookupError, MemoryError, TypeError, ValueError) as error:
            raise BadData(f"this is not a stored plan: {error!r}.") from error
        if plan.fingerprint != content.get("fingerprint"):
            raise BadData(
                "this plan does not match its fingerprint: it was cut or altered; draw it anew."
            )
        return plan

    # -- private ----------------------------------------------------------------------------

    def _arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays of the plan by name, in the order that the fingerprint uses."""
        extra_arrays = {} if self.extra is None else self.extra.arrays()
        arrays = {"blocks.rows": self.blocks.rows, "blocks.offsets": self.blocks.offsets}
        if self.blocks.counts is not None:
            arrays["blocks.counts"] = self.blocks.counts
        for name, row_sets in (("train", self.train), ("test", self.test)):
            arrays |= {f"{name}.base": row_sets.base, f"{name}.minus": row_sets.removed_blocks}
            arrays[f"{name}.offsets"] = row_sets.offsets
        for name, array in extra_arrays.items():
            if "." in name:
                arrays[name] = array
        for name in ("fit", *TEST_SET_FIELDS):
            arrays[name] = getattr(self, name)
        return arrays | extra_arrays

    def _rows_and_counts(
        self, sets: RowSets, set_number: int
    ) -> tuple[np.ndarray, np.ndarray | None]:
        base_block, removed_blocks = int(sets.base[set_number]), sets.get_removed_blocks(set_number)
        if base_block == ALL:
            if not len(removed_blocks):
                return np.arange(self.n_rows, dtype=np.int32), None
            is_in_set = np.ones(self.n_rows, dtype=bool)
            for block in removed_blocks:
                is_in_set[self.blocks[int(block)]] = False
            return np.flatnonzero(is_in_set).astype(np.int32), None
        rows, counts = self.blocks[base_block], self.blocks.counts
        if counts is not None:
            counts = counts[self.blocks.offsets[base_block] : self.blocks.offsets[base_block + 1]]
        for block in removed_blocks:
            is_in_set = ~is_in_block(self.blocks[int(block)], rows)
            rows, counts = rows[is_in_set], None if counts is None else counts[is_in_set]
        return rows, None if counts is None or (counts == 1).all() else counts

    def _row_set_sizes(self, sets: RowSets) -> np.ndarray:
        """Return the number of distinct rows of every row set.

        Only row sets that need it are written out row by row.
        """
        block_sizes, n_removed_blocks, has_all_rows = (
            self.blocks.sizes,
            np.diff(sets.offsets),
            sets.base == ALL,
        )
        # The base ALL is -1, which indexes the last entry, the number of all rows.
        set_sizes = np.append(block_sizes, self.n_rows)[sets.base]
        sets_without_one_block = np.flatnonzero(has_all_rows & (n_removed_blocks == 1))
        set_sizes[sets_without_one_block] -= block_sizes[
            sets.removed_blocks[sets.offsets[sets_without_one_block]]
        ]
        if len(sets.removed_blocks) > len(sets_without_one_block):
            sets_without_several_blocks = np.flatnonzero(has_all_rows & (n_removed_blocks > 1))
            set_sizes[sets_without_several_blocks] -= count_removed_rows(
                self.n_rows, self.blocks, sets, sets_without_several_blocks
            )
            for set_number in np.flatnonzero(~has_all_rows & (n_removed_blocks > 0)):
                set_sizes[set_number] = len(self._rows_and_counts(sets, int(set_number))[0])
        return set_sizes
