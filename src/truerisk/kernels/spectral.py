"""Ridge regression for all penalties at once, from one eigendecomposition of Z'Z or ZZ'.

Let Z'Z = V diag(d) V', where Z holds centred rows times the square roots of their weights, and let
T hold the targets. The prediction for a row x at penalty a is Σ_j l_j r_j / (d_j + a), where l =
V'x and r = V'Z'T. With ZZ' = V diag(d) V' the same holds for l = V'Zx and r = V'T ("dual"). One
decomposition therefore serves every penalty.

Rounding errors are bounded to first order. The bounds are called "doubts" and say by how much two
correct algorithms may differ, in units of each target's `scale`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from truerisk.core.frozen import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]


EPS = float(np.finfo(np.float64).eps)
# An eigenvalue below this multiple of its rounding error may be nothing but rounding error.
ROUNDING_SAFETY_FACTOR = 10.0
# Rounding errors of size s in an m × m matrix change an eigenvalue by about s/√m.
# This estimate is multiplied by EIGENVALUE_SAFETY_FACTOR.
EIGENVALUE_SAFETY_FACTOR = 4.0


@frozen(eq=False)
class Spectrum:
    """Eigendecomposition of Z'Z, or of ZZ' if `is_dual`, with the targets in the eigenvector basis.

    With the symbols of the module's docstring, `vectors` is V, `values` is d, and
    `target_coordinates` is r with one column per target. `matrix_rounding` times EPS is the
    rounding error of the decomposed matrix, and `target_rounding` times EPS that of Z'T in units of
    the targets' scale (dual: of Zx). `is_from_rows` says that Z itself was decomposed, whose
    singular values are the square roots of d. `residual_norms` is the length of the component of
    each target outside the range of Z.
    """

    vectors: Doubles
    values: Doubles
    target_coordinates: Doubles
    matrix_rounding: float
    is_dual: bool = False
    is_from_rows: bool = False
    residual_norms: Doubles | None = None
    target_rounding: float = 0.0

    def inverse_eigenvalues(self, penalties: Doubles) -> Doubles:
        """Return 1 / (eigenvalue + penalty), with one column per penalty."""
        return 1.0 / (self.values[:, None] + penalties)

    def is_reliable_at(
        self, penalties: Doubles, min_eigenvalue_share: float = 1.0
    ) -> NDArray[np.bool_]:
        """Return a mask of the penalties at which no eigenvalue may be mere rounding error.

        The eigenvalues may shrink to `min_eigenvalue_share` times their value. A column that is
        constant up to rounding causes such an eigenvalue. Its direction contributes as much to
        predictions as any other direction, so that every solver gets a different result.
        """
        smallest_eigenvalue = (
            np.maximum(min_eigenvalue_share * self.values.min(initial=np.inf), 0.0) + penalties
        )
        return (np.sqrt(smallest_eigenvalue) if self.is_from_rows else smallest_eigenvalue) > (
            ROUNDING_SAFETY_FACTOR * EPS * self.matrix_rounding
        )

    def rounding_bound(self, row_length: Doubles, solution_length: Doubles) -> Doubles:
        """Return a bound on the rounding error of predictions, from the lengths of z and c.

        The vectors z and c solve the system for the test row and for the targets.
        """
        other_length = solution_length if self.is_dual else row_length
        return EPS * (
            row_length * self.matrix_rounding * solution_length
            + other_length * self.target_rounding
        )


@frozen(eq=False)
class RowCoordinates:
    """Coordinates of rows in an eigenvector basis, computed when needed, block by block.

    The coordinates are reduced by `offset` and, if there are `row_factors`, each row is multiplied
    by its factor. Computing few rows at a time keeps them in the processor's cache.
    """

    rows: Doubles
    vectors: Doubles
    offset: Doubles
    row_factors: Doubles | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row_slice: slice) -> Doubles:
        coordinates: Doubles = self.rows[row_slice] @ self.vectors
        coordinates -= self.offset
        if self.row_factors is not None:
            coordinates *= self.row_factors[row_slice, None]
        return coordinates

    def write_transposed(self, row_slice: slice, buffer: Doubles) -> Doubles:
        """Write the transposed coordinates of a slice of rows into `buffer`, and return them.

        BLAS computes the transposed product faster.
        """
        rows = self.rows[row_slice]
        transposed_coordinates: Doubles = np.matmul(
            self.vectors.T, rows.T, out=buffer[:, : len(rows)]
        )
        transposed_coordinates -= self.offset[:, None]
        if self.row_factors is not None:
            transposed_coordinates *= self.row_factors[row_slice]
        return transposed_coordinates

    @property
    def max_norm(self) -> float:
        """Upper bound on the length of any row's coordinates, before `row_factors` are applied."""
        squared_lengths = np.einsum("ij,ij->i", self.rows, self.rows)
        return float(np.sqrt(squared_lengths.max(initial=0.0)) + np.linalg.norm(self.offset))


def decompose_product(
    product: Doubles,
    targets_product: Doubles,
    *,
    noise: float = 0.0,
    noise_right: float = 0.0,
    dual: bool = False,
) -> Spectrum:
    """Decompose the product Z'Z (with right: Z'T) or ZZ' (with right: T), overwriting `product`.

    Only the lower triangle of a product in Fortran order is read. `noise` is the rounding error
    that each element of the product already has.
    """
    from scipy.linalg import eigh

    if not len(product):
        return Spectrum(product, np.empty(0), targets_product, 0.0, dual)
    # Before SciPy 1.11, the driver "evd" fails for a 1 x 1 matrix.
    lapack_driver = "evd" if len(product) > 1 else "ev"
    # LAPACK needs column-major order. The transpose of a symmetric matrix has it without a copy.
    product = product if product.flags.f_contiguous else product.T
    eigenvalues, vectors = eigh(product, driver=lapack_driver, overwrite_a=True, check_finite=False)
    largest_eigenvalue = float(np.abs(eigenvalues[[0, -1]]).max())
    noise += largest_eigenvalue * min(1.0, EIGENVALUE_SAFETY_FACTOR / len(eigenvalues) ** 0.5)
    targets_product = vectors.T @ targets_product
    return Spectrum(vectors, eigenvalues, targets_product, noise, dual, target_rounding=noise_right)


def decompose_rows(
    Z: Doubles,
    T: Doubles,
    *,
    cutoff: float = 0.0,
    noise: float = 0.0,
) -> tuple[Spectrum, Doubles]:
    """Return the spectrum of Z'Z by an SVD of Z, which loses no digits, and all singular values.

    Directions whose singular value is at most `cutoff` times the largest singular value are left
    out of the spectrum.
    """
    from scipy.linalg import svd

    if not Z.size:
        empty_values = np.empty(0)
        empty_targets = np.empty((0, T.shape[1]))
        return Spectrum(
            np.empty((Z.shape[1], 0)), empty_values, empty_targets, 0.0, is_from_rows=True
        ), empty_values
    left_vectors, singular_values, right_vectors = svd(Z, full_matrices=False, check_finite=False)
    is_retained = singular_values > cutoff * singular_values[0]
    target_coordinates = left_vectors[:, is_retained].T @ T
    spectrum = Spectrum(
        vectors=right_vectors[is_retained].T,
        values=singular_values[is_retained] ** 2,
        target_coordinates=singular_values[is_retained, None] * target_coordinates,
        matrix_rounding=float(singular_values[0]) + noise,
        is_from_rows=True,
        residual_norms=np.linalg.norm(
            T - left_vectors[:, is_retained] @ target_coordinates, axis=0
        ),
    )
    return spectrum, singular_values


def contrast_reflection(root_weights: Doubles) -> Doubles:
    """Return the vector v of the reflection I − v v' that maps root weights onto the first axis.

    After the reflection, the other axes of m rows are contrasts: m − 1 coordinates that do not
    depend on the weighted mean.
    """
    reflection = root_weights / np.linalg.norm(root_weights)
    # This sum loses no digits by cancellation, because root weights are not negative.
    reflection[0] += 1.0
    return reflection * (2.0 / (reflection @ reflection)) ** 0.5


def contrast_rows(reflection: Doubles, rows: Doubles) -> Doubles:
    """Reflect rows by I − v v' and drop the first row, so that only contrasts remain."""
    return rows[1:] - np.multiply.outer(reflection[1:], reflection @ rows)


def predictions_at(coordinates: Doubles, spectrum: Spectrum, penalties: Doubles) -> Doubles:
    """Return the ridge predictions `(penalty, row, target)` for rows in the eigenvector basis.

    They are Σ_j l_j r_j / (d_j + a), with the symbols of the module's docstring.
    """
    inverse_eigenvalues, target_coordinates = (
        spectrum.inverse_eigenvalues(penalties),
        spectrum.target_coordinates,
    )
    coefficients = inverse_eigenvalues[:, :, None] * target_coordinates[:, None, :]
    n_directions, n_penalties, n_targets = coefficients.shape
    predictions = coefficients.reshape(n_directions, n_penalties * n_targets).T @ coordinates.T
    return predictions.reshape(n_penalties, n_targets, len(coordinates)).transpose(0, 2, 1)


def max_coefficient_norms(
    spectrum: Spectrum, penalties: Doubles, target_scales: Doubles
) -> Doubles:
    """Return, for each penalty, the length of the longest coefficient vector of any target."""
    root_eigenvalues = (
        np.sqrt(np.maximum(spectrum.values, 0.0))[:, None] if spectrum.is_dual else 1.0
    )
    return max_solution_norms(
        (spectrum.target_coordinates * root_eigenvalues / target_scales).T, spectrum, penalties
    )


def rounding_bounds_at(
    coordinates: Doubles | RowCoordinates,
    max_row_norm: float,
    spectrum: Spectrum,
    penalties: Doubles,
    target_scales: Doubles,
    *,
    sufficient_bound: float = 0.0,
) -> Doubles:
    """Return a bound per penalty on the rounding error of predictions.

    A rough upper bound is returned if it is at most `sufficient_bound`. Rounding errors E in the
    product change a prediction by z'E c, where z and c solve the system for the test row x and for
    the targets. Rounding errors E in the rows change it by z'E'(residual) + (Zz)'E w, where w are
    the coefficients, and by x'E'c if x lies outside the range of Z. No row is longer than
    `max_row_norm`.
    """
    if not len(spectrum.values) or not len(coordinates):
        return np.zeros(len(penalties))
    solution_length = max_solution_norms(
        (spectrum.target_coordinates / target_scales).T, spectrum, penalties
    )
    if not spectrum.is_from_rows and sufficient_bound > 0 and spectrum.values[0] >= 0:
        largest_row_solution = _length(coordinates) / (spectrum.values[0] + penalties)
        rough_bounds: Doubles = spectrum.rounding_bound(largest_row_solution, solution_length)
        if (rough_bounds <= sufficient_bound).all():
            return rough_bounds
    if isinstance(coordinates, RowCoordinates):
        coordinates = coordinates[:]
    row_solution_length = max_solution_norms(coordinates, spectrum, penalties)
    if not spectrum.is_from_rows:
        return spectrum.rounding_bound(row_solution_length, solution_length)
    row_weights_length, target_weights_length = _dual_lengths(
        coordinates, spectrum, penalties, target_scales
    )
    residual_length = penalties * target_weights_length
    if spectrum.residual_norms is not None:
        residual_length = residual_length + (spectrum.residual_norms / target_scales).max()
    n_columns, n_directions = spectrum.vectors.shape
    unexplained_length = max_row_norm if n_directions < n_columns else 0.0
    return (
        EPS
        * spectrum.matrix_rounding
        * (
            row_solution_length * residual_length
            + row_weights_length * solution_length
            + unexplained_length * target_weights_length
        )
    )


def cholesky_rounding_bounds(
    coordinates: Doubles,
    test_rows: Doubles,
    product_diagonal: Doubles,
    spectrum: Spectrum,
    penalties: Doubles,
    target_scales: Doubles,
    *,
    is_wide: bool,
) -> Doubles:
    """Bound scikit-learn's rounding error due to a Cholesky factor of the product of the rows.

    Each element of the product G has an error of EPS √(g_ii g_jj), so that badly scaled columns do
    no harm. Collinearity does harm, and is measured by the variance inflation factors
    g_jj (G + aI)⁻¹_jj. `product_diagonal` is the diagonal of Z'Z, or of ZZ' if `is_wide`: then
    ZZ' + aI is factored.
    """
    if not len(spectrum.values) or not len(coordinates):
        return np.zeros(len(penalties))
    if is_wide:
        row_weights_length, target_weights_length = _dual_lengths(
            coordinates, spectrum, penalties, target_scales
        )
        if spectrum.residual_norms is not None and spectrum.residual_norms.any():
            target_weights_length = target_weights_length + (
                spectrum.residual_norms / target_scales
            ).max() / np.maximum(penalties, EPS)
        return (
            EPS
            * (float(product_diagonal.max()) + penalties)
            * row_weights_length
            * target_weights_length
        )
    inverse_eigenvalues = spectrum.inverse_eigenvalues(penalties)
    penalised_diagonal = product_diagonal[:, None] + penalties
    squared_vectors = spectrum.vectors**2
    null_share = np.maximum(1.0 - squared_vectors.sum(axis=1), 0.0)[:, None]
    inverse_diagonal = squared_vectors @ inverse_eigenvalues + null_share / np.maximum(
        penalties, EPS
    )
    inflation = (penalised_diagonal * inverse_diagonal).sum(axis=0)
    row_lengths = np.sqrt((test_rows**2 @ (1.0 / penalised_diagonal)).max(axis=0))
    largest_coefficients = np.zeros(len(penalties))
    for target_coordinates in (spectrum.target_coordinates / target_scales).T:
        coefficients = spectrum.vectors @ (inverse_eigenvalues * target_coordinates[:, None])
        largest_coefficients = np.maximum(
            largest_coefficients, np.sqrt((penalised_diagonal * coefficients**2).sum(axis=0))
        )
    return EPS * inflation * row_lengths * largest_coefficients


def max_solution_norms(coordinates: Doubles, spectrum: Spectrum, penalties: Doubles) -> Doubles:
    """Return the largest length of a row of coordinates / (d + penalty), for each penalty."""
    return np.sqrt((coordinates**2 @ spectrum.inverse_eigenvalues(penalties) ** 2).max(axis=0))


def _length(coordinates: Doubles | RowCoordinates) -> float:
    """Return an upper bound on the Euclidean length of the longest row of coordinates."""
    if isinstance(coordinates, RowCoordinates):
        return coordinates.max_norm
    return float(np.sqrt(np.einsum("ij,ij->i", coordinates, coordinates).max()))


def _dual_lengths(
    coordinates: Doubles, spectrum: Spectrum, penalties: Doubles, target_scales: Doubles
) -> tuple[Doubles, Doubles]:
    """Return the lengths of Zz and c, the training rows' weights for a test row and the targets."""
    singular_values = np.sqrt(spectrum.values)
    row_weights_length = max_solution_norms(coordinates * singular_values, spectrum, penalties)
    return row_weights_length, max_solution_norms(
        (spectrum.target_coordinates / singular_values[:, None] / target_scales).T,
        spectrum,
        penalties,
    )
