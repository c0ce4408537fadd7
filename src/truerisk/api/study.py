"""`Study`: problems × sizes × learners × methods × replicates, in a store that survives crashes."""

from __future__ import annotations

import json
import os
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from truerisk.api.studying.cells import SCHEMA, cells_of, places_of, replicate_of, tables_of
from truerisk.core.arguments import MOST, check_count, check_flag, check_number, store_of
from truerisk.core.errors import BadStore, TrueRiskWarning
from truerisk.core.progress import stage
from truerisk.core.warned import warn
from truerisk.study.driving import Rules, drive
from truerisk.study.pools import refuse_unknown
from truerisk.study.results import ROWS_OF_TABLES, StudyResults, collect
from truerisk.study.spec import Spec, parse_spec, read_spec
from truerisk.study.states import State
from truerisk.study.status import Status, status_of
from truerisk.study.store import Store
from truerisk.study.tasks import Limits
from truerisk.study.versions import begin, refuse_fits

__all__ = ["Study"]

KIND = "study"


class Study:
    """A study and its store.

    Parameters
    ----------
    spec : path, mapping or None
        A TOML file, or a mapping of the same names (see the page on studies). None reads what the
        store was begun with.
    store : path
        A file; it is made where it is not there. Results that it holds are not computed again.
    allow_import : bool
        Whether the specification may name code to import.

    Examples
    --------
    >>> import tempfile, truerisk as tr
    >>> spec = {
    ...     "replicates": 3,
    ...     "sizes": [30],
    ...     "problems": ["simple"],
    ...     "methods": ["5-fold"],
    ...     "learners": [{"word": "knn", "set": {"n_neighbors": 3}}],
    ...     "n_test": 500,
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = tr.Study(spec, f"{folder}/runs.db")
    ...     results = study.run()
    ...     again = study.run()  # nothing is left to do
    >>> len(results), results.rows == again.rows
    (3, True)
    """

    def __init__(
        self, spec: Any, store: str | os.PathLike[str], *, allow_import: bool = False
    ) -> None:
        self.store = store_of(store)
        self.spec = (
            _stored(self.store, allow_import) if spec is None
            else read_spec(spec, allow_import=allow_import)
        )  # fmt: skip

    def run(
        self,
        executor: Any = None,
        *,
        attempts: int = 3,
        limit_seconds: float | None = None,
        limit_megabytes: float | None = None,
        patience: float = 60.0,
        mixed_versions: bool = False,
    ) -> StudyResults:
        """Do what the store does not hold yet, and give all results.

        Parameters
        ----------
        executor : None, int, str, Client or executor
            This process, that many worker processes, ``"dask://host:port"``, a Client of
            distributed, or anything with ``submit``. The numbers do not depend on it.
        attempts : int
            How often a replicate may end its worker before it is quarantined.
        limit_seconds, limit_megabytes : float, optional
            What one replicate may take; beyond it, it failed. Each then runs in a process of its
            own.
        patience : float
            How many seconds a run waits where no worker is left.
        mixed_versions : bool
            Whether results of other versions of truerisk, NumPy, SciPy or scikit-learn may stay.

        Raises
        ------
        StudyIncomplete
            It stopped before its end; what was found is stored, and `run` goes on.
        """
        check_count("attempts", attempts, why="a replicate is tried at least once")
        check_number("patience", patience, 0, inf, "seconds to wait where no worker is left")
        for name, most in (("seconds", limit_seconds), ("megabytes", limit_megabytes)):
            if most is not None:
                check_number(f"limit_{name}", most, 0, MOST, f"the {name} of one replicate")
        check_flag("mixed_versions", mixed_versions)
        refuse_unknown(executor)
        limits = Limits(limit_seconds, limit_megabytes)
        tables = tables_of(self.spec)
        contents = cells_of(self.spec, tables)
        with Store.write(self.store) as store:
            n_rows = {name: len(table.y) for name, table in tables.items()}
            about = {**_about(self.spec), ROWS_OF_TABLES: json.dumps(n_rows)}
            begin(store, KIND, about, mixed_versions=mixed_versions)
            old = [cell for cell in store.cells() if cell.content.get("schema") != SCHEMA]
            if old:
                warn(
                    f"{store.path} holds {len(old)} cells of an earlier release, which drew folds "
                    "in another way: they begin anew, and what was found stays in the file.",
                    TrueRiskWarning,
                )
            cells = store.want(contents, self.spec.replicates, only=True)
            with stage(self.spec.name):
                drive(
                    store,
                    cells,
                    partial(replicate_of, places_of(tables)),
                    executor,
                    arrays=[array for table in tables.values() for array in (table.X, table.y)],
                    rules=Rules(attempts=attempts, patience=patience, limits=limits),
                )
            return collect(store)

    def status(self) -> Status:
        """How far it is; also while another process runs it."""
        with Store.read(self.store) as store:
            return status_of(store)

    def results(self) -> StudyResults:
        """What was found until now."""
        with Store.read(self.store) as store:
            return collect(store)

    def retry(self) -> int:
        """Failed and quarantined replicates are tried again by the next `run`; how many."""
        with Store.write(self.store) as store:
            refuse_fits(store)
            return store.forget([State.FAILED, State.QUARANTINED, State.SUSPECT])


def _about(spec: Spec) -> dict[str, str]:
    """What `Study(None, store)` needs to go on."""
    return {"name": spec.name, "spec": spec.text, "folder": str(Path(spec.folder).resolve())}


def _stored(path: Path, allow_import: bool) -> Spec:
    with Store.read(path) as store:
        text = store.noted("spec")
        refuse_fits(store)
        if text is None:
            raise BadStore(f"{path} holds no specification of a study.")
        name, folder = store.noted("name") or "study", store.noted("folder") or "."
    return parse_spec(text, name, folder, allow_import=allow_import)
