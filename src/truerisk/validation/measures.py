"""Performance measures by name, and their versions: apparent, honest and optimism-corrected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

from truerisk.core import formats, tables
from truerisk.core.errors import BriefRepr
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import lookup
from truerisk.results.interval import Interval, interval_ends, t_quantile
from truerisk.results.records import Count, FiniteFloat, NonNegative, Record

OVERLAP_NOTE = (
    "the interval treats the rows as tests of one model; it does not account for the fact that "
    "every fold had a model of its own, trained on overlapping rows."
)


@frozen
class Measure:
    """Title of a performance measure, and the part of a validation that it belongs to."""

    title: str
    part: Literal["discrimination", "calibration"]


MEASURES: Mapping[str, Measure] = {
    "auc": Measure("AUC", "discrimination"),
    "average-precision": Measure("average precision", "discrimination"),
    "concordance": Measure("Harrell's C", "discrimination"),
    "uno": Measure("Uno's C", "discrimination"),
    "r2": Measure("R²", "discrimination"),
    "d": Measure("D", "discrimination"),
    "oe": Measure("O/E", "calibration"),
    "intercept": Measure("intercept", "calibration"),
    "slope": Measure("slope", "calibration"),
    "in-the-large": Measure("in the large", "calibration"),
    "cox-slope": Measure("Cox slope", "calibration"),
    "u": Measure("U", "calibration"),
    "q": Measure("Q", "calibration"),
    "explained": Measure("R²", "calibration"),
    "squared": Measure("squared error", "calibration"),
    "brier": Measure("Brier", "calibration"),
    "scaled-brier": Measure("scaled Brier", "calibration"),
    "ici": Measure("ICI", "calibration"),
    "e50": Measure("E50", "calibration"),
    "e90": Measure("E90", "calibration"),
    "emax": Measure("Emax", "calibration"),
}

SANDWICH, SANDWICH_PAIRS, SANDWICH_SETTING = "sandwich", "sandwich-pairs", "sandwich-setting"
FINAL_MODEL_INTERVALS = (SANDWICH_PAIRS, SANDWICH_SETTING)
"""Names of intervals around an estimate for the final model, not around the held-out value."""

RANK_MEASURES = ("auc", "average-precision")
_LINE_MEASURES, _CURVE_MEASURES = (
    ("intercept", "slope", "in-the-large"),
    ("ici", "e50", "e90", "emax"),
)
_BRIER_MEASURES = ("brier", "scaled-brier")
EVENT_MEASURES = (
    *(*RANK_MEASURES, "r2", "d", *_LINE_MEASURES, "u", "q"),
    *(*_BRIER_MEASURES, *_CURVE_MEASURES),
)
NUMERIC_MEASURES = ("explained", "squared", *_LINE_MEASURES, *_CURVE_MEASURES)

TABLE_HEADER = [
    "",
    "honest",
    "low",
    "high",
    "apparent",
    "training",
    "test",
    "optimism",
    "corrected",
    "n",
]
# The training rows of a finished model are unknown, and nothing was held out from its fit.
FINISHED_TABLE_HEADER = ["", "value", "low", "high"]


@frozen
class Measured(Record):
    """A measure on held-out rows (`honest`) with its interval, and its other versions.

    `apparent` is the value of the final model on its own training rows. `training` and `test` are
    means over `n` bootstrap samples of the whole procedure, on the sample and on all rows. What
    does not exist is None, and `reason` says why.
    """

    derived: ClassVar[tuple[str, ...]] = ("optimism", "corrected")

    word: str
    honest: FiniteFloat | None = None
    std_error: NonNegative | None = None
    interval: Interval | None = None
    apparent: FiniteFloat | None = None
    training: FiniteFloat | None = None
    test: FiniteFloat | None = None
    n: Count = 0
    reason: str | None = None

    @property
    def flaw(self) -> tuple[str, str] | None:
        """Reason why a record read from a file is invalid, or None."""
        return None if self.word in MEASURES else ("word", "the word of a measure")

    @property
    def value(self) -> float | None:
        """Value of the measure on held-out rows."""
        return self.honest

    @property
    def of_final_model(self) -> float | None:
        """Estimate of the final model's value; None unless the interval is around it.

        Intervals of slopes and intercepts are around a jackknife estimate for the model of all
        rows, or around the value of models with its setting, and not around the held-out value.
        """
        if self.interval is None or self.interval.method not in FINAL_MODEL_INTERVALS:
            return None
        return (self.interval.low + self.interval.high) / 2

    @property
    def title(self) -> str:
        """Name of the measure in printed tables."""
        return MEASURES[self.word].title

    @property
    def optimism(self) -> float | None:
        """Optimism, training − test as in rms: how much better a fit looks on its own rows."""
        if self.training is None or self.test is None:
            return None
        return self.training - self.test

    @property
    def corrected(self) -> float | None:
        """Optimism-corrected value, apparent − optimism; None if one of them is unknown."""
        if self.apparent is None or self.optimism is None:
            return None
        return self.apparent - self.optimism

    @override
    def blocks(self) -> list[tables.Block]:
        return [tables.Block(self.title, TABLE_HEADER, [self.cells])]

    @property
    def cells(self) -> list[str]:
        """Formatted cells of the measure's row in a table."""
        honest_numbers = (self.honest, *interval_ends(self.interval))
        bootstrap_numbers = (self.apparent, self.training, self.test, self.optimism, self.corrected)
        row_numbers = (*honest_numbers, *bootstrap_numbers)
        return [
            self.title,
            *map(formats.format_number, row_numbers),
            str(self.n) if self.n else "–",
        ]


def sandwich_measure(
    word: str, value: float, std_error: float, confidence_level: float, degrees: float
) -> Measured:
    """Return a measure with its interval by a sandwich standard error and Student's t."""
    half_width = t_quantile(confidence_level, degrees) * std_error
    interval = Interval(value - half_width, value + half_width, SANDWICH, confidence_level)
    return Measured(word, value, std_error, interval)


class MeasuresByName(dict[str, Measured], BriefRepr):
    """Measures by name, which are printed, and shown in a notebook, as a table."""

    @property
    def _table(self) -> tables.Block:
        header = _table_header(self)
        rows = [[name, *measure.cells[1 : len(header)]] for name, measure in self.items()]
        return tables.Block("Measures", ["name", *header[1:]], rows)

    def __str__(self) -> str:
        return self._table.text

    def _repr_html_(self) -> str:
        return self._table.html


def _table_header(measures: Mapping[str, Measured]) -> list[str]:
    """Return the columns of a table of measures, which are fewer for a finished model."""
    was_fitted = any(measure.apparent is not None for measure in measures.values())
    return TABLE_HEADER if was_fitted else FINISHED_TABLE_HEADER


class MeasuredPart(Record):
    """A part of a validation whose `measures` are found by name and printed as a table."""

    measures: Mapping[str, Measured]

    def __getitem__(self, name: str) -> Measured:
        return lookup(name, self.measures)

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __str__(self) -> str:
        table, *_ = self.blocks()
        return "\n".join([table.text, *(f"  – {reason}" for reason in self.reasons)])

    @override
    def blocks(self) -> list[tables.Block]:
        header = _table_header(self.measures)
        rows = [measure.cells[: len(header)] for measure in self.measures.values()]
        table = tables.Block("Measures", header, rows)
        reasons = tables.Block("", [""], [[reason] for reason in self.reasons])
        return [table, *([reasons] if reasons.rows else [])]

    @property
    def reasons(self) -> list[str]:
        """Distinct reasons why values of measures are missing."""
        return list(
            dict.fromkeys(measure.reason for measure in self.measures.values() if measure.reason)
        )


def format_rounded(value: float, *other_numbers: float) -> str:
    """Format a number for a sentence with three decimals: a fourth is noise for some hundred rows.

    If it and the numbers next to it would be printed as 0.000, it has two significant digits.

    >>> (
    ...     format_rounded(0.78912),
    ...     format_rounded(0.0004, 0.2),
    ...     format_rounded(0.000412, 0.0031),
    ...     format_rounded(54321.9),
    ... )
    ('0.789', '0.000', '0.00041', '5.432e+04')
    """
    largest_number = max(map(abs, (value, *other_numbers)))
    return (
        f"{value:.2g}"
        if 0 < largest_number < 0.005
        else formats.format_number(value, 3 if largest_number < 1000 else 4)
    )
