"""Engines turn a plan into answers for all candidates of a family; none sees a method.

| file | engine |
|---|---|
| `generic.py` | clone, fit, predict: the reference every other engine must equal |
| `fitting.py` | one fit of one candidate, or of a group |
| `answering.py` | what a fitted model is asked, and its answers as codes or numbers |
| `warned.py` | a warning of many fits, said once |
| `executors.py` | where batches of fits run |
| `kept.py` | fits that an earlier run left with the keeper |
| `knn.py`, `knn_family.py`, `knn_search.py` | nearest neighbours: one sorted list per row |
| `one_pass.py` | the template of engines that answer a group of candidates in one pass |
| `settings.py` | what the last step is set to, and which candidates group |
| `interval.py` | IntervalClassifier for every number of intervals at once |
| `one_fit.py` | the template of engines that read all candidates off one fit per train set |
| `tree.py`, `pruning.py` | decision trees: every ccp_alpha from one unpruned tree |
| `ensemble.py`, `stages.py` | forests, bagging, boosting: every number of members |
| `copies.py` | learners that split their own rows, on samples with copies |
| `bags.py` | means over the members of a forest, and out of bag |
| `said.py` | stand-ins for models whose answers are known |
| `discriminant.py`, `discriminant_rule.py`, `discriminant_left_out.py` | linear discriminants |
| `quadratic.py`, `quadratic_shape.py` | quadratic discriminants |
| `fisher.py` | FisherClassifier |
| `scatter.py` | class means and scatter, and two ways to invert it |
| `deciding.py` | class scores as answers, and which labels rounding would decide |
| `left_out.py` | fits without one row, and where their answers go |
| `least_squares.py`, `linear_targets.py` | LinearRegression, Ridge, RidgeClassifier |
| `linear_fit.py`, `linear_table.py`, `linear_singles.py` | one fit; shared products; one row less |
| `kernel_ridge.py`, `kernel_part.py`, `kernel_table.py` | KernelRidge; one train set; all rows |
| `samples.py` | many fits on one table, as weights: a bootstrap |
| `discriminant_samples.py`, `logistic_samples.py` | discriminants and logistic regression of it |
| `single_answers.py` | where answers about one row each go |
| `single_row.py` | which fits differ from all rows by one row |
| `logistic.py`, `logistic_setting.py` | penalised logistic regression: a path per train set |
| `logistic_taken_out.py` | its own rows, each taken out of the fit to first order |
| `svm.py`, `svm_setting.py`, `svm_solving.py` | support vectors: a problem per pair, their votes |
| `svm_gram.py`, `svm_left_out.py` | one Gram matrix per kernel; one row less |
| `choice.py` | which engine answers, and why others do not |
"""

from importlib import import_module
from typing import Any

_NAMES = {
    "FisherDiscriminants": "fisher",
    "Ensembles": "ensemble",
    "Generic": "generic",
    "Intervals": "interval",
    "KernelRidges": "kernel_ridge",
    "LeastSquares": "least_squares",
    "LinearDiscriminants": "discriminant",
    "LogisticPaths": "logistic",
    "NearestNeighbours": "knn",
    "QuadraticDiscriminants": "quadratic",
    "SupportVectors": "svm",
    "Trees": "tree",
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


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(import_module(f"truerisk.engines.{_NAMES[name]}"), name)
    from truerisk.core.registry import no_attribute

    raise no_attribute(__name__, name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)
