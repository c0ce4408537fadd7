"""Data of one call: X, y and the arrays with one entry per row, all checked when they enter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from truerisk.core.arguments import as_array, mention, repr_on_one_line, to_row_array
from truerisk.core.errors import BadData
from truerisk.core.family import TaskName as TaskName
from truerisk.core.frozen import frozen
from truerisk.core.registry import check_present
from truerisk.data.rows import (
    RowChecksums,
    TableView,
    column_names,
    digest,
    n_rows,
    row_keys,
    sums_of,
    take_rows,
)
from truerisk.data.targets import (
    TargetForm,
    check_not_swapped,
    check_target_length,
    checked_groups,
    checked_target,
    encode_classes,
    find_target_form,
    to_float_target,
    to_python_scalar,
)


class RowsCacheKey:
    """Key of a cache for what engines compute from the rows of X alone, without the targets."""


@frozen(eq=False)
class Data:
    """Checked data of a call: X, y and the other arrays with one entry per row.

    `codes[i]` is the position of `y[i]` in the sorted `classes`; both are None for regression. If
    the task is neither classification nor regression nor survival ("other"), y may be anything,
    because only a scorer reads it; a y with zero columns means that there is no target.

    Parameters
    ----------
    X : array, sparse matrix or frame
        The features.
    y : array
        The target. For survival it has two columns, an event indicator and the time, and models
        predict the probability of no event by each of the `horizons`.
    task : {"classification", "regression", "survival", "other"}
        The task.
    classes : array, optional
        The sorted classes.
    codes : array of int, optional
        The position of the class of each row.
    groups : array, optional
        The group of each row.
    sample_weight : array, optional
        The weight of each row.
    time : array, optional
        The time of each row, as floats or dates. Times order and split rows, and no fit sees them.
    block : array, optional
        The place of each row, as codes of labels, or as coordinates with one column each. Places
        split rows, and no fit sees them.
    fit_params : mapping, optional
        Parameters of every fit; those with one entry per row are restricted to the rows of that
        fit.
    row_ids : array of int, optional
        The row numbers in the data from which these rows were taken; None for all rows.
    form : Form, optional
        The type of y as given, and whether it was a column, if they differ from the converted y.
        Models and scorers get y in this type.
    as_given : bool, default=False
        If True, models also get y as a column.
    horizons : tuple of float, optional
        The times at which models of survival predict.

    See Also
    --------
    truerisk.extend.Family : The learner and its settings.

    Examples
    --------
    >>> from truerisk.extend import Data
    >>> data = Data.check([[1.0], [2.0], [3.0]], ["a", "b", "a"], task="classification")
    >>> data.n_rows, data.codes.tolist(), data.subset([0, 1]).n_rows
    (3, [0, 1, 0], 2)
    """

    X: Any
    y: np.ndarray
    task: TaskName
    classes: np.ndarray | None = None
    codes: np.ndarray | None = None
    groups: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    time: np.ndarray | None = None
    block: np.ndarray | None = None
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    row_ids: np.ndarray | None = None
    form: TargetForm | None = None
    as_given: bool = False
    horizons: tuple[float, ...] = ()

    n_rows: int = field(init=False, repr=False)
    n_classes: int = field(init=False, repr=False)
    class_sizes: np.ndarray = field(init=False, repr=False)
    strata: np.ndarray | None = field(init=False, repr=False)
    places: np.ndarray | None = field(init=False, repr=False)
    dependent: bool = field(init=False, repr=False)
    same_rows: RowsCacheKey = field(init=False, repr=False, default_factory=RowsCacheKey)

    def __post_init__(self) -> None:
        """Compute the fields that follow from the given ones, such as the number of rows.

        `class_sizes` are in the order of the codes. `strata` are the labels that folds are
        stratified by: classes, or the event indicator for survival; None for regression. `places`
        are the coordinates of the rows; None if there are none or if there are labels instead.
        `dependent` is true if the rows have times, places or blocks and may therefore depend on
        each other. `same_rows` is the same object for all data with these rows of X, whatever their
        targets (`with_targets_of`).
        """
        codes = np.empty(0, np.int64) if self.codes is None else self.codes
        n_classes = 0 if self.classes is None else len(self.classes)
        vars(self).update(
            n_rows=len(self.y),
            n_classes=n_classes,
            class_sizes=np.bincount(codes, minlength=n_classes),
            strata=self.y[:, 0].astype(np.int64) if self.task == "survival" else self.codes,
            places=None if self.block is None or self.block.ndim == 1 else self.block,
            dependent=self.time is not None or self.block is not None,
        )

    @cached_property
    def fingerprint(self) -> str:
        """Checksum of X, y, groups, sample weights, times and places."""
        times_and_places = (self.time, self.block) if self.dependent else ()
        hashed_tables = self.X, self.y, self.groups, self.sample_weight, *times_and_places
        return digest(*hashed_tables, sums=self._row_sums)

    @cached_property
    def row_keys(self) -> np.ndarray | None:
        """One integer per row of X, equal exactly for equal rows; None if all rows differ."""
        return row_keys(self.X, self._row_sums)

    @cached_property
    def clusters(self) -> np.ndarray | None:
        """Cluster of each row; rows of one cluster depend on each other and count as one unit.

        Clusters are the groups. If the rows have coordinates, groups that share a cell of the grid
        are joined.

        The grid is the default one, whatever blocks a method of estimating risk draws.
        """
        if self.places is None:
            return self.groups
        return _places_module().default_clusters(self.places, self.groups)

    @cached_property
    def row_marks(self) -> np.ndarray:
        """Hash of each row's content, which does not depend on the order of rows or columns.

        The number does not depend on the names of the classes either.
        """
        check_present("truerisk.data.row_marks")
        from truerisk.data.row_marks import hash_rows

        return hash_rows(self.X, self.codes, self.y if self.codes is None else None)

    @cached_property
    def _row_sums(self) -> RowChecksums | None:
        return sums_of(self.X)

    @cached_property
    def non_finite(self) -> str | None:
        """An error message about the first NaN or infinite cell of X, or None."""
        # These row sums cost nothing extra, because the fingerprint needs them in any case.
        row_sums = self._row_sums
        return (
            None
            if row_sums is not None and row_sums.is_finite
            else columns().message_on_non_finite_cell(self.X)
        )

    @cached_property
    def unreadable_names(self) -> str | None:
        """Reason why the column names of a frame cannot be used, or None."""
        return (
            None if column_names(self.X) is None else columns().message_on_unreadable_names(self.X)
        )

    @classmethod
    def check(
        cls,
        X: Any,
        y: Any,
        *,
        task: TaskName,
        groups: Any = None,
        sample_weight: Any = None,
        time: Any = None,
        block: Any = None,
        fit_params: Mapping[str, Any] | None = None,
        as_given: bool = False,
    ) -> Data:
        """Check the arguments of a user, raise an error if one is invalid, and return the data.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The features.
        y : array
            The target.
        task : {"classification", "regression", "survival", "other"}
            The task.
        groups : array, optional
            The group of each row.
        sample_weight : array, optional
            The weight of each row.
        time : array, optional
            The time of each row.
        block : array or frame, optional
            The place of each row.
        fit_params : mapping, optional
            Parameters of every fit.
        as_given : bool, default=False
            If True, the fits may take y as a column (`for_fits`), so that a column causes no
            warning.

        Returns
        -------
        Data
            The data.
        """
        check_not_swapped(X, y)
        table = _view(X)
        n = table.n_rows
        if task == "survival":
            checked_y = _survival_module().survival_target(y, n)
        else:
            checked_y = (
                check_target_length(y, n) if task == "other" else checked_target(y, n, as_given)
            )
        classes = codes = None
        if task == "classification":
            classes, codes = encode_classes(checked_y)
        elif task == "regression":
            checked_y = to_float_target(checked_y)
        group_codes = None if groups is None else checked_groups(groups, n)
        row_places = None if block is None else _places_module().checked_places(block, table)
        if row_places is not None and row_places.ndim == 1:
            group_codes = (
                row_places
                if group_codes is None
                else _places_module().join_groups_and_blocks(group_codes, row_places)
            )
        return cls(
            X=table.X,
            y=checked_y,
            task=task,
            classes=classes,
            codes=codes,
            groups=group_codes,
            sample_weight=None if sample_weight is None else _checked_weights(sample_weight, n),
            time=None if time is None else _times_module().checked_times(time, table),
            block=row_places,
            fit_params=dict(fit_params or {}),
            form=None if task == "other" else find_target_form(y, checked_y),
        )

    def targets(self, y: np.ndarray) -> tuple[np.ndarray, ...]:
        """Convert entries of y to the type of the user's y; return a tuple that holds this array.

        The tuple is empty if there is no target.

        Parameters
        ----------
        y : array
            Entries of the target.

        Returns
        -------
        tuple of arrays
            The entries in the type in which models get them.
        """
        if self.task == "other" and y.shape[1:] == (0,):
            return ()
        if self.form is None:
            return (y,)
        y_dtype, is_column = self.form
        if y_dtype.names:
            return (_survival_module().as_pairs(y, y_dtype),)
        targets = y.astype(y_dtype, copy=False)
        return (targets[:, None] if is_column and self.as_given else targets,)

    @property
    def class_labels(self) -> np.ndarray:
        """The sorted classes of a classification; other tasks have none."""
        assert self.classes is not None
        return self.classes

    @property
    def class_codes(self) -> np.ndarray:
        """The class of each row as a position in the sorted classes; only for classification."""
        assert self.codes is not None
        return self.codes

    def at_horizon(self, horizon: float) -> Data:
        """Convert survival data to a binary classification: event by the horizon, or not.

        Rows that were censored before the horizon get weight 0.

        Parameters
        ----------
        horizon : float
            The time.

        Returns
        -------
        Data
            The same rows with the outcome as two classes.
        """
        if horizon not in self._data_by_horizon:
            binary_fields: dict[str, Any] = {
                "classes": np.array([f"after {horizon:.12g}", f"by {horizon:.12g}"]),
                **_survival_module().outcome_at_horizon(self.y, self.sample_weight, horizon),
            }
            self._data_by_horizon[horizon] = replace(
                self, task="classification", form=None, **binary_fields
            )
        return self._data_by_horizon[horizon]

    @cached_property
    def _data_by_horizon(self) -> dict[float, Data]:
        return {}

    def label(self, code: int) -> Any:
        """Return the class with this code as a plain Python value.

        Parameters
        ----------
        code : int
            The code.

        Returns
        -------
        label
            The class.
        """
        assert self.classes is not None
        return to_python_scalar(self.classes[code])

    def codes_of(self, rows: np.ndarray) -> np.ndarray:
        """Return the class codes of the given rows; only classification has class codes.

        Parameters
        ----------
        rows : array of int
            Row numbers.

        Returns
        -------
        array of int
            The codes.
        """
        assert self.codes is not None
        return self.codes[rows]

    def rows(self, rows: np.ndarray) -> Any:
        """Return the given rows of X, in the type in which the user passed X.

        Parameters
        ----------
        rows : array of int
            Row numbers.

        Returns
        -------
        array, sparse matrix or frame
            The rows.
        """
        return take_rows(self.X, rows)

    def weights(self, rows: np.ndarray) -> np.ndarray | None:
        """Return the sample weights of the given rows, or None if there are no sample weights.

        Parameters
        ----------
        rows : array of int
            Row numbers.

        Returns
        -------
        array or None
            The weights.
        """
        return None if self.sample_weight is None else self.sample_weight[rows]

    def with_targets_of(self, order: np.ndarray) -> Data:
        """Return the data with permuted targets: row i gets the target of row `order[i]`.

        Quantities that were computed from X are not computed again.

        Parameters
        ----------
        order : array of int
            The row from which each row gets its target.

        Returns
        -------
        Data
            The permuted data.
        """
        codes = None if self.codes is None else self.codes[order]
        permuted_data = replace(self, y=self.y[order], codes=codes)
        for attribute_name in ("_row_sums", "row_keys", "non_finite", "same_rows"):
            vars(permuted_data)[attribute_name] = getattr(self, attribute_name)
        return permuted_data

    def for_fits(self, fit_params: Mapping[str, Any], as_given: bool) -> Data:
        """Return the same data with other parameters for the models' `fit`.

        Quantities that were computed from the rows are not computed again.

        With `as_given` the fits get y as a column if it was given as a column.

        Parameters
        ----------
        fit_params : mapping
            Parameters of every fit.
        as_given : bool
            If True, the fits get y as a column if it was given as a column.

        Returns
        -------
        Data
            The data.
        """
        as_given = as_given if self.form is not None else self.as_given
        if not fit_params and not self.fit_params and as_given == self.as_given:
            return self
        changed_data = replace(self, fit_params=dict(fit_params), as_given=as_given)
        for attribute_name in ("_row_sums", "fingerprint", "row_keys"):
            vars(changed_data)[attribute_name] = getattr(self, attribute_name)
        return changed_data

    def subset(self, rows: np.ndarray) -> Data:
        """Return a Data object with the given rows only; the codes of the classes stay the same.

        Parameters
        ----------
        rows : array of int
            Row numbers.

        Returns
        -------
        Data
            The smaller data.
        """
        subset_params = {
            name: take_rows(value, rows) if has_row_entries(value, self.n_rows) else value
            for name, value in self.fit_params.items()
        }
        return replace(
            self,
            X=self.rows(rows),
            y=self.y[rows],
            codes=None if self.codes is None else self.codes[rows],
            groups=None if self.groups is None else self.groups[rows],
            sample_weight=self.weights(rows),
            time=None if self.time is None else self.time[rows],
            block=None if self.block is None else self.block[rows],
            fit_params=subset_params,
            row_ids=rows if self.row_ids is None else self.row_ids[rows],
        )


def columns() -> ModuleType:
    """Import and return the module that reads columns of frames and finds NaN or infinite cells."""
    check_present("truerisk.data.columns")
    from truerisk.data import columns as branch

    return branch


def take_named_columns(
    X: Any, rows: dict[str, Any], *, models: Iterable[Any] = (), keep: Any = ()
) -> tuple[Any, dict[str, Any], tuple[str, ...]]:
    """Remove the columns of X that other arguments name, and return these columns' values instead.

    The arguments are groups, times, places and weights. See `named_columns.py`.

    Return X without these columns, the arguments with the values of the columns instead of the
    names, and the names of the removed columns.
    """
    block = rows.get("block")
    may_be_names = isinstance(block, list | tuple) and column_names(X) is not None
    if not may_be_names and not any(isinstance(value, str) for value in rows.values()):
        return X, rows, ()
    result: tuple[Any, dict[str, Any], tuple[str, ...]]
    result = _named_columns_module().take_named_columns(X, rows, models=models, keep=keep)
    return result


def without_columns(X: Any, names: tuple[str, ...]) -> Any:
    """Return a frame without the named columns; names that the frame lacks are ignored."""
    return _named_columns_module().without_columns(X, names) if names else X


def _named_columns_module() -> ModuleType:
    """Import and return the module that finds columns of X by their names."""
    check_present("truerisk.data.named_columns")
    from truerisk.data import named_columns as branch

    return branch


def _places_module() -> ModuleType:
    """Import and return the module that reads the places of rows: coordinates or block labels."""
    check_present("truerisk.data.places")
    from truerisk.data import places as branch

    return branch


def _times_module() -> ModuleType:
    """Import and return the module that reads the times of rows."""
    check_present("truerisk.data.times")
    from truerisk.data import times as branch

    return branch


def _survival_module() -> ModuleType:
    """Import and return the module that reads survival outcomes."""
    check_present("truerisk.data.survival")
    from truerisk.data import survival as branch

    return branch


def has_row_entries(value: Any, n: int) -> bool:
    """Return True if a fit parameter has one entry per row, as sample weights do.

    If a fit uses some of the rows, such a parameter is restricted to the same rows.
    """
    if value is None or isinstance(value, str | bytes | Mapping):
        return False
    return (hasattr(value, "shape") or isinstance(value, list | tuple)) and _length(value) == n


def _length(value: Any) -> int | None:
    try:
        return n_rows(value)
    except (BadData, TypeError):
        return None


def _view(X: Any) -> TableView:
    """Check X, convert it to a table whose rows can be selected, and return it as a TableView."""
    if isinstance(X, str | bytes):
        raise BadData(
            f"X={repr_on_one_line(X)} is a text, not a table: read the file first, such as by "
            "tr.datasets.read_table(path, target)."
        )
    if hasattr(X, "tocsr"):
        # SciPy does not check the indices of a compressed sparse table.
        # If they are invalid, it reads and writes out of bounds.
        # The indices are therefore checked before any other use of the table.
        try:
            getattr(X, "check_format", lambda **_: None)(full_check=True)
        except ValueError as error:
            raise BadData(
                f"X is a sparse table that contradicts itself ({error}): make it anew, such as by "
                "scipy.sparse.csr_matrix((values, (rows, columns)), shape)."
            ) from None
        X = X.tocsr()
    elif hasattr(X, "__array_namespace__") and not isinstance(X, np.ndarray):
        X = _array_api_to_numpy(X)
    elif not hasattr(X, "shape"):
        converts_itself = hasattr(X, "__array__")
        X = (
            to_row_array("X", X, "give an array, a frame or a list")
            if converts_itself
            else _array_from_list(X)
        )
    table = TableView(X, n_rows(X))
    if table.n_rows == 0:
        raise BadData("X has no rows: there is nothing to learn from.")
    if len(X.shape) == 1 and getattr(getattr(X, "dtype", None), "kind", "O") in "biufcmM":
        raise BadData(
            "X has one dimension (expected 2D array): Reshape your data, X.reshape(-1, 1) "
            "for a single feature."
        )
    is_frame = hasattr(X, "iloc") and len(X.shape) == 2
    for dtype in X.dtypes if is_frame else [getattr(X, "dtype", None)]:
        if getattr(dtype, "kind", "") == "c":
            raise BadData(
                "Complex data not supported: X holds complex numbers; give their real and "
                "imaginary parts, or sizes and angles, as columns of their own."
            )
    return table


def _array_api_to_numpy(X: Any) -> np.ndarray:
    """Convert an array of the array API to NumPy, so that NumPy indices can select its rows."""
    try:
        return as_array(X)
    except ValueError as error:
        name = f"{type(X).__module__}.{type(X).__name__}"
        raise BadData(
            f"X is a {name} that NumPy cannot read ({error}): move it to the CPU, or give X as an "
            "array of NumPy."
        ) from error


def _array_from_list(X: Any) -> np.ndarray:
    """Convert a list of rows to an array; in a list of strings, each string is one row."""
    n_rows(X)
    advice = "give every row the same number of cells, or use a frame"
    array = to_row_array("X", X, advice)
    rows = (row if isinstance(row, list | tuple) else [row] for row in X)
    has_text = any(isinstance(cell, str) for row in rows for cell in row)
    return np.asarray(X, dtype=object) if has_text else array


def _checked_weights(weights: Any, n: int) -> np.ndarray:
    try:
        weights_of_rows = as_array(weights, np.float64)
    except ValueError:
        raise BadData(
            f"{mention('sample_weight', weights)} holds what is no number: give one number for "
            "each row."
        ) from None
    if weights_of_rows.shape != (n,):
        raise BadData(
            f"sample_weight has shape {weights_of_rows.shape}; give one weight for each of {n} "
            "rows."
        )
    bad_rows = np.flatnonzero(~np.isfinite(weights_of_rows) | (weights_of_rows < 0))
    if len(bad_rows):
        raise BadData(
            f"sample_weight[{bad_rows[0]}] is {weights_of_rows[bad_rows[0]]}: weights must be "
            "finite and not negative."
        )
    if not weights_of_rows.any():
        raise BadData("sample_weight is zero everywhere: no row counts.")
    return weights_of_rows
