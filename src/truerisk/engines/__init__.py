"""Engines turn a plan into answers for all candidates of a family; none sees a method.

| place | what it holds |
|---|---|
| `asking.py` | the one way from a plan to answers: engine, seed of the pass, run |
| `choice.py` | which engine answers, and why others do not |
| `generic.py` | clone, fit, predict: the reference every other engine must equal |
| `neighbours/` | nearest neighbours: one sorted list per row |
| `interval.py` | IntervalClassifier for every number of intervals at once |
| `linear/` | LinearRegression, Ridge, RidgeClassifier, KernelRidge |
| `discriminants/` | linear, quadratic and Fisher's discriminants |
| `logistic/` | penalised logistic regression: a path per train set |
| `support_vectors/` | support vectors: a problem per pair of classes |
| `trees/` | decision trees, forests, bagging, boosting: all sizes from the largest |
| `settings.py` | what the last step of a family is set to, and which candidates group |
| `running/` | one fit: what a model is asked, where batches run, what is kept |
| `templates/` | what engines share: one pass over a train set, where answers go |
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names, for type checkers
    from truerisk.engines.choice import choose_engine as choose_engine
    from truerisk.engines.choice import registry as registry
    from truerisk.engines.discriminants.discriminant import (
        LinearDiscriminants as LinearDiscriminants,
    )
    from truerisk.engines.discriminants.fisher import FisherDiscriminants as FisherDiscriminants
    from truerisk.engines.discriminants.quadratic import (
        QuadraticDiscriminants as QuadraticDiscriminants,
    )
    from truerisk.engines.generic import Generic as Generic
    from truerisk.engines.interval import Intervals as Intervals
    from truerisk.engines.linear.kernel_ridge import KernelRidges as KernelRidges
    from truerisk.engines.linear.least_squares import LeastSquares as LeastSquares
    from truerisk.engines.logistic.paths import LogisticPaths as LogisticPaths
    from truerisk.engines.neighbours.knn import NearestNeighbours as NearestNeighbours
    from truerisk.engines.support_vectors.svm import SupportVectors as SupportVectors
    from truerisk.engines.trees.ensemble import Ensembles as Ensembles
    from truerisk.engines.trees.tree import Trees as Trees

_NAMES = {
    "FisherDiscriminants": "discriminants.fisher",
    "Ensembles": "trees.ensemble",
    "Generic": "generic",
    "Intervals": "interval",
    "KernelRidges": "linear.kernel_ridge",
    "LeastSquares": "linear.least_squares",
    "LinearDiscriminants": "discriminants.discriminant",
    "LogisticPaths": "logistic.paths",
    "NearestNeighbours": "neighbours.knn",
    "QuadraticDiscriminants": "discriminants.quadratic",
    "SupportVectors": "support_vectors.svm",
    "Trees": "trees.tree",
    "choose_engine": "choice",
    "registry": "choice",
}

__all__ = [
    "Ensembles",
    "FisherDiscriminants",
    "Generic",
    "Intervals",
    "KernelRidges",
    "LeastSquares",
    "LinearDiscriminants",
    "LogisticPaths",
    "NearestNeighbours",
    "QuadraticDiscriminants",
    "SupportVectors",
    "Trees",
    "choose_engine",
    "names",
    "registry",
]


def names() -> list[str]:
    """The words that `engine=` takes, besides "auto".

    >>> import truerisk as tr
    >>> tr.engines.names()
    ['knn', 'interval', 'tree', 'discriminant', 'quadratic', 'fisher', 'logistic-path', 'svm',
     'ensemble', 'least-squares', 'kernel-ridge', 'generic']
    """
    from truerisk.engines.choice import registry

    return registry.names()


if not TYPE_CHECKING:  # which would take every name for one that is there

    def __getattr__(name: str) -> Any:
        if name in _NAMES:
            return getattr(import_module(f"truerisk.engines.{_NAMES[name]}"), name)
        from truerisk.core.registry import no_attribute

        raise no_attribute(__name__, name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)
