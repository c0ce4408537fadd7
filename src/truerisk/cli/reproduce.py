"""`truerisk reproduce`: run an experiment of a document and print ours beside theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from truerisk.cli.options import gathered, json_option, n_jobs_option
from truerisk.cli.output import say, show, shown_progress, worded_warnings
from truerisk.cli.registries import show_words
from truerisk.cli.signals import interrupted_code, interruption_message
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
    help="Write the report, its page and its figures (PNG, SVG) there.",
)
@json_option
@gathered
def reproduce(requested: Any) -> int:
    """Run the experiment NAME again; without NAME, or with --list, list the experiments.

    The longest take nine minutes of one core, most a minute at most.

    \b
    truerisk reproduce wallman-table-1 --quick
    truerisk reproduce kearns-figure-3 --n-jobs 2 --out results
    truerisk reproduce bee-table-2 --store runs.db --resume
    """  # noqa: D301 - \b is for click
    check_present("truerisk.experiments")
    from truerisk.experiments import registry
    from truerisk.experiments import reproduce as reproduced

    if requested.listed and requested.name is not None:
        raise click.UsageError(
            f"--list names all experiments: leave out {requested.name}, or --list."
        )
    if requested.name is None:
        show_words(registry, as_json=requested.as_json)
        return 0
    if requested.out is not None:
        try:
            requested.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise click.UsageError(f"--out {requested.out}: {error.strerror or error}.") from None
    names = ("quick", "replicates", "seed", "full", "store", "resume", "mixed_versions")
    options: dict[str, Any] = {name: getattr(requested, name) for name in names}
    try:
        with worded_warnings(), shown_progress():
            report = reproduced(requested.name, n_jobs=requested.n_jobs, **options)
    except KeyboardInterrupt:
        if requested.store is None:
            raise
        say(
            f"truerisk: {interruption_message()}; results so far are in {requested.store}: "
            "continue with "
            "--resume."
        )
        return interrupted_code()
    show(report.to_json() if requested.as_json else str(report))
    if requested.out is not None:
        texts = {".txt": str(report), ".json": report.to_json(), ".html": report.to_html()}
        for suffix, text in texts.items():
            path = requested.out / f"{report.name}{suffix}"
            write_text(f"{text}\n", path)
            say(f"wrote {path}")
        for path in report.save_figures(requested.out, ("png", "svg")) if report.figures else ():
            say(f"wrote {path}")
    elif report.figures:
        say("note: the figure is drawn where a folder is named with --out")
    return 0
