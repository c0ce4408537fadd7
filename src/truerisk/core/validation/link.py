"""The scale on which calibration is told: the logit of probabilities, or numbers as they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from truerisk.core.validation.line_fit import LeastSquaresFit
from truerisk.core.validation.logistic_fit import LogisticFit

__all__ = ["IDENTITY", "LOGIT", "Link"]


class Link(ABC):
    """Where line and curve are straight; `fits` finds the mean of y as a function of columns."""

    fits: ClassVar[type[LogisticFit | LeastSquaresFit]]

    @abstractmethod
    def of(self, given: np.ndarray) -> np.ndarray:
        """What was given, on this scale."""

    @abstractmethod
    def back(self, eta: np.ndarray) -> np.ndarray:
        """From this scale to what is given."""


class Logit(Link):
    """log(p/(1 − p)), infinite for 0 and 1; logistic regression."""

    fits = LogisticFit

    def of(self, given: np.ndarray) -> np.ndarray:
        from scipy.special import logit

        return np.asarray(logit(given))

    def back(self, eta: np.ndarray) -> np.ndarray:
        from scipy.special import expit

        return np.asarray(expit(eta))


class Identity(Link):
    """Numbers as they are; least squares."""

    fits = LeastSquaresFit

    def of(self, given: np.ndarray) -> np.ndarray:
        return given

    def back(self, eta: np.ndarray) -> np.ndarray:
        return eta


LOGIT, IDENTITY = Logit(), Identity()
