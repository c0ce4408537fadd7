"""Which features the models of several splits selected, and whether they agree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from truerisk.core import present
from truerisk.core.displays import displays
from truerisk.core.interval import Interval
from truerisk.core.records import UNWRITTEN, Column, Count, Range, Record, Size
from truerisk.core.results import frame_of
from truerisk.core.statistics.selection_stability import stability_index

__all__ = ["FeatureStability"]

MOST_SHOWN = 20
SHARED = (
    "the interval takes the fits as independent, as those of bootstrap samples are; fits of one "
    "cross-validation share most of their rows and agree more than fits to new data would."
)


@dataclass(frozen=True, eq=False)
class FeatureStability(Record):
    """``selected[i, f]``: whether the i-th model uses feature f, and Nogueira's index of that.

    `shares` are those of the models that selected each feature, `n_selected` says how many features
    each model selected; `selected` is not written. `index` is 1 where all models selected the same
    and 0 where they agree as random choices do; it is None where nothing was selected, and `reason`
    says so.
    """

    schema: ClassVar[str] = "truerisk.feature-stability/1"

    names: Annotated[tuple[str, ...], Column("features")]
    shares: Annotated[np.ndarray, Column("features", numbers=Range(0, 1))]
    n_selected: Annotated[np.ndarray, Column(kind="i8")]
    n_models: Count
    index: float | None = None
    std_error: Size | None = None
    interval: Interval | None = None
    reason: str | None = None
    n_fits: Count = 0
    selected: np.ndarray | None = field(default=None, repr=False, metadata=UNWRITTEN)

    @classmethod
    def of(
        cls,
        selected: np.ndarray,
        names: tuple[str, ...],
        *,
        confidence_level: float = 0.95,
        n_fits: int = 0,
    ) -> FeatureStability:
        """From the features of each model.

        >>> marks = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]], dtype=bool)
        >>> found = FeatureStability.of(marks, ("a", "b", "c", "d"))
        >>> round(found.index, 4), found.shares.round(2).tolist()
        (0.3333, [1.0, 0.67, 0.33, 0.0])
        """
        found = stability_index(selected)
        counts = selected.mean(axis=0), selected.sum(axis=1), len(selected)
        if isinstance(found, str):
            return cls(names, *counts, reason=found, n_fits=n_fits, selected=selected)
        from scipy.special import ndtri

        index, error = found
        half = float(ndtri((1 + confidence_level) / 2)) * error
        interval = Interval(index - half, min(1.0, index + half), "nogueira", confidence_level)
        return cls(names, *counts, index, error, interval, n_fits=n_fits, selected=selected)

    @property
    def order(self) -> np.ndarray:
        """The features from the most often selected on; equals as they stand in X."""
        return np.argsort(-self.shares, kind="stable")

    @property
    def counts(self) -> np.ndarray:
        """How many models selected each feature."""
        return np.rint(self.shares * self.n_models).astype(int)

    def frame(self) -> Any:
        """A line for each feature, the most often selected first."""
        order = self.order
        return frame_of(
            {
                "feature": [self.names[f] for f in order],
                "selected": self.counts[order].tolist(),
                "share": self.shares[order].tolist(),
            }
        )

    def plot(self, ax: Any = None) -> Any:
        """How often each feature was selected (needs matplotlib)."""
        return displays.load("selected-features")(self, ax=ax)

    def __str__(self) -> str:
        counts, m = self.counts, self.n_models
        shown = self.order[:MOST_SHOWN]
        rows = [[present.clean(self.names[f], 40), f"{counts[f]} of {m}"] for f in shown]
        rest = len(self.names) - len(shown)
        more = [f"and {rest} further features"] if rest else []
        return "\n".join([present.text_table(["feature", "selected"], rows), *more, self.said])

    @property
    def said(self) -> str:
        """The index with its interval, or why there is none, in a sentence."""
        if self.index is None or self.interval is None:
            return f"no stability index: {self.reason}"
        sure = f"{present.number(self.index)} {self.interval}"
        return f"stability of the selection {sure} (Nogueira et al. 2018); {SHARED}"
