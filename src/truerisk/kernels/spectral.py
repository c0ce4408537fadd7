"""Penalised least squares in the basis that diagonalises it, for all penalties at once.

Let Z'Z = V diag(d) V', where Z holds centred rows times the square roots of their weights. The
prediction for a row x at penalty a is Σ_j l_j r_j / (d_j + a), where l = V'x and r = V'Z'T. With
ZZ' = V diag(d) V' the same holds for l = V'Zx and r = V'T ("dual"). One decomposition therefore
answers every penalty.

Rounding errors are bounded to first order: "doubts" say how far apart two exact methods may be
here, in units of each target's `scale`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from truerisk.core.frozen import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]


EPS = float(np.finfo(np.float64).eps)
CLEARLY = 10.0  # Multiple of the rounding error. A smaller direction may be nothing but rounding.
# Rounding of size s in a matrix of order m changes a form by about s/√m; this is a safety factor.
SPREAD = 4.0


@frozen(eq=False)
class Spectrum:
    """A decomposition: `vectors` (the basis), `values` d, `right` r (one column per target).

    `noise` times EPS is the rounding error of the decomposed matrix, and `noise_right` that of Z'T
    in units of the targets' scale (dual: of Zx). `of_rows` says that Z itself was decomposed, whose
    singular values are the roots of d. `rest` is the length of the part of each target outside the
    range of Z.
    """

    vectors: Doubles
    values: Doubles
    right: Doubles
    noise: float
    dual: bool = False
    of_rows: bool = False
    rest: Doubles | None = None
    noise_right: float = 0.0

    def over(self, penalties: Doubles) -> Doubles:
        """Return 1 / (d + a), one column per penalty."""
        return 1.0 / (self.values[:, None] + penalties)

    def stands(self, penalties: Doubles, least: float = 1.0) -> NDArray[np.bool_]:
        """Return a mask of penalties at which no direction is pure rounding error.

        The eigenvalues may shrink to `least` d. A column that is constant up to rounding has such a
        direction, with predictions as large as those of any other, so that every solver gets its
        own result.
        """
        smallest = np.maximum(least * self.values.min(initial=np.inf), 0.0) + penalties
        return (np.sqrt(smallest) if self.of_rows else smallest) > (CLEARLY * EPS * self.noise)

    def moved_by(self, test_rows: Doubles, solved: Doubles) -> Doubles:
        """Return how far rounding moves a prediction, where z and c have these lengths."""
        times = solved if self.dual else test_rows
        return EPS * (test_rows * self.noise * solved + times * self.noise_right)


@frozen(eq=False)
class Turned:
    """Rows in the basis of a spectrum, computed on request so that few stay in the cache.

    They are shifted by `shift` (in the basis) and, if there are `factors`, multiplied by them.
    """

    rows: Doubles
    vectors: Doubles
    shift: Doubles
    factors: Doubles | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, part: slice) -> Doubles:
        turned: Doubles = self.rows[part] @ self.vectors
        turned -= self.shift
        if self.factors is not None:
            turned *= self.factors[part, None]
        return turned

    def across(self, part: slice, out: Doubles) -> Doubles:
        """Write the same into `out`, one column per row, which is faster in BLAS."""
        rows = self.rows[part]
        turned: Doubles = np.matmul(self.vectors.T, rows.T, out=out[:, : len(rows)])
        turned -= self.shift[:, None]
        if self.factors is not None:
            turned *= self.factors[part]
        return turned

    @property
    def longest(self) -> float:
        """Upper bound on the length of the rows, without their factors."""
        squares = np.einsum("ij,ij->i", self.rows, self.rows)
        return float(np.sqrt(squares.max(initial=0.0)) + np.linalg.norm(self.shift))


def from_product(
    product: Doubles,
    right: Doubles,
    *,
    noise: float = 0.0,
    noise_right: float = 0.0,
    dual: bool = False,
) -> Spectrum:
    """Return the spectrum of Z'Z (right: Z'T) or of ZZ' (right: T); overwrite `product`.

    Only the lower triangle of a product in Fortran order is read. `noise` is the rounding error
    that each element of the product already has.
    """
    from scipy.linalg import eigh

    if not len(product):
        return Spectrum(product, np.empty(0), right, 0.0, dual)
    # Before SciPy 1.11, "evd" fails for a single element.
    driver = "evd" if len(product) > 1 else "ev"
    # LAPACK's memory order avoids a copy.
    product = product if product.flags.f_contiguous else product.T
    values, vectors = eigh(product, driver=driver, overwrite_a=True, check_finite=False)
    size = float(np.abs(values[[0, -1]]).max())
    noise += size * min(1.0, SPREAD / len(values) ** 0.5)
    right = vectors.T @ right
    return Spectrum(vectors, values, right, noise, dual, noise_right=noise_right)


def from_rows(
    Z: Doubles,
    T: Doubles,
    *,
    cutoff: float = 0.0,
    noise: float = 0.0,
) -> tuple[Spectrum, Doubles]:
    """Return the spectrum of Z'Z from Z itself, which keeps all digits.

    Also return all singular values of Z.

    Directions whose singular value is at most `cutoff` times the largest are left out.
    """
    from scipy.linalg import svd

    if not Z.size:
        nothing = np.empty(0)
        empty = np.empty((0, T.shape[1]))
        return Spectrum(np.empty((Z.shape[1], 0)), nothing, empty, 0.0, of_rows=True), nothing
    U, s, Vt = svd(Z, full_matrices=False, check_finite=False)
    retained = s > cutoff * s[0]
    along = U[:, retained].T @ T
    spectrum = Spectrum(
        vectors=Vt[retained].T,
        values=s[retained] ** 2,
        right=s[retained, None] * along,
        noise=float(s[0]) + noise,
        of_rows=True,
        rest=np.linalg.norm(T - U[:, retained] @ along, axis=0),
    )
    return spectrum, s


def contrasts(root: Doubles) -> Doubles:
    """Return the vector v of the reflection I − v v' that maps `root` onto the first axis.

    The other axes are contrasts: m − 1 coordinates that do not depend on the weighted mean.
    """
    v = root / np.linalg.norm(root)
    v[0] += 1.0  # Square roots of weights are not negative, so that nothing cancels.
    return v * (2.0 / (v @ v)) ** 0.5


def without_first(v: Doubles, rows: Doubles) -> Doubles:
    """Return the reflected rows except the first one, which are the contrasts."""
    return rows[1:] - np.multiply.outer(v[1:], v @ rows)


def answers_at(left: Doubles, spectrum: Spectrum, penalties: Doubles) -> Doubles:
    """Return `(penalty, row, target)`: Σ_j left_j right_j / (d_j + a)."""
    weights, right = spectrum.over(penalties), spectrum.right
    coefficients = weights[:, :, None] * right[:, None, :]
    r, n_penalties, n_targets = coefficients.shape
    answers = coefficients.reshape(r, n_penalties * n_targets).T @ left.T
    return answers.reshape(n_penalties, n_targets, len(left)).transpose(0, 2, 1)


def lengths_of_coefficients(spectrum: Spectrum, penalties: Doubles, scale: Doubles) -> Doubles:
    """Return the largest length of a target's coefficients w, for each penalty."""
    roots = np.sqrt(np.maximum(spectrum.values, 0.0))[:, None] if spectrum.dual else 1.0
    return longest((spectrum.right * roots / scale).T, spectrum, penalties)


def doubts_at(
    left: Doubles | Turned,
    length: float,
    spectrum: Spectrum,
    penalties: Doubles,
    scale: Doubles,
    *,
    enough: float = 0.0,
) -> Doubles:
    """Return how far rounding may move predictions for rows of at most this `length`.

    There is one value per penalty. A rough upper bound is returned if it is at most `enough`. A
    product with error E moves a prediction by z'E c, where z and c solve for the row and for the
    targets. Rows with error E move it by z'E'(residual) + (Zz)'E w, and by x'E'c if x lies outside
    the range of Z.
    """
    if not len(spectrum.values) or not len(left):
        return np.zeros(len(penalties))
    solved = longest((spectrum.right / scale).T, spectrum, penalties)
    if not spectrum.of_rows and enough > 0 and spectrum.values[0] >= 0:
        most = _length(left) / (spectrum.values[0] + penalties)
        rough: Doubles = spectrum.moved_by(most, solved)
        if (rough <= enough).all():
            return rough
    if isinstance(left, Turned):
        left = left[:]
    test_rows = longest(left, spectrum, penalties)
    if not spectrum.of_rows:
        return spectrum.moved_by(test_rows, solved)
    through, own = _dual_lengths(left, spectrum, penalties, scale)
    outside = penalties * own
    if spectrum.rest is not None:
        outside = outside + (spectrum.rest / scale).max()
    columns, reached = spectrum.vectors.shape
    beyond = length if reached < columns else 0.0
    return EPS * spectrum.noise * (test_rows * outside + through * solved + beyond * own)


def doubts_of_cholesky(
    left: Doubles,
    Q: Doubles,
    diagonal: Doubles,
    spectrum: Spectrum,
    penalties: Doubles,
    scale: Doubles,
    *,
    wide: bool,
) -> Doubles:
    """Bound the error of a Cholesky factor of the product, from the spectrum of the rows.

    Each element has an error of EPS √(g_ii g_jj), so that badly scaled columns do no harm.
    Collinearity does, and is measured by the variance inflation factors g_jj (G + aI)⁻¹_jj.
    `diagonal` is that of Z'Z, or that of ZZ' if `wide`: then ZZ' + aI is factored.
    """
    if not len(spectrum.values) or not len(left):
        return np.zeros(len(penalties))
    if wide:
        through, own = _dual_lengths(left, spectrum, penalties, scale)
        if spectrum.rest is not None and spectrum.rest.any():
            own = own + (spectrum.rest / scale).max() / np.maximum(penalties, EPS)
        return EPS * (float(diagonal.max()) + penalties) * through * own
    weights = spectrum.over(penalties)
    scaled = diagonal[:, None] + penalties
    squares = spectrum.vectors**2
    beyond = np.maximum(1.0 - squares.sum(axis=1), 0.0)[:, None]
    inverse = squares @ weights + beyond / np.maximum(penalties, EPS)
    inflation = (scaled * inverse).sum(axis=0)
    rows = np.sqrt((Q**2 @ (1.0 / scaled)).max(axis=0))
    worst = np.zeros(len(penalties))
    for target in (spectrum.right / scale).T:
        coefficients = spectrum.vectors @ (weights * target[:, None])
        worst = np.maximum(worst, np.sqrt((scaled * coefficients**2).sum(axis=0)))
    return EPS * inflation * rows * worst


def longest(coordinates: Doubles, spectrum: Spectrum, penalties: Doubles) -> Doubles:
    """Return the largest length of coordinates over d + a, for each penalty."""
    return np.sqrt((coordinates**2 @ spectrum.over(penalties) ** 2).max(axis=0))


def _length(left: Doubles | Turned) -> float:
    """Return an upper bound on the length of the longest row."""
    if isinstance(left, Turned):
        return left.longest
    return float(np.sqrt(np.einsum("ij,ij->i", left, left).max()))


def _dual_lengths(
    left: Doubles, spectrum: Spectrum, penalties: Doubles, scale: Doubles
) -> tuple[Doubles, Doubles]:
    """Return the lengths of Zz (the row's weights on training rows) and of c (the targets')."""
    s = np.sqrt(spectrum.values)
    through = longest(left * s, spectrum, penalties)
    return through, longest((spectrum.right / s[:, None] / scale).T, spectrum, penalties)
