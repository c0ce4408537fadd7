"""What an assessment found: a frozen value that prints, concludes, draws, and becomes JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from truerisk.assessment.conclusion import call_findings_of, conclude
from truerisk.assessment.constant_risk import constant_risk
from truerisk.assessment.door import load_part
from truerisk.assessment.families import by_text, ranked
from truerisk.assessment.schedule import Schedule
from truerisk.assessment.tested_learners import TestedLearners, refuse_unassessed
from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.contracts import Fits
from truerisk.core import present
from truerisk.core.errors import Refusal
from truerisk.core.present import frame_of_rows, percent, signed
from truerisk.estimation.problem import Problem
from truerisk.results.door import load_from_above
from truerisk.results.finding import Finding
from truerisk.results.interval import Bounded, Interval, honest_numbers_of

if TYPE_CHECKING:
    from truerisk.results.bounds import HonestNumber
    from truerisk.results.roc import RocCurve

HEAD = (
    *("learner", "chosen setting", "selected", "honest", "interval"),
    *("best?", "optimism", "fits", "time"),
)
SETTING = HEAD.index("chosen setting")
CARD = ("score", "better", "learner", "selected", "honest", "interval")
WIDEST = 100  # columns of the printed table
WIDEST_NAME, NARROWEST_NAME = 24, 12
NARROWEST_SETTING = 14
NO_CALIBRATION = "there is no calibration: it needs classes and a model with probabilities."
NO_BOXES = "no learner was tested on random splits: assess with outer='monte-carlo'."


@dataclass(frozen=True, eq=False)
class Assessment(Bounded, TestedLearners):
    """Tuned learners compared on the same splits.

    `best` is the learner with the best honest risk. That risk is the best of several and slightly
    flatters; `choice` is the honest risk of choosing among the learners as well, which is
    the number to report for the whole search. `findings` are what makes the answer fragile.
    Every fit was made by `assess`: what is printed, drawn or written is only arranged, and an
    assessment that is read from its JSON prints and draws the same.
    ``a.plot_ladder().figure.savefig("ladder.svg")`` writes a figure (needs matplotlib).
    """

    stored: ClassVar[Mapping[str, str]] = {**TestedLearners.stored, "findings": "findings"}

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong or worth knowing of rows, columns, splits and the choice."""
        found: tuple[Finding, ...] = load_part("findings")(self)
        return found

    @property
    def warned_findings(self) -> tuple[Finding, ...]:
        """Findings with codes of which every verb warns."""
        return call_findings_of(self)

    def rows(self) -> list[list[str]]:
        """The table's cells, best learner first."""
        best = self.usual_best_set
        return [
            _row(name, learner, None if best is None else name in best)
            for name, learner in self.ranked_learners.items()
        ]

    def table(self) -> Any:
        """`to_frame` by its older name."""
        return self.to_frame()

    def to_frame(self) -> Any:
        """The table as a frame (pandas, or polars where only that is installed)."""
        best = self.usual_best_set
        return frame_of_rows(
            [
                {
                    "learner": name,
                    "setting": present.params_text(tuned.curve.best_params),
                    "selected": tuned.selected and tuned.selected.value,
                    "value": tuned.risk.value,
                    **_ends(tuned.risk.interval),
                    "may_be_best": None if best is None else name in best,
                    "optimism": tuned.optimism,
                    "n_fits": tuned.n_fits,
                    "seconds": tuned.seconds,
                }
                for name, tuned in self.ranked_learners.items()
            ]
        )

    def scorecard(self) -> Any:
        """The honest scores on the scale that was asked for: a line per score and learner."""
        return frame_of_rows(
            [
                {
                    "score": name,
                    "better": honest.scale.better,
                    "learner": learner,
                    "selected": selected and selected.value,
                    "honest": honest.value,
                    **_ends(honest.interval),
                }
                for name, learner, selected, honest in self.told_scores()
            ]
        )

    @property
    def _card(self) -> list[list[str]]:
        """The scorecard's cells without the loss, which has a table of its own.

        A score is named, and which way it is better, once.
        """
        rows, last = [], None
        further = (score for score in self.told_scores() if score[0] != self.named_scoring)
        for name, learner, selected, honest in further:
            head = ["", ""] if name == last else [present.clean(name, 40), honest.scale.better]
            chosen = None if selected is None else selected.value
            cells = [present.clean(learner, WIDEST_NAME), present.number(chosen)]
            rows.append(
                [*head, *cells, present.number(honest.value), str(honest.interval or "none")]
            )
            last = name
        return rows

    @property
    def title(self) -> str:
        """What the table is about."""
        n, scale = len(self.learners), self.scale
        return (
            f"{scale.of(self.named_scoring)} ({scale.better} is better) of {n} "
            f"{'tuned ' if self.tuned else ''}learner{'s' if n != 1 else ''} on {self.n_rows} rows"
        )

    @property
    def legend(self) -> tuple[str, ...]:
        """What the columns mean."""
        kinds = {each.risk.interval.method for each in self.learners.values() if each.risk.interval}
        level = percent(self.confidence_level)
        how = f"; {level} interval: {', '.join(sorted(kinds))}" if kinds else ""
        tested = f"({present.tested_by(self.tested_by)}{how})"
        tuning = f"{self.tuned_by} on all rows, rule {self.rule}"
        scale = self.scale
        selected = f"{self.selected_scale.selected} ({tuning})"
        honest = present.honest_risk(scale.noun, self.tested_by, tuned=self.tuned)
        return (
            *([selected] if self.tuned else []),
            *([present.SELECTED_SCORE] if self.tuned and self.best_learner.risk.scores else []),
            f"honest: {honest} {tested}",
            *([present.may_be_best(level)] if self.usual_best_set else []),
            *([scale.optimism] if self.tuned else []),
            *self._claims,
        )

    @property
    def _claims(self) -> Iterator[str]:
        """What `selected` is where it is not the least of the curve: a line for each sentence."""
        names_of: dict[str, list[str]] = {}
        for name, learner in self.learners.items():
            if learner.claimed:
                names_of.setdefault(learner.claimed, []).append(present.clean(name, 40))
        return (f"{', '.join(names)}: {sentence}" for sentence, names in names_of.items())

    @property
    def _more_rows(self) -> list[str]:
        """Of each learner what its learning curve promises of more rows, or why nothing."""
        in_order = {name: self.learners[name] for name in self.ranking}
        return [
            f"{present.clean(name, 40)}: {_promise(learner)}"
            for name, learner in in_order.items()
            if learner.has_curve
        ]

    def __str__(self) -> str:
        table = present.text_table(HEAD, _narrowed(self.rows()))
        text = textwrap.fill(self.conclusion, WIDEST, break_long_words=False)
        warned = [
            textwrap.fill(str(finding), WIDEST, break_on_hyphens=False) for finding in self.findings
        ]
        card = [] if not self._card else [present.text_table(CARD, self._card), ""]
        card += [textwrap.fill(line, WIDEST) for line in self._more_rows]
        card += [""] if self._more_rows else []
        warned = ["", *warned] if warned else []
        said_of_best = ["", *self._validated] if self.validated else []
        lines = [self.title, "", table, "", *card, *self.legend, "", text, *warned, *said_of_best]
        return "\n".join(lines)

    @property
    def _validated(self) -> list[str]:
        """The validation of the best learner, or why there is none."""
        name = present.clean(self.best, 40)
        if self.validation is None:
            return [f"no validation of {name}: {self.no_validation}"]
        return [f"Validation of {name}", "", str(self.validation)]

    def blocks(self) -> list[present.Block]:
        caption = f"{self.title}. {self.conclusion} " + "; ".join(self.legend)
        return [present.Block(caption, HEAD, self.rows())]

    @property
    def _honest_numbers(self) -> Mapping[str, HonestNumber]:
        return honest_numbers_of(self.report)

    def _metrics(self) -> Mapping[str, Any]:
        numbers = {**self.report.to_metrics(), "baseline": self.baseline}
        numbers["n_fits"] = sum(learner.n_fits for learner in self.learners.values())
        numbers["seconds"] = sum(learner.seconds for learner in self.learners.values())
        for name, learner in self.ranked_learners.items():
            numbers |= {f"{name}/{key}": value for key, value in learner.to_metrics().items()}
        return numbers

    def plot_ladder(self, ax: Any = None) -> Any:
        """The optimism ladder: apparent, selected and honest risk of every learner."""
        return load_from_above("ladder")(self, ax=ax)

    def plot_curve(self, learner: str | None = None, ax: Any = None) -> Any:
        """The risk curve of a learner, by default the best one, with every criterion."""
        one = self._learner(learner)
        return one.curve.plot(ax=ax, others=one.criteria)

    def plot_learning_curve(self, learner: str | None = None, ax: Any = None) -> Any:
        """The learning curve of a learner, by default the best one, carried on to twice the rows.

        There is one where `learning_curve=` asked for it.
        """
        name = self.best if learner is None else learner
        one = self._learner(learner)
        if one.learning_curve is None:
            why = one.no_learning_curve or f"assess with learning_curve=[{name!r}]."
            raise Refusal(f"there is no learning curve of {name!r}: {why}")
        to = one.expected[-1].n_train if one.expected else None
        return one.learning_curve.plot(ax=ax, to=to)

    def plot_monte_carlo(self, ax: Any = None) -> Any:
        """Box plots of the risks of single random splits."""
        if not self.monte_carlo:
            raise Refusal(NO_BOXES)
        return load_from_above("boxes")(self, ax=ax)

    def plot_posterior(self, ax: Any = None, learner: str | None = None) -> Any:
        """The posterior of a learner's true error after the honest test."""
        return load_part("posterior").of_estimate(self._learner(learner).risk).plot(ax=ax)

    def plot_roc(self, ax: Any = None, learner: str | None = None) -> Any:
        """The ROC curve of rows without part in tuning or fit; its AUC is the honest one."""
        curve, ranked_score = self._roc_of(learner), self.of_ranks("auc", learner or self.best)
        if ranked_score is not None and ranked_score.value is not None:
            curve = replace(curve, auc=ranked_score.value, interval=ranked_score.interval)
        return curve.plot(ax=ax)

    def plot_precision_recall(self, ax: Any = None, learner: str | None = None) -> Any:
        """Precision against recall of such rows."""
        return self._roc_of(learner).precision_recall().plot(ax=ax)

    def plot_calibration(self, ax: Any = None, learner: str | None = None) -> Any:
        """Observed shares over the probabilities of such rows."""
        tuned = self._learner(learner)
        calibration = self.calibration if tuned is self.best_learner else tuned.calibration
        if calibration is None:
            raise Refusal(NO_CALIBRATION)
        return calibration.plot(ax=ax)

    def plot_stability(self, ax: Any = None) -> Any:
        """How often each outer split chose what was chosen on all rows."""
        return load_from_above("stability")(self, ax=ax)

    def _roc_of(self, name: str | None) -> RocCurve:
        one = self._learner(name)
        curve = self.roc if one is self.best_learner else one.roc
        if curve is None:
            why = one.no_roc or self.no_roc or "a file has that of the best learner alone."
            raise Refusal(f"there is no ROC curve: {why}")
        return curve

    def _learner(self, name: str | None) -> TunedLearner:
        if name is None:
            return self.best_learner
        refuse_unassessed(name, self.learners)
        return self.learners[name]


def assessment_of(
    learners: Mapping[str, TunedLearner],
    problems: Mapping[str, Problem],
    schedule: Schedule,
    fits: Fits | None,
    typed: Mapping[str, str],
    missing: Sequence[str] = (),
) -> Assessment:
    """What was found of these learners, and the conclusion."""
    order = by_text({name: problems[name].family for name in learners})
    best = ranked({name: learner.risk.loss_value for name, learner in learners.items()}, order)[0]
    problem, choice = problems[best], None
    if len(learners) > 1:
        choice = load_part("choice")(learners, order, problem, schedule.nested)
    data, constant = problem.data, constant_risk(problem)
    assessment = Assessment(
        learners=learners,
        best=best,
        conclusion="",
        scoring=problem.loss.word,
        positive=problem.loss.label(data),
        task=data.task,
        tuned_by=schedule.methods[0].word,
        tested_by=schedule.nested.tested_by,
        rule=problem.rule.word,
        interval=problem.interval,
        confidence_level=problem.confidence_level,
        n_rows=data.n_rows,
        classes=tuple(str(data.label(code)) for code in range(data.n_classes)),
        class_sizes=tuple(problem.class_counts.values()),
        seed=problem.seed,
        source="",
        command="",
        baseline=None if constant is None else problem.loss.scale.value(constant.risk),
        baseline_rule=None if constant is None else constant.rule,
        missing=tuple(missing),
        choice=choice,
        given=typed,
        order=tuple(order),
        problem=problem,
        testing=schedule.nested,
        constant=constant,
        kept=fits,
    )
    return replace(assessment, conclusion=conclude(assessment))


def _narrowed(rows: list[list[str]]) -> list[list[str]]:
    """The rows with names and settings cut so that the table fits `WIDEST` columns where it can."""
    named = [[_cut(row[0], WIDEST_NAME), *row[1:]] for row in rows]
    room = WIDEST - _used(named)
    if room < NARROWEST_SETTING:
        widest = max(NARROWEST_NAME, WIDEST_NAME - (NARROWEST_SETTING - room))
        named = [[_cut(row[0], widest), *row[1:]] for row in rows]
        room = max(WIDEST - _used(named), NARROWEST_SETTING)
    return [[*row[:SETTING], _cut(row[SETTING], room), *row[SETTING + 1 :]] for row in named]


def _used(rows: list[list[str]]) -> int:
    """The width of all columns but the settings."""
    others = [j for j in range(len(HEAD)) if j != SETTING]
    return sum(max(len(row[j]) for row in [list(HEAD), *rows]) + 2 for j in others)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"


def _promise(learner: TunedLearner) -> str:
    """A sentence on more rows."""
    if learner.expected:
        return str(learner.expected[-1])
    curve = learner.learning_curve
    if curve is None:
        return f"no learning curve: {learner.no_learning_curve}"
    return f"its learning curve is not extrapolated: {curve.lacking}"


def _ends(interval: Interval | None) -> dict[str, Any]:
    if interval is None:
        return {"low": None, "high": None, "interval": None}
    return {"low": interval.low, "high": interval.high, "interval": interval.method}


def _row(name: str, learner: TunedLearner, may_be_best: bool | None) -> list[str]:
    return [
        present.clean(name, 40),
        present.params_text(learner.curve.best_params),
        present.number(None if learner.selected is None else learner.selected.value),
        present.number(learner.risk.value),
        str(learner.risk.interval or "none"),
        present.yes_or_no(may_be_best),
        signed(learner.optimism, learner.risk.value),
        str(learner.n_fits),
        present.seconds(learner.seconds),
    ]
