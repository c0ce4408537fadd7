"""The rows of `rms_validate.R`, by the same generator, and what R answered."""

import json
from pathlib import Path

import numpy as np
from scipy.special import expit, ndtri

N_ROWS, N_SAMPLES = 120, 15
HERE = Path(__file__).parent
RMS = json.loads((HERE / "rms.json").read_text("utf-8"))
REVIEW = json.loads((HERE / "review_oracles.json").read_text("utf-8"))
"""What pminternal and stabm say of the same rows (`review_oracles.R`)."""


def drawn() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y, and the row numbers of the bootstrap samples."""
    state = 12345

    def draw(k: int) -> np.ndarray:
        nonlocal state
        found = np.empty(k)
        for i in range(k):
            state = (state * 16807) % 2147483647
            found[i] = state / 2147483647
        return found

    X = np.column_stack([ndtri(draw(N_ROWS)) for _ in range(3)])
    y = (draw(N_ROWS) < expit(-0.5 + X[:, 0] + 0.5 * X[:, 1])).astype(int)
    samples = (draw(N_ROWS * N_SAMPLES) * N_ROWS).astype(int).reshape(N_SAMPLES, N_ROWS)
    return X, y, samples


def foreign(X: np.ndarray) -> np.ndarray:
    """Probabilities that were not fitted to y."""
    return expit(-0.2 + 1.4 * X[:, 0] + 0.9 * X[:, 1])
