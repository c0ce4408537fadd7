"""The posterior of the true error after the honest test."""

from __future__ import annotations

import numpy as np

from truerisk.core.present import number
from truerisk.core.statistics.error_posterior import ErrorPosterior
from truerisk.report.document import Document
from truerisk.report.figure import Figure, FigureTable, Key
from truerisk.report.scale import Scale
from truerisk.report.svg import WIDTH, Drawing

__all__ = ["draw_posterior"]

HEIGHT, TOP, BOTTOM = 214, 18, 172
N_POINTS = 121


def draw_posterior(document: Document) -> Figure | None:
    """The Beta density with its central interval; None where the loss counts no errors."""
    if document.posterior is None:
        return None
    errors, n = document.posterior
    posterior = ErrorPosterior(errors, n)
    interval = posterior.interval(document.level)
    low, high = posterior.quantile(1e-4), posterior.quantile(1 - 1e-4)
    xs = np.linspace(low, high, N_POINTS)
    density = posterior.pdf(xs)
    drawing = Drawing(
        title="Posterior of the true error",
        about=f"{errors:g} errors in {n:g} rows: mean {number(posterior.mean)}, "
        f"{100 * document.level:g} % interval {interval}.",
        height=HEIGHT,
        x=Scale(float(low), float(high), 14, WIDTH - 14),
        y=Scale(0, float(density.max()) * 1.05, BOTTOM, TOP),
    )
    drawing.bottom_axis("true error")
    inside = np.linspace(interval.low, interval.high, N_POINTS)
    drawing.band(inside.tolist(), [0.0] * N_POINTS, posterior.pdf(inside).tolist(), "s0")
    drawing.line(xs.tolist(), density.tolist(), "s0")
    if document.baseline is not None and low < document.baseline < high:
        drawing.upright(document.baseline, "baseline")
    drawing.upright(posterior.mean, "middle")
    keys = [Key("s0", f"{100 * document.level:g} % of the probability", "band")]
    keys.append(Key("middle", "posterior mean", "line"))
    return Figure(
        name="posterior",
        title="What the tested rows say of the true error",
        drawing=drawing,
        caption=(
            f"Beta posterior after {errors:g} errors in {n:g} rows that were tested once each, "
            "from a flat prior, as if one rule had been tested on all of them."
        ),
        table=_table(document, posterior),
        keys=tuple(keys),
    )


def _table(document: Document, posterior: ErrorPosterior) -> FigureTable:
    level = document.level
    rows = [
        ["errors", f"{posterior.errors:g} of {posterior.n:g}"],
        ["posterior mean", number(posterior.mean)],
        ["posterior standard deviation", number(posterior.std)],
        [f"{100 * level:g} % interval", str(posterior.interval(level))],
        [f"below this with probability {level:g}", number(posterior.upper(level))],
    ]
    if document.baseline is not None and 0 < document.baseline < 1:
        mass = posterior.mass_above(document.baseline)
        said = f"probability of an error above {number(document.baseline)} (constant answer)"
        rows.append([said, f"{mass:.3g}"])
    rows.append(["mean squared error rate", number(posterior.second_moment())])
    return FigureTable.of(("of the true error", "value"), rows)
