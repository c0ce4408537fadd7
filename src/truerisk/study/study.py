"""The class `Study`: run many replicates of risk estimates, and keep them in a store.

A study consists of problems × sizes × learners × methods × replicates.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.contracts import Streams
from truerisk.core.arguments import (
    LARGEST_COUNT,
    check_count,
    check_flag,
    check_number,
    refuses_old_names,
    to_store_path,
)
from truerisk.core.errors import BadStore, TrueRiskError, TrueRiskWarning, warn
from truerisk.core.frozen import frozen
from truerisk.core.progress import stage
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.engines.running.executors import resolve_executor
from truerisk.intervals.choice import adapt_method_to_interval, choose_interval
from truerisk.losses.loss_words import as_loss, split_scoring
from truerisk.study.driving import run_cells
from truerisk.study.queue import StudyRunOptions
from truerisk.study.replicate import (
    ReplicateData,
    build_family,
    build_method,
    compute_replicate,
    draw_replicate_data,
    get_data_generator,
)
from truerisk.study.results import TABLE_SIZES_KEY, StudyResults, collect_results
from truerisk.study.spec import Spec, SpecEntry, parse_spec, read_spec
from truerisk.study.status import Status, compute_status
from truerisk.study.store import Store
from truerisk.study.tasks import TaskLimits
from truerisk.study.values import hash_array
from truerisk.study.versions import initialise_store, refuse_store_of_fits

STORE_KIND = "study"


class Study:
    """Simulation study: many replicates of methods and learners on data sets, kept in a store.

    Parameters
    ----------
    spec : path, mapping or None
        A TOML file, or a mapping with the same names (see the page on studies). None reads the
        specification from the store.
    store : path
        The file of the results; it is created if it does not exist. Results that it contains are
        not computed again.
    allow_import : bool, default=False
        If True, the specification may name code to import.

    See Also
    --------
    truerisk.experiments.reproduce : Run an experiment of the documents.
    compare_many : Compare methods by their values on many data sets.

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
        self.store = to_store_path(store)
        self.spec = (
            _read_stored_spec(self.store, allow_import) if spec is None
            else read_spec(spec, allow_import=allow_import)
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<Study {self.spec.name!r} in {self.store}>"

    @refuses_old_names
    def run(
        self,
        n_jobs: Any = None,
        *,
        attempts: int = 3,
        limit_seconds: float | None = None,
        limit_megabytes: float | None = None,
        patience: float = 60.0,
        mixed_versions: bool = False,
    ) -> StudyResults:
        """Compute the replicates that the store lacks, and return all results.

        Parameters
        ----------
        n_jobs : None, int, str, Client or executor, optional
            This process (None), a number of worker processes (-1 for one per core),
            ``"dask://host:port"``, a Client of distributed, or any object with ``submit``. The
            numbers do not depend on it.
        attempts : int, default=3
            How often a replicate may end its worker before it is quarantined.
        limit_seconds : float, optional
            The time limit of a replicate; a replicate that exceeds it has failed. With a limit each
            replicate runs in a process of its own.
        limit_megabytes : float, optional
            The memory limit of a replicate; a replicate that exceeds it has failed. With a limit
            each replicate runs in a process of its own.
        patience : float, default=60.0
            The number of seconds for which a run waits if no worker is left.
        mixed_versions : bool, default=False
            If True, results by other versions of truerisk, NumPy, SciPy or scikit-learn are kept.

        Returns
        -------
        StudyResults
            The results as rows, and their tables.

        Raises
        ------
        StudyIncomplete
            If the run stopped before its end. The results so far are stored, and `run` continues
            with the rest.
        """
        check_count("attempts", attempts, requirement_text="a replicate is tried at least once")
        check_number("patience", patience, 0, inf, "seconds to wait where no worker is left")
        for name, limit_value in (("seconds", limit_seconds), ("megabytes", limit_megabytes)):
            if limit_value is not None:
                check_number(
                    f"limit_{name}", limit_value, 0, LARGEST_COUNT, f"the {name} of one replicate"
                )
        check_flag("mixed_versions", mixed_versions)
        executor = resolve_executor(n_jobs)
        limits = TaskLimits(limit_seconds, limit_megabytes)
        tables = read_tables(self.spec)
        cell_contents = build_cell_contents(self.spec, tables)
        with Store.open_for_writing(self.store) as store:
            n_rows_by_table = {name: len(table.y) for name, table in tables.items()}
            # The folder is stored because `Study(None, store)` looks for data files in it.
            spec = self.spec
            store_texts = {
                "name": spec.name,
                "spec": spec.text,
                TABLE_SIZES_KEY: json.dumps(n_rows_by_table),
            }
            store_texts["folder"] = str(Path(spec.folder).resolve())
            initialise_store(store, STORE_KIND, store_texts, mixed_versions=mixed_versions)
            outdated_cells = [
                cell for cell in store.cells() if cell.content.get("schema") != CELL_SCHEMA
            ]
            if outdated_cells:
                warn(
                    f"{store.path} holds {len(outdated_cells)} cells of an earlier "
                    "release, which drew folds in another way: they begin anew, and what was found "
                    "stays in the file.",
                    TrueRiskWarning,
                )
            cells = store.request_replicates(cell_contents, self.spec.replicates, drops_others=True)
            with stage(self.spec.name):
                run_cells(
                    store,
                    cells,
                    partial(compute_study_replicate, index_arrays(tables)),
                    executor,
                    arrays=[array for table in tables.values() for array in (table.X, table.y)],
                    rules=StudyRunOptions(max_attempts=attempts, patience=patience, limits=limits),
                )
            return collect_results(store)

    def status(self) -> Status:
        """Return the progress of the study, also while another process runs it.

        Returns
        -------
        Status
            The numbers of finished, failed and missing replicates.
        """
        with Store.open_for_reading(self.store) as store:
            return compute_status(store)

    def results(self) -> StudyResults:
        """Return the results that the store contains so far.

        Returns
        -------
        StudyResults
            The results as rows, and their tables.
        """
        with Store.open_for_reading(self.store) as store:
            return collect_results(store)

    def retry(self) -> int:
        """Mark failed and quarantined replicates, so that the next `run` tries them again.

        Returns
        -------
        int
            The number of marked replicates.
        """
        with Store.open_for_writing(self.store) as store:
            refuse_store_of_fits(store)
            return store.delete_outcomes()


def _read_stored_spec(path: Path, allow_import: bool) -> Spec:
    with Store.open_for_reading(path) as store:
        text = store.read_note("spec")
        refuse_store_of_fits(store)
        if text is None:
            raise BadStore(f"{path} holds no specification of a study.")
        name, folder = store.read_note("name") or "study", store.read_note("folder") or "."
    return parse_spec(text, name, folder, allow_import=allow_import)


CELL_SCHEMA = "truerisk.study-cell/2"


@frozen(eq=False)
class FixedTable:
    """A problem given as a table, from which replicates draw rows without replacement."""

    X: np.ndarray
    y: np.ndarray
    description: Mapping[str, Any]


def read_tables(spec: Spec) -> dict[str, FixedTable]:
    """Return the tables of those problems that are files or bundled data sets, by problem name."""
    tables = {}
    for i, problem_entry in enumerate(spec.problems):
        try:
            table = _read_fixed_table(problem_entry, spec.folder)
        except (TrueRiskError, TypeError, ValueError) as error:
            spec.raise_at_line(str(error), "problems", i)
        if table is not None:
            tables[problem_entry.name] = table
    return tables


def _read_fixed_table(problem_entry: SpecEntry, folder: str) -> FixedTable | None:
    problem_options = problem_entry.options
    if "file" in problem_options:
        check_present("truerisk.readers.table")
        from truerisk.readers.table import read_table

        path = Path(folder, problem_options["file"])
        table = read_table(
            path, problem_options["target"], target_type=problem_options.get("target_type")
        )
        columns = {
            "numeric": list(table.numeric),
            "text": list(table.text),
            "missing": table.n_missing > 0,
        }
        description = {"columns": columns, "n_classes": table.n_classes, "target": table.target}
        return _make_fixed_table(table.X, table.y, description)
    if "import" in problem_options or callable(get_data_generator(problem_options)):
        return None
    dataset_bundle = get_data_generator(problem_options).bundle()
    n_classes = len(np.unique(dataset_bundle.y)) if dataset_bundle.task == "classification" else 0
    return _make_fixed_table(
        dataset_bundle.X,
        dataset_bundle.y,
        {"n_classes": n_classes, "word": problem_options["word"]},
    )


def _make_fixed_table(X: np.ndarray, y: np.ndarray, description: dict[str, Any]) -> FixedTable:
    return FixedTable(X, y, {**description, "data": [hash_array(X), hash_array(y)]})


def build_cell_contents(spec: Spec, tables: Mapping[str, FixedTable]) -> list[dict[str, Any]]:
    """Return the contents of all cells of a study, after checking each learner on each problem.

    The content of a cell is everything that determines a replicate except its number.
    """
    cells = [
        {
            "schema": CELL_SCHEMA,
            "problem": {
                "name": problem.name,
                **(tables[problem.name].description if problem.name in tables else problem.options),
            },
            "size": n_training_rows,
            "learner": {"name": learner.name, **learner.options},
            "method": _method_content(method),
            "scoring": spec.scoring,
            "rule": spec.rule,
            "confidence_level": spec.confidence_level,
            "n_test": spec.n_test,
            "seed": spec.seed,
        }
        for problem in spec.problems
        for n_training_rows in spec.sizes
        for learner in spec.learners
        for method in spec.methods
    ]
    _check_cells(spec, cells, tables)
    return cells


def _method_content(method_entry: SpecEntry) -> Any:
    """Return the specification of a method for the content of a cell.

    A method given by a word alone stays a word, so that the key of its cells does not change.
    """
    is_bare_word = method_entry.options == {"word": method_entry.name}
    return (
        method_entry.name if is_bare_word else {"name": method_entry.name, **method_entry.options}
    )


def _check_cells(
    spec: Spec, cells: Sequence[Mapping[str, Any]], tables: Mapping[str, FixedTable]
) -> None:
    """Build each learner for each problem's smallest data set, to report errors before the run."""
    problem_names = [problem.name for problem in spec.problems]
    for name, table in tables.items():
        for j, n_training_rows in enumerate(spec.sizes):
            if n_training_rows > len(table.y):
                spec.raise_at_line(
                    f"problem '{name}' has {len(table.y)} rows, not {n_training_rows}.", "sizes", j
                )
    checked_size_and_method = min(spec.sizes), _method_content(spec.methods[0])
    for cell in cells:
        if (cell["size"], cell["method"]) != checked_size_and_method:
            continue
        name = cell["problem"]["name"]
        i, arrays = (
            problem_names.index(name),
            [tables[name].X, tables[name].y] if name in tables else [],
        )
        try:
            replicate_data = draw_replicate_data(cell, 0, arrays)
        except (TrueRiskError, TypeError, ValueError) as error:
            spec.raise_at_line(str(error), "problems", i)
        try:
            build_family(cell, replicate_data)
        except (TrueRiskError, TypeError, ValueError) as error:
            learners = [learner.name for learner in spec.learners]
            j = learners.index(cell["learner"]["name"])
            option_names = [name for name in ("set", "grid") if name in spec.learners[j].options]
            spec.raise_at_line(str(error), "learners", j, *option_names)
        _check_methods(spec, cell, replicate_data)


def _check_methods(spec: Spec, cell: Mapping[str, Any], replicate_data: ReplicateData) -> None:
    """Raise for a method that cannot be built, or whose interval does not suit loss or data."""
    for i, method_entry in enumerate(spec.methods):
        cell_content = {**cell, "method": _method_content(method_entry)}
        try:
            method, interval = build_method(cell_content)
            if interval is not None:
                data = Data.check(replicate_data.X, replicate_data.y, task=replicate_data.task)
                method = adapt_method_to_interval(method, interval)
                plan = method.plan(data, Streams(0))
                choose_interval(
                    interval, as_loss(split_scoring(spec.scoring)[0], data), data, method, plan
                )
        except (TrueRiskError, TypeError, ValueError) as error:
            spec.raise_at_line(str(error), "methods", i)


def index_arrays(tables: Mapping[str, FixedTable]) -> dict[str, int]:
    """Map the hash of each table's X to the index of X in the list of arrays of all workers.

    The y of the table is the next array in the list.
    """
    return {
        table.description["data"][0]: 2 * table_index
        for table_index, table in enumerate(tables.values())
    }


def compute_study_replicate(
    array_positions: Mapping[str, int],
    cell_content: Mapping[str, Any],
    replicate_number: int,
    arrays: Sequence[np.ndarray],
) -> dict[str, Any]:
    """Compute a replicate with the arrays of its problem, selected from the arrays of the study."""
    array_digests = cell_content["problem"].get("data")
    first_array_index = 0 if array_digests is None else array_positions[array_digests[0]]
    return compute_replicate(
        cell_content,
        replicate_number,
        [] if array_digests is None else arrays[first_array_index : first_array_index + 2],
    )
