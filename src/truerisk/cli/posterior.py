"""`truerisk posterior`: the posterior of the true error, given the number of test errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli.options import confidence_option, json_option, pass_options_as_namespace
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
@pass_options_as_namespace
def posterior(args: Any) -> int:
    """Say what E errors in N test rows tell about the true error of the tested rule.

    \b
    truerisk posterior --errors 6 --rows 60
    truerisk posterior --errors 0 --rows 60 --confidence .9 --prior .5 .5
    """  # noqa: D301 - \b is for click
    from truerisk.results.error_posterior import ErrorPosterior

    try:
        error_posterior = ErrorPosterior(args.errors, args.rows, args.prior)
    except BadData as error:  # The numbers come from options, so this is a usage error.
        raise click.UsageError(str(error)) from None
    if args.as_json:
        show(json.dumps(_posterior_as_dict(error_posterior, args.confidence), allow_nan=False))
    else:
        posterior_measures, level_text = (
            error_posterior.measures(args.confidence),
            f"{100 * args.confidence:.15g} %",
        )
        a, b = error_posterior.prior
        labelled_values = {
            "mean": f"{error_posterior.mean:.4f}",
            f"{level_text} interval": str(error_posterior.interval(args.confidence)),
            f"{level_text} bound (ub)": f"{posterior_measures.ub:.4f}",
            "P(error > ½) (50 %)": f"{posterior_measures.above_half:.4g}",
            "E[error²] (q2)": f"{posterior_measures.q2:.4f}",
            "share of errors (err)": f"{posterior_measures.err:.4f}",
        }
        label_width = max(map(len, labelled_values))
        title = f"{error_posterior.errors:.15g} errors in {error_posterior.n:.15g} test rows, "
        title += f"prior Beta({a:.15g}, {b:.15g})"
        show(
            "\n".join(
                [
                    title,
                    *(f"{name:<{label_width}}  {value}" for name, value in labelled_values.items()),
                ]
            )
        )
    return 0


def _posterior_as_dict(posterior: ErrorPosterior, confidence_level: float) -> dict[str, Any]:
    low, high = (
        getattr(posterior.interval(confidence_level), limit_name) for limit_name in ("low", "high")
    )
    return {
        "schema": SCHEMA,
        "errors": posterior.errors,
        "n": posterior.n,
        "prior": list(posterior.prior),
        "mean": posterior.mean,
        "std": posterior.std,
        "confidence_level": confidence_level,
        "interval": {"low": low, "high": high},
        "measures": posterior.measures(confidence_level)._asdict(),
    }
