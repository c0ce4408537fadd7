"""`truerisk study`: run, continue, inspect and export studies, whose results survive crashes."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import click

from truerisk.cli.options import (
    check_store_folder,
    combine_options,
    json_option,
    n_jobs_option,
    page_options,
    store_path_type,
)
from truerisk.core.registry import check_present


def _import_implementation(module_name: str = "study") -> Any:
    """Import the module that implements a command.

    Commands that only inspect a store import fewer packages than commands that run a study.
    """
    check_present("truerisk.study")
    return import_module(f"truerisk.cli.bodies.{module_name}")


_compare_options = combine_options(
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


_store_option = click.option("--store", type=store_path_type, required=True,
                             callback=check_store_folder,
                             help="The file of the study.")  # fmt: skip


@click.command()
@_store_option
@_compare_options
@page_options
@json_option
def compare(
    store: Path, report: str | None, figures: Path | None, as_json: bool, **comparison_options: Any
) -> None:
    """Compare learners, or methods, over the problems of a study.

    \b
    truerisk study compare --store runs.db --report comparison.html
    """  # noqa: D301 - \b is for click
    _import_implementation().compare(store, report, figures, as_json, comparison_options)


@click.group()
def study() -> None:
    """Run thousands of replicates; whatever happens, what was found is kept.

    Exit codes: 0 complete, 5 incomplete (run it again), 130 interrupted (what was found is kept).
    """


study.add_command(compare)


_run_options = combine_options(
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
        "--limit-memory", "limit_megabytes", type=click.FloatRange(0, min_open=True), metavar="MB",
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
    return _import_implementation("study_run").run(spec, store, as_json, allow_import, options)


@study.command()
@_store_option
@_run_options
def resume(store: Path, as_json: bool, allow_import: bool, **options: Any) -> int:
    """Go on with the study of a store."""
    return _import_implementation("study_run").run(None, store, as_json, allow_import, options)


@study.command()
@_store_option
@json_option
def status(store: Path, as_json: bool) -> int:
    """Show the progress of the study, also while it runs."""
    return _import_implementation().status(store, as_json)


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
    _import_implementation().export(store, form, out, as_json)


@study.command()
@_store_option
@click.option(
    "--failed", is_flag=True, required=True, help="Those that failed or were quarantined."
)
@json_option
def retry(store: Path, failed: bool, as_json: bool) -> None:
    """Let the next run try replicates without a result again."""
    _import_implementation().retry(store, as_json)
