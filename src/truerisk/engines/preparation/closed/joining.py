"""Closed forms of composite steps: Pipeline, ColumnTransformer, FeatureUnion and the identity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exactly
from truerisk.engines.preparation.closed.coded_data import SourceCells
from truerisk.engines.preparation.closed.first_steps import chain_forms, find_closed_form
from truerisk.engines.preparation.closed.step_tables import (
    ClosedForm,
    FittedStep,
    Indicators,
    JoinedColumns,
    NoClosedForm,
    SparseTable,
    Table,
    fitted_step,
    is_boolean,
    is_none,
    supported_parameters,
)


def identity(step: Any) -> ClosedForm:
    """Return a closed form of a FunctionTransformer without a function, which changes nothing."""
    supported_parameters(
        step, {"func": is_none, "inverse_func": is_none, "check_inverse": is_boolean}
    )
    return lambda table, y: fitted_step(table, lambda other_rows: other_rows)


def pipeline(step: Any) -> ClosedForm:
    """Return a function that fits a Pipeline of steps that all have a closed form."""
    supported_parameters(step, {"steps": _is_nonempty_list})
    _check_names(step, (name for name, _ in step.steps))
    return chain_forms(
        [find_closed_form(substep) for _, substep in step.steps if not _is_passthrough(substep)]
    )


def feature_union(step: Any) -> ClosedForm:
    """Return a function that fits a FeatureUnion of steps that all have a closed form.

    All its transformers receive the same columns.
    """
    supported_parameters(
        step,
        {"transformer_list": _is_nonempty_list, "n_jobs": _is_valid_n_jobs, "verbose": _is_false},
    )
    _check_names(step, (name for name, _ in step.transformer_list))
    closed_forms = [
        _transformer_form(transformer)
        for _, transformer in step.transformer_list
        if not _is_dropped(transformer)
    ]

    def fit(table: Table, y: np.ndarray) -> FittedStep:
        fitted_transformers = [transformer_form(table, y) for transformer_form in closed_forms]
        blocks = [output for output, _ in fitted_transformers]
        is_sparse = any(block.sparse for block in blocks)

        def apply(other_rows: Table) -> Table:
            return _join_blocks(
                [apply_transformer(other_rows) for _, apply_transformer in fitted_transformers],
                is_sparse,
            )

        return _join_blocks(blocks, is_sparse), apply

    return fit


def column_transformer(step: Any) -> ClosedForm:
    """Return a function that fits a ColumnTransformer of steps that all have a closed form.

    The columns that no transformer uses go to the remainder.
    """
    supported_parameters(
        step,
        {
            "transformers": _is_nonempty_list,
            "remainder": lambda value: True,
            "sparse_threshold": lambda value: type(value) in (int, float) and 0 <= value <= 1,
            "n_jobs": _is_valid_n_jobs,
            "verbose": _is_false,
            "verbose_feature_names_out": lambda value: True,
        },
    )
    _check_names(step, (name for name, _, _ in step.transformers))
    specifications = [(transformer, columns) for _, transformer, columns in step.transformers]
    closed_forms = [
        None if _is_dropped(transformer) else _transformer_form(transformer)
        for transformer, _ in specifications
    ]
    remainder_form = None if _is_dropped(step.remainder) else _transformer_form(step.remainder)

    def fit(table: Table, y: np.ndarray) -> FittedStep:
        column_selections = [select_columns(columns, table) for _, columns in specifications]
        remaining_columns = sorted(
            set(range(table.shape[1])).difference(
                *(column_selection.columns for column_selection in column_selections)
            )
        )
        forms_and_columns = [
            *zip(closed_forms, column_selections, strict=True),
            (remainder_form, ColumnSelection(tuple(remaining_columns))),
        ]
        fitted_transformers = [
            (selection, transformer_form(table.columns(selection.indexer), y))
            for transformer_form, selection in forms_and_columns
            if transformer_form is not None and selection.columns
        ]
        outputs = [output for _, (output, _) in fitted_transformers]
        is_sparse = _is_sparse(outputs, step.sparse_threshold)

        def apply(other_rows: Table) -> Table:
            blocks = [
                apply_transformer(other_rows.columns(selection.indexer))
                for selection, (_, apply_transformer) in fitted_transformers
            ]
            return _join_blocks(blocks, is_sparse)

        return _join_blocks(outputs, is_sparse), apply

    return fit


def _is_sparse(blocks: Sequence[Table], threshold: float) -> bool:
    """Return True if ColumnTransformer would join these blocks of columns to a sparse matrix.

    It does so if a block is sparse, and stored cells divided by all cells are below `threshold`.
    """
    if not any(block.sparse for block in blocks):
        return False
    n_cells = sum(block.shape[0] * block.shape[1] for block in blocks)
    return n_cells > 0 and sum(block.n_held for block in blocks) / n_cells < threshold


def _join_blocks(blocks: Sequence[Table], is_sparse: bool) -> Table:
    if not blocks:
        raise NoClosedForm("no columns")
    if not is_sparse:
        dense_blocks = tuple(_dense_block(block) for block in blocks)
        # A single block of unchanged X is joined too, because ColumnTransformer drops column names.
        is_single = len(dense_blocks) == 1 and not isinstance(dense_blocks[0], SourceCells)
        return dense_blocks[0] if is_single else JoinedColumns(dense_blocks)
    return SparseTable(_join_columns([_sparse_contents(block) for block in blocks]))


def _sparse_contents(block: Table) -> Any:
    """Return the nonzero cells of a block of columns, to be joined with those of other blocks.

    The result is a sparse matrix or a tuple: the number of columns, and for each cell of each row
    its column number and its value. The column number is −1 for a cell that is 0.
    """
    if isinstance(block, SparseTable):
        return block.matrix
    if isinstance(block, Indicators) and block.sparse:
        return block.n_columns, block.indicator_columns, np.ones(block.indicator_columns.shape)
    values = block.numbers()
    columns = np.where(values != 0, np.arange(values.shape[1]), -1)
    return values.shape[1], columns, values


def _join_columns(block_contents: Sequence[Any]) -> Any:
    """Join blocks to one sparse matrix; the cells of each row are stored in column order."""
    from scipy.sparse import csr_matrix, hstack

    if any(hasattr(block_content, "tocsr") for block_content in block_contents):
        matrices = [
            block_content if hasattr(block_content, "tocsr") else _join_columns([block_content])
            for block_content in block_contents
        ]
        return hstack(matrices).tocsr()
    column_offsets = np.cumsum([0, *(width for width, _, _ in block_contents)])
    is_stored = np.hstack([columns >= 0 for _, columns, _ in block_contents])
    columns = np.hstack(
        [
            block_content[1] + first_column
            for block_content, first_column in zip(block_contents, column_offsets[:-1], strict=True)
        ]
    )
    row_starts = np.zeros(len(is_stored) + 1, dtype=np.int32)
    np.cumsum(is_stored.sum(axis=1), out=row_starts[1:])
    values = np.hstack([values for _, _, values in block_contents])[is_stored]
    shape = len(is_stored), int(column_offsets[-1])
    return csr_matrix((values, columns[is_stored].astype(np.int32), row_starts), shape=shape)


def _dense_block(block: Table) -> Table:
    if isinstance(block, Indicators):
        return Indicators(block.indicator_columns, block.n_columns)
    if block.sparse:
        raise NoClosedForm("a sparse table between steps")
    return block


def _transformer_form(step: Any) -> ClosedForm:
    if isinstance(step, str) and step == "passthrough":
        return lambda table, y: fitted_step(table, lambda other_rows: other_rows)
    return find_closed_form(step)


def _is_passthrough(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _is_dropped(step: Any) -> bool:
    return isinstance(step, str) and step == "drop"


def _is_nonempty_list(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0


def _is_valid_n_jobs(value: Any) -> bool:
    return value is None or type(value) is int


def _is_false(value: Any) -> bool:
    return value is False


def _check_names(step: Any, names: Iterable[Any]) -> None:
    """Raise NoClosedForm if names of transformers are invalid, so that scikit-learn reports it."""
    name_list = list(names)
    if len(set(name_list)) < len(name_list) or not all(isinstance(name, str) for name in name_list):
        raise NoClosedForm("names of parts that come twice")
    if (
        any("__" in name for name in name_list)
        or set(name_list) & step.get_params(deep=False).keys()
    ):
        raise NoClosedForm("names of parts that scikit-learn refuses")


@frozen
class ColumnSelection:
    """Selection of columns: a slice, which keeps an array's memory layout, or a list of indices."""

    columns: tuple[int, ...]
    column_slice: slice | None = None

    @property
    def indexer(self) -> slice | list[int]:
        """Selected columns in the form that `Table.columns` accepts: a slice or a list."""
        return list(self.columns) if self.column_slice is None else self.column_slice


def select_columns(specification: Any, table: Table) -> ColumnSelection:
    """Return the columns that the specification in a ColumnTransformer selects.

    Raise NoClosedForm for specifications that scikit-learn warns of or rejects.
    """
    if is_exactly(specification, "sklearn.compose:make_column_selector"):
        specification = _selected_columns(specification, table)
    width = table.shape[1]
    if isinstance(specification, slice):
        column_slice = _resolve_slice(specification, table)
        return ColumnSelection(tuple(range(width))[column_slice], column_slice)
    column_list = specification.tolist() if isinstance(specification, np.ndarray) else specification
    if not isinstance(column_list, list):
        raise NoClosedForm("columns that are written down in another way")
    return ColumnSelection(tuple(_resolve_list(column_list, table)))


def _resolve_list(column_list: list[Any], table: Table) -> Sequence[int]:
    item_types = {type(element) for element in column_list}
    width = table.shape[1]
    if item_types <= {str} and item_types:
        return [_column_index(name, table) for name in column_list]
    if item_types <= {bool} and item_types:
        if len(column_list) != width:
            raise NoClosedForm("a mask of another length")
        return [j for j, is_selected in enumerate(column_list) if is_selected]
    if item_types <= {int} and all(0 <= j < width for j in column_list):
        return column_list
    raise NoClosedForm("columns that are not there")


def _resolve_slice(column_slice: slice, table: Table) -> slice:
    slice_ends = column_slice.start, column_slice.stop
    if column_slice.step is not None:
        raise NoClosedForm("a slice with steps")
    if any(isinstance(slice_end, str) for slice_end in slice_ends):
        first_column, last_column = (
            None if slice_end is None else _column_index(slice_end, table)
            for slice_end in slice_ends
        )
        return slice(first_column, None if last_column is None else last_column + 1)
    if not all(
        slice_end is None or (type(slice_end) is int and slice_end >= 0) for slice_end in slice_ends
    ):
        raise NoClosedForm("a slice of another kind")
    return column_slice


def _column_index(name: Any, table: Table) -> int:
    if table.names is None or name not in table.names:
        raise NoClosedForm("a column that is not there")
    return list(table.names).index(name)


def _selected_columns(selector: Any, table: Table) -> Any:
    """Return the columns of a pandas frame that a `make_column_selector` selects by their types."""
    if not isinstance(table, SourceCells) or not table.source.is_pandas:
        raise NoClosedForm("a selector of columns of another table")
    return selector(table.source.X.iloc[:1, list(table.column_numbers)])
