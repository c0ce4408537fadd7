"""Methods paragraph of an assessment for a paper, and what is needed to reproduce the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truerisk.assessment.assessment import Assessment
from truerisk.core.formats import escape_and_truncate, join_words, number, percent
from truerisk.core.frozen import frozen
from truerisk.intervals import IntervalForm, as_form, names
from truerisk.report.ladder import value_of
from truerisk.results.interval import Interval, WithInterval
from truerisk.results.results import RiskEstimate
from truerisk.results.sentences import setting_text
from truerisk.validation.checklists.study_words import cautions
from truerisk.validation.measures import Measured

REFERENCES = {
    "nested": "Varma S, Simon R (2006). Bias in error estimation when using cross-validation for "
    "model selection. BMC Bioinformatics 7:91.",
    "cv": "Stone M (1974). Cross-validatory choice and assessment of statistical predictions. "
    "Journal of the Royal Statistical Society B 36:111–147.",
    "1-se": "Breiman L, Friedman J, Olshen R, Stone C (1984). Classification and regression trees. "
    "Wadsworth.",
    "learning": "Mukherjee S et al. (2003). Estimating dataset size requirements for classifying "
    "DNA microarray data. Journal of Computational Biology 10:119–142.",
}


@frozen
class Repeat:
    """Call, facts (such as the seed) and package versions that reproduce the numbers of a page."""

    call: str
    facts: tuple[tuple[str, str], ...]

    @classmethod
    def from_call(cls, call: str, facts: Mapping[str, str], versions: Mapping[str, str]) -> Repeat:
        """Build a Repeat from the call, the facts that it depends on, and versions of packages."""
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


def methods_paragraph(document: Assessment) -> str:
    """Return the methods paragraph of an assessment."""
    risk_noun = document.scale.short_name(document.named_scoring)
    sentences = [
        _comparison_sentence(document),
        _nesting_sentence(document),
        _risk_sentence(document),
    ]
    if document.choice is not None:
        sentences.append(
            f"With the choice among learners repeated in every split, the {risk_noun} was "
            f"{value_and_interval(document.choice)}."
        )
    if document.baseline is not None:
        baseline_rule = (
            escape_and_truncate(document.baseline_rule or "", 80) or "the best constant answer"
        )
        sentences.append(f"The {risk_noun} of {baseline_rule} was {number(document.baseline)}.")
    auc, name = honest_rank(document, "auc"), document.named_ranks.get("auc")
    if auc is not None and auc.value is not None and name != document.named_scoring:
        sentences.append(f"The area under the ROC curve was {value_and_interval(auc)}.")
    caution_sentences = cautions(
        [interval_form.name for interval_form in _interval_forms(document)]
    )
    version_sentence = (
        f"{versions_phrase(document.best_learner.risk.versions)}, seed {document.seed}."
    )
    return " ".join(
        [*sentences, *_learning_sentences(document), *caution_sentences, version_sentence]
    )


def _learning_sentences(document: Assessment) -> list[str]:
    """Return sentences on the measured learning curves and the best learner's expected risk."""
    if all(learner.learning_curve is None for learner in document.learners.values()):
        return []
    text = "Learning curves were measured on nested subsamples of the training rows, tuned anew on "
    text += "each, and fitted by an inverse power law."
    expected = document.best_learner.expected
    if not expected:
        return [text]
    last_expected, interval = expected[-1], expected[-1].interval
    quantity = (
        "a risk of"
        if document.scale.perfect is None
        else escape_and_truncate(document.named_scoring, 40)
    )
    expectation = (
        f"With {last_expected.n_train:g} rows, {escape_and_truncate(document.best, 60)} is "
        f"expected to have {quantity} "
    )
    expectation += f"{number(last_expected.value)} ({percent(interval.confidence_level)} band "
    return [text, f"{expectation}{number(interval.low)} to {number(interval.high)})."]


def _comparison_sentence(document: Assessment) -> str:
    n_learners, n_rows = len(document.learners), document.n_rows
    learners = document.ranked_learners
    learner_names = join_words(
        [
            f"{escape_and_truncate(name, 60)} ({_settings_text(len(learner.curve))})"
            for name, learner in learners.items()
        ]
    )
    opening = (
        f"We compared {n_learners} learners on {n_rows} rows:"
        if n_learners > 1
        else f"On {n_rows} rows we tested"
    )
    tuning_method, loss = (
        _method_text(document.tuned_by),
        escape_and_truncate(document.named_scoring, 40),
    )
    loss += " loss" if document.scale.perfect is None else ""
    rule = escape_and_truncate(document.rule, 40)
    if not document.tuned:
        return f"{opening} {learner_names}, by {loss}."
    return (
        f"{opening} {learner_names}. Settings were chosen by {tuning_method} ({loss}, rule {rule})."
    )


def _nesting_sentence(document: Assessment) -> str:
    outer_method, inner_method = _method_text(document.tested_by), _method_text(document.tuned_by)
    is_in_pairs, risk_noun = document.tested_by == "pairs", document.scale.noun
    outer_method = inner_method if is_in_pairs else outer_method
    if all(len(learner.curve) == 1 for learner in document.learners.values()):
        return (
            f"The {risk_noun} of each learner was estimated by {outer_method}, on rows that took "
            "no part in its fit and on the same splits for all."
        )
    if is_in_pairs:
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


def _risk_sentence(document: Assessment) -> str:
    best_learner = document.best_learner
    learner_noun = "best learner" if len(document.learners) > 1 else "learner"
    is_tuned, is_loss = best_learner.selected is not None, document.scale.perfect is None
    quantity = (
        "an estimated risk of" if is_loss else escape_and_truncate(document.named_scoring, 40)
    )
    tuning_noun = "risk" if is_loss else "score"
    selected_text = (
        f"; the {tuning_noun} by which its setting was chosen was "
        f"{number(value_of(best_learner.selected))}"
        if is_tuned
        else ""
    )
    learner_text = (
        f"{escape_and_truncate(document.best, 60)} ({setting_text(best_learner.setting)})"
    )
    return (
        f"The {learner_noun} was {learner_text}, with {quantity} "
        f"{value_and_interval(best_learner.risk)}{selected_text}."
    )


def honest_rank(document: Assessment, name: str) -> RiskEstimate | Measured | None:
    """Return the best learner's honest "auc" or "average-precision", or None if not computed."""
    if name not in document.named_ranks:
        return None if document.validation is None else document.validation.measure(name)
    return document.of_ranks(name)


def versions_phrase(versions: Mapping[str, str]) -> str:
    """Return the phrase "Computed with truerisk ... and scikit-learn ...", with versions."""
    version = escape_and_truncate(versions.get("truerisk", "of unknown version"), 40)
    sklearn_version = escape_and_truncate(versions.get("sklearn", ""), 40)
    return (
        "Computed with truerisk "
        f"{version}{f' and scikit-learn {sklearn_version}' if sklearn_version else ''}"
    )


def references(document: Assessment) -> list[str]:
    """Return the references of the methods paragraph of an assessment."""
    cited_references = [REFERENCES["nested"], REFERENCES["cv"]]
    if document.rule == "1-se":
        cited_references.append(REFERENCES["1-se"])
    cited_references += [interval_form.reference for interval_form in _interval_forms(document)]
    learners = document.learners.values()
    if any(learner.learning_curve is not None for learner in learners):
        cited_references.append(REFERENCES["learning"])
    methods = [document.tuned_by, *(name for learner in learners for name in learner.criteria)]
    if any("632" in method for method in methods):
        cited_references.append(reference_of("bootstrap-.632"))
    return list(dict.fromkeys(cited_references))


def reference_of(interval: str) -> str:
    """Return the publication of an interval or method by its name, or "" if there is none."""
    name = interval.removesuffix("-grouped")
    return as_form(name).reference if name in names() else REFERENCES.get(name, "")


def _interval_forms(document: Assessment) -> list[IntervalForm[Any]]:
    """Return the interval formulas that the page reports, in the order of their registry."""
    estimates: list[RiskEstimate | Measured] = [*document.risks.values()]
    estimates += [document.choice] if document.choice else []
    auc = honest_rank(document, "auc")
    intervals = [estimate.interval for estimate in (*estimates, *([] if auc is None else [auc]))]
    used_names = {
        interval.method.removesuffix("-grouped") for interval in intervals if interval is not None
    }
    return [as_form(name) for name in names() if name in used_names]


def repeat_info(document: Assessment) -> Repeat:
    """Return what reproduces an assessment: command or call, seed, fingerprints and versions."""
    risk, learners = document.best_learner.risk, document.ranked_learners.values()
    call = "\n".join(
        escape_and_truncate(command_line, 1000) for command_line in document.command.splitlines()
    )
    call_facts = {
        "seed": str(document.seed),
        "data fingerprint": risk.data_fingerprint,
        "plan fingerprint": risk.plan_fingerprint,
        "engines": ", ".join(sorted({learner.risk.engine for learner in learners})),
    }
    return Repeat.from_call(call or _call_text(document), call_facts, risk.versions)


def _call_text(document: Assessment) -> str:
    learners = document.ranked_learners
    learner_names = ", ".join(repr(escape_and_truncate(name, 60)) for name in learners)
    criteria = dict.fromkeys(label for learner in learners.values() for label in learner.criteria)
    method_names = [document.tuned_by, *criteria]
    interval = f" interval={document.interval!r}," if document.interval else ""
    curves = [
        escape_and_truncate(name, 60)
        for name, learner in learners.items()
        if learner.learning_curve is not None
    ]
    level, arguments_given = document.confidence_level, dict(document.given)
    further_scores = arguments_given.pop(
        "scores", None
    )  # This key exists in documents of version 1.
    scoring = (
        f"[{document.scoring!r}, *{further_scores}]" if further_scores else repr(document.scoring)
    )
    scoring = arguments_given.pop("scoring", scoring)
    call_lines = [
        f"learners = {{...}}  # {learner_names}",
        f"tr.assess(learners, X, y, cv={method_names!r}, outer={document.tested_by!r},",
        *(f"          {argument}," for argument in arguments(arguments_given)),
        f"          rule={document.rule!r}, scoring={scoring},{interval}",
        *([f"          learning_curve={curves!r},"] if curves else []),
        f"          confidence_level={level:.15g}, random_state={document.seed})",
    ]
    return "\n".join(escape_and_truncate(call_line, 1000) for call_line in call_lines)


def arguments(argument_texts: Mapping[str, str]) -> list[str]:
    """Format the arguments as they appear in a function call, omitting those without a name."""
    return [f"{name}={text}" for name, text in argument_texts.items() if name.isidentifier()]


def _settings_text(n_settings: int) -> str:
    return "one setting" if n_settings == 1 else f"{n_settings} settings"


def _method_text(name: str) -> str:
    cleaned_name = escape_and_truncate(name, 60)
    return f"{cleaned_name} cross-validation" if cleaned_name.endswith("-fold") else cleaned_name


def value_and_interval(estimate: WithInterval | Measured) -> str:
    """Format an estimated risk for a sentence, with its interval and the interval's name."""
    interval = estimate.interval
    name = "" if interval is None else f", {escape_and_truncate(interval.method, 40)}"
    return f"{number(estimate.value)} ({level_and_ends(interval)}{name})"


def level_and_ends(interval: Interval | None) -> str:
    """Format an interval for a sentence, or say that there is none."""
    if interval is None:
        return "no interval"
    level = percent(interval.confidence_level)
    return f"{level} interval {number(interval.low)} to {number(interval.high)}"
