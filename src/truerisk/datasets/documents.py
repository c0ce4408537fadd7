"""Data sets of the reproduced publications, read from the folder that TRUERISK_DATA names.

The files are not included in the package. The content of the files is verified by SHA-256,
independently of compression and of the program that wrote them.
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
    from truerisk.readers.roles import TaskName


FOLDER_VARIABLE = "TRUERISK_DATA"

ParsedFiles = tuple[NDArray[np.float64], NDArray[Any], tuple[str, ...], tuple[str, ...]]


def find_data_folder() -> Path | None:
    """Return the folder named by the variable TRUERISK_DATA, or None if there is no such folder."""
    folder_name = os.environ.get(FOLDER_VARIABLE, "").strip()
    return Path(folder_name) if folder_name and Path(folder_name).is_dir() else None


def compute_digest(X: NDArray[np.float64], y: NDArray[Any]) -> str:
    """Return the SHA-256 checksum of the cells of X, row by row, followed by y.

    y holds class codes or numbers.
    """
    # Adding 0.0 turns -0.0 into 0.0, so that equal numbers have equal bytes.
    arrays = (np.asarray(values, dtype="<f8") + 0.0 for values in (X, y))
    return hashlib.sha256(b"".join(values.tobytes() for values in arrays)).hexdigest()


@frozen(eq=False)
class DocumentData:
    """Data set that is read from files which the user must supply.

    The fields hold the names of the files, a function that reads them, and the expected checksum.
    `digest` is the SHA-256 of X and y.

    `reader` gets the content of each file in the order of `files`. `expected_content` describes in
    words what the files should contain.
    """

    name: str
    files: tuple[str, ...]
    expected_content: str
    digest: str
    shape: tuple[int, int]
    reader: Callable[..., ParsedFiles]
    description: str
    source: str
    task: TaskName = "classification"

    def bundle(self) -> Bundle:
        """Read the files, check the data, and return them; raise BadData if a file is missing.

        BadData is raised as well if the data differ from those of the expected checksum.
        """
        folder = find_data_folder()
        if folder is None:
            folder_name = os.environ.get(FOLDER_VARIABLE)
            variable_state = (
                f"is {folder_name!r}, which is no folder" if folder_name else "is not set"
            )
            raise BadData(
                f"data set '{self.name}' does not come with truerisk and the environment variable "
                f"{FOLDER_VARIABLE} {variable_state}: let it name the folder that holds "
                f"{' and '.join(self.files)}: "
                f"{self.expected_content}."
            )
        X, y, feature_names, classes = self._read_and_verify(folder)
        return Bundle(
            name=self.name,
            X=X,
            y=y,
            feature_names=feature_names,
            task=self.task,
            description=self.description,
            source=self.source,
            class_names=classes,
        )

    def _read_and_verify(self, folder: Path) -> ParsedFiles:
        file_contents = [self._read_file(folder / name) for name in self.files]
        try:
            parsed_files = self.reader(*file_contents)
        except Exception as problem:  # noqa: BLE001  unpacking and cutting raise of many kinds
            raise self._error_on_content(f"cannot be read ({first_line(problem)})") from None
        X, y, feature_names, _ = parsed_files
        if X.shape != self.shape or len(feature_names) != X.shape[1]:
            rows, columns = X.shape
            raise self._error_on_content(
                f"{rows} rows of {columns} features under {len(feature_names)} names, not "
                f"{self.shape[0]} of {self.shape[1]}"
            )
        digest = compute_digest(X, y)
        if digest != self.digest:
            raise self._error_on_content(
                f"other values (SHA-256 {digest[:12]}…, not {self.digest[:12]}…)"
            )
        return parsed_files

    def _read_file(self, path: Path) -> bytes:
        if not path.is_file():
            raise BadData(
                f"data set '{self.name}' needs the file {path.name}, and the folder that "
                f"{FOLDER_VARIABLE} "
                f"names does not hold it: {self.expected_content}."
            )
        return path.read_bytes()

    def _error_on_content(self, difference: str) -> BadData:
        files = " and ".join(self.files)
        return BadData(
            f"{files} should hold {self.expected_content}; here: {difference}. Other names, line "
            "ends or compression do not matter, the rows and their order do."
        )


def _read_csv(file_content: bytes) -> tuple[list[str], NDArray[np.str_]]:
    """Return the header and the cells of a gzipped CSV file."""
    import csv
    import gzip

    text = io.StringIO(gzip.decompress(file_content).decode())
    rows = [row for row in csv.reader(text, skipinitialspace=True) if row]
    for row_number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise BadData(f"row {row_number} has {len(row)} cells and the first {len(rows[0])}")
    return rows[0], np.char.strip(np.array(rows[1:]))


def _encode_classes(labels: NDArray[np.str_]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    names, codes = np.unique(labels, return_inverse=True)
    return codes.ravel().astype(np.int64), tuple(map(str, names))


def _read_labelled_tables(*file_contents: bytes) -> ParsedFiles:
    """Read CSV tables whose last column is the class, and stack their rows."""
    tables = [_read_csv(file_content) for file_content in file_contents]
    header, cells = tables[0][0], np.concatenate([cells for _, cells in tables])
    codes, classes = _encode_classes(cells[:, -1])
    return cells[:, :-1].astype(np.float64), codes, tuple(header[:-1]), classes


def _read_colon(file_content: bytes) -> ParsedFiles:
    """Read the colon table and check that its classes are normal (0) and tumour (1)."""
    X, y, feature_names, classes = _read_labelled_tables(file_content)
    if classes != ("normal", "tumor"):
        raise BadData(f"colon has the classes {', '.join(classes)}: expected normal and tumor.")
    return X, y, feature_names, classes


def _read_adult(file_content: bytes) -> ParsedFiles:
    arrays = np.load(io.BytesIO(file_content))
    X = np.concatenate([arrays["X_train"], arrays["X_test"]]).astype(np.float64)
    y = np.concatenate([arrays["y_train"], arrays["y_test"]]) > 0
    feature_names = tuple(f"f{j}" for j in range(1, X.shape[1] + 1))
    return X, y.astype(np.int64), feature_names, ("<=50K", ">50K")


def _read_ovarian(file_content: bytes) -> ParsedFiles:
    arrays = np.load(io.BytesIO(file_content))
    X = arrays["X"].astype(np.float64)
    feature_names = tuple(f"p{j}" for j in range(1, X.shape[1] + 1))
    return X, arrays["y"].astype(np.int64), feature_names, ("Normal", "Cancer")


# These are the published column names of the ozone data.
OZONE_COLUMNS = (
    *("JOUR", "O3obs", "MOCAGE", "TEMPE", "RMH2O"),
    *("NO2", "NO", "STATION", "VentMOD", "VentANG"),
)


def _read_ozone(file_content: bytes) -> ParsedFiles:
    """Read the ozone data, with the observed ozone as y.

    The columns of X are the forecasts and one indicator for each station.
    """
    columns = dict(zip(OZONE_COLUMNS, _read_csv(file_content)[1].T, strict=True))
    station_names, station_codes = np.unique(columns.pop("STATION"), return_inverse=True)
    y = columns.pop("O3obs").astype(np.float64)
    X = np.column_stack([*columns.values()]).astype(np.float64)
    X = np.hstack([X, np.eye(len(station_names))[station_codes.ravel()]])
    return X, y, (*columns, *(f"STATION={name}" for name in station_names)), ()


def _read_ozone_exceedance(file_content: bytes) -> ParsedFiles:
    """Read the ozone data with a binary target: 1 if the observed ozone exceeded 150."""
    X, y, feature_names, _ = _read_ozone(file_content)
    return X, (y > 150).astype(np.int64), feature_names, ("O3obs <= 150", "O3obs > 150")


HEADER_DESCRIPTION = "a line of names, then "
colon = DocumentData(
    "colon",
    ("colon.csv.gz",),
    f"{HEADER_DESCRIPTION}62 rows of 2000 raw intensities and the class, tumor or normal",
    "ece1474080d1414146bd29dcf5339a77c95f6713ef44a775b2fab17a4f5ac32f",
    (62, 2000),
    _read_colon,
    "62 tissues, 2000 genes, raw intensities; 40 tumours (1) and 22 normal (0)",
    "Alon et al. (1999)",
)
yeast = DocumentData(
    "yeast",
    ("yeast.csv.gz",),
    f"{HEADER_DESCRIPTION}1484 rows of 8 measures and the place, in the order of UCI's yeast.data",
    "0513394d7868b529e8f1c84427c771bf6b9d1c341d3840ae0cfbef15e98ae2cc",
    (1484, 8),
    _read_labelled_tables,
    "1484 proteins, 8 measures; 10 places in the cell",
    "UCI",
)
satellite = DocumentData(
    "satellite",
    ("satellite_train.csv.gz", "satellite_test.csv.gz"),
    f"{HEADER_DESCRIPTION}36 numbers and the class (1, 2, 3, 4, 5, 7) in the 4435 rows of UCI's "
    "sat.trn and the 2000 of sat.tst",
    "d2fc734d2aaaa1c44a8dd5ac12f74a04ca31b3f50515c530e155d681ef7b21d5",
    (6435, 36),
    _read_labelled_tables,
    "6435 pixels, 4 bands of 3 x 3 neighbours; 6 soils; rows 0-4434 are the fixed training set",
    "Statlog, UCI",
)
spam = DocumentData(
    "spam",
    ("spam.csv.gz",),
    f"{HEADER_DESCRIPTION}4601 rows of 57 frequencies and the class, nonspam or spam, in the order "
    "of UCI's spambase.data, which is that of spam in R's kernlab",
    "607c24204c057072540cd3c3a21283adae7dad07bf8b5505461f3e95acb276d8",
    (4601, 57),
    _read_labelled_tables,
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
    _read_adult,
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
    _read_ovarian,
    "216 serum spectra, 4000 of the original 15000 features; 121 cancers (1) and 95 normal (0)",
    "FDA-NCI, in MathWorks' form",
)
ozone = DocumentData(
    "ozone",
    ("ozone.csv.gz",),
    f"{HEADER_DESCRIPTION}1041 rows of {', '.join(OZONE_COLUMNS[:-1])} and {OZONE_COLUMNS[-1]}, as "
    "in wikistat's depSeuil.dat",
    "2f9f1028959a9f8644f8b8c6cb96ab654de5701c17755fe77b330f2b25d4a88e",
    (1041, 13),
    _read_ozone_exceedance,
    "1041 days and stations, 8 forecasts and 5 stations; whether ozone exceeded 150",
    "wikistat",
)
ozone_level = DocumentData(
    "ozone-level",
    ozone.files,
    ozone.expected_content,
    "4871112420b27f5f9b2f1ee98a95259fdac01e540353c8f0a1232a60177e6436",
    ozone.shape,
    _read_ozone,
    "1041 days and stations, 8 forecasts and 5 stations; the ozone observed",
    "wikistat",
    "regression",
)
