"""`truerisk study compare`: learners or methods over the problems of a study, or of a table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli.output import say, show
from truerisk.cli.pages import check_writable
from truerisk.cli.stores import in_a_folder, store_path

if TYPE_CHECKING:
    from truerisk.study.comparison.result import ManyComparison

__all__ = ["compare"]

_WHICH = [
    click.option("--of", type=click.Choice(["learner", "method"]),
                 help="What competes.  [default: what the study has several of]"),
    click.option("--by", type=click.Choice(["truth", "value", "rmse", "seconds"]),
                 help="What is compared.  [default: truth of learners, rmse of methods]"),
    click.option("--size", type=click.IntRange(1), metavar="N", help="Where there are several."),
    click.option("--learner", metavar="NAME", help="Where there are several, of methods."),
    click.option("--method", metavar="WORD", help="Where there are several, of learners."),
]  # fmt: skip
_TERMS = [
    click.option("--control", metavar="NAME", help="What all others are held against."),
    click.option("--rope", type=click.FloatRange(0), default=0.01, show_default=True,
                 help="Values that differ by no more are practically the same."),
    click.option("--missing", type=click.Choice(["leave-out", "last"]), default="leave-out",
                 show_default=True, help="What becomes of data sets that lack a value."),
    click.option("--pairwise", type=click.Choice(["wilcoxon", "ranks"]), default="wilcoxon",
                 show_default=True, help="How two of them are tested."),
    click.option("--confidence", "confidence_level", type=click.FloatRange(0.5, 0.999),
                 default=0.95, show_default=True),
    click.option("--seed", "random_state", type=click.IntRange(0), default=0, show_default=True),
]  # fmt: skip


def _with(options: list[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def added(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return added


@click.command()
@click.option("--store", type=store_path, required=True, callback=in_a_folder,
              help="The file of the study.")  # fmt: skip
@_with(_WHICH)
@_with(_TERMS)
@click.option("--report", metavar="PATH", help="Write one HTML page there as well.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def compare(store: Path, report: str | None, as_json: bool, **asked: Any) -> None:
    """Compare learners, or methods, over the problems of a study.

    \b
    truerisk study compare --store runs.db --report comparison.html
    """  # noqa: D301 - \b is for click
    if report is not None:
        check_writable(report)
    found = _compared(store, asked)
    show(json.dumps(found.to_dict(), allow_nan=False) if as_json else str(found))
    if report is not None:
        found.to_html(report)
        say(f"wrote {report}")


def _compared(store: Path, asked: dict[str, Any]) -> ManyComparison:
    from truerisk.study.results import collect
    from truerisk.study.store import Store

    with Store.read(store) as opened:
        return collect(opened).compare(**asked)
