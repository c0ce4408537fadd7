"""Whether a model would be the same on other rows: its features and its predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from truerisk.core.records import Record
from truerisk.core.validation.feature_stability import FeatureStability
from truerisk.core.validation.prediction_stability import PredictionStability

__all__ = ["ModelStability"]


@dataclass(frozen=True, eq=False)
class ModelStability(Record):
    """What the models of the outer splits share; a part that is None is `missing` for a reason."""

    features: FeatureStability | None = None
    predictions: PredictionStability | None = None
    missing: Mapping[str, str] = field(default_factory=dict)

    def with_names(self, names: tuple[str, ...]) -> ModelStability:
        """The features by the names of the columns, where X was an array that has none."""
        if self.features is None or len(self.features.names) != len(names):
            return self
        return replace(self, features=replace(self.features, names=names))

    def __str__(self) -> str:
        parts = [str(one) for one in (self.features, self.predictions) if one is not None]
        said = [f"{name}: {why}" for name, why in self.missing.items()]
        return "\n\n".join([*parts, *said])
