r"""Stability of selected features and of predictions when a model is fitted to other rows.

Nogueira's index and its interval measure whether several fits selected the same features. Row i of
Z marks which of d features the i-th of M fits selected; :math:`\hat p_f` is the share of fits that
selected feature f, :math:`k_i` the number of features that fit i selected and :math:`\bar k` their
mean. The index is

.. math::
    \hat\Phi = 1 - \frac{\frac{1}{d} \sum_f \frac{M}{M-1} \hat p_f (1 - \hat p_f)}
                        {\frac{\bar k}{d} \left(1 - \frac{\bar k}{d}\right)},

1 where all fits selected the same and 0, on average, where each draws its features at random.
With :math:`c = \frac{\bar k}{d} (1 - \frac{\bar k}{d})` and

.. math::
    \hat\Phi_i = \frac{1}{c} \left[\frac{1}{d} \sum_f z_{if} \hat p_f - \frac{k_i \bar k}{d^2} +
      \frac{\hat\Phi}{2} \left(\frac{2 k_i \bar k}{d^2} - \frac{k_i}{d} - \frac{\bar k}{d} +
      1\right)\right]

its variance is :math:`\frac{4}{M^2} \sum_i (\hat\Phi_i - \bar\Phi)^2`, and the interval is normal.

Nogueira S, Sechidis K, Brown G (2018). On the stability of feature selection algorithms. Journal
of Machine Learning Research 18(174):1–54. Twice :math:`\hat\Phi_i` is, up to a constant, what a
little more weight on fit i does to the index; the authors' Python program agrees, and their R
program, with a minus before :math:`\hat\Phi/2`, where all fits select equally many features.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from truerisk.core import formats, tables
from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.tables import frame_from_columns
from truerisk.data.rows import column_names, n_columns
from truerisk.methods.parts.procedure import candidate_of_each_fit
from truerisk.models.stated.selected_features import selected_features
from truerisk.results.door import load_from_package
from truerisk.results.interval import Interval
from truerisk.results.records import UNWRITTEN, Column, Count, NonNegative, Range, Record
from truerisk.validation.honest import HonestRun
from truerisk.validation.outcomes import Event
from truerisk.validation.prediction_stability import (
    PredictionStability,
    stability_over_pairs,
    stability_over_samples,
)

if TYPE_CHECKING:  # Bootstrap samples are an optional module, loaded only when needed.
    from truerisk.validation.resampled import BootstrapPredictions

MAX_PRINTED_FEATURES = 20
SHARED_ROWS_NOTE = (
    "the interval takes the fits as independent, as those of bootstrap samples are; fits of one "
    "cross-validation share most of their rows and agree more than fits to new data would."
)


@frozen(eq=False)
class FeatureStability(Record):
    """Features that each model selected, ``selected[i, f]``, and Nogueira's stability index.

    `shares` are the shares of models that selected each feature, `n_selected` the numbers of
    features that each model selected; `selected` is not written. `index` is 1 if all models
    selected the same features and 0 if they agree as random choices do; it is None if nothing was
    selected, and `reason` says so.
    """

    schema: ClassVar[str] = "truerisk.feature-stability/2"

    names: Annotated[tuple[str, ...], Column("features")]
    shares: Annotated[np.ndarray, Column("features", numbers=Range(0, 1))]
    n_selected: Annotated[np.ndarray, Column(kind="i8")]
    n_models: Count
    index: float | None = None
    std_error: NonNegative | None = None
    interval: Interval | None = None
    reason: str | None = None
    n_fits: Count = 0
    selected: np.ndarray | None = field(default=None, repr=False, metadata=UNWRITTEN)

    @classmethod
    def from_selected(
        cls,
        is_selected: np.ndarray,
        names: tuple[str, ...],
        *,
        confidence_level: float = 0.95,
        n_fits: int = 0,
    ) -> FeatureStability:
        """Compute Nogueira's stability index from the features that each model selected.

        >>> marks = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]], dtype=bool)
        >>> found = FeatureStability.from_selected(marks, ("a", "b", "c", "d"))
        >>> round(found.index, 4), found.shares.round(2).tolist()
        (0.3333, [1.0, 0.67, 0.33, 0.0])
        """
        index_and_error = stability_index(is_selected)
        selection_summary = is_selected.mean(axis=0), is_selected.sum(axis=1), len(is_selected)
        if isinstance(index_and_error, str):
            return cls(
                names,
                *selection_summary,
                reason=index_and_error,
                n_fits=n_fits,
                selected=is_selected,
            )
        index, std_error = index_and_error
        index_bounds = -np.inf, 1.0
        interval = Interval.normal(index, std_error, "nogueira", confidence_level, index_bounds)
        return cls(
            names,
            *selection_summary,
            index,
            std_error,
            interval,
            n_fits=n_fits,
            selected=is_selected,
        )

    @property
    def order(self) -> np.ndarray:
        """Column indices by decreasing selection frequency, with ties in the order of X."""
        return np.argsort(-self.shares, kind="stable")

    @property
    def counts(self) -> np.ndarray:
        """Number of models that selected each feature."""
        return np.rint(self.shares * self.n_models).astype(int)

    def to_frame(self) -> Any:
        """Return a table with one row per feature, the most often selected feature first."""
        order = self.order
        return frame_from_columns(
            {
                "feature": [self.names[column_index] for column_index in order],
                "selected": self.counts[order].tolist(),
                "share": self.shares[order].tolist(),
            }
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw how often each feature was selected (needs matplotlib)."""
        return load_from_package("selected-features")(self, ax=ax)

    def __str__(self) -> str:
        table, *_ = self.blocks()
        return self.sentence if self._uses_all else "\n".join([table.text, *self._sentences])

    @property
    def _uses_all(self) -> bool:
        """True if every model used all features, so that nothing was selected."""
        return bool((self.shares == 1).all())

    @property
    def _sentences(self) -> list[str]:
        n_further = len(self.names) - MAX_PRINTED_FEATURES
        further_text = [f"and {n_further} further features"] if n_further > 0 else []
        return [*further_text, self.sentence]

    @override
    def blocks(self) -> list[tables.Block]:
        if self._uses_all:
            return [tables.Block("Selected features", [""], [[self.sentence]])]
        counts, n_models = self.counts, self.n_models
        printed_features = self.order[:MAX_PRINTED_FEATURES]
        rows = [
            [
                formats.escape_and_truncate(self.names[feature], 40),
                f"{counts[feature]} of {n_models}",
            ]
            for feature in printed_features
        ]
        notes = tables.Block("", [""], [[sentence] for sentence in self._sentences])
        return [tables.Block("Selected features", ["feature", "selected"], rows), notes]

    @property
    def sentence(self) -> str:
        """Sentence with the stability index and its interval, or with the reason for none."""
        if self.index is None or self.interval is None:
            return f"no stability index: {self.reason}"
        index_text = f"{formats.format_number(self.index)} {self.interval}"
        return f"stability of the selection {index_text} (Nogueira et al. 2018); {SHARED_ROWS_NOTE}"


def stability_index(is_selected: np.ndarray) -> tuple[float, float] | str:
    """Return Nogueira's stability index and its standard error, or why there is no index.

    >>> marks = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]], dtype=bool)
    >>> [round(number, 4) for number in stability_index(marks)]
    [0.3333, 0.1814]
    """
    selection_matrix = np.asarray(is_selected, dtype=float)
    n_models, n_features = selection_matrix.shape
    if n_models < 2:
        return "one fit alone shows no stability: it takes two or more."
    shares, selected_shares = (
        selection_matrix.mean(axis=0),
        selection_matrix.sum(axis=1) / n_features,
    )
    mean_selected_share = float(selected_shares.mean())
    if mean_selected_share == 0:
        return "no fit selected a feature: there is nothing to agree on."
    if mean_selected_share == 1:
        return f"every fit used all {n_features} features: nothing was selected."
    chance_variance = mean_selected_share * (1 - mean_selected_share)
    index = 1 - n_models / (n_models - 1) * float((shares * (1 - shares)).mean()) / chance_variance
    index_by_model = (
        selection_matrix @ shares / n_features
        - selected_shares * mean_selected_share
        + index
        / 2
        * (2 * selected_shares * mean_selected_share - selected_shares - mean_selected_share + 1)
    )
    variance = (
        4
        / n_models**2
        * float((((index_by_model - index_by_model.mean()) / chance_variance) ** 2).sum())
    )
    return index, variance**0.5


@frozen(eq=False)
class ModelStability(Record):
    """Stability of the models of the outer splits; `missing` says why a part of it is None."""

    features: FeatureStability | None = None
    predictions: PredictionStability | None = None
    missing: Mapping[str, str] = field(default_factory=dict)

    def with_names(self, names: tuple[str, ...]) -> ModelStability:
        """Replace column numbers by column names, for an X that was an array without names."""
        if self.features is None or len(self.features.names) != len(names):
            return self
        return replace(self, features=replace(self.features, names=names))

    @override
    def blocks(self) -> list[tables.Block]:
        parts = (self.features, self.predictions)
        reasons = tables.Block("", [""], [[f"{k}: {reason}"] for k, reason in self.missing.items()])
        blocks = [block for part in parts if part is not None for block in part.blocks()]
        return [*blocks, *([reasons] if reasons.rows else [])]

    def __str__(self) -> str:
        stability_texts = [
            str(stability)
            for stability in (self.features, self.predictions)
            if stability is not None
        ]
        reasons = [f"{name}: {reason}" for name, reason in self.missing.items()]
        return "\n\n".join([*stability_texts, *reasons])


def model_stability(
    run: HonestRun,
    event: Event | None = None,
    apparent_predictions: np.ndarray | None = None,
    bootstrap_samples: BootstrapPredictions | None = None,
) -> ModelStability:
    """Compute the stability of selected features, and of predictions of the `event`.

    If the procedure was repeated in `bootstrap_samples`, their models' predictions of all rows are
    compared with `apparent_predictions`, the predictions by the model of all rows. Otherwise
    predictions of held-out rows are compared.
    """
    missing_reasons: dict[str, str] = {}
    features = predictions = None
    try:
        # The winners of the outer splits are fitted again, to find the columns that they select.
        problem, plan = run.problem, run.answered_rows.answers[0].plan
        n_features = n_columns(problem.data.X)
        if n_features is None:
            raise Refusal("X has no columns: no features were selected.")
        names = column_names(problem.data.X) or [f"column {j}" for j in range(n_features)]
        fits_with_held_out = np.unique(plan.fit[~plan.own_rows])
        models = run.problem.create_refit_asking().models(
            plan, candidate_of_each_fit(plan, run.winners), fits_with_held_out
        )
        is_selected = np.array([selected_features(model, n_features) for model in models])
        confidence_level = problem.confidence_level
        features = FeatureStability.from_selected(
            is_selected, tuple(names), confidence_level=confidence_level, n_fits=len(is_selected)
        )
    except Refusal as refusal:
        missing_reasons["features"] = str(refusal)
    try:
        predictions = stability_over_samples(
            event, apparent_predictions, bootstrap_samples
        ) or stability_over_pairs(run, event)
    except Refusal as refusal:
        missing_reasons["predictions"] = str(refusal)
    return ModelStability(features, predictions, missing_reasons)
