"""Splits in space: whole blocks are left out, with or without a buffer around them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Streams
from truerisk.core.arguments import check_count, check_flag, is_number, mention
from truerisk.core.errors import BadArgument, BadData, TrueRiskWarning, warn
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Average, Loss, check_average
from truerisk.methods.parts.averages import Averaged
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder, plan_leave_one_fold_out
from truerisk.plan.plan import Plan
from truerisk.results.door import load_from_package
from truerisk.results.evaluation import Target
from truerisk.splitting.in_space import (
    draw_block_folds,
    resolve_cell_side,
    rows_within_radius,
    spatial_blocks,
)


class SpatialMethod(Averaged):
    """Base class of methods whose test sets are blocks in space; each row is in one block."""

    target: ClassVar[Target] = "Err"
    respects_space: ClassVar[bool] = True

    average: Average | None

    @override
    def average_of(self, loss: Loss) -> Average:
        return loss.averaged(self.average)

    def plot(self, block: Any, **options: Any) -> Any:
        """Draw a split of rows with these coordinates on a map, and return its axes.

        The options are those of `truerisk.report.plots.fold_map.draw_fold_map`: `y` as given to an
        estimate, `fold` (None for all at once), `random_state`, `ax`.

        Parameters
        ----------
        block : array, shape (n_rows, 2)
            The coordinates of the rows.
        **options
            Further options of the plot.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.
        """
        return load_from_package("fold-map")(self, block, **options)


def check_length(name: str, length: Any, minimum: float | None = None) -> None:
    """Raise BadArgument unless a length is None, positive, or equal to `minimum`."""
    requirement = "positive" if minimum is None else f"at least {minimum:g}"
    is_valid = is_number(length) and np.isfinite(length) and (length > 0 or length == minimum)
    if length is not None and not is_valid:
        raise BadArgument(
            f"{mention(name, length)}: a length in the unit of {mention('block')} is wanted, "
            f"{requirement}."
        )


def name_suffix(**numbers: float | None) -> str:
    """Format numbers as a suffix of a method's name, omitting those that are None.

    >>> name_suffix(radius=0.5, size=None, folds=3), name_suffix(size=None)
    (' (radius 0.5, folds 3)', '')
    """
    text = ", ".join(f"{name} {value:.15g}" for name, value in numbers.items() if value is not None)
    return f" ({text})" if text else ""


def warn_of_unseen_class(plan: Plan, data: Data) -> Plan:
    """Warn if a test set has a class that its training set lacks; return the plan unchanged."""
    # A plan of a subset of the data, such as an outer training set, causes no further warning.
    if data.codes is None or data.row_ids is not None:
        return plan
    for test_set in range(plan.n_questions):
        training_classes = np.unique(data.codes_of(plan.train_rows(int(plan.fit[test_set]))[0]))
        unseen_classes = np.setdiff1d(data.codes_of(plan.test_rows(test_set)[0]), training_classes)
        if len(unseen_classes):
            warn(
                f"all rows of class {data.label(int(unseen_classes[0]))!r} lie in or near the "
                f"blocks of fold {int(plan.fold[test_set])}: its model never saw the class and is "
                "tested on it. Use smaller blocks or a smaller radius, or merge classes.",
                TrueRiskWarning,
            )
            break
    return plan


@frozen
class Blocks(SpatialMethod):
    """K folds of whole blocks: each fold is tested by the model fitted on the other folds.

    Rows near each other are similar, so that a model trained on the neighbours of a row is tested
    on something that it half knows. `block=` gives the places of the rows. For coordinates, the
    blocks are the cells of a grid of side `size` (None: 25 squares cover the bounding box), which
    is stretched so that whole cells cover the box, as in verde. For labels, each label is a block.
    A group is merged with all cells that it reaches into. Blocks are assigned to folds of about
    equal size, with `stratify` balanced by class as well.

    Roberts DR et al. (2017). Cross-validation strategies for data with temporal, spatial,
    hierarchical, or phylogenetic structure. Ecography 40:913–929.

    Parameters
    ----------
    k : int, default=5
        The number of folds.
    size : float, optional
        The side of the cells, if `block=` gives coordinates. By default 25 squares cover the
        bounding box.
    stratify : bool, default=True
        If True, each part has about the same shares of the classes.
    average : {"pooled", "fold"}, optional
        How the tests are averaged: over all rows together ("pooled"), or first within each fold
        ("fold"). By default as the loss requires.

    See Also
    --------
    truerisk.methods.Buffered : Blocks without the rows near them.
    truerisk.methods.KFold : K-fold cross-validation.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_field(200, random_state=0)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, block=X[:, :2], cv=tr.methods.Blocks()))
    risk 0.2700 (zero-one, blocks-5), 95 % interval [0.1368, 0.4634] (spatial)
    """

    k: int = 5
    size: float | None = None
    stratify: bool = True
    average: Average | None = None

    has_folds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_average(self.average)
        check_count("k", self.k, 2, "folds of blocks need a whole number K >= 2")
        check_length("size", self.size)
        check_flag("stratify", self.stratify)

    @property
    @override
    def name(self) -> str:
        return f"blocks-{self.k}{name_suffix(size=self.size)}"

    @property
    @override
    def bias(self) -> str:
        return (
            f"the risk at places outside the training blocks, by {self.k - 1}/{self.k} of the "
            "rows: pessimistic for places among the training rows, optimistic for places further "
            "from them than a block reaches"
        )

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        rng = streams.get("folds")
        folds = draw_block_folds(data, self.k, self.size, rng, stratify=self.stratify)
        return warn_of_unseen_class(plan_leave_one_fold_out(data.n_rows, [folds]), data)


@frozen
class Buffered(SpatialMethod):
    """Each block is tested by the model fitted on all rows further than `radius` from it.

    The blocks are those of `Blocks`, left out one by one, or in `k` folds. No training row lies
    within `radius` of a test row (None: the side of a cell). `block=` must hold coordinates, and
    distances are Euclidean in their unit.

    Le Rest K et al. (2014). Spatial leave-one-out cross-validation for variable selection in the
    presence of spatial autocorrelation. Global Ecology and Biogeography 23:811–820.

    Parameters
    ----------
    radius : float, optional
        The distance between training and test rows. By default the side of a cell.
    k : int, optional
        The number of folds of blocks. By default blocks are left out one by one.
    size : float, optional
        The side of the cells, if `block=` gives coordinates. By default 25 squares cover the
        bounding box.
    average : {"pooled", "fold"}, optional
        How the tests are averaged: over all rows together ("pooled"), or first within each fold
        ("fold"). By default as the loss requires.

    See Also
    --------
    truerisk.methods.Blocks : Folds of whole blocks in space.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_field(200, random_state=0)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, block=X[:, :2], cv=tr.methods.Buffered(k=5)))
    risk 0.3000 (zero-one, buffered (folds 5)), 95 % interval [0.1979, 0.4268] (spatial)
    """

    radius: float | None = None
    k: int | None = None
    size: float | None = None
    average: Average | None = None

    def __post_init__(self) -> None:
        check_average(self.average)
        check_length("radius", self.radius, minimum=0)
        check_length("size", self.size)
        if self.k is not None:
            check_count("k", self.k, 2, "folds of blocks need a whole number K >= 2, or None")

    @property
    @override
    def name(self) -> str:
        return f"buffered{name_suffix(folds=self.k, radius=self.radius, size=self.size)}"

    @property
    @override
    def bias(self) -> str:
        distance_text = "the side of a cell" if self.radius is None else f"{self.radius:.15g}"
        return (
            f"the risk at places further than {distance_text} from all training rows: pessimistic "
            "for nearer places, and by the rows that the buffer takes from training"
        )

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        cell_side = resolve_cell_side(data, self.size)  # This call raises if the blocks are labels.
        radius = cell_side if self.radius is None else float(self.radius)
        folds = spatial_blocks(data, self.size)
        if self.k is not None:
            rng = streams.get("folds")
            folds = draw_block_folds(data, self.k, self.size, rng, stratify=True)
        builder = PlanBuilder(data.n_rows)
        for fold, block in enumerate(builder.partition(folds)):
            test_rows = np.flatnonzero(folds == fold)
            near_rows = rows_within_radius(data, test_rows, radius)
            if len(test_rows) + len(near_rows) == data.n_rows:
                raise BadData(
                    f"radius={radius:g} leaves no row to train on when block {fold} is tested, "
                    f"with {len(test_rows)} of {data.n_rows} rows: give a smaller radius."
                )
            left_out_blocks = (block, builder.block(near_rows)) if len(near_rows) else (block,)
            builder.ask(train=(ALL, left_out_blocks), test=(block, ()), fold=fold)
        return warn_of_unseen_class(builder.build(), data)
