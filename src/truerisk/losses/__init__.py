"""Losses and scores: by name, by class, and from what users write as `scoring=`.

Modules of scores of whole test sets are imported when the names of these scores are used.
"""

from typing import TYPE_CHECKING, Any

from truerisk.core.registry import make_attribute_error
from truerisk.losses.loss import Loss, RowLoss
from truerisk.losses.row_losses import (
    Absolute,
    Brier,
    Cost,
    Log,
    Squared,
    ZeroOne,
    names,
    registry,
)

if TYPE_CHECKING:
    from truerisk.losses.confusion_scores import (
        MCC,
        BalancedAccuracy,
        FBeta,
        GMean,
        Kappa,
        Precision,
        Recall,
        Sensitivity,
        Specificity,
    )
    from truerisk.losses.rank_scores import AUC, AveragePrecision
    from truerisk.losses.set_losses import ECE, R2

__all__ = [
    "AUC",
    "ECE",
    "MCC",
    "R2",
    "Absolute",
    "AveragePrecision",
    "BalancedAccuracy",
    "Brier",
    "Cost",
    "FBeta",
    "GMean",
    "Kappa",
    "Log",
    "Loss",
    "Precision",
    "Recall",
    "RowLoss",
    "Sensitivity",
    "Specificity",
    "Squared",
    "ZeroOne",
    "names",
    "registry",
]

if not TYPE_CHECKING:  # Type checkers would otherwise assume that every name exists.

    def __getattr__(name: str) -> Any:
        if name in (losses_by_name := registry.entries_by_object_name()):
            return losses_by_name[name].load()
        raise make_attribute_error("truerisk.losses", name, __dir__())


def __dir__() -> list[str]:
    return sorted({*__all__, *registry.entries_by_object_name()})
