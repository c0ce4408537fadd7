"""Ways to estimate risk: each draws a plan and reduces its answers; none sees a learner.

| file | methods |
|---|---|
| `apparent.py` | the training risk |
| `kfold.py` | K-fold, repeated, stratified, grouped; reversed |
| `leave_one_out.py` | leave-one-out |
| `holdout.py` | hold-out and Monte-Carlo |
| `splitter.py` | any scikit-learn splitter, given splits |
| `three_way.py`, `nested.py` | tune inside, test outside |
| `averages.py`, `intervals.py`, `tuning.py` | what they share |
| `words.py` | the registry of words |
"""

from importlib import import_module
from typing import Any

_CLASSES = {
    "Apparent": "apparent",
    "GivenSplits": "splitter",
    "Holdout": "holdout",
    "KFold": "kfold",
    "LeaveOneOut": "leave_one_out",
    "MonteCarlo": "holdout",
    "Nested": "nested",
    "ReversedKFold": "kfold",
    "Splitter": "splitter",
    "ThreeWay": "three_way",
}

__all__ = [
    "Apparent",
    "GivenSplits",
    "Holdout",
    "KFold",
    "LeaveOneOut",
    "MonteCarlo",
    "Nested",
    "ReversedKFold",
    "Splitter",
    "ThreeWay",
    "as_method",
    "names",
    "registry",
]


def names() -> list[str]:
    """The words that `method=` takes.

    >>> import truerisk as tr
    >>> tr.methods.names()[:3]
    ['apparent', 'holdout', 'K-fold']
    """
    from truerisk.methods.words import registry

    return registry.names()


def __getattr__(name: str) -> Any:
    if name in _CLASSES:
        return getattr(import_module(f"truerisk.methods.{_CLASSES[name]}"), name)
    if name in ("as_method", "registry"):
        return getattr(import_module("truerisk.methods.words"), name)
    raise AttributeError(f"module 'truerisk.methods' has no attribute {name!r}")
