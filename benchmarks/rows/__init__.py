"""The table of rows; each line names a function that yields the row's results."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.results import Options, Result
from truerisk.core.registry import Registry, RegistryEntry

__all__ = ["RowFunction", "measure", "registry", "results_of"]

RowFunction = Callable[[Options], Iterator[Result]]

_HERE = "benchmarks.rows"
registry = Registry(
    "benchmark row",
    {
        "start-up": RegistryEntry(
            f"{_HERE}.start_up:results", "W0: how long an import and --help take"
        ),
        "kfold": RegistryEntry(
            f"{_HERE}.kfold:results", "the generic engine against scikit-learn's loops"
        ),
        "pairs": RegistryEntry(
            f"{_HERE}.pairs:results",
            "R6, R7: honest risk of a forest and of boosting, beside a search",
        ),
        "boosters": RegistryEntry(
            f"{_HERE}.boosters:results",
            "R8 to R10: boosters, and numbers of trees from one fit, beside a search",
        ),
        "pipelines": RegistryEntry(
            f"{_HERE}.pipelines:results", "R1 to R5: pipelines on tables, beside a search"
        ),
        "defaults": RegistryEntry(
            f"{_HERE}.defaults:results", "searches as they are typed, default against default"
        ),
        "tall": RegistryEntry(
            f"{_HERE}.defaults:tall", "the same on 10,000 to 1,000,000 rows of 20 columns"
        ),
        "tall-memory": RegistryEntry(
            f"{_HERE}.defaults:memory", "what a search of a tall table holds at most beside it"
        ),
        "weighed": RegistryEntry(f"{_HERE}.weighed:results", "that no engine is slower than none"),
        "learners": RegistryEntry(
            f"{_HERE}.learners:results", "the words of learners on three real tables, three ways"
        ),
        "double-cv": RegistryEntry(
            f"{_HERE}.double_cv:results", "W1a: Wallman's double cross-validation"
        ),
        "knn": RegistryEntry(f"{_HERE}.knn:results", "W1b: leave-one-out for 51 values of k"),
        "discriminants": RegistryEntry(
            f"{_HERE}.discriminants:results", "W6: leave-one-out of linear and quadratic rules"
        ),
        "trees": RegistryEntry(
            f"{_HERE}.trees:results", "W7, W5b: prunings, numbers of members, out of bag"
        ),
        "closed-forms": RegistryEntry(
            f"{_HERE}.closed_forms:results", "W6: ridge and kernel ridge, 100 penalties"
        ),
        "logistic": RegistryEntry(
            f"{_HERE}.logistic:results", "W2a, W2b: L1 logistic paths, 5-fold"
        ),
        "bee": RegistryEntry(
            f"{_HERE}.bee:results", "W2c, W5: a penalty chosen by one fit, and nested along a path"
        ),
        "svm": RegistryEntry(
            f"{_HERE}.svm:results", "W3, W5: support vector machines, every C from one Gram matrix"
        ),
        "bootstrap": RegistryEntry(
            f"{_HERE}.bootstrap:results", "W4: the .632 and .632+ bootstrap of four learners"
        ),
        "study": RegistryEntry(
            f"{_HERE}.study:results", "studies: overhead, store, large data, two workers beside one"
        ),
        "cluster": RegistryEntry(
            f"{_HERE}.cluster:results", "assess and HonestSearchCV on two Dask workers beside one"
        ),
        "ncv": RegistryEntry(f"{_HERE}.ncv:results", "W8: nested cross-validation of Bates et al."),
        "tables": RegistryEntry(f"{_HERE}.tables:results", "R11: a large CSV file becomes a table"),
        "loo-plan": RegistryEntry(
            f"{_HERE}.loo_plan:results", "the memory of leave-one-out of many rows"
        ),
    },
)


def measure(word: str, options: Options) -> Iterator[Result]:
    """The results of a registered row, as they are measured."""
    return results_of(registry.load(word), options)


def results_of(row: RowFunction, options: Options) -> Iterator[Result]:
    """The results of a row; one that raises ends with the error as its last result."""
    try:
        yield from row(options)
    except Exception as error:  # noqa: BLE001  a row must not take the others with it
        yield Result("this row broke off", error=f"{type(error).__name__}: {error}")
