"""A data set ready for use, and those that scikit-learn includes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from truerisk.core.errors import Brief
from truerisk.core.frozen import frozen

if TYPE_CHECKING:
    from truerisk.readers.roles import TaskWord


@frozen(eq=False)
class Bundle(Brief):
    """Data set: X and y, their names, and a description with the source.

    Parameters
    ----------
    name : str
        Name of the data set.
    X : array of float, shape (n_rows, n_features)
        The features.
    y : array, shape (n_rows,)
        The labels or values.
    feature_names : tuple of str
        Names of the columns of X.
    task : {"classification", "regression", "survival"}
        The task.
    description : str
        What the data are.
    source : str
        Where the data come from.
    class_names : tuple of str, optional
        The meaning of label c is `class_names[c]`. It is empty for a regression.

    See Also
    --------
    truerisk.datasets.load : Return a bundled data set.

    Examples
    --------
    >>> import truerisk as tr
    >>> wine = tr.datasets.load("wine")
    >>> wine.task, wine.X.shape, wine.class_names
    ('classification', (178, 13), ('class_0', 'class_1', 'class_2'))
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    task: TaskWord
    description: str
    source: str
    class_names: tuple[str, ...] = ()

    def __str__(self) -> str:
        rows = f"X {self.X.shape[0]} x {self.X.shape[1]}, {self.task}"
        classes = f" of {', '.join(self.class_names)}" if self.class_names else ""
        return f"{self.name}: {self.description}\n{rows}{classes}; {self.source}"


class Origin(Protocol):
    """The object behind a word of the registry."""

    def bundle(self) -> Bundle:
        """Return the data set with its description."""


@frozen
class Bundled:
    """A loader of `sklearn.datasets`, called when the data are requested."""

    name: str
    loader: str
    task: TaskWord
    description: str

    def bundle(self) -> Bundle:
        """Return the data set; labels are scikit-learn's integers, described by `class_names`."""
        from sklearn import datasets

        raw = getattr(datasets, self.loader)()
        classes = raw.target_names if self.task == "classification" else ()
        return Bundle(
            name=self.name,
            X=np.asarray(raw.data, dtype=np.float64),
            y=np.asarray(raw.target),
            feature_names=tuple(map(str, raw.feature_names)),
            task=self.task,
            description=self.description,
            source=f"scikit-learn, {self.loader}",
            class_names=tuple(map(str, classes)),
        )


breast_cancer = Bundled(
    "breast-cancer",
    "load_breast_cancer",
    "classification",
    "569 fine-needle aspirates of the breast, 30 measures of the nuclei; malignant or benign",
)
iris = Bundled("iris", "load_iris", "classification", "150 irises, 4 lengths; 3 species")
wine = Bundled("wine", "load_wine", "classification", "178 wines, 13 analyses; 3 cultivars")
digits = Bundled(
    "digits", "load_digits", "classification", "1797 handwritten digits of 8 x 8 pixels; 10 classes"
)
diabetes = Bundled(
    "diabetes",
    "load_diabetes",
    "regression",
    "442 patients, 10 measures; disease progression after one year",
)
