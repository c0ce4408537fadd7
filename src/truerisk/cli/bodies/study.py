"""Implementation of `truerisk study compare`, `status`, `export` and `retry`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from truerisk.cli.output import print_stderr, show, show_progress, write_page
from truerisk.core.errors import NotWritten
from truerisk.study.results import collect_results, iterate_result_rows
from truerisk.study.results import export_rows as write
from truerisk.study.status import compute_status
from truerisk.study.store import Store
from truerisk.study.versions import refuse_store_of_fits

EXIT_INCOMPLETE = 5  # This exit code means that some replicates have no result.


def compare(
    store: Path,
    report: str | None,
    figures: Path | None,
    as_json: bool,
    comparison_options: dict[str, Any],
) -> None:
    """Compare the learners or the methods of a study, and print the comparison."""
    with show_progress(), Store.open_for_reading(store) as open_store:
        comparison = collect_results(open_store).compare(**comparison_options)
    show(json.dumps(comparison.to_dict(), allow_nan=False) if as_json else str(comparison))
    write_page(comparison, report, figures)


def status(store: Path, as_json: bool) -> int:
    """Print the progress of a study; return exit code 0, or 5 if it is incomplete."""
    with Store.open_for_reading(store) as open_store:
        study_status = compute_status(open_store)
    show(json.dumps(study_status.to_dict()) if as_json else str(study_status))
    return 0 if study_status.complete else EXIT_INCOMPLETE


def export(store: Path, file_format: str, requested_path: Path | None, as_json: bool) -> None:
    """Write a table file in which every result of a study is one row."""
    output_path = requested_path or store.with_suffix(f".{file_format}")
    # `realpath` raises no error for a loop of symbolic links.
    if os.path.realpath(output_path) == os.path.realpath(store):
        raise click.UsageError(f"--out {output_path} is the store: name another file.")
    with Store.open_for_reading(store) as open_store:
        try:
            n_rows = write(iterate_result_rows(open_store), output_path, file_format)
        except NotWritten as error:
            raise click.UsageError(f"--out: {error}") from None
    print_stderr(f"wrote {n_rows} rows to {output_path}")
    if as_json:
        show(_json_document("export", file=str(output_path), format=file_format, rows=n_rows))


def retry(store: Path, as_json: bool) -> None:
    """Reset failed and quarantined replicates, so that the next run of the study repeats them."""
    if not store.exists():
        raise click.UsageError(f"--store {store}: there is no such store.")
    with Store.open_for_writing(store) as open_store:
        refuse_store_of_fits(open_store)
        n_replicates = open_store.delete_outcomes()
    print_stderr(
        f"{n_replicates} replicates will be tried again by `truerisk study resume --store {store}`"
    )
    if as_json:
        show(_json_document("retry", replicates=n_replicates))


def _json_document(command: str, **fields: Any) -> str:
    return json.dumps({"schema": f"truerisk.study-{command}/2", **fields})
