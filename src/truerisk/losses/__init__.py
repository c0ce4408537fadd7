"""Losses and scores: by word, by class, and from what users write as `loss=` or `scoring=`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from truerisk.losses.row_losses import AUC as AUC
    from truerisk.losses.row_losses import ECE as ECE
    from truerisk.losses.row_losses import MCC as MCC
    from truerisk.losses.row_losses import R2 as R2
    from truerisk.losses.row_losses import Absolute as Absolute
    from truerisk.losses.row_losses import AveragePrecision as AveragePrecision
    from truerisk.losses.row_losses import BalancedAccuracy as BalancedAccuracy
    from truerisk.losses.row_losses import Brier as Brier
    from truerisk.losses.row_losses import Cost as Cost
    from truerisk.losses.row_losses import FBeta as FBeta
    from truerisk.losses.row_losses import GMean as GMean
    from truerisk.losses.row_losses import Kappa as Kappa
    from truerisk.losses.row_losses import Log as Log
    from truerisk.losses.row_losses import Loss as Loss
    from truerisk.losses.row_losses import Precision as Precision
    from truerisk.losses.row_losses import Recall as Recall
    from truerisk.losses.row_losses import RowLoss as RowLoss
    from truerisk.losses.row_losses import Sensitivity as Sensitivity
    from truerisk.losses.row_losses import Specificity as Specificity
    from truerisk.losses.row_losses import Squared as Squared
    from truerisk.losses.row_losses import ZeroOne as ZeroOne
    from truerisk.losses.row_losses import names as names
    from truerisk.losses.row_losses import registry as registry

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

if not TYPE_CHECKING:  # which would take every name for one that is there

    def __getattr__(name: str) -> Any:
        return getattr(import_module("truerisk.losses.row_losses"), name)


def __dir__() -> list[str]:
    return dir(import_module("truerisk.losses.row_losses"))
