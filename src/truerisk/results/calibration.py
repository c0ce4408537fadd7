"""Calibration: the observed share of events per bin of predicted probabilities."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np

from truerisk.core import formats, tables
from truerisk.core.arguments import real_array
from truerisk.core.errors import BadData, first_line
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.results.door import load_from_package
from truerisk.results.interval import normal_quantile
from truerisk.results.records import Column, Range, Record, Share

ROWS_PER_BIN = 10
MAX_BINS = 10
INDEPENDENT_ROWS_NOTE = "Wilson's intervals, which take the rows as independent."
DEPENDENT_ROWS_NOTE = (
    "No intervals: weighted or grouped rows, and rows in order, are no independent trials."
)

BinShares = Annotated[np.ndarray, Column("bins", numbers=Range(0, 1))]


@frozen(eq=False)
class Calibration(Record):
    r"""Mean predicted probability and observed share of events in bins of predictions.

    The bins hold about equal numbers of rows.

    Equal probabilities are in the same bin. The interval of k in n is Wilson's (1927), (k + z²/2 ±
    z √(k (n − k)/n + z²/4)) / (n + z²); it is None if rows are weighted or grouped. `brier` is the
    mean of (p − y)².

    >>> found = Calibration.from_predictions([0] * 9 + [1] * 9 + [0] * 2, [0.1] * 10 + [0.8] * 10)
    >>> found.predicted.round(6).tolist(), found.observed.tolist(), found.counts.tolist()
    ([0.1, 0.8], [0.1, 0.8], [10, 10])
    """

    schema: ClassVar[str] = "truerisk.calibration/2"

    event: str
    predicted: BinShares
    observed: BinShares
    low: BinShares | None
    high: BinShares | None
    counts: Annotated[np.ndarray, Column("bins", "i8", least=1)]
    brier: Share
    notes: tuple[str, ...]

    @classmethod
    def from_predictions(
        cls,
        outcomes: Any,
        probabilities: Any,
        *,
        event: str = "the event",
        weights: Any = None,
        dependent: bool = False,
        confidence_level: float = 0.95,
    ) -> Calibration:
        """Compute the calibration of predicted `probabilities` for `outcomes` (true or false)."""
        try:
            y, p = real_array(outcomes), real_array(probabilities)
            row_weights = np.ones(len(y)) if weights is None else real_array(weights)
        except (TypeError, ValueError) as error:
            raise BadData(
                f"outcomes, probabilities and weights are numbers: {first_line(error)}."
            ) from None
        if y.ndim != 1 or y.shape != p.shape or not len(y):
            raise BadData(
                f"{len(y)} outcomes and {len(p)} probabilities: give one of each per row."
            )
        if not (np.isfinite(p).all() and (p >= 0).all() and (p <= 1).all()):
            raise BadData("probabilities are numbers from 0 to 1.")
        # Bins are numbered from 0 without gaps, and equal probabilities share a bin.
        n_bins = int(np.clip(len(p) // ROWS_PER_BIN, 1, MAX_BINS))
        bin_edges = (
            np.unique(np.quantile(p, np.arange(1, n_bins) / n_bins)) if n_bins > 1 else np.zeros(0)
        )
        bin_numbers = np.unique(np.searchsorted(bin_edges, p, side="left"), return_inverse=True)[1]
        counts, weight_sums = np.bincount(bin_numbers), np.bincount(bin_numbers, row_weights)
        observed = np.bincount(bin_numbers, row_weights * y) / weight_sums
        is_independent = weights is None and not dependent
        low, high = (
            _wilson_intervals(observed, counts, confidence_level)
            if is_independent
            else (None, None)
        )
        return cls(
            event=event,
            predicted=np.bincount(bin_numbers, row_weights * p) / weight_sums,
            observed=observed,
            low=low,
            high=high,
            counts=counts,
            brier=float(np.average((p - y) ** 2, weights=row_weights)),
            notes=(INDEPENDENT_ROWS_NOTE if is_independent else DEPENDENT_ROWS_NOTE,),
        )

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the observed share of events over the predicted probability (needs matplotlib)."""
        return load_from_package("calibration")(self, ax=ax, **options)

    def __str__(self) -> str:
        n = int(self.counts.sum())
        return f"Brier score {self.brier:.4f} of {self.event}, {len(self.counts)} bins of {n} rows"

    @override
    def blocks(self) -> list[tables.Block]:
        header = ["probability", "observed", "rows"]
        columns = zip(self.predicted, self.observed, self.counts, strict=True)
        rows = [
            [formats.format_number(p), formats.format_number(observed_share), str(n)]
            for p, observed_share, n in columns
        ]
        return [tables.Block(str(self), header, rows)]


def _wilson_intervals(
    observed_shares: np.ndarray, counts: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and the upper ends of Wilson's confidence intervals of observed shares."""
    z = normal_quantile(level)
    centers = observed_shares * counts + z**2 / 2
    half_widths = z * np.sqrt(counts * observed_shares * (1 - observed_shares) + z**2 / 4)
    return np.maximum((centers - half_widths) / (counts + z**2), 0), np.minimum(
        (centers + half_widths) / (counts + z**2), 1
    )
