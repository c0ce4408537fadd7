"""The true risk of a tuned model, with its uncertainty.

>>> import truerisk as tr
>>> tr.methods.names()[0]
'apparent'

A *method* draws a plan, an *engine* answers it for all candidates at once, the method reduces the
answers to a risk. Everything is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

_WHERE = {
    "Assessment": "truerisk.api.assess",
    "ErrorPosterior": "truerisk.core.posterior",
    "HonestSearchCV": "truerisk.api.search",
    "RiskCurve": "truerisk.core.results",
    "RiskEstimate": "truerisk.core.results",
    "assess": "truerisk.api.assess",
    "estimate_risk": "truerisk.api.estimate",
    "risk_curve": "truerisk.api.estimate",
}
_ROOMS = {
    "datasets": "truerisk.datasets",
    "engines": "truerisk.engines",
    "losses": "truerisk.core.losses",
    "methods": "truerisk.methods",
    "models": "truerisk.models",
    "selection": "truerisk.selection",
    "testing": "truerisk.testing",
}

__all__ = ["__version__", *_WHERE, *_ROOMS]

if TYPE_CHECKING:
    from truerisk import datasets, engines, methods, models, selection, testing
    from truerisk.api.assess import Assessment, assess
    from truerisk.api.estimate import estimate_risk, risk_curve
    from truerisk.api.search import HonestSearchCV
    from truerisk.core import losses
    from truerisk.core.posterior import ErrorPosterior
    from truerisk.core.results import RiskCurve, RiskEstimate


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    if name in _ROOMS:
        return import_module(_ROOMS[name])
    raise AttributeError(f"module 'truerisk' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
