"""Class scores turned into the response that is asked, and which labels rounding would decide."""

from __future__ import annotations

import numpy as np

from truerisk.core.answers import code_type
from truerisk.core.contracts import Request

__all__ = ["respond", "undecided"]

CLOSE = 1e-9


def respond(
    scores: np.ndarray, present: np.ndarray, request: Request, n_classes: int
) -> np.ndarray:
    """Answers from scores whose last axis are the classes `present`, ascending codes.

    Scores are logarithms of joint densities, up to a summand that all classes share. A class that
    is not present has probability 0.
    """
    if request.response == "label":
        if len(present) == 2:  # no search along an axis of two
            best = (scores[..., 1] > scores[..., 0]).astype(np.intp)
        else:
            best = scores.argmax(axis=-1)
        return present.astype(code_type(n_classes))[best]
    if request.response == "score":
        return scores[..., 1] - scores[..., 0]
    joint = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares = np.zeros((*scores.shape[:-1], n_classes))
    shares[..., present] = joint / joint.sum(axis=-1, keepdims=True)
    return shares


def undecided(scores: np.ndarray, request: Request) -> np.ndarray:
    """Where a label is asked for and the two best classes are equal but for rounding."""
    if request.response != "label":
        return np.zeros(scores.shape[:-1], dtype=bool)
    best = scores if scores.shape[-1] == 2 else np.partition(scores, -2, axis=-1)[..., -2:]
    gap, largest = np.abs(best[..., 1] - best[..., 0]), np.abs(scores[..., 0])
    for k in range(1, scores.shape[-1]):
        largest = np.maximum(largest, np.abs(scores[..., k]))
    return gap <= CLOSE * (1 + largest)
