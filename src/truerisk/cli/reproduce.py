"""`truerisk reproduce`: rerun a published experiment and print its numbers beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from truerisk.cli.options import json_option, n_jobs_option, pass_options_as_namespace
from truerisk.cli.output import print_stderr, print_warnings_at_end, show, show_progress
from truerisk.cli.registries import print_registry_names
from truerisk.cli.signals import interruption_exit_code, interruption_message
from truerisk.core.registry import check_present
from truerisk.results.writing import write_text


@click.command()
@click.argument("name", required=False)
@click.option("--list", "listed", is_flag=True, help="List the experiments.")
@click.option("--quick", is_flag=True, help="A first look: few replicates, in a minute at most.")
@click.option("--full", is_flag=True, help="All sizes of bee-figure-2 and -3: hours.")
@click.option("--replicates", type=int, metavar="N", help="How many replicates, two at least.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@n_jobs_option
@click.option(
    "--store",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Keep every replicate in this file.",
)
@click.option("--resume", is_flag=True, help="Go on with the replicates of the store.")
@click.option("--mixed-versions", is_flag=True, help="Go on with those of other versions, too.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the report, its page and any figures (PNG, SVG) there.",
)
@json_option
@pass_options_as_namespace
def reproduce(args: Any) -> int:
    """Run the experiment NAME again; without NAME, or with --list, list the experiments.

    The longest take a quarter of an hour on one core, most a minute at most.

    \b
    truerisk reproduce wallman-table-1 --quick
    truerisk reproduce kearns-figure-3 --n-jobs 2 --out results
    truerisk reproduce bee-table-2 --store runs.db --resume
    """  # noqa: D301 - \b is for click
    check_present("truerisk.experiments")
    from truerisk.experiments import registry
    from truerisk.experiments import reproduce as reproduced

    if args.listed and args.name is not None:
        raise click.UsageError(f"--list names all experiments: leave out {args.name}, or --list.")
    if args.name is None:
        print_registry_names(registry, as_json=args.as_json)
        return 0
    if args.out is not None:
        try:
            args.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise click.UsageError(f"--out {args.out}: {error.strerror or error}.") from None
    option_names = ("quick", "replicates", "seed", "full", "store", "resume", "mixed_versions")
    experiment_options: dict[str, Any] = {name: getattr(args, name) for name in option_names}
    try:
        with print_warnings_at_end(), show_progress():
            report = reproduced(args.name, n_jobs=args.n_jobs, **experiment_options)
    except KeyboardInterrupt:
        if args.store is None:
            raise
        print_stderr(
            f"truerisk: {interruption_message()}; results so far are in {args.store}: continue "
            "with --resume."
        )
        return interruption_exit_code()
    show(report.to_json() if args.as_json else str(report))
    if args.out is not None:
        report_texts = {".txt": str(report), ".json": report.to_json(), ".html": report.to_html()}
        for suffix, text in report_texts.items():
            path = args.out / f"{report.name}{suffix}"
            write_text(f"{text}\n", path)
            print_stderr(f"wrote {path}")
        for path in report.save_figures(args.out, ("png", "svg")) if report.figures else ():
            print_stderr(f"wrote {path}")
        if not report.figures:
            print_stderr(f"note: {report.name} has tables, and no figure")
    elif report.figures:
        print_stderr("note: the figure is drawn where a folder is named with --out")
    return 0
