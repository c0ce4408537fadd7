"""The data sets of the documents, read from the folder that TRUERISK_DATA names.

They are not included in the package. The content of the files is verified by SHA-256, independently
of compression and of the program that wrote them.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from truerisk.core.errors import BadData, first_line
from truerisk.core.frozen import frozen
from truerisk.datasets.bundle import Bundle

if TYPE_CHECKING:
    from truerisk.readers.roles import TaskWord


FOLDER = "TRUERISK_DATA"

Read = tuple[NDArray[np.float64], NDArray[Any], tuple[str, ...], tuple[str, ...]]


def folder_of_documents() -> Path | None:
    """Return the folder that TRUERISK_DATA names, or None if it does not exist."""
    named = os.environ.get(FOLDER, "").strip()
    return Path(named) if named and Path(named).is_dir() else None


def digest_of(X: NDArray[np.float64], y: NDArray[Any]) -> str:
    """Return the SHA-256 of the numbers of X, row by row, and of y: class codes, or the target."""
    # Adding 0.0 turns -0 into 0.
    both = (np.asarray(values, dtype="<f8") + 0.0 for values in (X, y))
    return hashlib.sha256(b"".join(values.tobytes() for values in both)).hexdigest()


@frozen(eq=False)
class DocumentData:
    """Files, the SHA-256 of their X and y, and the function that reads them.

    `read` gets the content of each file in the order of `files`. `holds` describes in words what
    they should contain.
    """

    name: str
    files: tuple[str, ...]
    holds: str
    digest: str
    shape: tuple[int, int]
    read: Callable[..., Read]
    description: str
    source: str
    task: TaskWord = "classification"

    def bundle(self) -> Bundle:
        """Return the data set, or raise with a sentence on what is missing."""
        folder = folder_of_documents()
        if folder is None:
            named = os.environ.get(FOLDER)
            state = f"is {named!r}, which is no folder" if named else "is not set"
            raise BadData(
                f"data set '{self.name}' does not come with truerisk and the environment variable "
                f"{FOLDER} {state}: let it name the folder that holds {' and '.join(self.files)}: "
                f"{self.holds}."
            )
        X, y, features, classes = self._checked(folder)
        return Bundle(
            name=self.name,
            X=X,
            y=y,
            feature_names=features,
            task=self.task,
            description=self.description,
            source=self.source,
            class_names=classes,
        )

    def _checked(self, folder: Path) -> Read:
        contents = [self._content(folder / name) for name in self.files]
        try:
            parsed = self.read(*contents)
        except Exception as problem:  # noqa: BLE001  unpacking and cutting raise of many kinds
            raise self._unexpected(f"cannot be read ({first_line(problem)})") from None
        X, y, features, _ = parsed
        if X.shape != self.shape or len(features) != X.shape[1]:
            rows, columns = X.shape
            raise self._unexpected(
                f"{rows} rows of {columns} features under {len(features)} names, not "
                f"{self.shape[0]} of {self.shape[1]}"
            )
        digest = digest_of(X, y)
        if digest != self.digest:
            raise self._unexpected(
                f"other values (SHA-256 {digest[:12]}…, not {self.digest[:12]}…)"
            )
        return parsed

    def _content(self, path: Path) -> bytes:
        if not path.is_file():
            raise BadData(
                f"data set '{self.name}' needs the file {path.name}, and the folder that {FOLDER} "
                f"names does not hold it: {self.holds}."
            )
        return path.read_bytes()

    def _unexpected(self, found: str) -> BadData:
        files = " and ".join(self.files)
        return BadData(
            f"{files} should hold {self.holds}; here: {found}. Other names, line ends or "
            "compression do not matter, the rows and their order do."
        )


def _table(content: bytes) -> tuple[list[str], NDArray[np.str_]]:
    """Return header and cells of a gzipped file with commas."""
    import csv
    import gzip

    text = io.StringIO(gzip.decompress(content).decode())
    lines = [line for line in csv.reader(text, skipinitialspace=True) if line]
    for number, line in enumerate(lines, start=1):
        if len(line) != len(lines[0]):
            raise BadData(f"row {number} has {len(line)} cells and the first {len(lines[0])}")
    return lines[0], np.char.strip(np.array(lines[1:]))


def _coded(labels: NDArray[np.str_]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    names, codes = np.unique(labels, return_inverse=True)
    return codes.ravel().astype(np.int64), tuple(map(str, names))


def _labelled_tables(*contents: bytes) -> Read:
    """Stack tables with the class in the last column."""
    tables = [_table(content) for content in contents]
    head, cells = tables[0][0], np.concatenate([cells for _, cells in tables])
    codes, classes = _coded(cells[:, -1])
    return cells[:, :-1].astype(np.float64), codes, tuple(head[:-1]), classes


def _normal_and_tumor(content: bytes) -> Read:
    """Read a table in which label 1 is the tumour."""
    X, y, features, classes = _labelled_tables(content)
    if classes != ("normal", "tumor"):
        raise BadData(f"colon has the classes {', '.join(classes)}: expected normal and tumor.")
    return X, y, features, classes


def _adult(content: bytes) -> Read:
    stored = np.load(io.BytesIO(content))
    X = np.concatenate([stored["X_train"], stored["X_test"]]).astype(np.float64)
    y = np.concatenate([stored["y_train"], stored["y_test"]]) > 0
    features = tuple(f"f{j}" for j in range(1, X.shape[1] + 1))
    return X, y.astype(np.int64), features, ("<=50K", ">50K")


def _proteins(content: bytes) -> Read:
    stored = np.load(io.BytesIO(content))
    X = stored["X"].astype(np.float64)
    features = tuple(f"p{j}" for j in range(1, X.shape[1] + 1))
    return X, stored["y"].astype(np.int64), features, ("Normal", "Cancer")


OZONE = (  # column names as published
    *("JOUR", "O3obs", "MOCAGE", "TEMPE", "RMH2O"),
    *("NO2", "NO", "STATION", "VentMOD", "VentANG"),
)


def _concentration(content: bytes) -> Read:
    """Read the forecast columns, one indicator per station, and the observed ozone."""
    column = dict(zip(OZONE, _table(content)[1].T, strict=True))
    stations, station = np.unique(column.pop("STATION"), return_inverse=True)
    y = column.pop("O3obs").astype(np.float64)
    X = np.column_stack([*column.values()]).astype(np.float64)
    X = np.hstack([X, np.eye(len(stations))[station.ravel()]])
    return X, y, (*column, *(f"STATION={name}" for name in stations)), ()


def _exceedance(content: bytes) -> Read:
    """Read the same, with a target that says whether ozone exceeded 150."""
    X, y, features, _ = _concentration(content)
    return X, (y > 150).astype(np.int64), features, ("O3obs <= 150", "O3obs > 150")


TABLE = "a line of names, then "
colon = DocumentData(
    "colon",
    ("colon.csv.gz",),
    f"{TABLE}62 rows of 2000 raw intensities and the class, tumor or normal",
    "ece1474080d1414146bd29dcf5339a77c95f6713ef44a775b2fab17a4f5ac32f",
    (62, 2000),
    _normal_and_tumor,
    "62 tissues, 2000 genes, raw intensities; 40 tumours (1) and 22 normal (0)",
    "Alon et al. (1999)",
)
yeast = DocumentData(
    "yeast",
    ("yeast.csv.gz",),
    f"{TABLE}1484 rows of 8 measures and the place, in the order of UCI's yeast.data",
    "0513394d7868b529e8f1c84427c771bf6b9d1c341d3840ae0cfbef15e98ae2cc",
    (1484, 8),
    _labelled_tables,
    "1484 proteins, 8 measures; 10 places in the cell",
    "UCI",
)
satellite = DocumentData(
    "satellite",
    ("satellite_train.csv.gz", "satellite_test.csv.gz"),
    f"{TABLE}36 numbers and the class (1, 2, 3, 4, 5, 7) in the 4435 rows of UCI's sat.trn and "
    "the 2000 of sat.tst",
    "d2fc734d2aaaa1c44a8dd5ac12f74a04ca31b3f50515c530e155d681ef7b21d5",
    (6435, 36),
    _labelled_tables,
    "6435 pixels, 4 bands of 3 x 3 neighbours; 6 soils; rows 0-4434 are the fixed training set",
    "Statlog, UCI",
)
spam = DocumentData(
    "spam",
    ("spam.csv.gz",),
    f"{TABLE}4601 rows of 57 frequencies and the class, nonspam or spam, in the order of UCI's "
    "spambase.data, which is that of spam in R's kernlab",
    "607c24204c057072540cd3c3a21283adae7dad07bf8b5505461f3e95acb276d8",
    (4601, 57),
    _labelled_tables,
    "4601 messages, 57 frequencies of words, signs and capitals; good mail (0) or spam (1)",
    "UCI Spambase",
)
a1a = DocumentData(
    "a1a",
    ("a1a.npz",),
    "arrays X_train (1605 rows), X_test (30956) of 123 zeros and ones, y_train and y_test of -1 "
    "and 1, in the order of LIBSVM's a1a and a1a.t",
    "5582d95c194165b8ce314ba8b644572f3c8275136205d4fdf45809e5db5ceaaa",
    (32561, 123),
    _adult,
    "32561 adults, 123 indicators; income; rows 0-1604 are the fixed training set",
    "LIBSVM's form of UCI Adult",
)
ovarian = DocumentData(
    "ovarian",
    ("ovarian_4000.npz",),
    "arrays X of 216 rows and 4000 columns and y, 121 times 1 (cancer) and 95 times 0, in the "
    "order of obs and grp in MathWorks' ovariancancer.mat",
    "6546a55bc31ee38e7229949bc30488c643ae550e9f6e600e89a62929962acc21",
    (216, 4000),
    _proteins,
    "216 serum spectra, 4000 of the original 15000 features; 121 cancers (1) and 95 normal (0)",
    "FDA-NCI, in MathWorks' form",
)
ozone = DocumentData(
    "ozone",
    ("ozone.csv.gz",),
    f"{TABLE}1041 rows of {', '.join(OZONE[:-1])} and {OZONE[-1]}, as in wikistat's depSeuil.dat",
    "2f9f1028959a9f8644f8b8c6cb96ab654de5701c17755fe77b330f2b25d4a88e",
    (1041, 13),
    _exceedance,
    "1041 days and stations, 8 forecasts and 5 stations; whether ozone exceeded 150",
    "wikistat",
)
ozone_level = DocumentData(
    "ozone-level",
    ozone.files,
    ozone.holds,
    "4871112420b27f5f9b2f1ee98a95259fdac01e540353c8f0a1232a60177e6436",
    ozone.shape,
    _concentration,
    "1041 days and stations, 8 forecasts and 5 stations; the ozone observed",
    "wikistat",
    "regression",
)
