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
from truerisk.plan.builder import PlanBuilder, leave_out
from truerisk.plan.plan import Plan
from truerisk.results.door import load_from_above
from truerisk.results.evaluation import Target
from truerisk.splitting.in_space import block_folds, blocks_of, rows_within, side_of


class InSpace(Averaged):
    """A method whose test sets are blocks of rows in space; each row is in one block."""

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
        return load_from_above("fold-map")(self, block, **options)


def check_length(name: str, given: Any, least: float | None = None) -> None:
    """Refuse a length that is not positive, or not at least `least`; None is accepted."""
    wanted = "positive" if least is None else f"at least {least:g}"
    fits = is_number(given) and np.isfinite(given) and (given > 0 or given == least)
    if given is not None and not fits:
        raise BadArgument(
            f"{mention(name, given)}: a length in the unit of {mention('block')} is wanted, "
            f"{wanted}."
        )


def named_numbers(**given: float | None) -> str:
    """Return the numbers as part of a method's name, without those that are None.

    >>> named_numbers(radius=0.5, size=None, folds=3), named_numbers(size=None)
    (' (radius 0.5, folds 3)', '')
    """
    named = ", ".join(f"{name} {value:.15g}" for name, value in given.items() if value is not None)
    return f" ({named})" if named else ""


def class_note(plan: Plan, data: Data) -> Plan:
    """Return the plan, and warn of a class that a model is tested on but has never seen."""
    # The warning is given once, for the whole data.
    if data.codes is None or data.row_ids is not None:
        return plan
    for q in range(plan.n_questions):
        seen = np.unique(data.codes_of(plan.train_rows(int(plan.fit[q]))[0]))
        lost = np.setdiff1d(data.codes_of(plan.test_rows(q)[0]), seen)
        if len(lost):
            warn(
                f"all rows of class {data.label(int(lost[0]))!r} lie in or near the blocks of fold "
                f"{int(plan.fold[q])}: its model never saw the class and is tested on it. Use "
                "smaller blocks or a smaller radius, or merge classes.",
                TrueRiskWarning,
            )
            break
    return plan


@frozen
class Blocks(InSpace):
    """K folds of whole blocks: each fold is tested by the model fitted on the rows of the others.

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
        return f"blocks-{self.k}{named_numbers(size=self.size)}"

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
        folds = block_folds(data, self.k, self.size, rng, stratify=self.stratify)
        return class_note(leave_out(data.n_rows, [folds]), data)


@frozen
class Buffered(InSpace):
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
        check_length("radius", self.radius, least=0)
        check_length("size", self.size)
        if self.k is not None:
            check_count("k", self.k, 2, "folds of blocks need a whole number K >= 2, or None")

    @property
    @override
    def name(self) -> str:
        return f"buffered{named_numbers(folds=self.k, radius=self.radius, size=self.size)}"

    @property
    @override
    def bias(self) -> str:
        apart = "the side of a cell" if self.radius is None else f"{self.radius:.15g}"
        return (
            f"the risk at places further than {apart} from all training rows: pessimistic for "
            "nearer places, and by the rows that the buffer takes from training"
        )

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        side = side_of(data, self.size)  # labels are refused here
        radius = side if self.radius is None else float(self.radius)
        folds = blocks_of(data, self.size)
        if self.k is not None:
            rng = streams.get("folds")
            folds = block_folds(data, self.k, self.size, rng, stratify=True)
        builder = PlanBuilder(data.n_rows)
        for fold, block in enumerate(builder.partition(folds)):
            tested = np.flatnonzero(folds == fold)
            near = rows_within(data, tested, radius)
            if len(tested) + len(near) == data.n_rows:
                raise BadData(
                    f"radius={radius:g} leaves no row to train on when block {fold} is tested, "
                    f"with {len(tested)} of {data.n_rows} rows: give a smaller radius."
                )
            minus = (block, builder.block(near)) if len(near) else (block,)
            builder.ask(train=(ALL, minus), test=(block, ()), fold=fold)
        return class_note(builder.build(), data)
