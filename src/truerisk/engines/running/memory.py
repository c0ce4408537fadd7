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

CELL = 8  # bytes per float64
# The number of columns-by-columns matrices that exist at the same time: the covariance of a class,
# that of all classes, and the solver's copy; in Cox regression the Hessian, the sum over rows at
# risk and its next term.
SQUARES = 3
KEEPING = (
    "sklearn.preprocessing:StandardScaler",
    "sklearn.preprocessing:MinMaxScaler",
    "sklearn.preprocessing:RobustScaler",
)
"""Steps that preserve the number of columns."""


def _by_columns(setting: Mapping[str, Any], n: int, p: int) -> tuple[int, str]:
    return SQUARES * p * p, f"a matrix of {p:,} columns by {p:,} columns"


def _discriminant(setting: Mapping[str, Any], n: int, p: int) -> tuple[int, str]:
    return (0, "") if setting["solver"] == "svd" else _by_columns(setting, n, p)


def _own_discriminant(setting: Mapping[str, Any], n: int, p: int) -> tuple[int, str]:
    check_present("truerisk.models.discriminant_analysis")
    from truerisk.models.discriminant_analysis import fits_by_rows, resolved_solver

    solver, shrinkage = setting["solver"], setting["shrinkage"]
    by_rows = fits_by_rows(solver, shrinkage, n, p) or resolved_solver(solver, shrinkage) == "svd"
    return (0, "") if by_rows else _by_columns(setting, n, p)


def _quadratic(setting: Mapping[str, Any], n: int, p: int) -> tuple[int, str]:
    return _by_columns(setting, n, p) if setting.get("solver", "svd") == "eigen" else (0, "")


def _by_rows(setting: Mapping[str, Any], n: int, p: int) -> tuple[int, str]:
    return 2 * n * n, f"a matrix of {n:,} rows by {n:,} rows"


NEEDS = {
    "columns": _by_columns,
    "rows": _by_rows,
    "discriminant": _discriminant,
    "own discriminant": _own_discriminant,
    "quadratic": _quadratic,
}
"""Minimum number of cells that a fit allocates, and their form, by setting, rows and columns."""


def refuse_too_large(kind: str, family: Family, data: Data, plan: Plan | None) -> None:
    """Refuse fits if a matrix that the learner makes does not fit into memory.

    The fits are those of the plan, or one fit on all rows. Families with steps that change the
    number of columns are not checked.
    """
    needs = NEEDS[kind]
    columns = n_columns(data.X)
    if columns is None or not _keeps_columns(family):
        return
    n_rows = data.n_rows if plan is None else int(plan.train_sizes.max(initial=0))
    cells, what = max(needs(setting, n_rows, columns) for setting in family.settings)
    # One gigabyte is always tried, because asking the system takes longer.
    if cells * CELL < 2**30:
        return
    room = available_memory()
    if room is not None and cells * CELL > room:
        raise Refusal(
            f"{family.name} makes {what}, which takes {cells * CELL / 1e9:,.0f} GB, and "
            f"{room / 1e9:,.0f} GB are free: {_remedy(family, what)}."
        )


def _keeps_columns(family: Family) -> bool:
    steps = family.estimator.steps[:-1] if family.is_piped else []
    return all(step in (None, "passthrough") or is_exactly(step, *KEEPING) for _, step in steps)


def _remedy(family: Family, what: str) -> str:
    if "rows by" in what:
        return "use fewer rows, or a learner that does not compare all rows with all rows"
    if family.name == "LinearDiscriminantAnalysis":
        ours = "use tr.models.LinearDiscriminant(solver='auto') with a number as shrinkage"
        return f"{ours}, which makes none, or fewer columns"
    return "use fewer columns, chosen inside the folds, or another learner"


def available_memory() -> int | None:
    """Return the bytes that this process may still take, or None if the system does not say."""
    found = [_of_machine(), _of_container(), _of_limit()]
    known = [room for room in found if room is not None]
    return min(known) if known else None


def _of_machine() -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    # This is the total memory; the free memory is not available.
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _of_container() -> int | None:
    with suppress(OSError, ValueError):
        folder = Path("/sys/fs/cgroup")
        most = int((folder / "memory.max").read_text(encoding="ascii"))
        return most - int((folder / "memory.current").read_text(encoding="ascii"))
    return None


def _of_limit() -> int | None:
    if sys.platform == "win32":
        return None
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if most == resource.RLIM_INFINITY else int(most)
