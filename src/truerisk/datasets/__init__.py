"""Data sets of scikit-learn and of the reproduced publications, and problems with a known risk.

Files of users are read by the package `readers`; its `read_table` can be imported from here.

To add a data set, write an object that has `bundle()`, and add one line to `registry`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from truerisk.core.registry import Registry, lazy_attributes, parse_registry_table

if TYPE_CHECKING:
    from truerisk.datasets.bundle import Bundle, BundleSource
    from truerisk.datasets.dependent import (
        DailyLoadProblem,
        FieldProblem,
        make_daily_load,
        make_field,
    )
    from truerisk.datasets.four_class import FourClassProblem, make_four_class
    from truerisk.datasets.gaussian import GaussianProblem, TrueRisk
    from truerisk.datasets.problems import (
        KearnsProblem,
        make_colon2d,
        make_difficult,
        make_highleyman,
        make_kearns,
        make_simple,
        make_sparse_gaussian,
        sparse_gaussian,
    )
    from truerisk.readers.table import Table, read_table

__all__ = [
    "Bundle",
    "DailyLoadProblem",
    "FieldProblem",
    "FourClassProblem",
    "GaussianProblem",
    "KearnsProblem",
    "Table",
    "TrueRisk",
    "load",
    "make_colon2d",
    "make_daily_load",
    "make_difficult",
    "make_field",
    "make_four_class",
    "make_highleyman",
    "make_kearns",
    "make_simple",
    "make_sparse_gaussian",
    "names",
    "read_table",
    "registry",
    "sparse_gaussian",
]


registry = Registry(
    "data set",
    parse_registry_table(
        "truerisk.datasets",
        """
    breast-cancer  bundle:breast_cancer  569 rows, 30 features, 2 classes (scikit-learn)
    iris  bundle:iris  150 rows, 4 features, 3 classes (scikit-learn)
    wine  bundle:wine  178 rows, 13 features, 3 classes (scikit-learn)
    digits  bundle:digits  1797 rows, 64 features, 10 classes (scikit-learn)
    diabetes  bundle:diabetes  442 rows, 10 features, regression (scikit-learn)
    simple  problems:make_simple  two round Gaussians, means 2 apart; 50 rows, Bayes risk .1587
    difficult  problems:make_difficult
        two narrow Gaussians across the diagonal; 50 rows, Bayes risk .0644
    highleyman  problems:make_highleyman
        a flat Gaussian crossed by a narrow one; 50 rows, Bayes risk .0555
    colon-2d  problems:make_colon2d
        two genes of the colon data as Gaussians; 50 rows, Bayes risk .0960
    kearns  problems:make_kearns
        ten intervals with alternating noisy labels; 50 rows, Bayes risk .2000
    sparse-gaussian  problems:make_sparse_gaussian
        two Gaussians, 14 features that tell and 6 that do not; 50 rows, Bayes risk .0227
    four-class  four_class:make_four_class
        four Gaussians around a tetrahedron, 21 features; 100 rows, Bayes risk .0533
    field  dependent:make_field
        a field over a square, near places alike; 200 rows, Bayes risk .1476
    daily-load  dependent:make_daily_load
        a load by the day, about a level that remembers; 730 rows, Bayes risk 1
    colon  documents:colon  62 rows, 2000 features, 2 classes (needs TRUERISK_DATA)
    yeast  documents:yeast  1484 rows, 8 features, 10 classes (needs TRUERISK_DATA)
    satellite  documents:satellite  6435 rows, 36 features, 6 classes (needs TRUERISK_DATA)
    a1a  documents:a1a  32561 rows, 123 features, 2 classes (needs TRUERISK_DATA)
    ovarian  documents:ovarian  216 rows, 4000 features, 2 classes (needs TRUERISK_DATA)
    ozone  documents:ozone  1041 rows, 13 features, 2 classes (needs TRUERISK_DATA)
    ozone-level  documents:ozone_level  1041 rows, 13 features, a number (needs TRUERISK_DATA)
    spam  documents:spam  4601 rows, 57 features, 2 classes (needs TRUERISK_DATA)
    """,
    ),
)
"""Registry: name of each data set, the object that loads it, and a sentence about it."""

_MODULES_BY_NAME = {
    name: f"truerisk.{file}"
    for file, public_names in {
        "datasets.bundle": "Bundle",
        "datasets.dependent": "FieldProblem DailyLoadProblem make_daily_load make_field",
        "datasets.four_class": "FourClassProblem make_four_class",
        "datasets.gaussian": "GaussianProblem TrueRisk",
        "readers.table": "Table read_table",
        "datasets.problems": "KearnsProblem make_colon2d make_difficult make_highleyman "
        "make_kearns make_simple make_sparse_gaussian sparse_gaussian",
    }.items()
    for name in public_names.split()
}


def names() -> list[str]:
    """Return the names of all data sets that `load` accepts.

    Returns
    -------
    list of str
        The names.

    See Also
    --------
    truerisk.datasets.load : Return a data set.

    Examples
    --------
    >>> names()[:3]
    ['breast-cancer', 'iris', 'wine']
    """
    return registry.names()


def load(name: str) -> Bundle:
    """Return the data set with this name; generated rows are the same at every call.

    Parameters
    ----------
    name : str
        A name in ``tr.datasets.names()``.

    Returns
    -------
    Bundle
        Rows, names, task, description and source of the data set.

    See Also
    --------
    truerisk.datasets.names : List the names.
    truerisk.datasets.read_table : Read a table from a file.

    Examples
    --------
    >>> iris = load("iris")
    >>> iris.X.shape, iris.class_names
    ((150, 4), ('setosa', 'versicolor', 'virginica'))
    """
    source: BundleSource = registry.load(name)
    return source.bundle()


if not TYPE_CHECKING:  # If type checkers saw this, they would accept any name.
    __getattr__, __dir__ = lazy_attributes(__name__, __all__, _MODULES_BY_NAME)
