"""Penalised least squares in the basis that makes it diagonal: all penalties at once.

With Z'Z = V diag(d) V' (Z: centred rows times the roots of their weights) the answer about a row x
at penalty a is Σ_j l_j r_j / (d_j + a), where l = V'x and r = V'Z'T; with ZZ' = V diag(d) V' the
same holds for l = V'Zx and r = V'T ("dual"). So one decomposition answers every penalty.

Rounding is not guessed: doubts say how far two exact methods may be apart here, to first order,
in units of each target's `scale`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from truerisk.core.frozen import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]


EPS = float(np.finfo(np.float64).eps)
CLEARLY = 10.0  # times its own rounding: a direction that is less may be nothing but rounding
SPREAD = 4.0  # rounding of size s in a matrix of order m moves a form by about s/√m: so many times


@frozen(eq=False)
class Spectrum:
    """A decomposition: `vectors` (the basis), `values` d, `right` r (one column per target).

    `noise` times EPS is the rounding of what was decomposed, `noise_right` that of Z'T in units of
    the targets' scale (dual: of Zx). `of_rows`: that was Z itself, whose
    singular values are roots of d; `rest` is the length of each target outside of its reach.
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
        """1 / (d + a), a column per penalty."""
        return 1.0 / (self.values[:, None] + penalties)

    def stands(self, penalties: Doubles, least: float = 1.0) -> NDArray[np.bool_]:
        """At which penalties no direction is rounding alone, with d no smaller than `least` d.

        A column that is constant but for rounding has such a direction, and answers that are as
        large as those of any other: what a solver makes of it is its own.
        """
        smallest = np.maximum(least * self.values.min(initial=np.inf), 0.0) + penalties
        return (np.sqrt(smallest) if self.of_rows else smallest) > (CLEARLY * EPS * self.noise)

    def moved_by(self, asked: Doubles, solved: Doubles) -> Doubles:
        """How far rounding moves an answer, where z and c have these lengths."""
        times = solved if self.dual else asked
        return EPS * (asked * self.noise * solved + times * self.noise_right)


@frozen(eq=False)
class Turned:
    """Rows in the basis of a spectrum, made when some are asked for: few stay in the cache.

    They are moved by `shift` (in the basis) and, where there are `factors`, each times its own.
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
        """The same, a column per row, written into `out`: BLAS is quicker at it."""
        rows = self.rows[part]
        turned: Doubles = np.matmul(self.vectors.T, rows.T, out=out[:, : len(rows)])
        turned -= self.shift[:, None]
        if self.factors is not None:
            turned *= self.factors[part]
        return turned

    @property
    def longest(self) -> float:
        """No row is longer, but for its factor."""
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
    """The spectrum of Z'Z (right: Z'T) or of ZZ' (right: T); `product` is overwritten.

    Of a product in Fortran's order the lower triangle alone is read.
    `noise` is the rounding that each element of the product already carries.
    """
    from scipy.linalg import eigh

    if not len(product):
        return Spectrum(product, np.empty(0), right, 0.0, dual)
    driver = "evd" if len(product) > 1 else "ev"  # before SciPy 1.11, "evd" fails on one element
    product = product if product.flags.f_contiguous else product.T  # LAPACK's order: no copy
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
    """The spectrum of Z'Z from Z itself, which keeps all digits; and all singular values of Z.

    Directions whose singular value is at most `cutoff` times the largest are left out.
    """
    from scipy.linalg import svd

    if not Z.size:
        nothing = np.empty(0)
        empty = np.empty((0, T.shape[1]))
        return Spectrum(np.empty((Z.shape[1], 0)), nothing, empty, 0.0, of_rows=True), nothing
    U, s, Vt = svd(Z, full_matrices=False, check_finite=False)
    kept = s > cutoff * s[0]
    along = U[:, kept].T @ T
    spectrum = Spectrum(
        vectors=Vt[kept].T,
        values=s[kept] ** 2,
        right=s[kept, None] * along,
        noise=float(s[0]) + noise,
        of_rows=True,
        rest=np.linalg.norm(T - U[:, kept] @ along, axis=0),
    )
    return spectrum, s


def contrasts(root: Doubles) -> Doubles:
    """The vector v of the reflection I − v v' that turns `root` onto the first axis.

    What it leaves on the other axes are contrasts: m − 1 coordinates free of the weighted mean.
    """
    v = root / np.linalg.norm(root)
    v[0] += 1.0  # roots of weights are not negative: nothing cancels
    return v * (2.0 / (v @ v)) ** 0.5


def without_first(v: Doubles, rows: Doubles) -> Doubles:
    """The reflected rows but the first: those of the contrasts."""
    return rows[1:] - np.multiply.outer(v[1:], v @ rows)


def answers_at(left: Doubles, spectrum: Spectrum, penalties: Doubles) -> Doubles:
    """`(penalty, row, target)`: Σ_j left_j right_j / (d_j + a)."""
    weights, right = spectrum.over(penalties), spectrum.right
    coefficients = weights[:, :, None] * right[:, None, :]
    r, n_penalties, n_targets = coefficients.shape
    answers = coefficients.reshape(r, n_penalties * n_targets).T @ left.T
    return answers.reshape(n_penalties, n_targets, len(left)).transpose(0, 2, 1)


def lengths_of_coefficients(spectrum: Spectrum, penalties: Doubles, scale: Doubles) -> Doubles:
    """For each penalty the largest length of a target's coefficients w."""
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
    """For each penalty how far rounding may move answers; rows are at most of this `length`.

    A rough upper bound is returned where it is `enough` (no larger than that).

    A product that is off by E moves an answer by z'E c, where z and c solve for the row and for
    the targets; rows that are off by E move it by z'E'(residual) + (Zz)'E w, and by x'E'c where x
    lies outside of their reach.
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
    asked = longest(left, spectrum, penalties)
    if not spectrum.of_rows:
        return spectrum.moved_by(asked, solved)
    through, own = _dual_lengths(left, spectrum, penalties, scale)
    outside = penalties * own
    if spectrum.rest is not None:
        outside = outside + (spectrum.rest / scale).max()
    columns, reached = spectrum.vectors.shape
    beyond = length if reached < columns else 0.0
    return EPS * spectrum.noise * (asked * outside + through * solved + beyond * own)


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
    """How far off a Cholesky factor of the product may be, seen from the spectrum of the rows.

    It is right to EPS in each element, √(g_ii g_jj), so badly scaled columns do not hurt it; what
    does is collinearity, which the variance inflation factors g_jj (G + aI)⁻¹_jj tell. `diagonal`
    is that of Z'Z, or of ZZ' where `wide`: then ZZ' + aI is what is factored.
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
    """For each penalty the largest length of coordinates over d + a."""
    return np.sqrt((coordinates**2 @ spectrum.over(penalties) ** 2).max(axis=0))


def _length(left: Doubles | Turned) -> float:
    """Of the longest row, or a little more."""
    if isinstance(left, Turned):
        return left.longest
    return float(np.sqrt(np.einsum("ij,ij->i", left, left).max()))


def _dual_lengths(
    left: Doubles, spectrum: Spectrum, penalties: Doubles, scale: Doubles
) -> tuple[Doubles, Doubles]:
    """Lengths of Zz (the row's weights on the training rows) and of c (the targets' ones)."""
    s = np.sqrt(spectrum.values)
    through = longest(left * s, spectrum, penalties)
    return through, longest((spectrum.right / s[:, None] / scale).T, spectrum, penalties)
