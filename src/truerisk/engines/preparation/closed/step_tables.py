"""Tables between steps: blocks of numbers, of coded cells, of indicators, beside each other.

A block is what scikit-learn's step would hold as an array, in a form that can be computed with at
once. Cells of text are codes; an indicator is the place of its 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from inspect import signature
from typing import Any, TypeAlias

import numpy as np

from truerisk.core.frozen import frozen


class Refused(Exception):
    """Scikit-learn's own step is to be asked: it knows what to do, or says what is wrong."""


class Table(ABC):
    """Rows and columns between two steps; what it cannot be given as, it refuses."""

    names: Sequence[str] | None = None  # of the columns, where they have names
    kind: str = "f"  # of the array that scikit-learn would hold: b, i, f, or t for text
    sparse: bool = False
    fresh: bool = False  # whether nobody else holds its numbers, which may then be changed

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @abstractmethod
    def numbers(self) -> np.ndarray:
        """All cells as doubles, in a memory order as scikit-learn would have them."""

    def coded(self) -> Coded:
        """All cells as codes of their levels, which are known of all rows."""
        raise Refused("numbers that depend on the train set are not coded")

    def columns(self, which: Any) -> Table:
        """Some columns: a list of their places, or a slice."""
        return Numbers(self.numbers()[:, which], self.kind)

    @property
    def n_held(self) -> int:
        """Cells that would be stored of it: those that are not 0 where it is sparse."""
        return self.shape[0] * self.shape[1]


@frozen(eq=False)
class Levels:
    """Distinct cells of a column over all rows, ascending, then None, then NaN."""

    cells: tuple[Any, ...]
    none: bool
    nan: bool
    text: bool

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def n_values(self) -> int:
        """How many are no missing cell."""
        return len(self.cells) - self.none - self.nan

    @property
    def code_of_nan(self) -> int:
        """The last, or one that no cell has."""
        return len(self.cells) - 1 if self.nan else -1

    @cached_property
    def values(self) -> np.ndarray:
        """Of a column of numbers."""
        return np.array(self.cells, dtype=np.float64)


@frozen(eq=False)
class Numbers(Table):
    """Doubles; those that are cells of the data, or stand in for some, have codes besides."""

    values: np.ndarray
    kind: str = "f"
    levels: Coded | None = None
    fresh: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        n_rows, n_columns = self.values.shape
        return n_rows, n_columns

    def numbers(self) -> np.ndarray:
        return self.values

    def coded(self) -> Coded:
        return super().coded() if self.levels is None else self.levels


@frozen(eq=False)
class Coded(Table):
    """Codes of cells, column by column, and what they stand for."""

    codes: np.ndarray
    levels: tuple[Levels, ...]
    kind: str = "t"

    @property
    def shape(self) -> tuple[int, int]:
        n_rows, n_columns = self.codes.shape
        return n_rows, n_columns

    @cached_property
    def starts(self) -> np.ndarray:
        """Where the levels of each column begin among those of all columns, and where they end."""
        return np.cumsum([0, *map(len, self.levels)])

    @property
    def places(self) -> np.ndarray:
        """Each cell's level among those of all columns."""
        return np.asarray(self.codes + self.starts[:-1])

    def counts(self) -> list[np.ndarray]:
        """How often each level of each column comes."""
        starts = self.starts
        every = np.bincount(self.places.ravel(), minlength=int(starts[-1]))
        return np.split(every, starts[1:-1])

    def numbers(self) -> np.ndarray:
        if any(levels.text for levels in self.levels):
            raise Refused("text is no number")
        return np.concatenate([levels.values for levels in self.levels])[self.places]

    def coded(self) -> Coded:
        return self

    def columns(self, which: Any) -> Table:
        levels = self.levels[which] if isinstance(which, slice) else [self.levels[j] for j in which]
        return Coded(self.codes[:, which], tuple(levels), self.kind)


@frozen(eq=False)
class Indicators(Table):
    """Of each cell that was encoded the column that holds a 1, or −1."""

    places: np.ndarray
    width: int
    sparse: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.places), self.width

    @cached_property
    def _there(self) -> np.ndarray:
        return self.places >= 0

    @property
    def n_held(self) -> int:
        return int(np.count_nonzero(self._there)) if self.sparse else super().n_held

    def numbers(self) -> np.ndarray:
        if self.sparse:
            raise Refused("a sparse table between steps")
        numbers = np.zeros(self.shape)
        self.write(numbers)
        return numbers

    def write(self, into: np.ndarray) -> None:
        """The ones, into a block of zeros that is this table."""
        rows = np.arange(len(self.places))[:, None]
        if self._there.all():
            into[rows, self.places] = 1.0
        else:
            rows = np.broadcast_to(rows, self.places.shape)
            into[rows[self._there], self.places[self._there]] = 1.0

    def matrix(self) -> Any:
        """The table without its zeros, as scikit-learn gives it."""
        from scipy.sparse import csr_matrix

        starts = np.zeros(len(self.places) + 1, dtype=np.int32)
        np.cumsum(self._there.sum(axis=1), out=starts[1:])
        indices = self.places[self._there].astype(np.int32)
        return csr_matrix((np.ones(len(indices)), indices, starts), shape=self.shape)


@frozen(eq=False)
class Beside(Table):
    """Blocks of one table from left to right, all of them dense."""

    blocks: tuple[Table, ...]

    @property
    def shape(self) -> tuple[int, int]:
        return self.blocks[0].shape[0], sum(block.shape[1] for block in self.blocks)

    def numbers(self) -> np.ndarray:
        return np.hstack([block.numbers() for block in self.blocks])

    @property
    def kind(self) -> str:  # type: ignore[override]
        kinds = {block.kind for block in self.blocks}
        return next(kind for kind in "Utfib" if kind in kinds)

    def coded(self) -> Coded:
        parts = [block.coded() for block in self.blocks]
        if any(part.kind != "t" for part in parts):
            raise Refused("text beside numbers in one array")
        levels = tuple(one for part in parts for one in part.levels)
        return Coded(np.hstack([part.codes for part in parts]), levels)

    def filled(self) -> np.ndarray:
        """The same in rows, as a learner takes it; ones are written where they belong at once."""
        filled, at = np.zeros(self.shape), 0
        for block in self.blocks:
            part = filled[:, at : at + block.shape[1]]
            if isinstance(block, Indicators) and not block.sparse:
                block.write(part)
            else:
                part[...] = block.numbers()
            at += block.shape[1]
        return filled


@frozen(eq=False)
class Sparse(Table):
    """A table without its zeros: what comes after it is for scikit-learn to compute."""

    matrix: Any
    sparse: bool = True

    @property
    def shape(self) -> tuple[int, int]:
        n_rows, n_columns = self.matrix.shape
        return int(n_rows), int(n_columns)

    @property
    def n_held(self) -> int:
        return int(self.matrix.nnz)

    def numbers(self) -> np.ndarray:
        raise Refused("a sparse table between steps")


def rendered(table: Table) -> Any:
    """A table as a learner is given it."""
    if isinstance(table, Sparse):
        return table.matrix
    if isinstance(table, Indicators) and table.sparse:
        return table.matrix()
    return table.filled() if isinstance(table, Beside) else table.numbers()


Apply: TypeAlias = Callable[[Table], Table]
Fitted: TypeAlias = tuple[Table, Apply]
Form: TypeAlias = Callable[[Table, np.ndarray], Fitted]


def fitted(table: Table, apply: Apply) -> Fitted:
    """A train set as what was fitted on it gives it, and what it makes of other rows."""
    return apply(table), apply


Accepts = Callable[[Any], bool]


def known_parameters(step: Any, accepted: Mapping[str, Accepts]) -> dict[str, Any]:
    """Its parameters; refused where one is not accepted, or not at its default and not known.

    A step that holds anything besides its parameters (`set_output`) may do otherwise.
    """
    parameters = step.get_params(deep=False)
    if vars(step).keys() != parameters.keys():
        raise Refused("a step that holds more than its parameters")
    defaults = {name: one.default for name, one in signature(type(step)).parameters.items()}
    for name, value in parameters.items():
        accepts = accepted.get(name)
        is_accepted = value is defaults.get(name) if accepts is None else accepts(value)
        if not is_accepted:
            raise Refused(f"{type(step).__name__}({name}=...)")
    return {**dict.fromkeys(accepted), **parameters}


def flag(value: Any) -> bool:
    """Whether a parameter is True or False itself."""
    return value is True or value is False


def is_none(value: Any) -> bool:
    """Whether a parameter is None."""
    return value is None


def is_nan(value: Any) -> bool:
    """Whether a parameter is a NaN."""
    return isinstance(value, float) and bool(np.isnan(value))


def one_of(*words: str) -> Accepts:
    """A test for one of these words."""
    return lambda value: isinstance(value, str) and value in words
