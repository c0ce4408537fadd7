"""`truerisk report`: draw the HTML page of a result again from its JSON file."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path

import click

from truerisk.cli.options import figures_option, results_size_option
from truerisk.cli.output import print_stderr, show, write_page
from truerisk.core.registry import check_present
from truerisk.results.writing import write_text


@click.command()
@click.argument("file", type=click.Path(allow_dash=True))
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    type=click.Path(allow_dash=True),
    help="Where the page goes; - for stdout.  [default: FILE with .html]",
)
@figures_option
@results_size_option
def report(file: str, output: str | None, figures: Path | None, max_bytes: int | None) -> None:
    """Draw the HTML page of FILE, which --json or to_json(path) wrote.

    \b
    truerisk assess data.csv --target y --json > results.json
    truerisk report results.json
    """  # noqa: D301 - \b is for click
    check_present("truerisk.report.page")
    from truerisk.core.formats import prefix_errors
    from truerisk.report.page import result_from_dict
    from truerisk.results.json_values import parse_json
    from truerisk.results.records import MAX_BYTES

    max_result_bytes = max_bytes or MAX_BYTES
    result_document = parse_json(
        sys.stdin.read(max_result_bytes + 1) if file == "-" else Path(file),
        max_bytes=max_result_bytes,
    )
    with nullcontext() if file == "-" else prefix_errors(Path(file).name):
        result = result_from_dict(result_document)
        page = result.to_html()
    if output is None:
        output = "-" if file == "-" else str(Path(file).with_suffix(".html"))
    if output == "-":
        show(page)
    else:
        write_text(page, output)
        print_stderr(f"wrote {output}")
    write_page(result, None, figures)
