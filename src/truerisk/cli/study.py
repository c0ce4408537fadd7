"""`truerisk study`: run, look at, continue and export studies that survive crashes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli.options import (
    in_a_folder,
    json_option,
    n_jobs_option,
    page_options,
    store_path,
    with_options,
)
from truerisk.cli.output import say, show, shown_progress, worded_warnings, write_page
from truerisk.cli.signals import interrupted_code, interrupted_word
from truerisk.core.errors import BadStore, NotWritten

if TYPE_CHECKING:
    from truerisk.comparison.many_comparison import ManyComparison
    from truerisk.study.status import Status


_compare_options = with_options(
    click.option("--of", type=click.Choice(["learner", "method"]),
                 help="Compare learners or methods. [default: what the study has several of]"),
    click.option("--by", type=click.Choice(["truth", "value", "rmse", "seconds"]),
                 help="The quantity to compare. [default: truth of learners, rmse of methods]"),
    click.option("--size", type=click.IntRange(1), metavar="N", help="The size to compare at."),
    click.option("--learner", metavar="NAME", help="The learner whose methods compete."),
    click.option("--method", metavar="WORD", help="The method whose learners compete."),
    click.option("--control", metavar="NAME", help="The one that all others are compared with."),
    click.option("--rope", type=click.FloatRange(0), default=0.01, show_default=True,
                 help="Values that differ by at most this much count as equal."),
    click.option("--missing", type=click.Choice(["leave-out", "last"]), default="leave-out",
                 show_default=True, help="What to do with data sets that lack a value."),
    click.option("--pairwise", type=click.Choice(["wilcoxon", "ranks"]), default="wilcoxon",
                 show_default=True, help="The test of two at a time."),
    click.option("--confidence", "confidence_level", type=click.FloatRange(0.5, 0.999),
                 default=0.95, show_default=True),
    click.option("--seed", "random_state", type=click.IntRange(0), default=0, show_default=True),
)  # fmt: skip


_store_option = click.option("--store", type=store_path, required=True, callback=in_a_folder,
                             help="The file of the study.")  # fmt: skip


@click.command()
@_store_option
@_compare_options
@page_options
@json_option
def compare(
    store: Path, report: str | None, figures: Path | None, as_json: bool, **terms: Any
) -> None:
    """Compare learners, or methods, over the problems of a study.

    \b
    truerisk study compare --store runs.db --report comparison.html
    """  # noqa: D301 - \b is for click
    with shown_progress():
        comparison = _compared(store, terms)
    show(json.dumps(comparison.to_dict(), allow_nan=False) if as_json else str(comparison))
    write_page(comparison, report, figures)


def _compared(store: Path, terms: dict[str, Any]) -> ManyComparison:
    from truerisk.study.results import collect
    from truerisk.study.store import Store

    with Store.read(store) as opened:
        return collect(opened).compare(**terms)


INCOMPLETE = 5


@click.group()
def study() -> None:
    """Run thousands of replicates; whatever happens, what was found is kept.

    Exit codes: 0 complete, 5 incomplete (run it again), 130 interrupted (what was found is kept).
    """


study.add_command(compare)


_run_options = with_options(
    n_jobs_option,
    click.option(
        "--attempts", type=click.IntRange(1), default=3, show_default=True,
        help="How many times a replicate may crash its worker.",
    ),
    click.option(
        "--limit-seconds", type=click.FloatRange(0, min_open=True), metavar="S",
        help="What one replicate may take.",
    ),
    click.option(
        "--limit-memory", type=click.FloatRange(0, min_open=True), metavar="MB",
        help="What one replicate may take.",
    ),
    click.option(
        "--patience", type=click.FloatRange(0), default=60.0, show_default=True, metavar="S",
        help="How long to wait where no worker is left.",
    ),
    click.option("--mixed-versions", is_flag=True, help="Keep results of other versions."),
    click.option("--allow-import", is_flag=True, help="Let the specification import code."),
    json_option,
)  # fmt: skip


@study.command()
@click.argument("spec", type=click.Path(path_type=Path))
@_store_option
@_run_options
def run(spec: Path, store: Path, as_json: bool, allow_import: bool, **options: Any) -> int:
    """Do what SPEC asks for and the store does not hold.

    \b
    truerisk study run spec.toml --store runs.db --n-jobs 4
    """  # noqa: D301 - \b is for click
    return _run(spec, store, as_json, allow_import, options)


@study.command()
@_store_option
@_run_options
def resume(store: Path, as_json: bool, allow_import: bool, **options: Any) -> int:
    """Go on with the study of a store."""
    return _run(None, store, as_json, allow_import, options)


def _run(
    spec: Path | None, store: Path, as_json: bool, allow_import: bool, options: dict[str, Any]
) -> int:
    here = str(Path.cwd())
    if allow_import and here not in sys.path:  # modules beside the specification
        sys.path.insert(0, here)
    from truerisk.study.study import Study

    made = Study(spec, store, allow_import=allow_import)
    options["limit_megabytes"] = options.pop("limit_memory")
    try:
        with worded_warnings(), shown_progress():
            results = made.run(**options)
    except KeyboardInterrupt as stopped:
        try:
            status = made.status()
        except BadStore:  # no store was made yet
            raise stopped from None
        say(
            f"truerisk: {interrupted_word()}; {status.done} of {status.total} results are kept "
            f"in {store}. Go on with `truerisk study resume --store {store}`."
        )
        return interrupted_code()
    show(json.dumps(results.to_dict()) if as_json else str(results))
    return _judged(made.status(), store)


def _judged(status: Status, store: Path) -> int:
    lost = status.failed + status.quarantined
    if status.complete:
        return 0
    say(
        f"truerisk: {lost} of {status.total} replicates have no result ({status.failed} failed, "
        f"{status.quarantined} quarantined): see `truerisk study status --store {store}`, and "
        f"`truerisk study retry --failed --store {store}`."
    )
    return INCOMPLETE


@study.command()
@_store_option
@json_option
def status(store: Path, as_json: bool) -> int:
    """How far the study is, also while it runs."""
    from truerisk.study.status import status_of
    from truerisk.study.store import Store

    with Store.read(store) as opened:
        state = status_of(opened)
    show(json.dumps(state.to_dict()) if as_json else str(state))
    return 0 if state.complete else INCOMPLETE


@study.command()
@_store_option
@click.option(
    "--format", "form", type=click.Choice(["parquet", "csv", "jsonl"]), default="csv",
    show_default=True,
)  # fmt: skip
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Where to.  [default: the store's name with the format's ending]",
)  # fmt: skip
@json_option
def export(store: Path, form: str, out: Path | None, as_json: bool) -> None:
    """Write every result as one row: Parquet, CSV or JSON lines."""
    from truerisk.study.results import export as write
    from truerisk.study.results import rows_of
    from truerisk.study.store import Store

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


@study.command()
@_store_option
@click.option(
    "--failed", is_flag=True, required=True, help="Those that failed or were quarantined."
)
@json_option
def retry(store: Path, failed: bool, as_json: bool) -> None:
    """Let the next run try replicates without a result again."""
    from truerisk.study.schema import State
    from truerisk.study.store import Store
    from truerisk.study.versions import refuse_fits

    if not store.exists():
        raise click.UsageError(f"--store {store}: there is no such store.")
    with Store.write(store) as opened:
        refuse_fits(opened)
        n = opened.forget([State.FAILED, State.QUARANTINED, State.SUSPECT])
    say(f"{n} replicates will be tried again by `truerisk study resume --store {store}`")
    if as_json:
        show(_document("retry", replicates=n))


def _document(what: str, **content: Any) -> str:
    return json.dumps({"schema": f"truerisk.study-{what}/2", **content})
