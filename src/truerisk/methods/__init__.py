"""Methods estimate risks: each draws a plan and reduces its answers, whatever the learner."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

# Type checkers see every class here; at run time a class is imported when it is first used.
if TYPE_CHECKING:
    from collections.abc import Callable

    from truerisk.contracts import Method
    from truerisk.methods.apparent import Apparent as Apparent
    from truerisk.methods.bayesian_error import BayesianError as BayesianError
    from truerisk.methods.bayesian_error import ImproperBayesianError as ImproperBayesianError
    from truerisk.methods.bbc import BootstrapBiasCorrected as BootstrapBiasCorrected
    from truerisk.methods.bolstered import Bolstered as Bolstered
    from truerisk.methods.bolstered import BolsteredBySampling as BolsteredBySampling
    from truerisk.methods.bootstrap import Bootstrap as Bootstrap
    from truerisk.methods.complete import Complete as Complete
    from truerisk.methods.complete import ExactOutOfBag as ExactOutOfBag
    from truerisk.methods.criteria import GCV as GCV
    from truerisk.methods.criteria import Cp as Cp
    from truerisk.methods.holdout import Holdout as Holdout
    from truerisk.methods.holdout import MonteCarlo as MonteCarlo
    from truerisk.methods.holdout import PairedHalves as PairedHalves
    from truerisk.methods.holdout import ThreeWay as ThreeWay
    from truerisk.methods.information_criteria import AIC as AIC
    from truerisk.methods.information_criteria import BIC as BIC
    from truerisk.methods.information_criteria import EBIC as EBIC
    from truerisk.methods.information_criteria import AICc as AICc
    from truerisk.methods.kfold import KFold as KFold
    from truerisk.methods.kfold import LeaveOneOut as LeaveOneOut
    from truerisk.methods.kfold import ReversedKFold as ReversedKFold
    from truerisk.methods.ncv import NestedInterval as NestedInterval
    from truerisk.methods.nested import Nested as Nested
    from truerisk.methods.pairs import Pairs as Pairs
    from truerisk.methods.racing import Racing as Racing
    from truerisk.methods.single_fit import (
        ApproximateLeaveOneOut as ApproximateLeaveOneOut,
    )
    from truerisk.methods.single_fit import OutOfBag as OutOfBag
    from truerisk.methods.spatial import Blocks as Blocks
    from truerisk.methods.spatial import Buffered as Buffered
    from truerisk.methods.splitter import GivenSplits as GivenSplits
    from truerisk.methods.splitter import Splitter as Splitter
    from truerisk.methods.subsampled import Subsampled as Subsampled
    from truerisk.methods.swapping import Swapping as Swapping
    from truerisk.methods.temporal import Forward as Forward
    from truerisk.methods.temporal import Purged as Purged
    from truerisk.methods.words import as_method as as_method
    from truerisk.methods.words import registry as registry

from truerisk.core.registry import no_attribute

__all__ = ["GivenSplits", "Splitter", "as_method", "names", "registry"]


def names() -> list[str]:
    """Return the words that `cv=` takes.

    >>> import truerisk as tr
    >>> tr.methods.names()[:3]
    ['apparent', 'holdout', 'K-fold']
    """
    from truerisk.methods.words import registry

    return registry.names()


# This is called for names that the module does not define.
def __getattr__(name: str) -> Callable[..., Method]:
    """Return the registry or any method class listed in it, imported on first use."""
    # `from truerisk.methods import` would call this function again
    words = import_module("truerisk.methods.words")
    if name in ("as_method", "registry"):
        return getattr(words, name)
    lines = {**words.WITHOUT_WORD, **words.registry.by_name()}
    if name in lines:
        return lines[name].load()
    raise no_attribute(__name__, name, __dir__())


def __dir__() -> list[str]:
    """Return the names offered for completion: the functions and every method class."""
    words = import_module("truerisk.methods.words")
    classes = {*words.WITHOUT_WORD, *words.registry.by_name()}
    return sorted({*__all__, *(c for c in classes if c[0].isupper())})
