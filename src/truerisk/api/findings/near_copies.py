"""Near copies: rows whose nearest neighbour is far nearer than their other neighbours."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from truerisk.api.findings.finding import Finding
from truerisk.api.findings.on_columns import ColumnView
from truerisk.core.table.data import Data

__all__ = ["near_copies", "neighbour_findings"]

NEAR = 0.1  # of the distance to the tenth neighbour
FEWEST_COLUMNS, FEWEST_ROWS, MOST_ROWS = 3, 30, 1000


def neighbour_findings(data: Data, columns: ColumnView | None) -> Iterator[Finding]:
    """Rows that come in near pairs although no groups are given."""
    if columns is None or data.groups is not None:
        return
    share = near_copies(columns.numbers)
    if share is not None and share[0] > 2 * share[1] + 0.1:
        yield Finding(
            "near-copies",
            f"{share[0]:.0%} of the rows have a neighbour ten times nearer than their tenth "
            f"({share[1]:.0%} would be usual).",
            "If a case was measured several times, give groups and split by them.",
        )


def near_copies(X: np.ndarray) -> tuple[float, float] | None:
    r"""Share of rows with :math:`d_1 < d_{10}/10`, and the share that independent rows have.

    In D dimensions :math:`(d_1/d_{10})^D` is the smallest of 9 uniform numbers, so that the usual
    share is :math:`1 - (1 - 10^{-D})^9`; D is estimated from the distances to the 10th and the
    20th neighbour. None for tables that are too small or mostly discrete.
    """
    continuous = [j for j in range(X.shape[1]) if len(np.unique(X[:, j])) > len(X) / 2]
    if len(continuous) < FEWEST_COLUMNS or len(X) < FEWEST_ROWS:
        return None
    from sklearn.neighbors import NearestNeighbors

    X = X[:, continuous]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    asked = np.unique(np.linspace(0, len(X) - 1, MOST_ROWS).astype(int))
    found = NearestNeighbors(n_neighbors=20).fit(X)
    distances = found.kneighbors(X[asked])[0]  # the first is the row itself
    nearest, tenth, last = distances[:, 1], distances[:, 10], distances[:, 19]
    if not tenth.all():
        return None  # exact copies are another finding
    ratio = float(np.median(last) / np.median(tenth))
    dimension = np.log(19 / 10) / max(np.log(ratio), 1e-9)
    usual = 1 - (1 - NEAR**dimension) ** 9
    return float((nearest < NEAR * tenth).mean()), float(usual)
