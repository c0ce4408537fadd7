"""Data to learn from: files of users, data sets of scikit-learn, and problems with a known risk.

A file becomes features and target
    table.py      `read_table`: the verb, and `Table`, what it gives
    beside.py     columns that are no features: groups, times, places
    formats.py    which format it is in
    content.py    opened, decompressed under a cap, decoded
    arff.py, libsvm.py, columnar.py    formats of their own: ARFF, LIBSVM, Parquet and Arrow
    grid.py       cut into a header and rows of equal length
    target.py     classes or numbers
    cells.py      the cells of a column: one by one, distinct, as plain numbers
    columns.py    numbers or text, missing, left out
    wording.py    how hostile names are quoted in messages
Words that can be loaded (`names()`, `load(word)`)
    bundle.py     `Bundle`: X, y and what they are
    bundled.py    scikit-learn's own data sets
    simple.py, difficult.py, highleyman.py, colon2d.py, kearns.py, four_class.py,
    sparse_gaussian.py, daily_load.py    generators
    documents.py  the data sets of the documents, from the folder that TRUERISK_DATA names
Problems
    gaussian.py   two Gaussian classes: draws, Bayes risk, the true risk of a rule
    quadratic.py  the Bayes risk when the covariances differ

To add a data set: one file with an object that has `bundle()`, and one line in `registry`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from truerisk.core.registry import Line, Registry, no_attribute

if TYPE_CHECKING:
    from truerisk.datasets.bundle import Bundle, Origin
    from truerisk.datasets.colon2d import make_colon2d
    from truerisk.datasets.daily_load import DailyLoadProblem, make_daily_load
    from truerisk.datasets.difficult import make_difficult
    from truerisk.datasets.four_class import FourClassProblem, make_four_class
    from truerisk.datasets.gaussian import GaussianProblem, TrueRisk
    from truerisk.datasets.highleyman import make_highleyman
    from truerisk.datasets.kearns import KearnsProblem, make_kearns
    from truerisk.datasets.simple import make_simple
    from truerisk.datasets.sparse_gaussian import make_sparse_gaussian
    from truerisk.datasets.table import Table, read_table

__all__ = [
    "Bundle",
    "DailyLoadProblem",
    "FourClassProblem",
    "GaussianProblem",
    "KearnsProblem",
    "Table",
    "TrueRisk",
    "load",
    "make_colon2d",
    "make_daily_load",
    "make_difficult",
    "make_four_class",
    "make_highleyman",
    "make_kearns",
    "make_simple",
    "make_sparse_gaussian",
    "names",
    "read_table",
    "registry",
]

registry = Registry(
    "data set",
    {
        "breast-cancer": Line(
            "truerisk.datasets.bundled:breast_cancer",
            "569 rows, 30 features, 2 classes (scikit-learn)",
        ),
        "iris": Line(
            "truerisk.datasets.bundled:iris", "150 rows, 4 features, 3 classes (scikit-learn)"
        ),
        "wine": Line(
            "truerisk.datasets.bundled:wine", "178 rows, 13 features, 3 classes (scikit-learn)"
        ),
        "digits": Line(
            "truerisk.datasets.bundled:digits", "1797 rows, 64 features, 10 classes (scikit-learn)"
        ),
        "diabetes": Line(
            "truerisk.datasets.bundled:diabetes", "442 rows, 10 features, regression (scikit-learn)"
        ),
        "simple": Line(
            "truerisk.datasets.simple:make_simple",
            "two round Gaussians, means 2 apart; 50 rows, Bayes risk .1587",
        ),
        "difficult": Line(
            "truerisk.datasets.difficult:make_difficult",
            "two narrow Gaussians across the diagonal; 50 rows, Bayes risk .0644",
        ),
        "highleyman": Line(
            "truerisk.datasets.highleyman:make_highleyman",
            "a flat Gaussian crossed by a narrow one; 50 rows, Bayes risk .0555",
        ),
        "colon-2d": Line(
            "truerisk.datasets.colon2d:make_colon2d",
            "two genes of the colon data as Gaussians; 50 rows, Bayes risk .0960",
        ),
        "kearns": Line(
            "truerisk.datasets.kearns:make_kearns",
            "ten intervals with alternating noisy labels; 50 rows, Bayes risk .2000",
        ),
        "sparse-gaussian": Line(
            "truerisk.datasets.sparse_gaussian:make_sparse_gaussian",
            "two Gaussians, 14 features that tell and 6 that do not; 50 rows, Bayes risk .0227",
        ),
        "four-class": Line(
            "truerisk.datasets.four_class:make_four_class",
            "four Gaussians around a tetrahedron, 21 features; 100 rows, Bayes risk .0533",
        ),
        "daily-load": Line(
            "truerisk.datasets.daily_load:make_daily_load",
            "a load by the day, about a level that remembers; 730 rows, Bayes risk 1",
        ),
        "colon": Line(
            "truerisk.datasets.documents:colon",
            "62 rows, 2000 features, 2 classes (needs TRUERISK_DATA)",
        ),
        "yeast": Line(
            "truerisk.datasets.documents:yeast",
            "1484 rows, 8 features, 10 classes (needs TRUERISK_DATA)",
        ),
        "satellite": Line(
            "truerisk.datasets.documents:satellite",
            "6435 rows, 36 features, 6 classes (needs TRUERISK_DATA)",
        ),
        "a1a": Line(
            "truerisk.datasets.documents:a1a",
            "32561 rows, 123 features, 2 classes (needs TRUERISK_DATA)",
        ),
        "ovarian": Line(
            "truerisk.datasets.documents:ovarian",
            "216 rows, 4000 features, 2 classes (needs TRUERISK_DATA)",
        ),
        "ozone": Line(
            "truerisk.datasets.documents:ozone",
            "1041 rows, 13 features, 2 classes (needs TRUERISK_DATA)",
        ),
        "ozone-level": Line(
            "truerisk.datasets.documents:ozone_level",
            "1041 rows, 13 features, a number (needs TRUERISK_DATA)",
        ),
        "spam": Line(
            "truerisk.datasets.documents:spam",
            "4601 rows, 57 features, 2 classes (needs TRUERISK_DATA)",
        ),
    },
)
"""Word -> what has the data and one sentence about them."""

_PLACES = {
    "Bundle": "bundle",
    "FourClassProblem": "four_class",
    "DailyLoadProblem": "daily_load",
    "GaussianProblem": "gaussian",
    "KearnsProblem": "kearns",
    "Table": "table",
    "TrueRisk": "gaussian",
    "make_colon2d": "colon2d",
    "make_daily_load": "daily_load",
    "make_difficult": "difficult",
    "make_four_class": "four_class",
    "make_highleyman": "highleyman",
    "make_kearns": "kearns",
    "make_simple": "simple",
    "make_sparse_gaussian": "sparse_gaussian",
    "read_table": "table",
}


def names() -> list[str]:
    """The words that `load` knows.

    >>> names()[:3]
    ['breast-cancer', 'iris', 'wine']
    """
    return registry.names()


def load(name: str) -> Bundle:
    """The data set of that word; a generator's word gives one fixed draw.

    >>> iris = load("iris")
    >>> iris.X.shape, iris.class_names
    ((150, 4), ('setosa', 'versicolor', 'virginica'))
    """
    source: Origin = registry.load(name)
    return source.bundle()


if not TYPE_CHECKING:  # which would take every name for one that is there

    def __getattr__(name: str) -> Any:
        if name not in _PLACES:
            raise no_attribute(__name__, name, __all__)
        return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
