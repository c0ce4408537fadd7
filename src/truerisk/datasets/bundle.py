"""Class for data sets that are ready for use, and the data sets that scikit-learn includes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from truerisk.core.errors import BriefRepr
from truerisk.core.frozen import frozen

if TYPE_CHECKING:
    from truerisk.readers.roles import TaskName


@frozen(eq=False)
class Bundle(BriefRepr):
    """Data set: X and y, the names of features and classes, a description and the source.

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
    task: TaskName
    description: str
    source: str
    class_names: tuple[str, ...] = ()

    def __str__(self) -> str:
        rows = f"X {self.X.shape[0]} x {self.X.shape[1]}, {self.task}"
        classes = f" of {', '.join(self.class_names)}" if self.class_names else ""
        return f"{self.name}: {self.description}\n{rows}{classes}; {self.source}"


class BundleSource(Protocol):
    """Interface of a registered data set: its method `bundle` returns the data."""

    def bundle(self) -> Bundle:
        """Return the data set with its description."""


@frozen
class SklearnDataset:
    """Data set of `sklearn.datasets`, which is loaded only when `bundle()` is called."""

    name: str
    loader_name: str
    task: TaskName
    description: str

    def bundle(self) -> Bundle:
        """Load the data set; y holds scikit-learn's integer labels, which `class_names` names."""
        from sklearn import datasets

        sklearn_data = getattr(datasets, self.loader_name)()
        classes = sklearn_data.target_names if self.task == "classification" else ()
        return Bundle(
            name=self.name,
            X=np.asarray(sklearn_data.data, dtype=np.float64),
            y=np.asarray(sklearn_data.target),
            feature_names=tuple(map(str, sklearn_data.feature_names)),
            task=self.task,
            description=self.description,
            source=f"scikit-learn, {self.loader_name}",
            class_names=tuple(map(str, classes)),
        )


breast_cancer = SklearnDataset(
    "breast-cancer",
    "load_breast_cancer",
    "classification",
    "569 fine-needle aspirates of the breast, 30 measures of the nuclei; malignant or benign",
)
iris = SklearnDataset("iris", "load_iris", "classification", "150 irises, 4 lengths; 3 species")
wine = SklearnDataset("wine", "load_wine", "classification", "178 wines, 13 analyses; 3 cultivars")
digits = SklearnDataset(
    "digits", "load_digits", "classification", "1797 handwritten digits of 8 x 8 pixels; 10 classes"
)
diabetes = SklearnDataset(
    "diabetes",
    "load_diabetes",
    "regression",
    "442 patients, 10 measures; disease progression after one year",
)
