"""Tables that pass from one preprocessing step to the next, as blocks of columns.

A block holds numbers, category codes or indicators. It represents the array that a scikit-learn
step would hold, in a form that is ready for computations. Text cells are codes. An indicator is the
index of the column that holds the 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from inspect import signature
from typing import Any, TypeAlias

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.overrides import override


class NoClosedForm(Exception):
    """Signal that scikit-learn's own step has to be fitted, because no closed form applies.

    scikit-learn can process the table, or reports what is wrong with it.
    """


class Table(ABC):
    """Table that passes from one preprocessing step to the next.

    It raises NoClosedForm if a form (numbers, codes) is requested that it does not have.
    """

    names: Sequence[str] | None = None  # Names of the columns, or None.
    # Type of the array that scikit-learn would have here: boolean, integer, float or text.
    kind: str = "f"
    sparse: bool = False
    # True if no other object uses this table's array, so that the array may be overwritten.
    fresh: bool = False

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""

    @abstractmethod
    def numbers(self) -> np.ndarray:
        """Return all cells as doubles, in the memory order that scikit-learn would use."""

    def coded(self) -> CodedTable:
        """Return each cell as the code of its category, among the categories of all rows of X."""
        raise NoClosedForm("numbers that depend on the train set are not coded")

    def columns(self, which: Any) -> Table:
        """Return a table of the columns selected by `which`, a list of indices or a slice."""
        return NumberTable(self.numbers()[:, which], self.kind)

    @property
    def n_held(self) -> int:
        """Number of cells that are stored: all cells, or the nonzero cells of a sparse table."""
        return self.shape[0] * self.shape[1]


@frozen(eq=False)
class Levels:
    """Categories of a column: its distinct values over all rows of X, in the order of their codes.

    The values ascend; None and NaN come last. The attributes `has_none` and `has_nan` say whether
    None and NaN occur, `is_text` whether the values are texts.
    """

    cells: tuple[Any, ...]
    has_none: bool
    has_nan: bool
    is_text: bool

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def n_values(self) -> int:
        """Number of distinct values of the column, without None and NaN."""
        return len(self.cells) - self.has_none - self.has_nan

    @property
    def code_of_nan(self) -> int:
        """Category code of NaN: the last code, or −1 if no cell is NaN."""
        return len(self.cells) - 1 if self.has_nan else -1

    @cached_property
    def values(self) -> np.ndarray:
        """Distinct values of a numeric column as doubles."""
        return np.array(self.cells, dtype=np.float64)


@frozen(eq=False)
class NumberTable(Table):
    """Table of numbers, stored as doubles.

    `coded_cells` holds the category codes too if the numbers are those of X, possibly imputed.
    """

    values: np.ndarray
    kind: str = "f"
    coded_cells: CodedTable | None = None
    fresh: bool = False

    @property
    @override
    def shape(self) -> tuple[int, int]:
        n_rows, n_columns = self.values.shape
        return n_rows, n_columns

    @override
    def numbers(self) -> np.ndarray:
        return self.values

    @override
    def coded(self) -> CodedTable:
        return super().coded() if self.coded_cells is None else self.coded_cells


@frozen(eq=False)
class CodedTable(Table):
    """Table that stores the code of each cell's category, and the categories of each column."""

    codes: np.ndarray
    levels: tuple[Levels, ...]
    kind: str = "t"

    @property
    @override
    def shape(self) -> tuple[int, int]:
        n_rows, n_columns = self.codes.shape
        return n_rows, n_columns

    @cached_property
    def category_starts(self) -> np.ndarray:
        """Position of each column's first category in the list of all columns' categories."""
        return np.cumsum([0, *map(len, self.levels)])

    @property
    def category_indices(self) -> np.ndarray:
        """Position of each cell's category in the list of all columns' categories."""
        return np.asarray(self.codes + self.category_starts[:-1])

    def counts(self) -> list[np.ndarray]:
        """Return the frequency of each category of each column."""
        category_starts = self.category_starts
        frequencies = np.bincount(self.category_indices.ravel(), minlength=int(category_starts[-1]))
        return np.split(frequencies, category_starts[1:-1])

    @override
    def numbers(self) -> np.ndarray:
        if any(levels.is_text for levels in self.levels):
            raise NoClosedForm("text is no number")
        return np.concatenate([levels.values for levels in self.levels])[self.category_indices]

    @override
    def coded(self) -> CodedTable:
        return self

    @override
    def columns(self, which: Any) -> Table:
        levels = self.levels[which] if isinstance(which, slice) else [self.levels[j] for j in which]
        return CodedTable(self.codes[:, which], tuple(levels), self.kind)


@frozen(eq=False)
class Indicators(Table):
    """Table of the indicator columns of encoded categories, which holds only 0 and 1.

    For each encoded cell it stores the number of the column that is 1, or −1 if all are 0.
    """

    indicator_columns: np.ndarray
    n_columns: int
    sparse: bool = False

    @property
    @override
    def shape(self) -> tuple[int, int]:
        return len(self.indicator_columns), self.n_columns

    @cached_property
    def _is_stored(self) -> np.ndarray:
        return self.indicator_columns >= 0

    @property
    @override
    def n_held(self) -> int:
        return int(np.count_nonzero(self._is_stored)) if self.sparse else super().n_held

    @override
    def numbers(self) -> np.ndarray:
        if self.sparse:
            raise NoClosedForm("a sparse table between steps")
        cells = np.zeros(self.shape)
        self.write_ones(cells)
        return cells

    def write_ones(self, cells: np.ndarray) -> None:
        """Write the ones of this table into an array of zeros."""
        rows = np.arange(len(self.indicator_columns))[:, None]
        if self._is_stored.all():
            cells[rows, self.indicator_columns] = 1.0
        else:
            rows = np.broadcast_to(rows, self.indicator_columns.shape)
            cells[rows[self._is_stored], self.indicator_columns[self._is_stored]] = 1.0

    def matrix(self) -> Any:
        """Return the table as the sparse matrix that scikit-learn would return."""
        from scipy.sparse import csr_matrix

        row_starts = np.zeros(len(self.indicator_columns) + 1, dtype=np.int32)
        np.cumsum(self._is_stored.sum(axis=1), out=row_starts[1:])
        indices = self.indicator_columns[self._is_stored].astype(np.int32)
        return csr_matrix((np.ones(len(indices)), indices, row_starts), shape=self.shape)


@frozen(eq=False)
class JoinedColumns(Table):
    """Table of several dense blocks of columns, from left to right."""

    blocks: tuple[Table, ...]

    @property
    @override
    def shape(self) -> tuple[int, int]:
        return self.blocks[0].shape[0], sum(block.shape[1] for block in self.blocks)

    @override
    def numbers(self) -> np.ndarray:
        return np.hstack([block.numbers() for block in self.blocks])

    @property
    @override
    def kind(self) -> str:  # type: ignore[override]
        block_kinds = {block.kind for block in self.blocks}
        return next(array_kind for array_kind in "Utfib" if array_kind in block_kinds)

    @override
    def coded(self) -> CodedTable:
        coded_blocks = [block.coded() for block in self.blocks]
        if any(coded_block.kind != "t" for coded_block in coded_blocks):
            raise NoClosedForm("text beside numbers in one array")
        levels = tuple(
            column_levels for coded_block in coded_blocks for column_levels in coded_block.levels
        )
        return CodedTable(np.hstack([coded_block.codes for coded_block in coded_blocks]), levels)

    def to_array(self) -> np.ndarray:
        """Return the table as one array stored by rows, as learners need it.

        The ones of indicators are written directly into that array.
        """
        cells, first_column = np.zeros(self.shape), 0
        for block in self.blocks:
            block_cells = cells[:, first_column : first_column + block.shape[1]]
            if isinstance(block, Indicators) and not block.sparse:
                block.write_ones(block_cells)
            else:
                block_cells[...] = block.numbers()
            first_column += block.shape[1]
        return cells


@frozen(eq=False)
class SparseTable(Table):
    """Sparse table, which only scikit-learn's own steps and the learner can process."""

    matrix: Any
    sparse: bool = True

    @property
    @override
    def shape(self) -> tuple[int, int]:
        n_rows, n_columns = self.matrix.shape
        return int(n_rows), int(n_columns)

    @property
    @override
    def n_held(self) -> int:
        return int(self.matrix.nnz)

    @override
    def numbers(self) -> np.ndarray:
        raise NoClosedForm("a sparse table between steps")


def as_learner_input(table: Table) -> Any:
    """Return a table as the array or sparse matrix that a learner receives."""
    if isinstance(table, SparseTable):
        return table.matrix
    if isinstance(table, Indicators) and table.sparse:
        return table.matrix()
    return table.to_array() if isinstance(table, JoinedColumns) else table.numbers()


Apply: TypeAlias = Callable[[Table], Table]
FittedStep: TypeAlias = tuple[Table, Apply]
ClosedForm: TypeAlias = Callable[[Table, np.ndarray], FittedStep]


def fitted_step(table: Table, apply: Apply) -> FittedStep:
    """Apply a fitted step to its training table; return the output and the function `apply`."""
    return apply(table), apply


ParameterTest = Callable[[Any], bool]


def supported_parameters(step: Any, parameter_tests: Mapping[str, ParameterTest]) -> dict[str, Any]:
    """Return the parameters of a step, or raise NoClosedForm if one is not supported.

    A parameter without a test in `parameter_tests` must be at its default. A step with attributes
    other than its parameters (such as `set_output`) may behave differently and is refused.
    """
    parameters = step.get_params(deep=False)
    if vars(step).keys() != parameters.keys():
        raise NoClosedForm("a step that holds more than its parameters")
    defaults = {
        name: parameter.default for name, parameter in signature(type(step)).parameters.items()
    }
    for name, value in parameters.items():
        parameter_test = parameter_tests.get(name)
        is_accepted = (
            value is defaults.get(name) if parameter_test is None else parameter_test(value)
        )
        if not is_accepted:
            raise NoClosedForm(f"{type(step).__name__}({name}=...)")
    return {**dict.fromkeys(parameter_tests), **parameters}


def is_boolean(value: Any) -> bool:
    """Return True if a parameter's value is True or False itself, not merely equal to it."""
    return value is True or value is False


def is_none(value: Any) -> bool:
    """Return True if a parameter is None."""
    return value is None


def is_nan(value: Any) -> bool:
    """Return True if a parameter is a NaN."""
    return isinstance(value, float) and bool(np.isnan(value))


def one_of(*accepted_texts: str) -> ParameterTest:
    """Return a function that tests whether a parameter's value is one of these strings."""
    return lambda value: isinstance(value, str) and value in accepted_texts
