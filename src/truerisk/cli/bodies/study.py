"""Look at, compare and export studies; they are run by the file beside."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from truerisk.cli.output import say, show, shown_progress, write_page
from truerisk.core.errors import NotWritten
from truerisk.study.results import collect, rows_of
from truerisk.study.results import export as write
from truerisk.study.status import status_of
from truerisk.study.store import Store
from truerisk.study.versions import refuse_fits

INCOMPLETE = 5  # exit code


def compare(
    store: Path, report: str | None, figures: Path | None, as_json: bool, terms: dict[str, Any]
) -> None:
    """Print the comparison of a study's learners or methods."""
    with shown_progress(), Store.read(store) as opened:
        comparison = collect(opened).compare(**terms)
    show(json.dumps(comparison.to_dict(), allow_nan=False) if as_json else str(comparison))
    write_page(comparison, report, figures)


def status(store: Path, as_json: bool) -> int:
    """Print how far a study is, and return the exit code."""
    with Store.read(store) as opened:
        state = status_of(opened)
    show(json.dumps(state.to_dict()) if as_json else str(state))
    return 0 if state.complete else INCOMPLETE


def export(store: Path, form: str, out: Path | None, as_json: bool) -> None:
    """Write every result of a study as one row."""
    place = out or store.with_suffix(f".{form}")
    if os.path.realpath(place) == os.path.realpath(store):  # no error for a loop of links
        raise click.UsageError(f"--out {place} is the store: name another file.")
    with Store.read(store) as opened:
        try:
            n_rows = write(rows_of(opened), place, form)
        except NotWritten as error:
            raise click.UsageError(f"--out: {error}") from None
    say(f"wrote {n_rows} rows to {place}")
    if as_json:
        show(_document("export", file=str(place), format=form, rows=n_rows))


def retry(store: Path, as_json: bool) -> None:
    """Let the next run of a study try replicates without a result again."""
    if not store.exists():
        raise click.UsageError(f"--store {store}: there is no such store.")
    with Store.write(store) as opened:
        refuse_fits(opened)
        n = opened.forget()
    say(f"{n} replicates will be tried again by `truerisk study resume --store {store}`")
    if as_json:
        show(_document("retry", replicates=n))


def _document(what: str, **content: Any) -> str:
    return json.dumps({"schema": f"truerisk.study-{what}/2", **content})
