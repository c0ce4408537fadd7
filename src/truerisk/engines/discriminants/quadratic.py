"""The quadratic discriminant engine: every `reg_param` and left-out row from one decomposition.

The scatter B of a class is decomposed once: (1 − r) B/n_c + r I has its axes for every r. If row i
of class c is left out, only that class changes. With d = x − m_c and a = n_c/(n_c − 1) its scatter
is B − a d d'. In the metric of (1 − r) B/(n_c − 1) + r I let t = d'd, and let g be the factor by
which d d' is subtracted there. Then the squared distance becomes a² t / (1 − g t), and the
determinant is multiplied by 1 − g t. If scikit-learn would complain of a rank, it is fitted itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.engines.discriminants.left_out import LeftOut
from truerisk.engines.discriminants.rule import is_number_in, priors_refusal, respond, undecided
from truerisk.engines.discriminants.scatter import (
    FLAT,
    Classes,
    Root,
    lengths,
    root_of,
    spectrum_of,
)
from truerisk.engines.settings import Group
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.plan.plan import Plan

LEAST_REMAINDER = 1e-5  # Minimum of 1 − leverage. At 0 the scatter without the row has no inverse.


@frozen
class QuadraticDiscriminants(OnePass):
    """Engine for QuadraticDiscriminantAnalysis and QuadraticDiscriminant, also in a pipeline.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.engines.LinearDiscriminants : Engine for linear discriminant analysis.

    Examples
    --------
    >>> import truerisk as tr
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> engine = tr.engines.QuadraticDiscriminants()
    >>> tr.estimate_risk(tr.models.QuadraticDiscriminant(), X, y, engine=engine).engine
    'quadratic'
    """

    name: ClassVar[str] = "quadratic"
    along: ClassVar[tuple[str, ...]] = ("reg_param",)
    weighted: ClassVar[bool] = False

    @override
    def learners(self) -> Sequence[type]:
        from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

        check_present("truerisk.models.discriminant_analysis")
        from truerisk.models.discriminant_analysis import QuadraticDiscriminant

        return QuadraticDiscriminantAnalysis, QuadraticDiscriminant

    @override
    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        return _setting_refusal(setting)

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        lengths = {len(s["priors"]) for s in family.settings if s["priors"] is not None}
        if lengths - {data.n_classes}:
            return f"there are {min(lengths)} priors, and y has {data.n_classes} classes."
        if family.is_piped:
            return None
        sizes, p = data.class_sizes, np.shape(data.X)[1]
        if sizes.min() <= p:
            few = data.label(int(sizes.argmin()))
            return f"the scatter of class {few!r} ({sizes.min()} rows, {p} columns) has no inverse."
        return None

    @override
    def answer_together(self, task: Task) -> np.ndarray:
        done = np.zeros(task.plan.n_fits, dtype=bool)
        out = LeftOut.from_plan(task.plan)
        if task.X is None or not len(out.fits):
            return done
        classes = Classes.from_rows(task.X, task.data.class_codes)
        shapes = _shapes(classes, task.group)
        if shapes is None:
            return done
        scores, sound = _without_each(classes, shapes, task.group.settings[0])
        at = classes.positions[out.rows]
        done[out.fits] = True
        for place in range(len(scores)):
            requested, trusted = out.asks(task, place), sound[place, at]
            settled = requested & trusted
            out.take(settled).answer(task, place, scores[place, at[settled]], classes.present)
            done[out.fits[requested & ~trusted]] = False
        return done

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        classes = Classes.from_rows(shown.X, shown.y, shown.times)
        setting = group.settings[0]
        shapes = _shapes(classes, group)
        priors = setting["priors"]
        if shapes is None or (priors is not None and len(priors) != len(classes.present)):
            return None
        answers = []
        open_ = ~np.all([shape.has_full_rank for shape in shapes], axis=0)
        for rows in tests:
            scores = np.stack([shape.log_densities(rows) for shape in shapes], axis=-1)
            scores += _log_priors(setting, classes.sizes)
            open_ |= undecided(scores, task.request).any(axis=1)
            answers.append(respond(scores, classes.present, task.request, task.data.n_classes))
        if open_.any():
            task.leave_open(shown.fit, group.candidates[open_])
        return answers


def _shapes(classes: Classes, group: Group) -> list[Shape] | None:
    """Return each class's distribution for every candidate; None if a class has no scatter."""
    if len(classes.present) < 2:
        return None
    regs = group.values("reg_param").astype(np.float64)
    setting = group.settings[0]
    shapes = [shape_of(classes, k, regs, setting) for k in range(len(classes.present))]
    return None if any(shape is None for shape in shapes) else [s for s in shapes if s is not None]


def _without_each(
    classes: Classes, shapes: list[Shape], setting: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's scores by every candidate's fit without it, and a mask of reliable ones.

    The rows are in the order of `classes.centred`.
    """
    sizes, n_classes = classes.sizes, len(shapes)
    full_rank = np.array([shape.has_full_rank for shape in shapes])
    scores = np.zeros((full_rank.shape[1], n_classes, len(classes.centred)))
    sound = np.zeros((len(scores), len(classes.centred)), dtype=bool)
    seen = np.empty((int(sizes.max()), classes.n_features))
    for of in range(n_classes):
        fewer = shapes[of].of_size(sizes[of] - 1)
        if fewer is None:
            continue
        block = classes.block(of)
        here = np.arange(n_classes) == of
        others = full_rank[~here].all(axis=0)
        log_priors = _log_priors(setting, sizes - here)
        for k, shape in enumerate(shapes):
            squares = shape.squares(classes.seen_from(k, of, seen))
            if k == of:
                densities, trusted = _without_own(fewer, squares)
                sound[:, block] = trusted & others[:, None]
            else:
                densities = shape.log_densities_of(squares)
            np.add(densities, log_priors[k], out=scores[:, k, block])
    return scores.transpose(0, 2, 1), sound


def _without_own(fewer: Shape, squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log densities of rows, each removed from its class, and a mask of reliable ones."""
    gained = (fewer.size + 1) / fewer.size
    own = fewer.distances(squares)
    remainder = (-gained * (1 - fewer.regs) / fewer.divisor)[:, None] * own
    remainder += 1
    enough = np.maximum(LEAST_REMAINDER, fewer.tol * CLEARLY / fewer.least_of_theirs)
    sound: np.ndarray = remainder > enough[:, None]
    if not sound.all():
        remainder[~sound] = 1
    own /= remainder
    own *= -(gained**2) / 2
    logs = np.log(remainder, out=remainder)
    logs += fewer.log_determinants[:, None]
    logs /= 2
    own -= logs
    return own, sound


def _log_priors(setting: Mapping[str, Any], sizes: np.ndarray) -> np.ndarray:
    priors = setting["priors"]
    return np.log(sizes / sizes.sum() if priors is None else np.asarray(priors))


def _setting_refusal(setting: Mapping[str, Any]) -> str | None:
    if setting.get("solver", "svd") != "svd":
        return f"solver={setting['solver']!r} is not 'svd'."
    if setting.get("shrinkage") is not None or setting.get("covariance_estimator") is not None:
        return "shrinkage or a covariance_estimator is given."
    if not is_number_in(setting["reg_param"], 0, 1):
        return f"reg_param={setting['reg_param']!r} does not lie between 0 and 1."
    if not is_number_in(setting["tol"], 0, np.inf):
        return f"tol={setting['tol']!r} is no tolerance."
    if setting.get("divisor", _theirs()) not in LESS:
        return f"divisor={setting['divisor']!r} is unknown."
    return priors_refusal(setting["priors"])


CLEARLY = 1 + 1e-6
LESS = {"n": 0, "n-1": 1}  # Difference between the number of rows and the divisor of this name.
SMALLEST = 1e-11  # Share of the scale of the largest column.
FEWEST = 1e-13  # Share of the largest eigenvalue. Smaller ones are rounding errors.


@frozen(eq=False)
class Shape:
    """Distribution of one class; row j of `weights` has the inverse variances for `regs[j]`.

    `values` are the eigenvalues of the scatter. They are all 1 if a root whitens it; `regs` is then
    0.
    """

    mean: np.ndarray
    size: float
    axes: np.ndarray | Root
    values: np.ndarray
    regs: np.ndarray
    setting: Mapping[str, Any]

    @property
    def tol(self) -> float:
        """The parameter `tol` of the group's first candidate."""
        return float(self.setting["tol"])

    @cached_property
    def divisor(self) -> float:
        """Number by which the scatter is divided."""
        return divisor_of(self.setting, self.size)

    def of_size(self, size: float) -> Shape | None:
        """Return the same scatter with another number of rows; None if there are too few."""
        if size <= len(self.mean):
            return None
        return Shape(self.mean, size, self.axes, self.values, self.regs, self.setting)

    @cached_property
    def weights(self) -> np.ndarray:
        """Inverse variances along the axes, one row for each regularisation."""
        return 1 / self._variances(self.divisor)

    @cached_property
    def log_determinants(self) -> np.ndarray:
        """Logarithm of the determinant of the covariance, for each regularisation."""
        logs: np.ndarray = np.log(self.weights)
        if isinstance(self.axes, Root):  # All weights are equal here.
            log_determinants: np.ndarray = self.axes.log_determinant - logs[:, 0] * len(self.mean)
        else:
            log_determinants = -logs.sum(axis=1)
        return log_determinants

    @cached_property
    def least_of_theirs(self) -> np.ndarray:
        """Lower bound on the eigenvalues of the covariance with scikit-learn's divisor."""
        theirs = divisor_of({}, self.size)
        if isinstance(self.axes, Root):
            least: np.ndarray = np.array([self.axes.least_unscaled / theirs])
        else:
            least = self._variances(theirs).min(axis=1)
        return least

    @cached_property
    def has_full_rank(self) -> np.ndarray:
        """Mask of candidates for which scikit-learn finds a covariance of full rank."""
        fine: np.ndarray = self.least_of_theirs > self.tol * CLEARLY
        if isinstance(self.axes, Root) and not fine.all():
            theirs = divisor_of({}, self.size)
            least = np.array([self.axes.least_unscaled_exactly() / theirs])
            fine = least > self.tol * CLEARLY
        return fine

    def squares(self, centred: np.ndarray) -> np.ndarray:
        """Return squared coordinates along the axes, or only their sum if a root whitens.

        The argument holds centred rows, which are overwritten.
        """
        if isinstance(self.axes, Root):
            white = self.axes.whiten(centred, overwrite=True)
            sums = lengths(white)
            return sums.reshape(-1, 1)
        turned: np.ndarray = centred @ self.axes
        turned *= turned
        return turned

    def log_densities_of(self, squares: np.ndarray) -> np.ndarray:
        """Return the log densities for every candidate, up to a common constant."""
        return -(self.distances(squares) + self.log_determinants[:, None]) / 2

    def distances(self, squares: np.ndarray) -> np.ndarray:
        """Return squared distances in the metric of every candidate."""
        weights = self.weights[:, :1] if isinstance(self.axes, Root) else self.weights
        return weights @ squares.T

    def log_densities(self, rows: np.ndarray) -> np.ndarray:
        """Compute the log density of each row under this class, up to a constant."""
        return self.log_densities_of(self.squares(rows - self.mean))

    def _variances(self, divisor: float) -> np.ndarray:
        regs = self.regs[:, None]
        return (1 - regs) * self.values / divisor + regs


def shape_of(
    classes: Classes, place: int, regs: np.ndarray, setting: Mapping[str, Any]
) -> Shape | None:
    """Return the shape of a class.

    It is None if its scatter cannot be inverted or has too few correct digits.
    """
    rows, mean = classes.of_class(place), classes.means[place]
    size, p = float(classes.sizes[place]), classes.n_features
    if len(rows) <= p:
        return None
    if len(regs) == 1 and regs[0] == 0:
        root = root_of(rows)
        if root is None or (root.scale <= size**0.5 * FLAT * classes.largest).any():
            return None
        # An SVD of the rows would lose this column.
        if root.scale.min() < SMALLEST * root.scale.max():
            return None
        return Shape(mean, size, root, np.ones(p), regs, setting)
    if (FLAT * classes.farthest) ** 2 > regs.min() and classes.is_flat(place):
        return None
    spectrum = spectrum_of(rows)
    if regs.min() == 0 and spectrum.values.min() <= FEWEST * spectrum.values.max():
        return None
    return Shape(mean, size, spectrum.vectors, spectrum.values, regs, setting)


def divisor_of(setting: Mapping[str, Any], size: float) -> float:
    """Return the divisor of the scatter of this number of rows."""
    return size - LESS[setting.get("divisor", _theirs())]


@cache
def _theirs() -> str:
    check_present("truerisk.models.discriminant_analysis")
    from truerisk.models.discriminant_analysis import divides_by_n

    return "n" if divides_by_n() else "n-1"
