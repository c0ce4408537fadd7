"""A holdout for adaptive searches, which reports only scores that are better beyond noise.

Whoever sees the score of every submission on one holdout can fit submissions to the holdout.
`Ladder` therefore reports the best score so far until a submission is better than the best one by
more than the noise of their paired difference, after the ladder of Blum and Hardt (2015).
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from truerisk.core import formats, tables
from truerisk.core.arguments import mention, to_store_path
from truerisk.core.errors import (
    BadArgument,
    BadData,
    BadStore,
    NotWritten,
    Refusal,
    StoreLocked,
)
from truerisk.core.frozen import frozen
from truerisk.core.plain_values import to_json_value
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.data.rows import digest
from truerisk.external.candidate_table import (
    PREDICTION,
    PROBABILITY,
    columns_of,
    known_column,
)
from truerisk.external.predictions import (
    RatedSets,
    encoded_predictions,
    finite_numbers,
    label_text,
    outcome_data,
    requested_loss,
)
from truerisk.losses.loss import RowLoss
from truerisk.results.interval import Scale
from truerisk.results.records import Count, PerfectScore, Record

SCHEMA = "truerisk.ladder/2"
MAX_BYTES = 2**30
WAIT_SECONDS = 5.0
STEP_HEADER = ("submission", "name")
DAMAGES = ValueError, KeyError, TypeError, AttributeError, RecursionError
"""Exceptions that may be raised while a line is read that this version has not written."""


@frozen
class Submission(Record):
    """Answer of a ladder to one submission of predictions.

    Parameters
    ----------
    number : int
        The number of the submission, from 1.
    name : str
        Name of the submission.
    accepted : bool
        True if it is better than the best submission so far by more than the noise.
    value : float
        The score of the best accepted submission, rounded so that its digits do not reveal single
        outcomes. The ladder reports no other score.
    scoring : str
        Name of the loss or score.
    perfect : float, optional
        The score of a perfect model; None for a loss.

    See Also
    --------
    Ladder : The holdout that returns it.

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.Ladder([0, 1] * 50).submit([0] * 100).accepted
    True
    """

    schema: ClassVar[str] = "truerisk.submission/2"

    number: Count
    name: str
    accepted: bool
    value: float
    scoring: str
    perfect: PerfectScore | None = None

    def __str__(self) -> str:
        verdict = "accepted" if self.accepted else "not better by more than the noise"
        name = Scale(self.perfect).name_for(self.scoring)
        value = formats.format_number(self.value)
        return f"{formats.escape_and_truncate(self.name)}: {verdict}; best {name} {value}"


class AcceptedSubmissions(tuple[Submission, ...]):
    """Accepted submissions of a ladder, which a notebook shows as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        heading = Scale(self[-1].perfect).column_heading(self[-1].scoring) if self else "value"
        rows = [_table_row(step.number, step.name, step.value) for step in self]
        return tables.Block("Accepted submissions", [*STEP_HEADER, heading], rows).html


def _table_row(number: int, name: str, value: float) -> list[str]:
    """Return the cells of an accepted submission in a table."""
    return [str(number), formats.escape_and_truncate(name), formats.format_number(value)]


class Ladder:
    r"""Holdout whose reported score stays reliable after any number of submissions.

    A submission is accepted if its score is better than that of the best accepted one by more than
    the noise of their paired difference on the holdout. Only then is its score reported, after
    rounding. The scores of other submissions are not reported. The reported score therefore stays
    close to the true one, even after many submissions that were chosen by earlier answers.

    Parameters
    ----------
    y : array
        The outcomes of the holdout. They are not written to the store.
    scoring : str, Loss or function, optional
        The loss or score, as in `estimate_risk`. Submissions are labels, probabilities (one column
        for each class), scores of the positive class, or numbers, as the loss needs them.
    groups : array of labels, optional
        Rows of one group belong together: the noise is computed from differences between groups.
    positive : label, optional
        The class to which a score of one class refers.
    store : path, optional
        The file that keeps the submissions. It is only appended to, line by line, so that a kill
        loses at most the submission that is being written. One process at a time writes to it; a
        second one waits for five seconds, and then raises `StoreLocked`.

    Attributes
    ----------
    best : Submission or None
        The last accepted submission.
    steps : tuple of Submission
        All accepted submissions. A notebook shows them as a table.
    n_submissions : int
        The number of submissions.

    See Also
    --------
    audit_table : Correct the best score of a search that has already been run.

    Notes
    -----
    Submission t with losses :math:`\ell_t` is accepted if

    .. math:: R_t < R_\text{best} - \max\left(1, \sqrt{2 \log t}\right) \frac{s}{\sqrt n},
              \quad s = \text{sd}(\ell_t - \ell_\text{best})

    and the reported risk is :math:`R_t` rounded to a multiple of 1/n, or, for a loss that may
    exceed 1, to the power of ten below its standard error. For scores of the whole set, such
    as the AUC, :math:`\ell` are the influences of the rows. The ladder of Blum and Hardt has the
    factor 1. Among t submissions that are equally good, the luckiest is seldom better than a given
    one by more standard errors than the factor here, so that submissions without merit are rarely
    accepted, even if there are many.

    References
    ----------
    Blum and Hardt (2015), The ladder: a reliable leaderboard for machine learning competitions.
    ICML.

    Examples
    --------
    >>> import truerisk as tr
    >>> y = [0, 1] * 50
    >>> ladder = tr.Ladder(y, scoring="accuracy")
    >>> print(ladder.submit([0] * 100, name="constant"))
    constant: accepted; best accuracy 0.5000
    >>> print(ladder.submit([0, 1] * 45 + [0] * 10, name="rule"))
    rule: accepted; best accuracy 0.9500
    >>> print(ladder.submit([0, 1] * 45 + [0] * 8 + [0, 1], name="one row better"))
    one row better: not better by more than the noise; best accuracy 0.9500
    """

    def __init__(
        self,
        y: Any,
        *,
        scoring: Any = None,
        groups: Any = None,
        positive: Any = None,
        store: Any = None,
    ) -> None:
        outcomes = np.asarray(y)
        if outcomes.ndim != 1 or len(outcomes) < 2:
            raise BadData(f"y has shape {outcomes.shape}: a holdout is a column of outcomes.")
        try:
            data = outcome_data(outcomes, scoring, has_probabilities=False, groups=groups)
        except BadData as error:
            if (outcomes != outcomes[0]).any():
                raise
            raise BadData(
                f"{error} If the answers of each submission are graded already, give y=[0] * n and "
                "scoring='absolute', and submit their errors: 0 for right and 1 for wrong."
            ) from None
        self._data: Data = data
        self._loss = requested_loss(scoring, self._data, positive)
        if not self._loss.tells_influences:
            raise Refusal(
                f"{mention('scoring', scoring)}: the influence of a single row on this score is "
                "unknown, so the noise of a difference is unknown. Use a loss of rows or 'roc_auc'."
            )
        self._best_losses: np.ndarray | None = None
        self._checksum = 0
        self.steps = AcceptedSubmissions()
        self.n_submissions = 0
        self._store = None if store is None else to_store_path(store, example="ladder.jsonl")
        if self._store is not None and self._store.is_dir():
            raise BadArgument(f"{mention('store', store)} is a folder: name a file in it.")
        with self._locked():  # The store is read, so that a store of another holdout is refused.
            pass

    @property
    def best(self) -> Submission | None:
        """The last accepted submission, or None before the first one."""
        return self.steps[-1] if self.steps else None

    @property
    def compares_labels(self) -> bool:
        """True if the score compares predicted labels, and not probabilities or numbers."""
        return self._loss.response == "label"

    @property
    def scale(self) -> Scale:
        """Scale of the reported values: a loss, or a score with its perfect value."""
        return self._loss.scale

    def submit(self, predictions: Any, name: str | None = None) -> Submission:
        """Rate predictions of the holdout; report their score only if they are accepted.

        Parameters
        ----------
        predictions : array
            The predictions of all rows of the holdout, in the order of y.
        name : str, optional
            A name for the submission; by default its number.

        Returns
        -------
        Submission
            The answer: whether the predictions are accepted, and the best accepted score.

        Raises
        ------
        BadData
            If the predictions do not fit the outcomes.
        """
        if name is not None and not isinstance(name, str):
            raise BadArgument(f"{mention('name', name)}: a name is a text.")
        values = self._encoded(predictions)
        with self._locked():
            losses = self._losses(values)
            submission = self._answer(name, losses if self._is_accepted(losses) else None)
            if self._store is not None:
                self._append(self._store, submission, values)
            self._keep(submission, losses)
            return submission

    def _encoded(self, predictions: Any) -> np.ndarray:
        """Check predictions, and convert them to the form that the loss needs."""
        values = np.asarray(predictions)
        n_rows, n_classes = self._data.n_rows, self._data.n_classes
        if values.shape not in ((n_rows,), (n_rows, n_classes)):
            raise BadData(
                f"predictions has shape {values.shape}: the holdout has {n_rows} rows"
                + (f" of {n_classes} classes." if n_classes else ".")
            )
        labels, probabilities = (values, None) if values.ndim == 1 else (None, values)
        if probabilities is not None:
            probabilities = finite_numbers(probabilities, "predictions")
        return encoded_predictions(self._data, self._loss, labels, probabilities)

    def _answer(self, name: str | None, accepted: np.ndarray | None) -> Submission:
        """Return the answer to the next submission, given its losses if it is accepted."""
        number, losses = self.n_submissions + 1, self._best_losses if accepted is None else accepted
        assert losses is not None
        return Submission(
            number,
            name or str(number),
            accepted is not None,
            self._reported_value(losses),
            self._loss.name,
            self.scale.perfect,
        )

    def _keep(self, submission: Submission, losses: np.ndarray | None) -> None:
        """Count a submission, and remember it if it is accepted."""
        self.n_submissions += 1
        if submission.accepted:
            self._best_losses = losses
            self.steps = AcceptedSubmissions((*self.steps, submission))

    def _losses(self, values: np.ndarray) -> np.ndarray:
        """Return the loss of each row; their mean is the risk.

        For a score of whole test sets, the loss of a row is the risk plus the influence of the row
        on it.
        """
        rows = np.arange(self._data.n_rows)
        if isinstance(self._loss, RowLoss):
            losses = self._loss.of_rows(self._data, rows, values[None])[0]
        else:
            rated = RatedSets(self._data, self._loss, rows, values[None], (slice(0, len(rows)),))
            losses = rated.losses_by_influence()[0]
        if not np.isfinite(losses).all():
            raise BadData("the predictions give a row no finite loss.")
        return losses

    def _reported_value(self, losses: np.ndarray) -> float:
        """Return the value, rounded so that its digits do not reveal single outcomes.

        A loss between 0 and 1 is rounded to a multiple of 1/n, others to the power of ten below the
        standard error of their mean.
        """
        risk, std_error = float(losses.mean()), float(losses.std() / len(losses) ** 0.5)
        if self._loss.upper == 1:
            risk = round(risk * len(losses)) / len(losses)
        elif std_error > 0:
            risk = round(risk, -math.floor(math.log10(std_error)))
        return float(self.scale.value(risk))

    def _is_accepted(self, losses: np.ndarray) -> bool:
        """Return True if a submission is better than the best one by more than the noise."""
        if self._best_losses is None:
            return True
        differences = (losses - self._best_losses) / len(losses)
        if self._data.groups is not None:
            shares = np.bincount(self._data.groups) / len(losses)
            differences = np.bincount(self._data.groups, differences) - shares * differences.sum()
        else:
            differences = differences - differences.mean()
        n_units = len(differences)
        std_error = np.sqrt(n_units / (n_units - 1) * (differences**2).sum())
        step = max(1.0, np.sqrt(2 * np.log(self.n_submissions + 1))) * std_error
        return bool(losses.mean() < self._best_losses.mean() - step)

    def __repr__(self) -> str:
        best = "nothing accepted yet" if self.best is None else str(self.best)
        plural = "" if self.n_submissions == 1 else "s"
        return f"Ladder({self._data.n_rows} rows, {self.n_submissions} submission{plural}; {best})"

    # ------------------------------------------------------------ store

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock of the store, if there is one, and read what others have submitted since.

        Wait up to five seconds while another process writes a submission.
        """
        if self._store is None:
            yield
            return
        check_present("truerisk.study.lock")
        from truerisk.study.lock import Lock

        lock, end = Lock(self._store), time.monotonic() + WAIT_SECONDS
        while True:
            try:
                lock.acquire()
                break
            except StoreLocked:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)
        try:
            self._read(self._store)
            yield
        finally:
            lock.release()

    def _header(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "scoring": self._loss.name,
            "perfect": self.scale.perfect,
            "positive": to_json_value(self._loss.label(self._data)),
            "n_rows": self._data.n_rows,
            "y": replace(self._data, groups=None).fingerprint,
            "groups": None if self._data.groups is None else digest(self._data.groups),
        }

    def _read(self, store: Path) -> None:
        """Read all submissions again, and remove a last line that a kill has cut."""
        self.steps, self._best_losses, self.n_submissions = AcceptedSubmissions(), None, 0
        self._checksum = 0
        if not store.exists():
            return
        *lines, cut_line = _lines_in(store)
        if not lines and not json.dumps(self._header()).encode().startswith(cut_line):
            raise BadStore(f"{store} is no ladder of this version of truerisk.")
        for line_number, line in enumerate(lines, start=1):
            try:
                content = json.loads(line)
                if line_number == 1:
                    self._check_header(content)
                else:
                    self._replay(content)
            except DAMAGES as error:
                if isinstance(error, BadData):
                    raise
                raise BadStore(
                    f"{store}, line {line_number}: no line of a ladder; it was changed."
                ) from None
        if cut_line:  # The next submission starts on a new line.
            os.truncate(store, store.stat().st_size - len(cut_line))

    def _check_header(self, content: Mapping[str, Any]) -> None:
        if content.get("schema") != SCHEMA:
            raise BadStore(f"{self._store} is no ladder of this version of truerisk.")
        differing = [key for key, value in self._header().items() if content.get(key) != value]
        if differing:
            raise BadStore(
                f"{self._store} was written for another holdout: {', '.join(differing)} differ."
            )

    def _replay(self, content: dict[str, Any]) -> None:
        """Add a stored submission; compute the losses of accepted ones from their predictions."""
        self._checksum = _verified_checksum(content, self._checksum)
        losses = self._losses(np.array(content["predictions"])) if content["accepted"] else None
        submission = self._answer(content["name"], losses)
        if content["accepted"] and submission.value != content["value"]:
            raise BadStore(f"{self._store} was written for another holdout, or was changed.")
        self._keep(submission, losses)

    def _append(self, store: Path, submission: Submission, values: np.ndarray) -> None:
        """Write a submission; leave the store as it was if that fails."""
        size = store.stat().st_size if store.exists() else 0
        content: dict[str, Any] = {"name": submission.name, "accepted": submission.accepted}
        if submission.accepted:
            content |= {"value": submission.value, "predictions": values.tolist()}
        lines = [] if size else [self._header()]
        lines.append(content | {"checksum": _checksum(content, self._checksum)})
        try:
            with store.open("ab") as file:
                file.write(
                    "".join(f"{json.dumps(line, allow_nan=False)}\n" for line in lines).encode()
                )
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):
                os.truncate(store, size)
            raise NotWritten(f"{store} cannot be written: {error.strerror}.") from None


def _lines_in(store: Path) -> list[bytes]:
    """Return the lines of a store; the last one is empty, unless a kill has cut it."""
    try:
        if store.stat().st_size > MAX_BYTES:
            raise BadStore(f"{store} has more than {MAX_BYTES} bytes: it is no ladder.")
        return store.read_bytes().split(b"\n")
    except OSError as error:
        raise BadStore(f"{store} cannot be read: {error.strerror}.") from None


def _checksum(content: Mapping[str, Any], previous: int) -> int:
    """Return a checksum of a submission and all before it, given that of the previous one.

    It reveals a line that was changed, removed or moved.
    """
    return zlib.crc32(json.dumps(content).encode(), previous)


def _verified_checksum(content: dict[str, Any], previous: int) -> int:
    """Take the checksum out of a stored submission; raise ValueError if it does not match."""
    stored = content.pop("checksum")
    if stored != _checksum(content, previous):
        raise ValueError(content["name"])
    return int(stored)


# ---------------------------------------------------------------- files


def rows_in(path: str, target: str, groups: str | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the outcomes and the group labels in a file. Without `groups`, the labels are None."""
    columns = columns_of(path)
    assert columns is not None
    for name in filter(None, (target, groups)):
        known_column(name, columns, f"{path} has no column {name!r}")
    return columns[target], None if groups is None else columns[groups]


def predictions_in(path: str, y: np.ndarray, *, as_labels: bool) -> np.ndarray:
    """Return the predictions in a file: the column of predictions, or a column for each class.

    Probabilities are preferred, unless the score compares labels.
    """
    columns = columns_of(path)
    assert columns is not None
    labels = [f"{PROBABILITY}{label_text(label)}" for label in np.unique(y).tolist()]
    has_probabilities = set(labels) <= set(columns)
    if PREDICTION in columns and (as_labels or not has_probabilities):
        return columns[PREDICTION]
    if not has_probabilities:
        raise BadData(
            f"{path} has neither the column {PREDICTION!r} nor {', '.join(map(repr, labels))}."
        )
    return np.column_stack([columns[label] for label in labels])


def status_of(store: Path) -> str:
    """Describe the accepted submissions in a store; the outcomes of the holdout are not needed."""
    if not store.exists():
        raise BadStore(f"there is no ladder {str(store)!r}.")
    lines = _lines_in(store)[:-1]
    try:
        header, *contents = map(json.loads, lines)
        if header["schema"] != SCHEMA:
            raise KeyError(SCHEMA)
        checksum = 0
        for content in contents:
            checksum = _verified_checksum(content, checksum)
        steps = [
            _table_row(number, content["name"], float(content["value"]))
            for number, content in enumerate(contents, start=1)
            if content["accepted"]
        ]
        heading = Scale(header["perfect"]).column_heading(header["scoring"])
    except DAMAGES:
        raise BadStore(f"{store} is no ladder, or was changed.") from None
    table = tables.text_table([*STEP_HEADER, heading], steps)
    return f"{len(contents)} submissions, {len(steps)} accepted\n{table}"
