"""Closed forms of composite steps: Pipeline, ColumnTransformer, FeatureUnion and the identity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exactly
from truerisk.engines.preparation.closed.coded_data import Cells
from truerisk.engines.preparation.closed.first_steps import form_of, in_turn
from truerisk.engines.preparation.closed.step_tables import (
    Fitted,
    Form,
    Indicators,
    JoinedColumns,
    Refused,
    Sparse,
    Table,
    fitted,
    flag,
    is_none,
    known_parameters,
)


def identity(step: Any) -> Form:
    """Return the closed form of a FunctionTransformer without a function: the identity."""
    known_parameters(step, {"func": is_none, "inverse_func": is_none, "check_inverse": flag})
    return lambda table, y: fitted(table, lambda other: other)


def pipeline(step: Any) -> Form:
    """Return the closed form of a Pipeline of steps."""
    known_parameters(step, {"steps": _is_list})
    _named_well(step, (name for name, _ in step.steps))
    return in_turn([form_of(one) for _, one in step.steps if not _passes(one)])


def feature_union(step: Any) -> Form:
    """Return the closed form of FeatureUnion, in which all parts receive the same columns."""
    known_parameters(step, {"transformer_list": _is_list, "n_jobs": _is_jobs, "verbose": _is_quiet})
    _named_well(step, (name for name, _ in step.transformer_list))
    forms = [_part(one) for _, one in step.transformer_list if not _is_dropped(one)]

    def fit(table: Table, y: np.ndarray) -> Fitted:
        parts = [form(table, y) for form in forms]
        blocks = [given for given, _ in parts]
        sparse = any(block.sparse for block in blocks)

        def apply(other: Table) -> Table:
            return _joined([part(other) for _, part in parts], sparse)

        return _joined(blocks, sparse), apply

    return fit


def column_transformer(step: Any) -> Form:
    """Return the closed form of ColumnTransformer, with its parts and its remainder."""
    known_parameters(
        step,
        {
            "transformers": _is_list,
            "remainder": lambda value: True,
            "sparse_threshold": lambda value: type(value) in (int, float) and 0 <= value <= 1,
            "n_jobs": _is_jobs,
            "verbose": _is_quiet,
            "verbose_feature_names_out": lambda value: True,
        },
    )
    _named_well(step, (name for name, _, _ in step.transformers))
    parts = [(one, which) for _, one, which in step.transformers]
    forms = [None if _is_dropped(one) else _part(one) for one, _ in parts]
    rest = None if _is_dropped(step.remainder) else _part(step.remainder)

    def fit(table: Table, y: np.ndarray) -> Fitted:
        named = [places_of(which, table) for _, which in parts]
        left = sorted(set(range(table.shape[1])).difference(*(one.columns for one in named)))
        chosen = [*zip(forms, named, strict=True), (rest, Places(tuple(left)))]
        fits = [
            (places, form(table.columns(places.which), y))
            for form, places in chosen
            if form is not None and places.columns
        ]
        found = [given for _, (given, _) in fits]
        sparse = _is_sparse(found, step.sparse_threshold)

        def apply(other: Table) -> Table:
            blocks = [part(other.columns(places.which)) for places, (_, part) in fits]
            return _joined(blocks, sparse)

        return _joined(found, sparse), apply

    return fit


def _is_sparse(blocks: Sequence[Table], threshold: float) -> bool:
    """Return True if some block is sparse, and the share of stored cells is below the threshold."""
    if not any(block.sparse for block in blocks):
        return False
    total = sum(block.shape[0] * block.shape[1] for block in blocks)
    return total > 0 and sum(block.n_held for block in blocks) / total < threshold


def _joined(blocks: Sequence[Table], sparse: bool) -> Table:
    if not blocks:
        raise Refused("no columns")
    if not sparse:
        dense = tuple(_dense(block) for block in blocks)
        # A frame loses its column names here.
        alone = len(dense) == 1 and not isinstance(dense[0], Cells)
        return dense[0] if alone else JoinedColumns(dense)
    return Sparse(_join_columns([_contents(block) for block in blocks]))


def _contents(block: Table) -> Any:
    """Return a sparse matrix, or each row's cells and their columns (−1 for cells that are 0)."""
    if isinstance(block, Sparse):
        return block.matrix
    if isinstance(block, Indicators) and block.sparse:
        return block.width, block.places, np.ones(block.places.shape)
    values = block.numbers()
    columns = np.where(values != 0, np.arange(values.shape[1]), -1)
    return values.shape[1], columns, values


def _join_columns(held: Sequence[Any]) -> Any:
    """Join blocks to one matrix, with the cells of each row in the order of their columns."""
    from scipy.sparse import csr_matrix, hstack

    if any(hasattr(one, "tocsr") for one in held):
        parts = [one if hasattr(one, "tocsr") else _join_columns([one]) for one in held]
        return hstack(parts).tocsr()
    ends = np.cumsum([0, *(width for width, _, _ in held)])
    there = np.hstack([columns >= 0 for _, columns, _ in held])
    columns = np.hstack([one[1] + start for one, start in zip(held, ends[:-1], strict=True)])
    starts = np.zeros(len(there) + 1, dtype=np.int32)
    np.cumsum(there.sum(axis=1), out=starts[1:])
    values = np.hstack([values for _, _, values in held])[there]
    shape = len(there), int(ends[-1])
    return csr_matrix((values, columns[there].astype(np.int32), starts), shape=shape)


def _dense(block: Table) -> Table:
    if isinstance(block, Indicators):
        return Indicators(block.places, block.width)
    if block.sparse:
        raise Refused("a sparse table between steps")
    return block


def _part(step: Any) -> Form:
    if isinstance(step, str) and step == "passthrough":
        return lambda table, y: fitted(table, lambda other: other)
    return form_of(step)


def _passes(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _is_dropped(step: Any) -> bool:
    return isinstance(step, str) and step == "drop"


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0


def _is_jobs(value: Any) -> bool:
    return value is None or type(value) is int


def _is_quiet(value: Any) -> bool:
    return value is False


def _named_well(step: Any, names: Iterable[Any]) -> None:
    """Refuse names of parts that are not unique strings; scikit-learn reports what is wrong."""
    listed = list(names)
    if len(set(listed)) < len(listed) or not all(isinstance(name, str) for name in listed):
        raise Refused("names of parts that come twice")
    if any("__" in name for name in listed) or set(listed) & step.get_params(deep=False).keys():
        raise Refused("names of parts that scikit-learn refuses")


@frozen
class Places:
    """Column indices; a slice of an array keeps its memory layout, a list does not."""

    columns: tuple[int, ...]
    sliced: slice | None = None

    @property
    def which(self) -> slice | list[int]:
        """The columns as a table accepts them."""
        return list(self.columns) if self.sliced is None else self.sliced


def places_of(which: Any, table: Table) -> Places:
    """Return the indices of specified columns.

    Refuse those that scikit-learn warns of or rejects.
    """
    if is_exactly(which, "sklearn.compose:make_column_selector"):
        which = _selected(which, table)
    width = table.shape[1]
    if isinstance(which, slice):
        places = _of_slice(which, table)
        return Places(tuple(range(width))[places], places)
    listed = which.tolist() if isinstance(which, np.ndarray) else which
    if not isinstance(listed, list):
        raise Refused("columns that are written down in another way")
    return Places(tuple(_of_list(listed, table)))


def _of_list(listed: list[Any], table: Table) -> Sequence[int]:
    kinds = {type(one) for one in listed}
    width = table.shape[1]
    if kinds <= {str} and kinds:
        return [_place(name, table) for name in listed]
    if kinds <= {bool} and kinds:
        if len(listed) != width:
            raise Refused("a mask of another length")
        return [j for j, there in enumerate(listed) if there]
    if kinds <= {int} and all(0 <= j < width for j in listed):
        return listed
    raise Refused("columns that are not there")


def _of_slice(which: slice, table: Table) -> slice:
    ends = which.start, which.stop
    if which.step is not None:
        raise Refused("a slice with steps")
    if any(isinstance(end, str) for end in ends):
        first, last = (None if end is None else _place(end, table) for end in ends)
        return slice(first, None if last is None else last + 1)
    if not all(end is None or (type(end) is int and end >= 0) for end in ends):
        raise Refused("a slice of another kind")
    return which


def _place(name: Any, table: Table) -> int:
    if table.names is None or name not in table.names:
        raise Refused("a column that is not there")
    return list(table.names).index(name)


def _selected(selector: Any, table: Table) -> Any:
    """Return the columns that a `make_column_selector` selects from the frame, by their types."""
    if not isinstance(table, Cells) or not table.source.is_pandas:
        raise Refused("a selector of columns of another table")
    return selector(table.source.X.iloc[:1, list(table.places)])
