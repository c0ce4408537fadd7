"""Methods paragraph of an assessment for a paper, and what is needed to reproduce the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truerisk.assessment.assessment import Assessment
from truerisk.core.formats import escape_and_truncate, format_number, format_percent, join_words
from truerisk.core.frozen import frozen
from truerisk.intervals import IntervalForm, as_form, names
from truerisk.report.ladder import value_or_none
from truerisk.results.interval import ResultWithInterval
from truerisk.results.results import RiskEstimate
from truerisk.results.sentences import describe_interval, format_setting
from truerisk.validation.checklists.paper_words import (
    interval_words,
    read_toml,
    score_words,
    split_words,
)
from truerisk.validation.checklists.study_words import describe_cautions
from truerisk.validation.measures import Measured

REFERENCES = {
    "nested": read_toml("paper_words")["publications"][
        "Varma and Simon, BMC Bioinformatics 7:91, 2006"
    ],
    "cv": "Stone M (1974). Cross-validatory choice and assessment of statistical predictions. "
    "Journal of the Royal Statistical Society B 36:111–147.",
    "1-se": "Breiman L, Friedman J, Olshen R, Stone C (1984). Classification and regression trees. "
    "Wadsworth.",
    "learning": "Mukherjee S et al. (2003). Estimating dataset size requirements for classifying "
    "DNA microarray data. Journal of Computational Biology 10:119–142.",
}


@frozen
class ReproductionInfo:
    """Call, facts (such as the seed) and package versions that reproduce the numbers of a page."""

    call: str
    facts: tuple[tuple[str, str], ...]

    @classmethod
    def from_call(
        cls, call: str, facts: Mapping[str, str], versions: Mapping[str, str]
    ) -> ReproductionInfo:
        """Combine a call, the facts that its result depends on, and package versions."""
        all_facts = {
            **facts,
            **{escape_and_truncate(name, 40): version for name, version in versions.items()},
        }
        return cls(
            call,
            tuple(
                (name, escape_and_truncate(value, 400))
                for name, value in all_facts.items()
                if value
            ),
        )


def methods_paragraph(assessment: Assessment) -> str:
    """Return the methods paragraph of an assessment."""
    risk_noun = assessment.scale.short_name(_score_text(assessment))
    sentences = [
        _comparison_sentence(assessment),
        _nesting_sentence(assessment),
        _risk_sentence(assessment),
    ]
    if assessment.choice is not None:
        sentences.append(
            f"With the choice among learners repeated in every split, the {risk_noun} was "
            f"{_estimate_text(assessment.choice)}."
        )
    if assessment.baseline is not None:
        baseline_rule = (
            escape_and_truncate(assessment.baseline_rule or "", 80) or "the best constant answer"
        )
        sentences.append(
            f"The {risk_noun} of {baseline_rule} was {format_number(assessment.baseline)}."
        )
    auc = _further_auc(assessment)
    if auc is not None and auc.value is not None:
        sentences.append(f"The area under the ROC curve was {_estimate_text(auc)}.")
    measures_by_interval = _measures_by_interval(assessment)
    interval_sentences = describe_cautions(measures_by_interval)
    if measures_by_interval:
        method_text = interval_words(measures_by_interval)
        interval_sentences = [f"Intervals were computed {method_text}.", *interval_sentences]
    version_sentence = (
        f"{versions_phrase(assessment.best_learner.risk.versions)}, seed {assessment.seed}."
    )
    return " ".join(
        [*sentences, *_learning_sentences(assessment), *interval_sentences, version_sentence]
    )


def _learning_sentences(assessment: Assessment) -> list[str]:
    """Return sentences on the measured learning curves and the best learner's expected risk."""
    if all(learner.learning_curve is None for learner in assessment.learners.values()):
        return []
    text = "Learning curves were measured on nested subsamples of the training rows, tuned anew on "
    text += "each, and fitted by an inverse power law."
    expected_risks = assessment.best_learner.expected
    if not expected_risks:
        return [text]
    last_expected_risk, interval = expected_risks[-1], expected_risks[-1].interval
    quantity_text = "a risk of" if assessment.scale.perfect is None else _score_text(assessment)
    expectation_text = (
        f"With {last_expected_risk.n_train:g} rows, {escape_and_truncate(assessment.best, 60)} is "
        f"expected to have {quantity_text} "
    )
    expectation_text += (
        f"{format_number(last_expected_risk.value)} ({format_percent(interval.confidence_level)} "
        "band "
    )
    return [
        text,
        f"{expectation_text}{format_number(interval.low)} to {format_number(interval.high)}).",
    ]


def _comparison_sentence(assessment: Assessment) -> str:
    n_learners, n_rows = len(assessment.learners), assessment.n_rows
    learners = assessment.ranked_learners
    learner_names = join_words(
        [
            f"{escape_and_truncate(name, 60)} ({_settings_text(len(learner.curve))})"
            for name, learner in learners.items()
        ]
    )
    sentence_start = (
        f"We compared {n_learners} learners on {n_rows} rows:"
        if n_learners > 1
        else f"On {n_rows} rows we tested"
    )
    tuning_method, loss = _method_text(assessment.tuned_by), _score_text(assessment)
    rule = RULE_TEXTS.get(assessment.rule, f", rule {escape_and_truncate(assessment.rule, 40)}")
    if not assessment.tuned:
        return f"{sentence_start} {learner_names}, by {loss}."
    return (
        f"{sentence_start} {learner_names}. Settings were chosen by {tuning_method} ({loss}{rule})."
    )


def _nesting_sentence(assessment: Assessment) -> str:
    outer_method, inner_method = (
        _method_text(assessment.tested_by),
        _method_text(assessment.tuned_by),
    )
    is_tested_by_pairs, risk_noun = assessment.tested_by == "pairs", assessment.scale.noun
    outer_method = inner_method if is_tested_by_pairs else outer_method
    if all(len(learner.curve) == 1 for learner in assessment.learners.values()):
        return (
            f"The {risk_noun} of each learner was estimated by {outer_method}, on rows that took "
            "no part in its fit and on the same splits for all."
        )
    if is_tested_by_pairs:
        return (
            f"The {risk_noun} of each tuned learner was estimated by nested {inner_method} on one "
            "set of folds: every fold, and every pair of folds, was left out once. A fold was "
            "tested by the setting that was best on the others in fits without both, so it took "
            "no part in the choice; the folds were the same for all."
        )
    return (
        f"The {risk_noun} of each tuned learner was estimated by nested resampling (outer "
        f"{outer_method}, inner {inner_method}): tuning was repeated inside every outer training "
        "set and tested on rows that took no part in it, on the same splits for all."
    )


def _risk_sentence(assessment: Assessment) -> str:
    best_learner = assessment.best_learner
    learner_noun = "best learner" if len(assessment.learners) > 1 else "learner"
    is_tuned, is_loss = best_learner.selected is not None, assessment.scale.perfect is None
    quantity_text = (
        f"an estimated {_score_text(assessment)} of" if is_loss else _score_text(assessment)
    )
    tuning_noun = "risk" if is_loss else "score"
    selected_risk_text = (
        f"; the {tuning_noun} by which its setting was chosen was "
        f"{format_number(value_or_none(best_learner.selected))}"
        if is_tuned
        else ""
    )
    learner_text = (
        f"{escape_and_truncate(assessment.best, 60)} ({format_setting(best_learner.setting)})"
    )
    return (
        f"The {learner_noun} was {learner_text}, with {quantity_text} "
        f"{_estimate_text(best_learner.risk)}{selected_risk_text}."
    )


def honest_ranking_score(assessment: Assessment, name: str) -> RiskEstimate | Measured | None:
    """Return the honest "auc" or "average-precision" of the best learner.

    The result is None if this score was not computed.
    """
    if name not in assessment.named_ranks:
        return None if assessment.validation is None else assessment.validation.measure(name)
    return assessment.of_ranks(name)


def _further_auc(assessment: Assessment) -> RiskEstimate | Measured | None:
    """Return the honest AUC of the best learner unless learners were compared by it."""
    is_compared_by_auc = assessment.named_ranks.get("auc") == assessment.named_scoring
    return None if is_compared_by_auc else honest_ranking_score(assessment, "auc")


def versions_phrase(versions: Mapping[str, str]) -> str:
    """Return the phrase "Computed with truerisk ... and scikit-learn ...", with versions."""
    version = escape_and_truncate(versions.get("truerisk", "of unknown version"), 40)
    sklearn_version = escape_and_truncate(versions.get("sklearn", ""), 40)
    return (
        "Computed with truerisk "
        f"{version}{f' and scikit-learn {sklearn_version}' if sklearn_version else ''}"
    )


def assessment_references(assessment: Assessment) -> list[str]:
    """Return the references of the methods paragraph of an assessment."""
    cited_references = [REFERENCES["nested"], REFERENCES["cv"]]
    if assessment.rule == "1-se":
        cited_references.append(REFERENCES["1-se"])
    cited_references += [interval_form.reference for interval_form in _interval_forms(assessment)]
    learners = assessment.learners.values()
    if any(learner.learning_curve is not None for learner in learners):
        cited_references.append(REFERENCES["learning"])
    method_names = [
        assessment.tuned_by,
        *(name for learner in learners for name in learner.criteria),
    ]
    if any("632" in method_name for method_name in method_names):
        cited_references.append(find_reference("bootstrap-.632"))
    return list(dict.fromkeys(cited_references))


def find_reference(interval: str) -> str:
    """Return the publication of an interval or method by its name, or "" if there is none."""
    name = _form_name(interval)
    return as_form(name).reference if name in names() else REFERENCES.get(name, "")


def _measures_by_interval(assessment: Assessment) -> dict[str, list[str]]:
    """Return the measures that have intervals, by the interval's name in the registry's order."""
    estimates: list[tuple[str, RiskEstimate | Measured | None]] = [
        *((_score_text(assessment), risk) for risk in assessment.risks.values()),
        (_score_text(assessment), assessment.choice),
        ("AUC", _further_auc(assessment)),
    ]
    measures: dict[str, list[str]] = {}
    for measure, estimate in estimates:
        if estimate is not None and estimate.interval is not None:
            measures.setdefault(estimate.interval.method, []).append(measure)
    order = {name: position for position, name in enumerate(names())}
    return {
        name: list(dict.fromkeys(measures[name]))
        for name in sorted(measures, key=lambda name: order.get(_form_name(name), len(order)))
    }


def _form_name(interval: str) -> str:
    return interval.removesuffix("-grouped")


def _interval_forms(assessment: Assessment) -> list[IntervalForm[Any]]:
    """Return the formulas of the intervals that the page reports, in the order of the registry."""
    used_names = {_form_name(name) for name in _measures_by_interval(assessment)}
    return [as_form(name) for name in names() if name in used_names]


def _score_text(assessment: Assessment) -> str:
    return describe_score(assessment.named_scoring)


def describe_score(named_scoring: str) -> str:
    """Return the words for a score, with the sign of its values."""
    name = escape_and_truncate(named_scoring, 40)
    return f"negative {score_words(name)}" if name.startswith("neg_") else score_words(name)


def reproduction_info(assessment: Assessment) -> ReproductionInfo:
    """Return the information that is needed to reproduce an assessment.

    It consists of the command or call, the seed, the fingerprints and the versions.
    """
    risk, learners = assessment.best_learner.risk, assessment.ranked_learners.values()
    call = "\n".join(
        escape_and_truncate(command_line, 1000) for command_line in assessment.command.splitlines()
    )
    call_facts = {
        "seed": str(assessment.seed),
        "data fingerprint": risk.data_fingerprint,
        "plan fingerprint": risk.plan_fingerprint,
        "engines": ", ".join(sorted({learner.risk.engine for learner in learners})),
    }
    return ReproductionInfo.from_call(call or _call_text(assessment), call_facts, risk.versions)


def _call_text(assessment: Assessment) -> str:
    learners = assessment.ranked_learners
    learner_names = ", ".join(repr(escape_and_truncate(name, 60)) for name in learners)
    criteria = dict.fromkeys(label for learner in learners.values() for label in learner.criteria)
    method_names = [assessment.tuned_by, *criteria]
    interval = f" interval={assessment.interval!r}," if assessment.interval else ""
    curve_learners = [
        escape_and_truncate(name, 60)
        for name, learner in learners.items()
        if learner.learning_curve is not None
    ]
    level, given_arguments = assessment.confidence_level, dict(assessment.given)
    further_scores = given_arguments.pop(
        "scores", None
    )  # Only JSON documents of version 1 have this key.
    scoring = (
        f"[{assessment.scoring!r}, *{further_scores}]"
        if further_scores
        else repr(assessment.scoring)
    )
    scoring = given_arguments.pop("scoring", scoring)
    call_lines = [
        f"learners = {{...}}  # {learner_names}",
        f"tr.assess(learners, X, y, cv={method_names!r}, outer={assessment.tested_by!r},",
        *(f"          {argument}," for argument in format_arguments(given_arguments)),
        f"          rule={assessment.rule!r}, scoring={scoring},{interval}",
        *([f"          learning_curve={curve_learners!r},"] if curve_learners else []),
        f"          confidence_level={level:.15g}, random_state={assessment.seed})",
    ]
    return "\n".join(escape_and_truncate(call_line, 1000) for call_line in call_lines)


def format_arguments(argument_texts: Mapping[str, str]) -> list[str]:
    """Format the arguments as they appear in a function call, omitting those without a name."""
    return [f"{name}={text}" for name, text in argument_texts.items() if name.isidentifier()]


RULE_TEXTS = {"min": "", "1-se": ", one-standard-error rule"}


def _settings_text(n_settings: int) -> str:
    return "one setting" if n_settings == 1 else f"{n_settings} settings"


def _method_text(name: str) -> str:
    return split_words(escape_and_truncate(name, 60))


def _estimate_text(estimate: ResultWithInterval | Measured) -> str:
    return f"{format_number(estimate.value)} ({describe_interval(estimate.interval)})"


def describe_estimate(estimate: ResultWithInterval | Measured) -> str:
    """Format an estimated risk for a sentence, with its interval and the interval's name."""
    interval = estimate.interval
    name = "" if interval is None else f", {escape_and_truncate(interval.method, 40)}"
    return f"{format_number(estimate.value)} ({describe_interval(interval)}{name})"
