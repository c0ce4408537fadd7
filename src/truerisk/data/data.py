"""The data of one problem: rows, labels and what travels with them, checked once at the door."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from truerisk.core.arguments import as_array, even_array, shown
from truerisk.core.errors import BadData
from truerisk.core.family import TaskWord as TaskWord
from truerisk.core.registry import check_present
from truerisk.data.rows import (
    RowSums,
    TableView,
    column_names,
    digest,
    n_rows,
    row_keys,
    sums_of,
    take_rows,
)
from truerisk.data.targets import (
    Form,
    any_target,
    as_shown,
    checked_groups,
    checked_target,
    classes_of,
    form_of,
    numbers_in,
    refuse_swapped,
)


class SameRows:
    """Stands for the rows of X: what an engine finds of them alone is kept under it."""


@dataclass(frozen=True, eq=False)
class Data:
    """X and y as given, y also as small integer codes, and what travels with the rows.

    `codes[i]` is the position of `y[i]` in the sorted `classes`; both are None for regression.
    Where the task is neither, only a scorer looks at y, so it may be anything; a y without columns
    is none at all.
    `fit_params` go to every fit, those with one entry per row cut to the rows of that fit.
    `form` is how y was given, its type and whether it was a column, where that is another: models
    and scorers are given this type, and those that take y `as_given` the column, too.
    `time` says when a row was taken, as floats or dates; `block` where, as codes of labels or as
    coordinates, a column each. They order and split rows, and no fit is given them.
    `row_ids` are the row numbers in the data these rows were cut from (None: uncut).

    Of an outcome in time (survival) y has two columns, whether the event came and the time, and
    models are asked for the chance of no event by the `horizons`.
    """

    X: Any
    y: np.ndarray
    task: TaskWord
    classes: np.ndarray | None = None
    codes: np.ndarray | None = None
    groups: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    time: np.ndarray | None = None
    block: np.ndarray | None = None
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    row_ids: np.ndarray | None = None
    form: Form | None = None
    as_given: bool = False
    horizons: tuple[float, ...] = ()

    n_rows: int = field(init=False, repr=False)
    n_classes: int = field(init=False, repr=False)
    class_sizes: np.ndarray = field(init=False, repr=False)
    strata: np.ndarray | None = field(init=False, repr=False)
    places: np.ndarray | None = field(init=False, repr=False)
    dependent: bool = field(init=False, repr=False)
    same_rows: SameRows = field(init=False, repr=False, default_factory=SameRows)

    def __post_init__(self) -> None:
        """Count rows and classes.

        `class_sizes` are in the order of the codes. `strata` are what folds hold alike: classes, or
        whether the event came; None for numbers. `places` are the coordinates of the rows, None
        where there are none, or labels in their stead. `dependent` rows have times, places or
        blocks, by which they may depend on each other. `same_rows` is the same for all data with
        these rows of X, whatever their targets (`with_targets_of`).
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
        beside = (self.time, self.block) if self.dependent else ()
        contents = self.X, self.y, self.groups, self.sample_weight, *beside
        return digest(*contents, sums=self._row_sums)

    @cached_property
    def row_keys(self) -> np.ndarray | None:
        """One integer per row of X, equal exactly for rows of equal content; None if all differ."""
        return row_keys(self.X, self._row_sums)

    @cached_property
    def clusters(self) -> np.ndarray | None:
        """Rows whose losses are counted as one: groups, joined with cells where there are places.

        The cells are those of the usual grid, whatever blocks a method draws.
        """
        if self.places is None:
            return self.groups
        return _places().usual_clusters(self.places, self.groups)

    @cached_property
    def row_marks(self) -> np.ndarray:
        """One number per row by what it holds, whatever the order of rows, columns and classes."""
        check_present("truerisk.data.row_marks")
        from truerisk.data.row_marks import row_marks

        return row_marks(self.X, self.codes, self.y if self.codes is None else None)

    @cached_property
    def _row_sums(self) -> RowSums | None:
        return sums_of(self.X)

    @cached_property
    def non_finite(self) -> str | None:
        """A sentence on the first NaN or infinite cell of X, or None."""
        seen = self._row_sums  # which the fingerprint takes in any case
        return None if seen is not None and seen.finite else columns().non_finite(self.X)

    @cached_property
    def unreadable_names(self) -> str | None:
        return None if column_names(self.X) is None else columns().unreadable_names(self.X)

    @classmethod
    def check(
        cls,
        X: Any,
        y: Any,
        *,
        task: TaskWord,
        groups: Any = None,
        sample_weight: Any = None,
        time: Any = None,
        block: Any = None,
        fit_params: Mapping[str, Any] | None = None,
        as_given: bool = False,
    ) -> Data:
        """Data from what a user gave, or a sentence on what is wrong with it.

        With `as_given` fits may take a column (`for_fits`), so that it is no matter.
        """
        refuse_swapped(X, y)
        table = _view(X)
        n = table.n_rows
        if task == "survival":
            target = _survival().survival_target(y, n)
        else:
            target = any_target(y, n) if task == "other" else checked_target(y, n, as_given)
        classes = codes = None
        if task == "classification":
            classes, codes = classes_of(target)
        elif task == "regression":
            target = numbers_in(target)
        group_codes = None if groups is None else checked_groups(groups, n)
        places = None if block is None else _places().checked_places(block, table)
        if places is not None and places.ndim == 1:
            group_codes = places if group_codes is None else _places().tied(group_codes, places)
        return cls(
            X=table.X,
            y=target,
            task=task,
            classes=classes,
            codes=codes,
            groups=group_codes,
            sample_weight=None if sample_weight is None else _weights(sample_weight, n),
            time=None if time is None else _times().checked_times(time, table),
            block=places,
            fit_params=dict(fit_params or {}),
            form=None if task == "other" else form_of(y, target),
        )

    def targets(self, y: np.ndarray) -> tuple[np.ndarray, ...]:
        """Some entries of y as models and scorers are given them: not at all if there is none."""
        if self.task == "other" and y.shape[1:] == (0,):
            return ()
        if self.form is None:
            return (y,)
        kind, is_column = self.form
        if kind.names:
            return (_survival().as_pairs(y, kind),)
        targets = y.astype(kind, copy=False)
        return (targets[:, None] if is_column and self.as_given else targets,)

    @property
    def class_labels(self) -> np.ndarray:
        """`classes` where there are some: only classification has them."""
        assert self.classes is not None
        return self.classes

    @property
    def class_codes(self) -> np.ndarray:
        """`codes` where there are some: only classification has them."""
        assert self.codes is not None
        return self.codes

    def at(self, horizon: float) -> Data:
        """An outcome in time as two classes: whether the event came. Who was lost counts not."""
        if horizon not in self._at:
            two: dict[str, Any] = {
                "classes": np.array([f"after {horizon:.12g}", f"by {horizon:.12g}"]),
                **_survival().came_by(self.y, self.sample_weight, horizon),
            }
            self._at[horizon] = replace(self, task="classification", form=None, **two)
        return self._at[horizon]

    @cached_property
    def _at(self) -> dict[float, Data]:
        return {}

    def label(self, code: int) -> Any:
        """Return the class with this code, as plain Python shows it."""
        assert self.classes is not None
        return as_shown(self.classes[code])

    def codes_of(self, rows: np.ndarray) -> np.ndarray:
        """Return the class codes of these rows; only classification has them."""
        assert self.codes is not None
        return self.codes[rows]

    def rows(self, rows: np.ndarray) -> Any:
        return take_rows(self.X, rows)

    def weights(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.sample_weight is None else self.sample_weight[rows]

    def with_targets_of(self, order: np.ndarray) -> Data:
        """The same rows with other targets: row i is given that of row `order[i]`.

        What was counted of X is shared.
        """
        codes = None if self.codes is None else self.codes[order]
        other = replace(self, y=self.y[order], codes=codes)
        for counted in ("_row_sums", "row_keys", "non_finite", "same_rows"):
            vars(other)[counted] = getattr(self, counted)
        return other

    def for_fits(self, fit_params: Mapping[str, Any], as_given: bool) -> Data:
        """The same rows for fits that take these parameters; what is counted of rows is shared.

        With `as_given` they take y as a column where it was given so.
        """
        as_given = as_given if self.form is not None else self.as_given
        if not fit_params and not self.fit_params and as_given == self.as_given:
            return self
        other = replace(self, fit_params=dict(fit_params), as_given=as_given)
        for counted in ("_row_sums", "fingerprint", "row_keys"):
            vars(other)[counted] = getattr(self, counted)
        return other

    def subset(self, rows: np.ndarray) -> Data:
        """These rows as a problem of their own; the classes keep their codes."""
        cut = {
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
            fit_params=cut,
            row_ids=rows if self.row_ids is None else self.row_ids[rows],
        )


def columns() -> ModuleType:
    """Import what looks into the columns of frames, and at cells that are not finite."""
    check_present("truerisk.data.columns")
    from truerisk.data import columns as branch

    return branch


def take_named_columns(
    X: Any, rows: dict[str, Any], *, models: Iterable[Any] = (), keep: Any = ()
) -> tuple[Any, dict[str, Any], tuple[str, ...]]:
    """Take the columns of X that `rows` names out of X, as `data/named_columns.py` says.

    Also return the rows with the values of these columns, and the names.
    """
    block = rows.get("block")
    if not isinstance(block, list | tuple) or column_names(X) is None:
        for value in rows.values():
            if isinstance(value, str):
                break
        else:
            return X, rows, ()
    found: tuple[Any, dict[str, Any], tuple[str, ...]]
    found = _named_columns().take_named_columns(X, rows, models=models, keep=keep)
    return found


def without_columns(X: Any, names: tuple[str, ...]) -> Any:
    """Return a frame without these columns; those that it lacks are no matter."""
    return _named_columns().without_columns(X, names) if names else X


def _named_columns() -> ModuleType:
    """Import what finds columns of X by their names."""
    check_present("truerisk.data.named_columns")
    from truerisk.data import named_columns as branch

    return branch


def _places() -> ModuleType:
    """Import what reads places and blocks of rows."""
    check_present("truerisk.data.places")
    from truerisk.data import places as branch

    return branch


def _times() -> ModuleType:
    """Import what reads the times of rows."""
    check_present("truerisk.data.times")
    from truerisk.data import times as branch

    return branch


def _survival() -> ModuleType:
    """Import what reads outcomes in time."""
    check_present("truerisk.data.survival")
    from truerisk.data import survival as branch

    return branch


def has_row_entries(value: Any, n: int) -> bool:
    """Whether a fit parameter holds one entry per row (and is cut with the rows)."""
    if value is None or isinstance(value, str | bytes | Mapping):
        return False
    return (hasattr(value, "shape") or isinstance(value, list | tuple)) and _length(value) == n


def _length(value: Any) -> int | None:
    try:
        return n_rows(value)
    except (BadData, TypeError):
        return None


def _view(X: Any) -> TableView:
    """X in a form whose rows can be taken."""
    if isinstance(X, str | bytes):
        raise BadData(
            f"X={shown(X)} is a text, not a table: read the file first, such as by "
            "tr.datasets.read_table(path, target)."
        )
    if hasattr(X, "tocsr"):
        # SciPy does not look at the numbers of a compressed sparse table, which may lead out of
        # it: it reads and writes wherever they lead, so this comes before anything is asked of it
        try:
            getattr(X, "check_format", lambda **_: None)(full_check=True)
        except ValueError as error:
            raise BadData(
                f"X is a sparse table that contradicts itself ({error}): make it anew, such as by "
                "scipy.sparse.csr_matrix((values, (rows, columns)), shape)."
            ) from None
        X = X.tocsr()
    elif hasattr(X, "__array_namespace__") and not isinstance(X, np.ndarray):
        X = _from_another_library(X)
    elif not hasattr(X, "shape"):
        read = hasattr(X, "__array__")
        X = even_array("X", X, "give an array, a frame or a list") if read else _listed(X)
    table = TableView(X, n_rows(X))
    if table.n_rows == 0:
        raise BadData("X has no rows: there is nothing to learn from.")
    if len(X.shape) == 1 and getattr(getattr(X, "dtype", None), "kind", "O") in "biufcmM":
        raise BadData(
            "X has one dimension (expected 2D array): Reshape your data, X.reshape(-1, 1) "
            "for a single feature."
        )
    is_frame = hasattr(X, "iloc") and len(X.shape) == 2
    for kind in X.dtypes if is_frame else [getattr(X, "dtype", None)]:
        if getattr(kind, "kind", "") == "c":
            raise BadData(
                "Complex data not supported: X holds complex numbers; give their real and "
                "imaginary parts, or sizes and angles, as columns of their own."
            )
    return table


def _from_another_library(X: Any) -> np.ndarray:
    """An array of the array API as NumPy's: its rows cannot be taken by NumPy's indexes."""
    try:
        return as_array(X)
    except ValueError as error:
        kind = f"{type(X).__module__}.{type(X).__name__}"
        raise BadData(
            f"X is a {kind} that NumPy cannot read ({error}): move it to the CPU, or give X as an "
            "array of NumPy."
        ) from error


def _listed(X: Any) -> np.ndarray:
    """An array of a list of rows; a list of texts stays one text per row."""
    n_rows(X)
    wanted = "give every row the same number of cells, or use a frame"
    array = even_array("X", X, wanted)
    rows = (row if isinstance(row, list | tuple) else [row] for row in X)
    has_text = any(isinstance(cell, str) for row in rows for cell in row)
    return np.asarray(X, dtype=object) if has_text else array


def _weights(weights: Any, n: int) -> np.ndarray:
    try:
        values = as_array(weights, np.float64)
    except ValueError:
        raise BadData(
            f"sample_weight={shown(weights)} holds what is no number: give one number for each row."
        ) from None
    if values.shape != (n,):
        raise BadData(
            f"sample_weight has shape {values.shape}; give one weight for each of {n} rows."
        )
    bad = np.flatnonzero(~np.isfinite(values) | (values < 0))
    if len(bad):
        raise BadData(
            f"sample_weight[{bad[0]}] is {values[bad[0]]}: weights must be finite and not negative."
        )
    if not values.any():
        raise BadData("sample_weight is zero everywhere: no row counts.")
    return values
