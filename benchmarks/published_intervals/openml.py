"""The paper's data on OpenML, by scikit-learn's `fetch_openml`; they need a network and gigabytes.

A study names one of them by `import = "benchmarks.published_intervals.openml:higgs"`. Each has
millions of rows, of which a replicate draws its own; its truth is measured on others.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.core.registry import suggestion_for
from truerisk.exceptions import BadData, UnknownName

__all__ = ["IDS", "OpenML"]

IDS = {  # as in `experiments/resample.R` of their repository; study 441 of OpenML
    "higgs": 45570,
    "adult": 45689,
    "covertype": 45704,
    "bates_classif_20": 45654,
    "colon": 45665,
    "bates_classif_100": 45668,
    "breast": 45669,
    "prostate": 45672,
    "electricity": 45693,
    "diamonds": 45692,
    "physiochemical_protein": 45694,
    "bates_regr_20": 45655,
    "friedman1": 45666,
    "bates_regr_100": 45667,
    "chen_10_null": 45670,
    "chen_10": 45671,
    "sgemm_gpu": 45695,
    "video_transcoding": 45696,
}


@dataclass(frozen=True)
class OpenML:
    """One of these tables; called with a number of rows and a seed it draws them from it."""

    name: str
    data_home: Path | None = None

    def __post_init__(self) -> None:
        if self.name not in IDS:
            near = suggestion_for(self.name, IDS) or "."
            raise UnknownName(f"no data set of the paper is called {self.name!r}{near}")

    @cached_property
    def table(self) -> tuple[np.ndarray, np.ndarray]:
        """X as numbers, categories by their codes, and y; loaded once per process."""
        from sklearn.datasets import fetch_openml

        number = IDS[self.name]
        where = {"data_home": self.data_home, "as_frame": False, "parser": "liac-arff"}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of its cache, before it fails
                found = fetch_openml(data_id=number, n_retries=1, delay=0.1, **where)
        except (OSError, HTTPException) as error:
            raise BadData(
                f"data set {self.name!r} (OpenML {number}) could not be loaded ({error}): it needs "
                "a network once, then it lies in the data home of scikit-learn. The simulated "
                "problems in benchmarks.published_intervals.problems need none."
            ) from None
        return np.asarray(found.data, dtype=np.float64), np.asarray(found.target)

    def __call__(self, n_rows: int, *, random_state: Any) -> tuple[np.ndarray, np.ndarray]:
        X, y = self.table
        rows = np.random.default_rng(random_state).choice(len(y), n_rows, replace=False)
        return X[rows], y[rows]


def __getattr__(name: str) -> Any:
    """What a study imports: each name of `IDS` makes its table."""
    if name in IDS:
        return partial(OpenML, name)
    raise AttributeError(f"no data set of the paper is called {name!r}")
