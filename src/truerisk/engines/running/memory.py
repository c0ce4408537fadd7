"""Refuse fits that need more memory than is available before the first of them starts.

Some learners of scikit-learn create a matrix of columns by columns, or of rows by rows. For a table
of 100,000 columns it takes 80 GB, and the operating system ends the process without a message.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.core.identity import is_exactly
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.data.rows import n_columns
from truerisk.plan.plan import Plan

BYTES_PER_CELL = 8  # bytes per float64
# A fit holds this number of matrices with n_columns × n_columns cells at the same time.
# Discriminant analysis has the covariances of a class and of all classes, and the solver's copy.
# Cox regression has the Hessian, the sum over rows at risk, and the next term of that sum.
N_MATRICES_IN_MEMORY = 3
COLUMN_PRESERVING_STEPS = (
    "sklearn.preprocessing:StandardScaler",
    "sklearn.preprocessing:MinMaxScaler",
    "sklearn.preprocessing:RobustScaler",
)
"""Preprocessing steps that preserve the number of columns, by import path."""


def _columns_matrix_size(setting: Mapping[str, Any], n: int, p: int) -> tuple[int, str]:
    return N_MATRICES_IN_MEMORY * p * p, f"a matrix of {p:,} columns by {p:,} columns"


def _lda_matrix_size(setting: Mapping[str, Any], n: int, p: int) -> tuple[int, str]:
    return (0, "") if setting["solver"] == "svd" else _columns_matrix_size(setting, n, p)


def _truerisk_lda_matrix_size(setting: Mapping[str, Any], n: int, p: int) -> tuple[int, str]:
    check_present("truerisk.models.discriminant_analysis")
    from truerisk.models.discriminant_analysis import fits_by_row_svd, resolve_solver

    solver, shrinkage = setting["solver"], setting["shrinkage"]
    needs_no_matrix = (
        fits_by_row_svd(solver, shrinkage, n, p) or resolve_solver(solver, shrinkage) == "svd"
    )
    return (0, "") if needs_no_matrix else _columns_matrix_size(setting, n, p)


def _qda_matrix_size(setting: Mapping[str, Any], n: int, p: int) -> tuple[int, str]:
    return (
        _columns_matrix_size(setting, n, p) if setting.get("solver", "svd") == "eigen" else (0, "")
    )


def _rows_matrix_size(setting: Mapping[str, Any], n: int, p: int) -> tuple[int, str]:
    return 2 * n * n, f"a matrix of {n:,} rows by {n:,} rows"


MATRIX_SIZE_FUNCTIONS = {
    "columns": _columns_matrix_size,
    "rows": _rows_matrix_size,
    "discriminant": _lda_matrix_size,
    "own discriminant": _truerisk_lda_matrix_size,
    "quadratic": _qda_matrix_size,
}
"""Functions that return how many float64 cells a fit allocates at least, and for which matrix.

Their arguments are the hyperparameter setting, the number of rows and the number of columns.
"""


def refuse_too_large(size_rule: str, family: Family, data: Data, plan: Plan | None) -> None:
    """Raise Refusal if a matrix that the learner allocates does not fit into memory.

    The check is for the largest training set of the plan, or for all rows if plan is None. Families
    with steps that change the number of columns are not checked.
    """
    count_cells = MATRIX_SIZE_FUNCTIONS[size_rule]
    n_features = n_columns(data.X)
    if n_features is None or not _preserves_column_count(family):
        return
    n_rows = data.n_rows if plan is None else int(plan.train_sizes.max(initial=0))
    n_cells, matrix_name = max(
        count_cells(setting, n_rows, n_features) for setting in family.settings
    )
    # Below one gigabyte free memory is not looked up, because the look-up costs time.
    if n_cells * BYTES_PER_CELL < 2**30:
        return
    free_bytes = available_memory()
    if free_bytes is not None and n_cells * BYTES_PER_CELL > free_bytes:
        raise Refusal(
            f"{family.name} makes {matrix_name}, which takes {n_cells * BYTES_PER_CELL / 1e9:,.0f} "
            "GB, and "
            f"{free_bytes / 1e9:,.0f} GB are free: {_suggest_remedy(family, matrix_name)}."
        )


def _preserves_column_count(family: Family) -> bool:
    steps = family.estimator.steps[:-1] if family.is_piped else []
    return all(
        step in (None, "passthrough") or is_exactly(step, *COLUMN_PRESERVING_STEPS)
        for _, step in steps
    )


def _suggest_remedy(family: Family, matrix_name: str) -> str:
    if "rows by" in matrix_name:
        return "use fewer rows, or a learner that does not compare all rows with all rows"
    if family.name == "LinearDiscriminantAnalysis":
        remedy = "use tr.models.LinearDiscriminant(solver='auto') with a number as shrinkage"
        return f"{remedy}, which makes none, or fewer columns"
    return "use fewer columns, chosen inside the folds, or another learner"


def available_memory() -> int | None:
    """Return the bytes that this process may still allocate, or None if they are unknown."""
    byte_limits = [_free_bytes_of_machine(), _free_bytes_of_container(), _byte_limit_of_process()]
    known_byte_limits = [limit for limit in byte_limits if limit is not None]
    return min(known_byte_limits) if known_byte_limits else None


def _free_bytes_of_machine() -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for memory_line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if memory_line.startswith("MemAvailable:"):
                return int(memory_line.split()[1]) * 1024
    # Systems without /proc report the total memory, and not the free memory.
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _free_bytes_of_container() -> int | None:
    with suppress(OSError, ValueError):
        cgroup_folder = Path("/sys/fs/cgroup")
        max_bytes = int((cgroup_folder / "memory.max").read_text(encoding="ascii"))
        return max_bytes - int((cgroup_folder / "memory.current").read_text(encoding="ascii"))
    return None


def _byte_limit_of_process() -> int | None:
    if sys.platform == "win32":
        return None
    import resource

    max_bytes, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if max_bytes == resource.RLIM_INFINITY else int(max_bytes)
