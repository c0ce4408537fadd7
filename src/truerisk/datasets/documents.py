"""The data sets of the documents, read from the folder that TRUERISK_DATA names.

They do not come with the package. Every file is checked by its SHA-256 before it is read.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.core.errors import BadData
from truerisk.datasets.bundle import Bundle
from truerisk.datasets.target import Task

__all__ = [
    "FOLDER",
    "DocumentData",
    "a1a",
    "colon",
    "folder_of_documents",
    "ovarian",
    "ozone",
    "ozone_level",
    "satellite",
    "spam",
    "yeast",
]

FOLDER = "TRUERISK_DATA"

Read = tuple[NDArray[np.float64], NDArray[Any], tuple[str, ...], tuple[str, ...]]


def folder_of_documents() -> Path | None:
    """The folder that TRUERISK_DATA names, or None where it names none that exists."""
    named = os.environ.get(FOLDER, "").strip()
    return Path(named) if named and Path(named).is_dir() else None


@dataclass(frozen=True, eq=False)
class DocumentData:
    """Files with their SHA-256, and how X, y and names are read from their bytes.

    `read` is given the content of each file in the order of `files`.
    """

    name: str
    files: Mapping[str, str]
    shape: tuple[int, int]
    read: Callable[..., Read]
    description: str
    source: str
    task: Task = "classification"

    def bundle(self) -> Bundle:
        """The data set, or a sentence on what is missing."""
        folder = self._folder()
        X, y, features, classes = self.read(*(self._content(folder / name) for name in self.files))
        if X.shape != self.shape or len(y) != len(X):
            raise BadData(
                f"{self.name} has {X.shape[0]} rows and {X.shape[1]} columns, not "
                f"{self.shape[0]} and {self.shape[1]}: its files are not the expected ones."
            )
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

    def _folder(self) -> Path:
        folder = folder_of_documents()
        if folder is None:
            named = os.environ.get(FOLDER)
            state = f"is {named!r}, which is no folder" if named else "is not set"
            raise BadData(
                f"data set '{self.name}' does not come with truerisk and the environment variable "
                f"{FOLDER} {state}: let it name the folder that holds {', '.join(self.files)}."
            )
        return folder

    def _content(self, path: Path) -> bytes:
        if not path.is_file():
            raise BadData(
                f"data set '{self.name}' needs the file {path.name}, and the folder that {FOLDER} "
                "names does not hold it."
            )
        content = path.read_bytes()
        found, wanted = hashlib.sha256(content).hexdigest(), self.files[path.name]
        if found != wanted:
            raise BadData(
                f"{path.name} is not the expected file: its SHA-256 begins with {found[:12]} and "
                f"should with {wanted[:12]}."
            )
        return content


def _table(content: bytes) -> tuple[list[str], NDArray[np.str_]]:
    """Head and cells of a gzipped file with commas."""
    import gzip

    lines = gzip.decompress(content).decode("utf-8").split("\n")
    head = lines[0].strip().split(",")
    return head, np.array([line.strip().split(",") for line in lines[1:] if line.strip()])


def _coded(labels: NDArray[np.str_]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    names, codes = np.unique(labels, return_inverse=True)
    return codes.ravel().astype(np.int64), tuple(map(str, names))


def _labelled_tables(*contents: bytes) -> Read:
    """Tables with the class in the last column, one below the other."""
    tables = [_table(content) for content in contents]
    head, cells = tables[0][0], np.concatenate([cells for _, cells in tables])
    codes, classes = _coded(cells[:, -1])
    return cells[:, :-1].astype(np.float64), codes, tuple(head[:-1]), classes


def _normal_and_tumor(content: bytes) -> Read:
    """Label 1 is the tumour."""
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


def _concentration(content: bytes) -> Read:
    """The forecast columns, one indicator per station, and the ozone observed."""
    head, cells = _table(content)
    stations, station = np.unique(cells[:, head.index("STATION")], return_inverse=True)
    numbers = [name for name in head if name not in ("O3obs", "STATION")]
    X = cells[:, [head.index(name) for name in numbers]].astype(np.float64)
    X = np.hstack([X, np.eye(len(stations))[station.ravel()]])
    y = cells[:, head.index("O3obs")].astype(np.float64)
    return X, y, (*numbers, *(f"STATION={name}" for name in stations)), ()


def _exceedance(content: bytes) -> Read:
    """The same, and whether ozone exceeded 150."""
    X, y, features, _ = _concentration(content)
    return X, (y > 150).astype(np.int64), features, ("O3obs <= 150", "O3obs > 150")


colon = DocumentData(
    "colon",
    {"colon.csv.gz": "07683e07598565c0153a94cd70ac440fd75e2d2076eedee1b0903116e7244c9d"},
    (62, 2000),
    _normal_and_tumor,
    "62 tissues, 2000 genes, raw intensities; 40 tumours (1) and 22 normal (0)",
    "Alon et al. (1999)",
)
yeast = DocumentData(
    "yeast",
    {"yeast.csv.gz": "bbe05351c6e3e1d3ff96fb648c2348343919839c945f9b7e7b3976ad0491bdb5"},
    (1484, 8),
    _labelled_tables,
    "1484 proteins, 8 measures; 10 places in the cell",
    "UCI",
)
SATELLITE_TRAIN = "ce1eb1890c2b69701837de611b2ca70de20e6a4b772c378871a476ae94bf5e49"
SATELLITE_TEST = "c45904abeef0fca16dc7a6b35d62e2db4d7b82bb5377cc9905b94fdddd5b27f6"
satellite = DocumentData(
    "satellite",
    {
        "satellite_train.csv.gz": SATELLITE_TRAIN,
        "satellite_test.csv.gz": SATELLITE_TEST,
    },
    (6435, 36),
    _labelled_tables,
    "6435 pixels, 4 bands of 3 x 3 neighbours; 6 soils; rows 0-4434 are the fixed training set",
    "Statlog, UCI",
)
spam = DocumentData(
    "spam",
    {"spam.csv.gz": "861b72a4add614265219758415b7e7bc894490dbb0abd7e5a57659ce6f773ef6"},
    (4601, 57),
    _labelled_tables,
    "4601 messages, 57 frequencies of words, signs and capitals; good mail (0) or spam (1)",
    "UCI Spambase",
)
a1a = DocumentData(
    "a1a",
    {"a1a.npz": "b06cf8932bd88e0d14fcf3979e9416fd9438da61f1569e4960b1fe810b55b900"},
    (32561, 123),
    _adult,
    "32561 adults, 123 indicators; income; rows 0-1604 are the fixed training set",
    "LIBSVM's form of UCI Adult",
)
ovarian = DocumentData(
    "ovarian",
    {"ovarian_4000.npz": "0cb454c757389666cf1aa0bf7c0516a1ae342d7cfc6870f3773cea5aab7275bc"},
    (216, 4000),
    _proteins,
    "216 serum spectra, 4000 of the original 15000 features; 121 cancers (1) and 95 normal (0)",
    "FDA-NCI, in MathWorks' form",
)
ozone = DocumentData(
    "ozone",
    {"ozone.csv.gz": "73a355be7a7009913e11086bd05d2ae26b59594bbd342c64496e62bd47512deb"},
    (1041, 13),
    _exceedance,
    "1041 days and stations, 8 forecasts and 5 stations; whether ozone exceeded 150",
    "wikistat",
)
ozone_level = DocumentData(
    "ozone-level",
    ozone.files,
    ozone.shape,
    _concentration,
    "1041 days and stations, 8 forecasts and 5 stations; the ozone observed",
    "wikistat",
    "regression",
)
