"""Methods of estimating risks: each draws a plan of fits and reduces their predictions to risks."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

# These imports are for type checkers. At run time, a class is imported when it is first used.
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

from truerisk.core.registry import Registry, make_attribute_error, parse_registry_table

__all__ = ["GivenSplits", "Splitter", "as_method", "names", "registry"]

UNNAMED_CLASSES = parse_registry_table(
    "truerisk.methods",
    """
    Splitter  splitter:Splitter  the splits of a scikit-learn splitter, or a number of folds
    GivenSplits  splitter:GivenSplits  given (train, test) pairs of row numbers
    Subsampled  subsampled:Subsampled  the test sets of a method, by fits on fewer rows
    BolsteredBySampling  bolstered:BolsteredBySampling  bolstering by drawn points
    """,
)
"""Method classes that cannot be requested by a string, as in `cv="10-fold"`."""

registry = Registry(
    "method",
    parse_registry_table(
        "truerisk.methods",
        """
    apparent  apparent:Apparent  test on the training rows; optimistic
    holdout  holdout:Holdout  fit on two thirds, test on the rest, once
    K-fold  kfold:KFold  each of K folds tested by a fit on the others; '5x10-fold'
    blocks-K  spatial:Blocks  K folds of whole blocks in space: cells of a grid, or labels
    buffered  spatial:Buffered  each block tested by a fit on rows beyond a radius
    forward-K  temporal:Forward  K forecasts: each model is tested on the rows after its own
    purged-K  temporal:Purged  K stretches of time, tested by the rows far enough from each
    loo  kfold:LeaveOneOut  each row tested by a fit on all others
    alo  single_fit:ApproximateLeaveOneOut
        leave-one-out from one fit, approximately: linear and logistic models
    monte-carlo  holdout:MonteCarlo  hold-out over many random splits
    reversed  kfold:ReversedKFold  fit on one fold, test on the others; 'reversed 5-fold'
    three-way  holdout:ThreeWay  train, validate, refit the winner, test it once
    complete  complete:Complete  all training sets of nine tenths of the rows
    oob  single_fit:OutOfBag  tested out of bag: one fit of a forest; others by the bootstrap
    bootstrap  bootstrap:naive  fit on drawn samples, test on all rows; optimistic
    .632  bootstrap:point_632  0.368 apparent + 0.632 leave-one-out bootstrap
    .632+  bootstrap:Bootstrap  the same, weighted by how much the model overfits
    optimism  bootstrap:optimism  apparent risk plus its optimism in bootstrap samples
    exact-oob  complete:ExactOutOfBag  out-of-bag error of all bootstrap samples
    swapping  swapping:Swapping  apparent risk plus a penalty from swapping each label
    cp  criteria:Cp  Mallows' Cp: squared training risk plus 2 p variance / n
    gcv  criteria:GCV  generalised cross-validation, by degrees of freedom
    aic  information_criteria:AIC  -2 log L + 2 k, as R counts it
    aicc  information_criteria:AICc  AIC corrected for small samples
    bic  information_criteria:BIC  -2 log L + k log n, as R counts it
    ebic  information_criteria:EBIC
        BIC plus a price for the choice of the features of linear models
    bee  bayesian_error:BayesianError
        Bayesian error estimate of linear classifiers, proper prior; one fit
    bee-improper  bayesian_error:ImproperBayesianError
        the same with a flat prior and one variance for all features
    bolstered  bolstered:Bolstered  training rows spread over Gaussians; one fit
    ncv  ncv:NestedInterval  K-fold with the error of its mean, 50 times over
    bbc  bbc:BootstrapBiasCorrected
        10-fold, and the risk of choosing by it from bootstrapped answers
    paired-halves  holdout:PairedHalves  random splits of all rows and of halves
    pairs  pairs:Pairs  tune and test on one set of folds, left out alone and in pairs
    racing  racing:Racing  10-fold, where hopeless settings are fitted no further
    nested  nested:Nested  tune inside every outer training set, test outside
    """,
    ),
)


def names() -> list[str]:
    """Return the names of methods that `cv=` takes.

    Returns
    -------
    list of str
        The names. In "K-fold" and similar names K stands for a number.

    See Also
    --------
    estimate_risk : Estimate a risk by a method.

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.methods.names()[:3]
    ['apparent', 'holdout', 'K-fold']
    """
    return registry.names()


# Python calls this function for attributes that the module does not define.
def __getattr__(name: str) -> Callable[..., Method]:
    """Return `as_method` or any method class listed above, imported on first use."""
    # `from truerisk.methods import ...` is avoided here, because it would call this function again.
    if name == "as_method":
        return import_module("truerisk.methods.words").as_method
    registry_entries = {**UNNAMED_CLASSES, **registry.entries_by_object_name()}
    if name in registry_entries:
        return registry_entries[name].load()
    raise make_attribute_error(__name__, name, __dir__())


def __dir__() -> list[str]:
    """Return the names that editors complete: the functions and all method classes."""
    class_names = {*UNNAMED_CLASSES, *registry.entries_by_object_name()}
    return sorted(
        {*__all__, *(class_name for class_name in class_names if class_name[0].isupper())}
    )
