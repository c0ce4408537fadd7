"""The scale on which calibration is told: the logit of probabilities, or numbers as they are."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from truerisk.core.validation.line_fit import LeastSquaresFit, LineFit
from truerisk.core.validation.logistic_fit import LogisticFit

__all__ = ["IDENTITY", "LOGIT", "Link"]


class Link(ABC):
    """Where line and curve are straight, and what fits them there."""

    @abstractmethod
    def of(self, given: np.ndarray) -> np.ndarray:
        """What was given, on this scale."""

    @abstractmethod
    def back(self, eta: np.ndarray) -> np.ndarray:
        """From this scale to what is given."""

    @abstractmethod
    def fit(
        self,
        columns: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray,
        offset: np.ndarray | float = 0.0,
    ) -> LineFit | None:
        """The mean of y as a function of the columns; None where there is no such fit."""


class Logit(Link):
    """log(p/(1 − p)), infinite for 0 and 1; logistic regression."""

    def of(self, given: np.ndarray) -> np.ndarray:
        from scipy.special import logit

        return np.asarray(logit(given))

    def back(self, eta: np.ndarray) -> np.ndarray:
        from scipy.special import expit

        return np.asarray(expit(eta))

    def fit(
        self,
        columns: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray,
        offset: np.ndarray | float = 0.0,
    ) -> LogisticFit | None:
        return LogisticFit.of(columns, y, weights, offset)


class Identity(Link):
    """Numbers as they are; least squares."""

    def of(self, given: np.ndarray) -> np.ndarray:
        return given

    def back(self, eta: np.ndarray) -> np.ndarray:
        return eta

    def fit(
        self,
        columns: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray,
        offset: np.ndarray | float = 0.0,
    ) -> LeastSquaresFit | None:
        return LeastSquaresFit.of(columns, y, weights, offset)


LOGIT, IDENTITY = Logit(), Identity()
