"""A Plan defines what each fit is trained on and tested on; it is drawn once, hashed and replayed.

A plan stores rows once, in a pool of *blocks* (a fold, a bootstrap sample with its counts, a single
row). A training or test set refers to the pool: it is a base, which is all rows or one block, minus
some blocks. So leave-one-out of n rows takes O(n) memory, "all but folds 2 and 5" is three
integers, and an engine can exploit the structure. Fits with equal training sets are one fit,
however many questions it gets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.core.arguments import Renamed
from truerisk.core.errors import BadData
from truerisk.core.frozen import frozen
from truerisk.core.registry import Registry, lines_of
from truerisk.plan.blocks import ALL, Blocks, RowSets, among, covered, offsets_of, spread

if TYPE_CHECKING:
    from truerisk.plan.extra import Extra

EXTRAS = Registry(
    "extra",
    lines_of(
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

PLACES = {"part": np.int8, "repeat": np.int32, "fold": np.int32, "unit": np.int32}
"""The arrays that assign each question of a plan to its part, repetition, fold and unit."""


@frozen(eq=False)
class Plan:
    """Fits of a method, and the questions that they answer.

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
        Additional questions, of one of the types in `EXTRAS`.

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
        """Count the fits, the questions and the tested rows of each question (`test_sizes`).

        `test_offsets` holds the start of the answers to each question in the flat list of all
        answers. `needs` holds the capabilities that an engine must have, each with the reason to
        refuse an engine that lacks it. `has_drawn_fits` is true if training sets are drawn at
        random.
        """
        sizes = self._sizes(self.test)
        vars(self).update(
            n_fits=len(self.train.base),
            n_questions=len(self.fit),
            needs={} if self.extra is None else self.extra.needs,
            has_drawn_fits=self.extra is not None and self.extra.draws,
            test_sizes=sizes,
            test_offsets=offsets_of(sizes),
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all fields of the plan, shortened to 16 hexadecimal digits."""
        total = hashlib.sha256(f"{self.n_rows}|{'|'.join(self.parts)}".encode())
        for name, array in self._arrays().items():
            total.update(name.encode())
            total.update(np.ascontiguousarray(array).data.cast("B") if array.size else b"")
        return total.hexdigest()[:16]

    of = Renamed("from_folds")

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
        """Return a plan with one part ("test"), repetition and fold, unless `others` differ.

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
        n = len(fit)
        usual: dict[str, Any] = {"part": np.zeros(n, np.int8), "parts": ("test",)}
        usual |= {"repeat": np.zeros(n, np.int32), "fold": np.zeros(n, np.int32)}
        usual["unit"] = np.full(n, -1, np.int32)
        return cls(n_rows, blocks, train, test, fit, **usual | others)

    # -- what an engine reads ---------------------------------------------------------------

    def train_rows(self, fit: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the distinct training rows of a fit, ascending, and their counts (None: all 1).

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
        return self._rows(self.train, fit)

    def test_rows(self, question: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the distinct rows of a question, ascending, and their counts (None: each once).

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
        return self._rows(self.test, question)

    @cached_property
    def questions_of(self) -> tuple[np.ndarray, np.ndarray]:
        """The questions sorted by fit, and the start of each fit's questions (as offsets)."""
        if np.array_equal(self.fit, np.arange(self.n_fits)):  # Each fit has one question.
            return np.arange(self.n_fits), np.arange(self.n_fits + 1)
        order = np.argsort(self.fit, kind="stable")
        return order, np.searchsorted(self.fit[order], np.arange(self.n_fits + 1))

    @cached_property
    def positions(self) -> tuple[np.ndarray, np.ndarray | None]:
        """The row of every answer, question after question, and its count (None: each once)."""
        if len(self.test.minus):
            pairs = [self.test_rows(q) for q in range(self.n_questions)]
            rows = np.concatenate([rows for rows, _ in pairs])
            if all(counts is None for _, counts in pairs):
                return rows, None
            ones = [np.ones(len(rows)) if counts is None else counts for rows, counts in pairs]
            return rows, np.concatenate(ones)
        blocks, base = self.blocks, self.test.base
        rows, counts, offsets = blocks.rows, blocks.counts, blocks.offsets
        if counts is None and np.array_equal(base, np.arange(len(offsets) - 1)):
            return rows, None  # The test sets are the blocks in the order in which they are stored.
        if (base == ALL).any():  # Treat all rows as one more block, the last.
            rows = np.concatenate([rows, np.arange(self.n_rows, dtype=np.int32)])
            offsets = np.append(offsets, len(rows))
            if counts is not None:
                counts = np.concatenate([counts, np.ones(self.n_rows, np.int32)])
        places = spread(offsets, np.where(base == ALL, len(offsets) - 2, base))[1]
        times = None if counts is None else counts[places]
        return rows[places], None if times is None or (times == 1).all() else times

    @cached_property
    def train_sizes(self) -> np.ndarray:
        """The number of rows that each fit sees, counting copies."""
        sizes = self._sizes(self.train)
        if self.blocks.counts is not None:
            drawn = np.concatenate([[0], np.cumsum(self.blocks.counts)])[self.blocks.offsets]
            is_block, whole = self.train.base != ALL, np.diff(self.train.offsets) == 0
            sizes[is_block & whole] = np.diff(drawn)[self.train.base[is_block & whole]]
            for fit in np.flatnonzero(is_block & ~whole):
                rows, counts = self.train_rows(int(fit))
                sizes[fit] = len(rows) if counts is None else counts.sum()
        return sizes if self.extra is None else self.extra.train_sizes(sizes)

    @cached_property
    def least_train_sizes(self) -> np.ndarray:
        """A lower bound of the distinct rows of each fit, exact if its blocks are disjoint."""
        taken = np.concatenate([[0], np.cumsum(self.blocks.sizes[self.train.minus])])
        removed = taken[self.train.offsets[1:]] - taken[self.train.offsets[:-1]]
        base = self.train.base
        whole = np.where(base == ALL, self.n_rows, np.append(self.blocks.sizes, 0)[base])
        return whole - removed

    # -- parts ------------------------------------------------------------------------------

    def questions(self, part: str) -> np.ndarray:
        """Return the numbers of the questions of a named part.

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
        """Return the plan of one named part; it is built once and cached.

        Parameters
        ----------
        name : str
            Name of the part.

        Returns
        -------
        Plan
            The plan of the part.
        """
        by_part: dict[str, Plan] = vars(self).setdefault("by_part", {})
        if name not in by_part:
            by_part[name] = self.select(self.questions(name))
        return by_part[name]

    def select(self, questions: np.ndarray) -> Plan:
        """Return the plan of these questions and their fits; rows have the same numbers.

        Parameters
        ----------
        questions : array of int
            Numbers of questions.

        Returns
        -------
        Plan
            The smaller plan.
        """
        fits, fit = np.unique(self.fit[questions], return_inverse=True)
        return Plan(
            n_rows=self.n_rows,
            blocks=self.blocks,
            train=self.train.take(fits),
            test=self.test.take(questions),
            fit=fit.ravel().astype(np.int32),
            part=self.part[questions],
            repeat=self.repeat[questions],
            fold=self.fold[questions],
            unit=self.unit[questions],
            parts=self.parts,
            extra=None if self.extra is None else self.extra.select(questions, fits),
        )

    def asks_like(self, other: Plan) -> bool:
        """Return True if both plans have the same fits and questions, whatever their parts.

        Parameters
        ----------
        other : Plan
            The other plan.

        Returns
        -------
        bool
            True if fits and questions are equal.
        """
        mine, theirs = self._arrays(), other._arrays()
        alike = self.n_rows == other.n_rows and mine.keys() == theirs.keys()
        for name in mine.keys() - PLACES.keys():
            alike = alike and np.array_equal(mine[name], theirs[name])
        return alike

    # -- rows of the fit itself ---------------------------------------------------------------

    @cached_property
    def own_rows(self) -> np.ndarray:
        """A mask of the questions that test a model on exactly its training rows: apparent risks.

        Training rows with copies do not count.
        """
        sizes = self.test_sizes
        own: np.ndarray = (sizes > 0) & (sizes == self.train_sizes[self.fit]) & ~self.without_row
        for q in np.flatnonzero(own).tolist():
            once = self.train_rows(int(self.fit[q]))[1] is None and self.test_rows(q)[1] is None
            own[q] = once and self.seen(q).all()
        return own

    @cached_property
    def without_row(self) -> np.ndarray:
        """A mask of the questions where each row is predicted by a model made without that row."""
        if self.extra is None:
            return np.zeros(self.n_questions, dtype=bool)
        return self.extra.without_row(self.fit)

    def seen(self, question: int) -> np.ndarray:
        """Return a mask of the rows of a question that are in the training set of its fit.

        Parameters
        ----------
        question : int
            The number of the question.

        Returns
        -------
        array of bool
            True for rows in the training set.
        """
        tested, fit = self.test_rows(question)[0], int(self.fit[question])
        base = int(self.train.base[fit])
        inside = np.ones(len(tested), bool) if base == ALL else among(self.blocks[base], tested)
        for block in self.train.without(fit):
            inside &= ~among(self.blocks[int(block)], tested)
        return inside

    # -- JSON -------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain lists, from which `from_dict` restores an equal plan.

        Returns
        -------
        dict
            The content of the plan.
        """
        content: dict[str, Any] = {"fingerprint": self.fingerprint}
        content |= {"n_rows": self.n_rows, "parts": list(self.parts)}
        content |= {name: array.tolist() for name, array in self._arrays().items()}
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Plan:
        """Return the plan that `to_dict` wrote; refuse a foreign or inconsistent one.

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
            words = ("fingerprint", "n_rows", "parts")
            array = {k: np.asarray(v) for k, v in content.items() if k not in words}
            counts = array.get("blocks.counts")
            requested = {name.partition(".")[0] for name in array}
            label = next((label for label in EXTRAS if label in requested), None)
            plan = cls(
                n_rows=int(content["n_rows"]),
                blocks=Blocks(
                    array["blocks.rows"].astype(np.int32),
                    array["blocks.offsets"].astype(np.int64),
                    None if counts is None else counts.astype(np.int32),
                ),
                train=RowSets.read(array, "train"),
                test=RowSets.read(array, "test"),
                fit=array["fit"].astype(np.int32),
                **{name: array[name].astype(kind) for name, kind in PLACES.items()},
                parts=tuple(map(str, content["parts"])),
                extra=None if label is None else EXTRAS.load(label).read(array),
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
        """Return all arrays by their names, in the order in which the fingerprint reads them."""
        further = {} if self.extra is None else self.extra.arrays()
        arrays = {"blocks.rows": self.blocks.rows, "blocks.offsets": self.blocks.offsets}
        if self.blocks.counts is not None:
            arrays["blocks.counts"] = self.blocks.counts
        for name, sets in (("train", self.train), ("test", self.test)):
            arrays |= {f"{name}.base": sets.base, f"{name}.minus": sets.minus}
            arrays[f"{name}.offsets"] = sets.offsets
        for name, array in further.items():
            if "." in name:
                arrays[name] = array
        for name in ("fit", *PLACES):
            arrays[name] = getattr(self, name)
        return arrays | further

    def _rows(self, sets: RowSets, s: int) -> tuple[np.ndarray, np.ndarray | None]:
        base, without = int(sets.base[s]), sets.without(s)
        if base == ALL:
            if not len(without):
                return np.arange(self.n_rows, dtype=np.int32), None
            keep = np.ones(self.n_rows, dtype=bool)
            for block in without:
                keep[self.blocks[int(block)]] = False
            return np.flatnonzero(keep).astype(np.int32), None
        rows, counts = self.blocks[base], self.blocks.counts
        if counts is not None:
            counts = counts[self.blocks.offsets[base] : self.blocks.offsets[base + 1]]
        for block in without:
            keep = ~among(self.blocks[int(block)], rows)
            rows, counts = rows[keep], None if counts is None else counts[keep]
        return rows, None if counts is None or (counts == 1).all() else counts

    def _sizes(self, sets: RowSets) -> np.ndarray:
        """Count the distinct rows of every set; only sets that need it are built in full."""
        sizes, n_minus, everything = self.blocks.sizes, np.diff(sets.offsets), sets.base == ALL
        # The base ALL is -1, so it indexes the last entry.
        whole = np.append(sizes, self.n_rows)[sets.base]
        one = np.flatnonzero(everything & (n_minus == 1))
        whole[one] -= sizes[sets.minus[sets.offsets[one]]]
        if len(sets.minus) > len(one):
            several = np.flatnonzero(everything & (n_minus > 1))
            whole[several] -= covered(self.n_rows, self.blocks, sets, several)
            for s in np.flatnonzero(~everything & (n_minus > 0)):
                whole[s] = len(self._rows(sets, int(s))[0])
        return whole
