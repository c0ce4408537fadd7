"""`truerisk posterior`: what the errors of a test say about the true error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli.options import confidence_option, gathered, json_option
from truerisk.cli.output import show
from truerisk.core.errors import BadData

if TYPE_CHECKING:
    from truerisk.results.error_posterior import ErrorPosterior


SCHEMA = "truerisk.posterior/2"


@click.command()
@click.option("--errors", type=click.IntRange(0), required=True, metavar="E", help="Wrong answers.")
@click.option(
    "--rows", type=click.IntRange(1), required=True, metavar="N", help="Rows that were tested."
)
@confidence_option("--level")
@click.option(
    "--prior",
    type=(float, float),
    default=(1.0, 1.0),
    show_default=True,
    metavar="A B",
    help="Prior Beta(A, B) of the error.",
)
@json_option
@gathered
def posterior(requested: Any) -> int:
    """Say what E errors in N test rows tell about the true error of the tested rule.

    \b
    truerisk posterior --errors 6 --rows 60
    truerisk posterior --errors 0 --rows 60 --confidence .9 --prior .5 .5
    """  # noqa: D301 - \b is for click
    from truerisk.results.error_posterior import ErrorPosterior

    try:
        found = ErrorPosterior(requested.errors, requested.rows, requested.prior)
    except BadData as error:  # there is no data here, only options
        raise click.UsageError(str(error)) from None
    if requested.as_json:
        show(json.dumps(_content(found, requested.confidence), allow_nan=False))
    else:
        measures, share = (
            found.measures(requested.confidence),
            f"{100 * requested.confidence:.15g} %",
        )
        a, b = found.prior
        lines = {
            "mean": f"{found.mean:.4f}",
            f"{share} interval": str(found.interval(requested.confidence)),
            f"{share} bound (ub)": f"{measures.ub:.4f}",
            "P(error > ½) (50 %)": f"{measures.above_half:.4g}",
            "E[error²] (q2)": f"{measures.q2:.4f}",
            "share of errors (err)": f"{measures.err:.4f}",
        }
        wide = max(map(len, lines))
        head = f"{found.errors:.15g} errors in {found.n:.15g} test rows, "
        head += f"prior Beta({a:.15g}, {b:.15g})"
        show("\n".join([head, *(f"{name:<{wide}}  {value}" for name, value in lines.items())]))
    return 0


def _content(posterior: ErrorPosterior, level: float) -> dict[str, Any]:
    low, high = (getattr(posterior.interval(level), end) for end in ("low", "high"))
    return {
        "schema": SCHEMA,
        "errors": posterior.errors,
        "n": posterior.n,
        "prior": list(posterior.prior),
        "mean": posterior.mean,
        "std": posterior.std,
        "confidence_level": level,
        "interval": {"low": low, "high": high},
        "measures": posterior.measures(level)._asdict(),
    }
