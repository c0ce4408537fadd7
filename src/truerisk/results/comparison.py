"""Comparison of two learners on the same splits, with the assumptions of the test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, Protocol

from truerisk.core import formats, tables
from truerisk.core.arguments import check_number
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.results.door import load_from_package
from truerisk.results.interval import LOSS_SCALE, Interval, Scale
from truerisk.results.records import Count, FiniteFloat, NonNegative, Record, Share

# Largest half-width of an equivalence region. The square of a larger number may overflow.
LARGEST_ROPE = 1e150


def check_rope(rope: Any) -> None:
    """Raise BadArgument if `rope` is negative or too large.

    `rope` is half the width of a region of practical equivalence.
    """
    check_number("rope", rope, 0, LARGEST_ROPE, "it is half the width of a region, 0 or more")


class EquivalenceOptions(Protocol):
    """Options of a comparison: half-width of the equivalence region, and confidence level."""

    @property
    def rope(self) -> float:
        """Half the width of the region in which two risks are practically equal."""

    @property
    def confidence_level(self) -> float:
        """Confidence level of the intervals."""


@frozen
class Comparison(Record):
    """Comparison of two learners: the difference of their risks, a minus b.

    A negative difference of losses favours a; so does a positive difference of scores. Fields that
    a test does not provide are None.

    Parameters
    ----------
    test : str
        Name of the test.
    difference : float
        The risk of a minus that of b, on the scale of `scoring`.
    n_pairs : int
        The number of paired losses or splits.
    scoring : str, optional
        Name of the loss or score.
    std_error : float, optional
        The standard error of the difference.
    statistic : float, optional
        The test statistic.
    df : int or float, optional
        The degrees of freedom of the statistic.
    p_value : float, optional
        The two-sided p-value of the hypothesis that the two risks are equal.
    interval : Interval, optional
        The interval of the difference.
    rope : float, optional
        Risks that differ by at most this amount are practically equal.
    better : float, optional
        The posterior probability that a is better than b by more than `rope`.
    equivalent : float, optional
        The posterior probability that the two differ by at most `rope`.
    worse : float, optional
        The posterior probability that a is worse than b by more than `rope`.
    details : mapping of str to number, optional
        Further numbers of the test.
    assumed : tuple of str, optional
        The assumptions under which the numbers are valid.
    notes : tuple of str, optional
        What the data did not allow.
    names : tuple of str, default=("a", "b")
        The names of a and b.
    greater_is_better : bool, default=False
        True if the difference is one of scores.

    See Also
    --------
    compare : Compute a comparison.
    compare_many : Compare methods over many data sets.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_difficult(100, random_state=0)
    >>> a, b = (tr.estimate_risk(m, X, y) for m in (GaussianNB(), KNeighborsClassifier()))
    >>> c = tr.compare(a, b)
    >>> c.test, round(c.value, 2), c.exceeds_noise
    ('nadeau-bengio', 0.19, True)
    """

    schema: ClassVar[str] = "truerisk.comparison/2"
    derived: ClassVar[tuple[str, ...]] = ("value", "probability")

    test: str
    difference: FiniteFloat
    n_pairs: Count
    scoring: str | None = None
    std_error: NonNegative | None = None
    statistic: float | None = None
    df: int | float | None = None
    p_value: Share | None = None
    interval: Interval | None = None
    rope: NonNegative | None = None
    better: Share | None = None
    equivalent: Share | None = None
    worse: Share | None = None
    details: Mapping[str, int | float] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    names: tuple[str, str] = ("a", "b")
    greater_is_better: bool = False

    @property
    def flaw(self) -> tuple[str, str] | None:
        """Name and requirement of an invalid field, or None if all fields are valid.

        A field of a record that was read from a file may be invalid.
        """
        if self.probabilities is not None and self.rope is None:
            return "rope", "a number, as there are probabilities"
        return None

    @property
    def value(self) -> float:
        """The difference a minus b, on the scale of `scoring`."""
        return self.difference

    @property
    def probability(self) -> float | None:
        """Posterior probability that the apparently better learner is better by more than `rope`.

        It is None if the test has no posterior. If both learners have equal results, it is the
        probability that either is better.
        """
        return self.better if self._loss_difference <= 0 else self.worse

    @property
    def _loss_difference(self) -> float:
        """The difference of the two losses, a minus b: negative values favour a."""
        return -self.difference if self.greater_is_better else self.difference

    def of_scores(self, greater_is_better: bool = True) -> Comparison:
        """Convert the difference of two losses to the difference of the corresponding scores.

        The probabilities do not change, since they refer to the better rule.

        Parameters
        ----------
        greater_is_better : bool, default=True
            False returns the comparison unchanged.

        Returns
        -------
        Comparison
            The comparison on the scale of scores.
        """
        if not greater_is_better or self.greater_is_better:
            return self
        return replace(
            self,
            difference=0.0 - self.difference,
            statistic=None if self.statistic is None else 0.0 - self.statistic,
            interval=None if self.interval is None else self.interval.below(0.0),
            greater_is_better=True,
        )

    @property
    def exceeds_noise(self) -> bool:
        """True if 0 lies outside the interval; False if there is no interval."""
        return self.interval is not None and 0.0 not in self.interval

    @property
    def probabilities(self) -> dict[str, float] | None:
        """Posterior probabilities that a is better than b, practically equivalent, or worse."""
        if self.better is None or self.equivalent is None or self.worse is None:
            return None
        return {"better": self.better, "equivalent": self.equivalent, "worse": self.worse}

    def by_t(
        self, error: float, df: float, requested: EquivalenceOptions, interval: str
    ) -> Comparison:
        """Add the test, interval and posterior probabilities of the difference by Student's t.

        Parameters
        ----------
        error : float
            The standard error of the difference.
        df : float
            The degrees of freedom.
        requested : Equivalence
            The confidence level and the region of practical equivalence.
        interval : str
            Name of the interval.

        Returns
        -------
        Comparison
            The completed comparison.
        """
        from scipy.special import stdtr, stdtrit

        difference, loss_difference, rope = self.difference, self._loss_difference, requested.rope
        p_better = float(stdtr(df, (-rope - loss_difference) / error))
        p_worse = float(stdtr(df, (loss_difference - rope) / error))
        half_width = float(stdtrit(df, (1 + requested.confidence_level) / 2)) * error
        return replace(
            self,
            std_error=error,
            statistic=difference / error,
            df=df,
            p_value=float(2 * stdtr(df, -abs(difference / error))),
            interval=Interval(
                difference - half_width,
                difference + half_width,
                interval,
                requested.confidence_level,
            ),
            rope=rope,
            better=p_better,
            equivalent=max(1 - p_better - p_worse, 0.0),
            worse=p_worse,
        )

    def shows_worse(self, level: float) -> bool:
        """Return True if the one-sided interval at confidence `level` shows that a is worse than b.

        Parameters
        ----------
        level : float
            The confidence level.

        Returns
        -------
        bool
            True if 0 lies below the one-sided interval; False without a standard error.
        """
        from scipy.special import stdtrit

        if not self.std_error or self.df is None:
            return False
        return bool(self._loss_difference > stdtrit(self.df, level) * self.std_error)

    def noting(self, *notes: str) -> Comparison:
        """Return a copy of the comparison to which notes are added.

        Parameters
        ----------
        *notes : str
            The notes to add.

        Returns
        -------
        Comparison
            The comparison with these notes after its own.
        """
        return replace(self, notes=(*self.notes, *notes))

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the difference of the risks, with a line at 0 (needs matplotlib).

        The option `others` maps names to the further comparisons.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default new axes are made.
        **options
            Further options of the plot.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.
        """
        return load_from_package("estimate")(self, ax=ax, **options)

    def __str__(self) -> str:
        text_lines = [", ".join([self._headline(), *self._result_texts()])]
        text_lines += [f"  assumed: {sentence}" for sentence in self.assumed]
        return "\n".join(text_lines + [f"  note: {note}" for note in self.notes])

    def _headline(self) -> str:
        loss_text = "" if self.scoring is None or self.greater_is_better else f" ({self.scoring})"
        quantity = "risk" if self.scoring is None else self.scale.short_name(self.scoring)
        error_text = formats.format_uncertainty(self.std_error, self.interval)
        difference_text = f"{self.difference:+.4f}{loss_text}"
        return f"{self.test}: {quantity} {self._difference_label} {difference_text}{error_text}"

    @property
    def scale(self) -> Scale:
        """Scale of the two compared numbers: a loss or a score."""
        return Scale(1.0) if self.greater_is_better else LOSS_SCALE

    @property
    def _difference_label(self) -> str:
        """The text 'a − b', with the names of the two learners."""
        return " − ".join(formats.escape_and_truncate(name, 40) for name in self.names)

    def _result_texts(self) -> list[str]:
        sentences = []
        if self.statistic is not None:
            distribution = "z" if self.df is None else f"t({self.df:.3g})"
            sentences.append(f"{distribution} = {self.statistic:.3f}")
        if self.p_value is not None:
            sentences.append(f"p = {self.p_value:.4g}")
        if self.probabilities is not None:
            probabilities_text = ", ".join(
                f"{name} {p:.3f}" for name, p in self.probabilities.items()
            )
            first_name = formats.escape_and_truncate(self.names[0], 40)
            sentences.append(
                f"{first_name} is practically {probabilities_text} "
                f"(by more than {self.rope:.15g} or not)"
            )
        return sentences

    @override
    def blocks(self) -> list[tables.Block]:
        rows = [
            [f"difference {self._difference_label}", f"{self.difference:+.4f}"],
            ["standard error", formats.format_number(self.std_error)],
            ["interval", str(self.interval or "none")],
            ["statistic", formats.format_number(self.statistic)],
            ["p-value", "–" if self.p_value is None else f"{self.p_value:.4g}"],
        ]
        rows = [row for row in rows if row[1] != "–"]
        rows += [
            [
                f"P({formats.escape_and_truncate(self.names[0], 40)} {label})",
                formats.format_number(p),
            ]
            for label, p in (self.probabilities or {}).items()
        ]
        rows += [[name, f"{detail_value:g}"] for name, detail_value in self.details.items()]
        rows += [["assumed", sentence] for sentence in self.assumed]
        rows += [["note", note] for note in self.notes]
        return [tables.Block(f"Comparison ({self.test})", ["", ""], rows)]
