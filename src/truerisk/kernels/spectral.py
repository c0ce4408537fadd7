"""Penalised least squares in the basis that makes it diagonal: all penalties at once.

With Z'Z = V diag(d) V' (Z: centred rows times the roots of their weights) the answer about a row x
at penalty a is Σ_j l_j r_j / (d_j + a), where l = V'x and r = V'Z'T; with ZZ' = V diag(d) V' the
same holds for l = V'Zx and r = V'T. So one decomposition answers every penalty.

Rounding is not guessed: each function that answers has one that says how far two exact methods
could be apart here, to first order (`Doubt`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "EPS",
    "Spectrum",
    "answers_at",
    "cholesky_doubt",
    "contrasts",
    "doubt_at",
    "from_product",
    "from_rows",
    "norms_at",
]

EPS = float(np.finfo(np.float64).eps)
SPREAD = 4.0  # rounding of a matrix of order m moves a form by about norm/√m; this many times that


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A decomposition: `vectors` (the basis), `values` d, `right` r (one column per target).

    `noise` times EPS is the rounding of what was decomposed. `of_rows` says that Z itself was
    (so that d are squares of its singular values), with `rest` the norm of T outside of its reach.
    """

    vectors: NDArray[np.float64]
    values: NDArray[np.float64]
    right: NDArray[np.float64]
    noise: float
    of_rows: bool = False
    rest: float = 0.0


def from_product(
    product: NDArray[np.float64], right: NDArray[np.float64], *, noise: float = 0.0
) -> Spectrum:
    """The spectrum of Z'Z (right: Z'T) or of ZZ' (right: T); `product` is overwritten.

    `noise` is the rounding that the product already carries, if more than its own size.
    """
    from scipy.linalg import eigh

    if not len(product):
        return Spectrum(product, np.empty(0), right, 0.0)
    values, vectors = eigh(product, driver="evd", overwrite_a=True, check_finite=False)
    size = max(float(np.abs(values[[0, -1]]).max()), noise)
    noise = size * min(1.0, SPREAD / len(values) ** 0.5)
    return Spectrum(vectors, values, vectors.T @ right, noise)


def from_rows(
    Z: NDArray[np.float64],  # noqa: N803
    T: NDArray[np.float64],  # noqa: N803
    cutoff: float = 0.0,
) -> tuple[Spectrum, NDArray[np.float64]]:
    """The spectrum of Z'Z from Z itself, which keeps all digits; and all singular values of Z.

    Directions whose singular value is at most `cutoff` times the largest are left out.
    """
    from scipy.linalg import svd

    if not Z.size:
        return Spectrum(Z.T[:, :0], np.empty(0), T[:0], 0.0, of_rows=True), np.empty(0)
    U, s, Vt = svd(Z, full_matrices=False, check_finite=False)  # noqa: N806
    kept = s > max(cutoff * s[0], 0.0)
    along = U[:, kept].T @ T
    rest = float(np.linalg.norm(T - U[:, kept] @ along))
    values = s[kept] ** 2
    spectrum = Spectrum(Vt[kept].T, values, s[kept, None] * along, s[0], of_rows=True, rest=rest)
    return spectrum, s


def contrasts(root: NDArray[np.float64]) -> NDArray[np.float64]:
    """The vector v of the reflection I − v v' that turns `root` onto the first axis.

    What it leaves on the other axes are contrasts: m − 1 coordinates free of the weighted mean.
    """
    v = root / np.linalg.norm(root)
    v[0] += 1.0  # roots of weights are not negative: nothing cancels
    reflected: NDArray[np.float64] = v * (2.0 / (v @ v)) ** 0.5
    return reflected


def answers_at(
    left: NDArray[np.float64], spectrum: Spectrum, penalties: NDArray[np.float64]
) -> NDArray[np.float64]:
    """`(penalty, row, target)`: Σ_j left_j right_j / (d_j + a)."""
    weights = 1.0 / (spectrum.values[:, None] + penalties)
    r, n_targets = spectrum.right.shape
    coefficients = (weights[:, :, None] * spectrum.right[:, None, :]).reshape(r, -1)
    found = left @ coefficients
    return np.ascontiguousarray(
        found.reshape(len(left), len(penalties), n_targets).transpose(1, 0, 2)
    )


def norms_at(
    coordinates: NDArray[np.float64], spectrum: Spectrum, penalties: NDArray[np.float64]
) -> NDArray[np.float64]:
    """`(row, penalty)`: the length of each row's coordinates over d + a."""
    weights = 1.0 / (spectrum.values[:, None] + penalties)
    found: NDArray[np.float64] = np.sqrt(coordinates**2 @ weights**2)
    return found


def doubt_at(
    left: NDArray[np.float64],
    lengths: NDArray[np.float64],
    spectrum: Spectrum,
    penalties: NDArray[np.float64],
) -> NDArray[np.float64]:
    """For each penalty how far rounding may move the answers; `lengths` of the rows asked about.

    To first order: a product off by E moves an answer by z'E c, where z and c solve for the row
    and for the targets; rows off by E move it by z'E'(residual) + (Zz)'E w + x'E'c.
    """
    if not len(spectrum.values) or not len(left):
        return np.zeros(len(penalties))
    largest = norms_at(left, spectrum, penalties).max(axis=0)
    solved = norms_at(spectrum.right.T, spectrum, penalties).max(axis=0)
    if not spectrum.of_rows:
        return EPS * spectrum.noise * largest * solved
    s = np.sqrt(spectrum.values)
    dual = norms_at(left * s, spectrum, penalties).max(axis=0)
    own = norms_at((spectrum.right / s[:, None]).T, spectrum, penalties).max(axis=0)
    outside = spectrum.rest + penalties * own
    moved = largest * outside + dual * solved + float(lengths.max()) * own
    found: NDArray[np.float64] = EPS * spectrum.noise * moved
    return found


def cholesky_doubt(
    left: NDArray[np.float64],
    Q: NDArray[np.float64],  # noqa: N803
    diagonal: NDArray[np.float64],
    spectrum: Spectrum,
    penalties: NDArray[np.float64],
    *,
    wide: bool,
) -> NDArray[np.float64]:
    """How far a Cholesky factor of the product may be off, seen from the spectrum of the rows.

    It is right to EPS in each element, √(g_ii g_jj), so that badly scaled columns do not hurt it;
    what does is collinearity, which the variance inflation factors g_jj (G + aI)⁻¹_jj tell.
    `diagonal` is that of Z'Z, or of ZZ' where `wide`: then the factor is of ZZ' + aI.
    """
    if not len(spectrum.values) or not len(left):
        return np.zeros(len(penalties))
    weights = 1.0 / (spectrum.values[:, None] + penalties)
    if wide:
        s = np.sqrt(spectrum.values)
        dual = norms_at(left * s, spectrum, penalties).max(axis=0)
        own = norms_at((spectrum.right / s[:, None]).T, spectrum, penalties).max(axis=0)
        own = own + np.where(spectrum.rest > 0, spectrum.rest / np.maximum(penalties, 1e-300), 0.0)
        return EPS * (float(diagonal.max()) + penalties) * dual * own
    scaled = diagonal[:, None] + penalties
    inflation = (scaled * (spectrum.vectors**2 @ weights)).sum(axis=0)
    rows = np.sqrt((Q**2 @ (1.0 / np.maximum(scaled, 1e-300))).max(axis=0))
    worst = np.zeros(len(penalties))
    for target in spectrum.right.T:
        coefficients = spectrum.vectors @ (weights * target[:, None])
        worst = np.maximum(worst, np.sqrt((scaled * coefficients**2).sum(axis=0)))
    found: NDArray[np.float64] = EPS * inflation * rows * worst
    return found
