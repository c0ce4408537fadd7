"""Result of an assessment: a frozen record that prints, concludes, draws, and becomes JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from truerisk.assessment.constant_risk import BestConstant
from truerisk.assessment.door import load_from_assessment
from truerisk.assessment.families import ranked_names
from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.contracts import FitCounts
from truerisk.core import formats, tables
from truerisk.core.arguments import RenamedAttribute, check_level, mention
from truerisk.core.errors import BadArgument, BadData, Refusal, UnknownName
from truerisk.core.formats import format_percent, signed_number
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_a
from truerisk.core.overrides import override
from truerisk.core.registry import check_known, is_present
from truerisk.core.tables import frame_from_rows
from truerisk.data.data import TaskName
from truerisk.estimation.problem import EstimationProblem
from truerisk.estimation.run import PairedAnswers
from truerisk.losses.loss import AUC_IMPORT_PATH, AVERAGE_PRECISION_PATH
from truerisk.methods.parts.procedure import Procedure
from truerisk.plan.answers import append_candidates
from truerisk.results import sentences
from truerisk.results.door import load_from_package
from truerisk.results.door import load_from_results as load_part_of_results
from truerisk.results.evaluation import FOLD_VARIANCE_FACTOR, CandidateLosses
from truerisk.results.finding import Finding
from truerisk.results.interval import (
    DEFAULT_ROPE,
    Interval,
    ResultWithBounds,
    Scale,
    get_honest_numbers,
)
from truerisk.results.records import UNWRITTEN, Count, Record, Share
from truerisk.results.results import (
    RiskCurve,
    RiskEstimate,
    all_findings,
    check_known_score,
    select_score,
)
from truerisk.search.as_given import PairedDifference, paired_difference

if TYPE_CHECKING:
    from truerisk.assessment.differences import DifferenceFromBest
    from truerisk.results.bounds import HonestNumber
    from truerisk.results.calibration import Calibration
    from truerisk.results.comparison import Comparison
    from truerisk.results.learning_curve import LearningCurve
    from truerisk.results.roc import RocCurve
    from truerisk.validation.validation import Validation

COMPARISON_MODULE = "truerisk.comparison.paired"
MAX_COLUMN_NAMES = 10_000  # largest number of column names that are stored with an assessment
TABLE_HEADER = (
    *("learner", "chosen setting", "selected", "honest", "interval"),
    *("best?", "optimism", "fits", "time"),
)
SETTING_COLUMN = TABLE_HEADER.index("chosen setting")
SCORECARD_HEADER = ("score", "better", "learner", "selected", "honest", "interval")
MAX_WIDTH = 100  # width of the printed table in characters
MAX_NAME_WIDTH, MIN_NAME_WIDTH = 24, 12
MIN_SETTING_WIDTH = 14
NO_CALIBRATION = "there is no calibration: it needs classes and a model with probabilities."
NO_BOXES = f"no learner was tested on random splits: assess with {mention('outer', 'monte-carlo')}."


@frozen(eq=False)
class Assessment(ResultWithBounds, Record):
    """Result of `assess`: tuned learners compared on the same splits.

    The risk of the best learner is the smallest of several, and therefore slightly optimistic.
    `choice` is the honest risk of choosing among the learners as well; report it for the whole
    search. Numbers are on the requested scale.

    All fits were made by `assess`: printing, drawing and writing only arrange their results, and an
    assessment that was read from its JSON prints and draws the same.
    ``a.plot_ladder().figure.savefig("ladder.svg")`` writes a figure (needs matplotlib).

    Parameters
    ----------
    learners : mapping of str to TunedLearner
        The tuned learners by name, with risk, risk curve, setting and learning curve.
    best : str
        Name of the learner with the best honest risk.
    conclusion : str
        The conclusion in sentences.
    scoring : str
        Name of the loss or score.
    task : {"classification", "regression", "survival"}
        The task.
    tuned_by : str
        Name of the method that tuned.
    tested_by : str
        Name of the method that tested the tuned learners.
    rule : str
        Name of the rule that chose the settings.
    interval : str or None
        Name of the requested interval; None for the default.
    confidence_level : float
        The nominal coverage of the intervals.
    n_rows : int
        The number of rows.
    classes : tuple of str
        The classes; empty for other tasks.
    seed : int
        The seed of the call.
    source : str
        Name of the data, for a report.
    command : str
        The command that was typed, if there was one.
    baseline : float or None
        The risk of the best constant prediction, such as the most frequent class.
    baseline_rule : str or None
        Description of that constant prediction.
    missing : tuple of str
        Learners that were not assessed because the call was interrupted.
    choice : RiskEstimate or None
        The honest risk of choosing among the learners, if there are several.
    positive : label, optional
        The positive class.
    class_sizes : tuple of int, optional
        The number of rows of each class.
    given : mapping of str to str, optional
        Further arguments of the call, as they were typed.
    validation : Validation, optional
        The validation of the best learner.
    no_validation : str, optional
        The reason why a requested validation is missing.
    order : tuple of str, optional
        The order of learners with equal risks. It is not written to JSON, like all parameters
        below.
    problem : Problem, optional
        The rows and arguments of the call.
    testing : Procedure, optional
        The method that tested the tuned learners.
    constant : Constant, optional
        The losses of the best constant prediction.
    column_names : tuple of str, optional
        Names of the columns, if X had no names.
    kept : Fits, optional
        Numbers of the fits that a store held and got.
    checked : bool, default=True
        True if rows and columns were checked. No number depends on it.

    See Also
    --------
    assess : Compute an assessment.
    RiskEstimate : The honest risk of one learner.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> a = tr.assess({"bayes": GaussianNB(), "parzen": tr.models.ParzenClassifier(1.0)}, X, y)
    >>> a.best, a.ranking
    ('bayes', ['bayes', 'parzen'])
    >>> tr.Assessment.from_json(a.to_json()).best == a.best
    True
    """

    schema: ClassVar[str] = "truerisk.assessment/2"
    derived: ClassVar[Mapping[str, str]] = {"best_params": "best_params"}
    stored: ClassVar[Mapping[str, str]] = {
        "posterior": "posterior",
        "columns": "columns",
        "differences": "differences",
        "best_set": "usual_best_set",
        "roc": "roc",
        "ranks": "named_ranks",
        "no_roc": "no_roc",
        "calibration": "calibration",
        "monte_carlo": "monte_carlo",
        "findings": "findings",
    }

    _types_elsewhere: ClassVar[Mapping[str, str]] = {
        "DifferenceFromBest": "truerisk.assessment.differences:DifferenceFromBest",
        "Calibration": "truerisk.results.calibration:Calibration",
        "RocCurve": "truerisk.results.roc:RocCurve",
        "Validation": "truerisk.validation.validation:Validation",
    }

    learners: Mapping[str, TunedLearner]
    best: str
    conclusion: str
    scoring: str
    task: TaskName
    tuned_by: str
    tested_by: str
    rule: str
    interval: str | None
    confidence_level: Share
    n_rows: Count
    classes: tuple[str, ...]
    seed: Count
    source: str
    command: str
    baseline: float | None
    baseline_rule: str | None
    missing: tuple[str, ...] = field(metadata={"key": "not_assessed"})
    choice: RiskEstimate | None
    positive: Any = None
    class_sizes: tuple[Count, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict, repr=False)
    validation: Validation | None = field(default=None, repr=False)
    no_validation: str | None = None
    order: tuple[str, ...] = field(default=(), metadata=UNWRITTEN)
    problem: EstimationProblem | None = field(default=None, repr=False, metadata=UNWRITTEN)
    testing: Procedure | None = field(default=None, repr=False, metadata=UNWRITTEN)
    constant: BestConstant | None = field(default=None, repr=False, metadata=UNWRITTEN)
    column_names: tuple[str, ...] = field(default=(), metadata=UNWRITTEN)
    kept: FitCounts | None = field(default=None, metadata=UNWRITTEN)
    checked: bool = field(default=True, metadata=UNWRITTEN)

    def to_dict(self) -> dict[str, Any]:
        """Return the assessment as a dict of plain values, with the versioned name of its schema.

        `docs/json.md` describes each value.

        Returns
        -------
        dict
            The content of the JSON document.
        """
        document = super().to_dict()
        learners = document.pop("learners")
        return {**document, "learners": {name: learners[name] for name in self.ranking}}

    @property
    def flaw(self) -> tuple[str, str] | None:
        """Name of an invalid field and its requirement, or None if all fields are valid.

        Records that were read from a file are checked by this property.
        """
        if self.best not in self.learners:
            return "best", "one of the learners"
        if self.posterior is not None:
            try:
                load_from_assessment("posterior")(**self.posterior)
            except (BadData, BadArgument, TypeError):
                return "posterior", "the number of errors of a number of rows"
        return None

    @property
    def best_learner(self) -> TunedLearner:
        """Tuned learner with the best honest risk."""
        return self.learners[self.best]

    @property
    def report(self) -> RiskEstimate:
        """Honest risk to report as the result of the assessment.

        It is the risk of choosing among all learners. If this risk is not available, as for a
        single learner, it is the risk of the best learner.
        """
        return self.best_learner.risk if self.choice is None else self.choice

    @property
    def scale(self) -> Scale:
        """Scale on which risks are shown: that of a loss or of the requested score."""
        return self.best_learner.risk.scale

    @property
    def selected_scale(self) -> Scale:
        """Scale of the `selected` value of the best learner.

        It may differ from `scale`, because a learner can be tuned by another criterion.
        """
        selected_risk = self.best_learner.selected
        return self.scale if selected_risk is None else selected_risk.scale

    @property
    def named_scoring(self) -> str:
        """Name of the loss, with the class to which it refers."""
        return self.best_learner.risk.named_scoring

    @property
    def tuned(self) -> bool:
        """True if any of the learners was tuned."""
        return any(learner.tuned for learner in self.learners.values())

    @cached_property
    def columns(self) -> Sequence[str]:
        """Names of the feature columns; empty if the table has no column names."""
        names = self.column_names
        if not names and self.problem is not None:
            names = getattr(self.problem.data.X, "columns", ())
        return [str(name) for name in list(names)[:MAX_COLUMN_NAMES]]

    @property
    def risks(self) -> dict[str, RiskEstimate]:
        """Honest risk of every tuned learner, by name."""
        return {name: learner.risk for name, learner in self.learners.items()}

    @property
    def curves(self) -> dict[str, RiskCurve]:
        """Risk curve of every learner, computed by the method that tuned it."""
        return {name: learner.curve for name, learner in self.learners.items()}

    @property
    def criteria(self) -> dict[str, Mapping[str, RiskCurve]]:
        """Risk curves of each learner by the methods of `cv` other than the one that tuned it."""
        return {name: learner.criteria for name, learner in self.learners.items()}

    @property
    def learning_curves(self) -> dict[str, LearningCurve]:
        """Learning curves of the learners for which `learning_curve=` requested one."""
        curves = {name: learner.learning_curve for name, learner in self.learners.items()}
        return {name: curve for name, curve in curves.items() if curve is not None}

    @cached_property
    def roc(self) -> RocCurve | None:
        """ROC curve of the best learner, on rows used neither for its tuning nor for its fit."""
        return self.best_learner.roc

    @cached_property
    def no_roc(self) -> str | None:
        """Reason why there is no ROC curve, or None."""
        return self.best_learner.no_roc

    @cached_property
    def calibration(self) -> Calibration | None:
        """Calibration of the best learner, on rows used neither for its tuning nor for its fit."""
        return self.best_learner.calibration

    @property
    def validated(self) -> Validation | str | None:
        """Validation of the best learner, or why it is missing; None if it was not requested."""
        return self.validation or self.no_validation

    @cached_property
    def monte_carlo(self) -> Mapping[str, np.ndarray]:
        """Losses of the single random splits by which each tuned learner was tested.

        The mapping is empty unless `outer` is a method of random splits ("monte-carlo").
        """
        if not self.tested_by.startswith("monte-carlo"):
            return {}
        split_risks = {name: risk.split_risks for name, risk in self.risks.items()}
        return {name: risks for name, risks in split_risks.items() if risks is not None}

    @cached_property
    def differences(self) -> Sequence[DifferenceFromBest]:
        """Paired differences between the risks of each other learner and the best learner."""
        if len(self.learners) < 2:
            return []
        differences: Sequence[DifferenceFromBest] = load_from_assessment("differences")(self)
        return differences

    @cached_property
    def posterior(self) -> Mapping[str, Any] | None:
        """Numbers of errors and of tested rows that define the posterior of the error rate.

        The property is None if the risk of the best learner has no such posterior.
        """
        try:
            posterior = load_from_assessment("posterior").of_estimate(self.best_learner.risk)
        except Refusal:
            return None
        return {"errors": posterior.errors, "n": posterior.n, "of": posterior.of}

    @property
    def best_params(self) -> dict[str, Any]:
        """Hyperparameter setting that was chosen for the best learner."""
        return self.curves[self.best].best_params

    @property
    def ranking(self) -> list[str]:
        """Names of the learners by honest risk, the best first and those without a risk last."""
        tie_order = self.order or tuple(self.learners)
        return ranked_names({name: risk.loss_value for name, risk in self.risks.items()}, tie_order)

    @property
    def ranked_learners(self) -> dict[str, TunedLearner]:
        """Tuned learners by name, in the order of `ranking`."""
        return {name: self.learners[name] for name in self.ranking}

    told_scores = RenamedAttribute("reported_scores")

    def reported_scores(self) -> Iterator[tuple[str, str, RiskEstimate | None, RiskEstimate]]:
        """Yield (score name, learner name, selected estimate, honest estimate), score by score.

        The main loss comes first if it is a score. Within each score the best learners come first,
        and the choice among all of them comes last.
        """
        if self.scale.perfect is not None:
            for learner in self.ranking:
                tuned_learner = self.learners[learner]
                yield (
                    self.named_scoring,
                    learner,
                    tuned_learner.selected if tuned_learner.tuned else None,
                    tuned_learner.risk,
                )
            if self.choice is not None:
                yield self.named_scoring, sentences.WHOLE_SEARCH_LABEL, None, self.choice
        for name in dict.fromkeys(name for risk in self.risks.values() for name in risk.scores):
            for learner in self.ranking:
                tuned_learner = self.learners[learner]
                tuning_scores = (
                    tuned_learner.selected.scores
                    if tuned_learner.selected and not tuned_learner.claim_text
                    else {}
                )
                if name in tuned_learner.risk.scores:
                    honest_score = tuned_learner.risk.scores[name]
                    yield honest_score.named_scoring, learner, tuning_scores.get(name), honest_score
            if self.choice is not None and name in self.choice.scores:
                choice_score = self.choice.scores[name]
                yield choice_score.named_scoring, sentences.WHOLE_SEARCH_LABEL, None, choice_score

    @property
    def ranks(self) -> dict[str, str]:
        """Names under which the user requested the AUC and the average precision.

        The keys are "auc" and "average-precision". A score that was not requested is missing.
        """
        if self.problem is None:
            return {}
        losses = {name: score.loss for name, score in self.problem.scores.items()}
        loss_paths = {"auc": AUC_IMPORT_PATH, "average-precision": AVERAGE_PRECISION_PATH}
        return {
            label: name
            for name, loss in {**losses, self.scoring: self.problem.loss}.items()
            for label, loss_path in loss_paths.items()
            if is_a(loss, loss_path)
        }

    @cached_property
    def named_ranks(self) -> Mapping[str, str]:
        """Names to print for AUC and average precision, each with the class to which it refers.

        The keys are those of `ranks`.
        """
        risk = self.best_learner.risk
        return {label: select_score(risk, name).named_scoring for label, name in self.ranks.items()}

    def of_ranks(self, label: str, learner: str = "") -> RiskEstimate | None:
        """Return the honest AUC or average precision of a learner.

        Parameters
        ----------
        label : {"auc", "average-precision"}
            Name of the score.
        learner : str, optional
            Name of the learner. The default is the best learner.

        Returns
        -------
        RiskEstimate or None
            The score, or None if it was not requested.
        """
        name, risk_of_learner = self.named_ranks.get(label), self.risks[learner or self.best]
        risks = [risk_of_learner, *risk_of_learner.scores.values()]
        return next((risk for risk in risks if risk.named_scoring == name), None)

    @property
    def runner_up(self) -> str | None:
        """Name of the learner with the second-best honest risk."""
        other_names = [
            name
            for name in self.ranking
            if name != self.best and self.risks[name].value is not None
        ]
        return other_names[0] if other_names else None

    def best_set(self, level: float = 0.95, *, score: str | None = None) -> list[str]:
        """Return a set of learners that contains the best one with probability `level`.

        It is computed from the honest losses of the same rows, or from one of the further scores,
        without a further fit (`results/best_set.py`).

        Parameters
        ----------
        level : float, default=0.95
            The confidence level.
        score : str, optional
            Name of one of the further scores. The default is the main loss.

        Returns
        -------
        list of str
            Names of the learners, in the order of the ranking.
        """
        check_level("level", level)
        names = [name for name in self.ranking if self.risks[name].value is not None]
        paired_losses, differences = self._paired_losses(names, score)
        if len(names) < 2:
            return names
        may_be_best = load_part_of_results("best-set")(paired_losses, level).tolist()
        return [
            name
            for name, can_be_best in zip(names, may_be_best, strict=True)
            if can_be_best or name not in differences or not differences[name].shows_worse(level)
        ]

    @cached_property
    def usual_best_set(self) -> Sequence[str] | None:
        """Set `best_set` at the confidence level of the intervals, or None if it is refused.

        It is also None if several learners cannot be compared because `truerisk.comparison` is
        missing. The legend gives the reason.
        """
        if len(self.learners) > 1 and not is_present(COMPARISON_MODULE):
            return None
        try:
            return self.best_set(self.confidence_level)
        except Refusal:
            return None

    def _paired_losses(
        self, names: Sequence[str], score: str | None
    ) -> tuple[CandidateLosses, dict[str, Comparison]]:
        """Return the losses of these learners, and the difference of each from the best learner.

        The best set and the differences that are shown with it inflate variances by the same
        factor.
        """
        paired_losses = self._paired_predictions(names, score).losses()
        values = {name: select_score(self.risks[name], score).loss_value for name in names}
        best_name = min(names, key=lambda name: values[name] or 0.0)
        differences = {
            name: self.difference(name, best_name, score=score)
            for name in names
            if name != best_name
        }
        variance_factors = [
            differences[name].details.get("factor", FOLD_VARIANCE_FACTOR)
            if name in differences
            else FOLD_VARIANCE_FACTOR
            for name in names
        ]
        return replace(
            paired_losses, variance_factors=np.array(variance_factors, dtype=float)
        ), differences

    def _paired_predictions(self, names: Sequence[str], score: str | None) -> PairedAnswers:
        """Return the predictions of these learners for the test sets of the outer splits."""
        predictions_by_learner = [
            predictions
            for name in names
            if (predictions := self.learners[name].answers) is not None
        ]
        if (
            self.problem is None
            or self.testing is None
            or not predictions_by_learner
            or len(predictions_by_learner) < len(names)
        ):
            raise Refusal("no learner has answers of rows that were held out: nothing compares.")
        joined_predictions, loss = append_candidates(predictions_by_learner), self.problem.loss
        if score is not None and score != self.scoring:
            score_names = list(self.problem.scores)
            check_known_score(score, [self.scoring, *score_names])
            joined_predictions, loss = (
                joined_predictions.also[score_names.index(score)],
                self.problem.scores[score].loss,
            )
        testing = self.testing.outer_method
        return PairedAnswers(replace(joined_predictions, also=()), self.problem.data, loss, testing)

    def difference(
        self,
        a: str,
        b: str,
        *,
        score: str | None = None,
        rope: float = DEFAULT_ROPE,
    ) -> Comparison:
        """Return the paired difference of two learners, a minus b, on the requested scale.

        A negative difference of losses favours a; so does a positive difference of scores. If no
        formula is known for the splits, such as splits that go forward in time, there is a value
        and no interval.

        Parameters
        ----------
        a : str
            Name of the first learner.
        b : str
            Name of the second learner.
        score : str, optional
            One of the further scores of the same fits, such as "auc". The default is the main loss.
        rope : float, default=0.01
            Risks that differ by at most this amount are practically equal.

        Returns
        -------
        Comparison
            The difference with its interval and its probabilities.
        """
        for name in (a, b):
            check_learner_name(name, self.learners)
        if a == b:
            raise UnknownName(f"{a!r} is compared with itself: name two learners.")
        first_risk, second_risk = (select_score(self.risks[name], score) for name in (a, b))
        level = self.confidence_level
        comparison_options = {"rope": rope, "confidence_level": level}
        comparison: Comparison = load_from_package("difference")(
            first_risk, second_risk, **comparison_options
        )
        return replace(comparison, names=(a, b))

    def gain(self) -> PairedDifference | None:
        """Return the gain of choosing among all learners over the best constant prediction.

        The gain is the risk of the constant prediction minus the risk of the choice, paired by row.
        It is that of the choice and not of its best learner, because the smallest of several risks
        would gain by chance.

        Returns
        -------
        Paired or None
            The paired difference, or None if there are no losses of single rows to compare.
        """
        risk, constant = self.report, self.constant
        if risk.losses is None or risk.loss_rows is None or constant is None:
            return None
        if risk.ordered or constant.losses is None or self.problem is None:
            return None
        rows = risk.loss_rows
        return paired_difference(constant.losses[rows], risk.losses, rows, self.problem.data)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Findings about the rows, the columns, the splits and the choice."""
        findings: tuple[Finding, ...] = load_from_assessment("findings")(self)
        return findings

    @property
    def warned_findings(self) -> tuple[Finding, ...]:
        """Findings about the rows and the best learner's predictions, of which `assess` warned."""
        findings = [] if self.problem is None else [*self.problem.findings]
        for estimate in (self.best_learner.risk, self.report):
            findings += all_findings(estimate)
        return tuple(dict.fromkeys(findings))

    def rows(self) -> list[list[str]]:
        """Return the cells of the table of learners, the best learner first.

        Returns
        -------
        list of list of str
            One list of cells per learner.
        """
        best_set = self.usual_best_set
        return [
            _row(name, learner, None if best_set is None else name in best_set)
            for name, learner in self.ranked_learners.items()
        ]

    def table(self) -> Any:
        """Return `to_frame`; `table` is the older name of this method.

        Returns
        -------
        DataFrame
            The table of `to_frame`.
        """
        return self.to_frame()

    def to_frame(self) -> Any:
        """Return the table of learners as a data frame.

        Returns
        -------
        DataFrame
            A frame of pandas, or of polars if only that is installed, with a row for each learner.
        """
        best_set = self.usual_best_set
        return frame_from_rows(
            [
                {
                    "learner": name,
                    "setting": formats.format_params(learner.curve.best_params),
                    "selected": learner.selected and learner.selected.value,
                    "value": learner.risk.value,
                    **_interval_limits(learner.risk.interval),
                    "may_be_best": None if best_set is None else name in best_set,
                    "optimism": learner.optimism,
                    "n_fits": learner.n_fits,
                    "seconds": learner.seconds,
                }
                for name, learner in self.ranked_learners.items()
            ]
        )

    def scorecard(self) -> Any:
        """Return the honest scores of all learners, on the requested scale, as a data frame.

        Returns
        -------
        DataFrame
            A frame of pandas, or of polars if only that is installed, with a row for each score and
            learner.
        """
        return frame_from_rows(
            [
                {
                    "score": name,
                    "better": honest_estimate.scale.better,
                    "learner": learner,
                    "selected": selected_estimate and selected_estimate.value,
                    "honest": honest_estimate.value,
                    **_interval_limits(honest_estimate.interval),
                }
                for name, learner, selected_estimate, honest_estimate in self.reported_scores()
            ]
        )

    @property
    def _scorecard_rows(self) -> list[list[str]]:
        """Rows of the scorecard, each a list of cells.

        The main loss is left out, because it has its own table.

        The name of a score, and the word for its better direction, appear once.
        """
        rows, previous_name = [], None
        further_scores = (
            score for score in self.reported_scores() if score[0] != self.named_scoring
        )
        for name, learner, selected_estimate, honest_estimate in further_scores:
            first_cells = (
                ["", ""]
                if name == previous_name
                else [formats.escape_and_truncate(name, 40), honest_estimate.scale.better]
            )
            selected_value = None if selected_estimate is None else selected_estimate.value
            cells = [
                formats.escape_and_truncate(learner, MAX_NAME_WIDTH),
                formats.format_number(selected_value),
            ]
            rows.append(
                [
                    *first_cells,
                    *cells,
                    formats.format_number(honest_estimate.value),
                    str(honest_estimate.interval or "none"),
                ]
            )
            previous_name = name
        return rows

    @property
    def title(self) -> str:
        """Title of the table: the score, the number of learners and the number of rows."""
        n, scale = len(self.learners), self.scale
        return (
            f"{scale.name_for(self.named_scoring)} ({scale.better} is better) of {n} "
            f"{'tuned ' if self.tuned else ''}learner{'s' if n != 1 else ''} on {self.n_rows} rows"
        )

    @property
    def legend(self) -> tuple[str, ...]:
        """Sentences that explain the columns of the table."""
        interval_names = {
            learner.risk.interval.method
            for learner in self.learners.values()
            if learner.risk.interval
        }
        level = format_percent(self.confidence_level)
        interval_text = (
            f"; {level} interval: {', '.join(sorted(interval_names))}" if interval_names else ""
        )
        test_text = f"({sentences.describe_testing_splits(self.tested_by)}{interval_text})"
        tuning_text = f"{self.tuned_by} on all rows, rule {self.rule}"
        scale = self.scale
        selected_text = f"{self.selected_scale.selected_label} ({tuning_text})"
        honest_text = sentences.describe_honest_risk(
            scale.noun, self.tested_by, is_tuned=self.tuned
        )
        return (
            *([selected_text] if self.tuned else []),
            *(
                [sentences.SELECTED_SCORE_LABEL]
                if self.tuned and self.best_learner.risk.scores
                else []
            ),
            f"honest: {honest_text} {test_text}",
            *best_set_legend(self),
            *([scale.optimism_label] if self.tuned else []),
            *self._claim_lines,
        )

    @property
    def _claim_lines(self) -> Iterator[str]:
        """Lines that explain `selected` for learners whose value is not from their risk curve."""
        names_by_claim: dict[str, list[str]] = {}
        for name, learner in self.learners.items():
            if learner.claim_text:
                names_by_claim.setdefault(learner.claim_text, []).append(
                    formats.escape_and_truncate(name, 40)
                )
        return (f"{', '.join(names)}: {sentence}" for sentence, names in names_by_claim.items())

    @property
    def _learning_curve_lines(self) -> list[str]:
        """Lines on the risk that each learning curve predicts for more rows, or why it does not."""
        ranked_learners = {name: self.learners[name] for name in self.ranking}
        return [
            f"{formats.escape_and_truncate(name, 40)}: {_more_rows_sentence(learner)}"
            for name, learner in ranked_learners.items()
            if learner.has_learning_curve
        ]

    def __str__(self) -> str:
        table = tables.text_table(TABLE_HEADER, _shortened_rows(self.rows()))
        conclusion_text = textwrap.fill(self.conclusion, MAX_WIDTH, break_long_words=False)
        warning_texts = [
            textwrap.fill(str(finding), MAX_WIDTH, break_on_hyphens=False)
            for finding in self.findings
        ]
        scorecard_lines = (
            []
            if not self._scorecard_rows
            else [tables.text_table(SCORECARD_HEADER, self._scorecard_rows), ""]
        )
        scorecard_lines += [
            textwrap.fill(sentence, MAX_WIDTH) for sentence in self._learning_curve_lines
        ]
        scorecard_lines += [""] if self._learning_curve_lines else []
        warning_texts = ["", *warning_texts] if warning_texts else []
        validation_lines = ["", *self._validation_lines] if self.validated else []
        text_lines = [
            self.title,
            "",
            table,
            "",
            *scorecard_lines,
            *self.legend,
            "",
            conclusion_text,
            *warning_texts,
            *validation_lines,
        ]
        return "\n".join(text_lines)

    @property
    def _validation_lines(self) -> list[str]:
        """Text of the validation of the best learner, or the reason why it is missing."""
        name = formats.escape_and_truncate(self.best, 40)
        if self.validation is None:
            return [f"no validation of {name}: {self.no_validation}"]
        return [f"Validation of {name}", "", str(self.validation)]

    @override
    def blocks(self) -> list[tables.Block]:
        main, *others = tables.blocks_with_caption(self.conclusion, TABLE_HEADER, self.rows())
        scores = tables.Block("Further scores", SCORECARD_HEADER, self._scorecard_rows)
        legend = tables.Block("", [""], [[sentence] for sentence in (self.title, *self.legend)])
        return [main, *([scores] if scores.rows else []), *others, legend]

    @property
    def _honest_numbers(self) -> Mapping[str, HonestNumber]:
        return get_honest_numbers(self.report)

    def _metrics(self) -> Mapping[str, Any]:
        metrics = {**self.report.to_metrics(), "baseline": self.baseline}
        metrics["n_fits"] = sum(learner.n_fits for learner in self.learners.values())
        metrics["seconds"] = sum(learner.seconds for learner in self.learners.values())
        for name, learner in self.ranked_learners.items():
            metrics |= {f"{name}/{key}": value for key, value in learner.to_metrics().items()}
        return metrics

    def plot_ladder(self, ax: Any = None) -> Any:
        """Draw the optimism ladder: apparent, selected and honest risk of every learner.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default new axes are made.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.
        """
        return load_from_package("ladder")(self, ax=ax)

    def plot_curve(self, learner: str | None = None, ax: Any = None) -> Any:
        """Draw the risk curve of a learner with every further criterion.

        Parameters
        ----------
        learner : str, optional
            Name of the learner. The default is the best learner.
        ax : matplotlib Axes, optional
            The axes to draw on. By default new axes are made.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.
        """
        tuned_learner = self._find_learner(learner)
        return tuned_learner.curve.plot(ax=ax, others=tuned_learner.criteria)

    def plot_learning_curve(self, learner: str | None = None, ax: Any = None) -> Any:
        """Draw the learning curve of a learner, extrapolated to twice the rows.

        A learner has a learning curve if `learning_curve=` requested it.

        Parameters
        ----------
        learner : str, optional
            Name of the learner. The default is the best learner.
        ax : matplotlib Axes, optional
            The axes to draw on. By default new axes are made.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.
        """
        name = self.best if learner is None else learner
        tuned_learner = self._find_learner(learner)
        if tuned_learner.learning_curve is None:
            reason = tuned_learner.no_learning_curve or f"assess with learning_curve=[{name!r}]."
            raise Refusal(f"there is no learning curve of {name!r}: {reason}")
        last_size = tuned_learner.expected[-1].n_train if tuned_learner.expected else None
        return tuned_learner.learning_curve.plot(ax=ax, to=last_size)

    def plot_monte_carlo(self, ax: Any = None) -> Any:
        """Draw box plots of the risks of single random splits.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default new axes are made.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.
        """
        if not self.monte_carlo:
            raise Refusal(NO_BOXES)
        return load_from_package("boxes")(self, ax=ax)

    def plot_posterior(self, ax: Any = None, learner: str | None = None) -> Any:
        """Draw the posterior of a learner's true error rate after the honest test.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default new axes are made.
        learner : str, optional
            Name of the learner. The default is the best learner.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.
        """
        return (
            load_from_assessment("posterior")
            .of_estimate(self._find_learner(learner).risk)
            .plot(ax=ax)
        )

    def plot_roc(self, ax: Any = None, learner: str | None = None) -> Any:
        """Draw the ROC curves of rows used neither for tuning nor for fitting, with honest AUCs.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default new axes are made.
        learner : str, optional
            Name of a single learner to draw. By default all learners are drawn, the best one first.
            An assessment that was read from a file holds the curve of the best learner only.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing. The title names learners that have no curve.
        """
        curves: dict[str, RocCurve] = {}
        missing_names = []
        for name in [learner] if learner is not None else self.ranking:
            try:
                curve = self._roc_curve_of_learner(name)
            except Refusal:
                if name in (learner, self.best):
                    raise
                missing_names.append(name)
                continue
            estimate = self.of_ranks("auc", name)
            if estimate is not None and estimate.value is not None:
                curve = replace(curve, auc=estimate.value, interval=estimate.interval)
            curves[name] = curve
        (first_name, first_curve), *others = curves.items()
        ax = first_curve.plot(ax=ax, label=first_name, others=dict(others))
        missing_text = f"; no curve of {', '.join(missing_names)}" if missing_names else ""
        ax.set_title(f"{first_curve.method}{missing_text}", fontsize="medium", parse_math=False)
        return ax

    def plot_precision_recall(self, ax: Any = None, learner: str | None = None) -> Any:
        """Draw the precision-recall curve of the predictions for held-out rows.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default new axes are made.
        learner : str, optional
            Name of the learner. The default is the best learner.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.
        """
        return self._roc_curve_of_learner(learner).precision_recall().plot(ax=ax)

    def plot_calibration(self, ax: Any = None, learner: str | None = None) -> Any:
        """Draw observed shares of the event in held-out rows against predicted probabilities.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default new axes are made.
        learner : str, optional
            Name of the learner. The default is the best learner.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.
        """
        tuned_learner = self._find_learner(learner)
        calibration = (
            self.calibration if tuned_learner is self.best_learner else tuned_learner.calibration
        )
        if calibration is None:
            raise Refusal(NO_CALIBRATION)
        return calibration.plot(ax=ax)

    def plot_stability(self, ax: Any = None) -> Any:
        """Draw how often the outer splits chose the setting that was chosen on all rows.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default new axes are made.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.
        """
        return load_from_package("stability")(self, ax=ax)

    def _roc_curve_of_learner(self, name: str | None) -> RocCurve:
        tuned_learner = self._find_learner(name)
        curve = self.roc if tuned_learner is self.best_learner else tuned_learner.roc
        if curve is None:
            reason = (
                tuned_learner.no_roc or self.no_roc or "a file has that of the best learner alone."
            )
            raise Refusal(f"there is no ROC curve: {reason}")
        return curve

    def _find_learner(self, name: str | None) -> TunedLearner:
        if name is None:
            return self.best_learner
        check_learner_name(name, self.learners)
        return self.learners[name]


def best_set_legend(assessment: Assessment) -> list[str]:
    """Return lines that explain the column "best?", or that say why the column is empty.

    The column marks the learners that may be the best.
    """
    if assessment.usual_best_set is not None:
        return [sentences.best_set_heading(format_percent(assessment.confidence_level))]
    if len(assessment.learners) < 2:
        return []
    reason = ""
    if not is_present(COMPARISON_MODULE):
        reason = f", since {COMPARISON_MODULE} is missing; install truerisk anew"
    elif assessment.best_learner.risk.ordered:
        reason = ", since the rows were tested in the order of time"
    return [f"best?: not known{reason}"]


def check_learner_name(name: str, learners: Iterable[str]) -> None:
    """Raise UnknownName for a name that none of the assessed learners has."""
    check_known("there is no learner", name, learners, "Assessed")


def _shortened_rows(rows: list[list[str]]) -> list[list[str]]:
    """Shorten names and settings so that the table fits `MAX_WIDTH` characters if possible."""
    shortened_rows = [[_truncate(row[0], MAX_NAME_WIDTH), *row[1:]] for row in rows]
    setting_width = MAX_WIDTH - _width_without_settings(shortened_rows)
    if setting_width < MIN_SETTING_WIDTH:
        name_width = max(MIN_NAME_WIDTH, MAX_NAME_WIDTH - (MIN_SETTING_WIDTH - setting_width))
        shortened_rows = [[_truncate(row[0], name_width), *row[1:]] for row in rows]
        setting_width = max(MAX_WIDTH - _width_without_settings(shortened_rows), MIN_SETTING_WIDTH)
    return [
        [
            *row[:SETTING_COLUMN],
            _truncate(row[SETTING_COLUMN], setting_width),
            *row[SETTING_COLUMN + 1 :],
        ]
        for row in shortened_rows
    ]


def _width_without_settings(rows: list[list[str]]) -> int:
    """Return the width of all columns of the table except the settings."""
    other_columns = [j for j in range(len(TABLE_HEADER)) if j != SETTING_COLUMN]
    return sum(max(len(row[j]) for row in [list(TABLE_HEADER), *rows]) + 2 for j in other_columns)


def _truncate(text: str, max_width: int) -> str:
    return text if len(text) <= max_width else text[: max_width - 1] + "…"


def _more_rows_sentence(learner: TunedLearner) -> str:
    """Return a sentence on the risk that the learning curve predicts for more rows."""
    if learner.expected:
        return str(learner.expected[-1])
    curve = learner.learning_curve
    if curve is None:
        return f"no learning curve: {learner.no_learning_curve}"
    return f"its learning curve is not extrapolated: {curve.lacking}"


def _interval_limits(interval: Interval | None) -> dict[str, Any]:
    if interval is None:
        return {"low": None, "high": None, "interval": None}
    return {"low": interval.low, "high": interval.high, "interval": interval.method}


def _row(name: str, learner: TunedLearner, may_be_best: bool | None) -> list[str]:
    return [
        formats.escape_and_truncate(name, 40),
        formats.format_params(learner.curve.best_params),
        formats.format_number(None if learner.selected is None else learner.selected.value),
        formats.format_number(learner.risk.value),
        str(learner.risk.interval or "none"),
        formats.yes_or_no(may_be_best),
        signed_number(learner.optimism, learner.risk.value),
        str(learner.n_fits),
        formats.format_seconds(learner.seconds),
    ]
