"""The methods paragraph for a paper, and the information needed to reproduce the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truerisk.assessment.assessment import Assessment
from truerisk.core.formats import clean, listed, number, percent
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
    """The call, facts and versions that reproduce the numbers."""

    call: str
    facts: tuple[tuple[str, str], ...]

    @classmethod
    def from_call(cls, call: str, facts: Mapping[str, str], versions: Mapping[str, str]) -> Repeat:
        """Collect the call, the facts that it depends on, and the versions used."""
        every = {**facts, **{clean(name, 40): version for name, version in versions.items()}}
        return cls(call, tuple((name, clean(value, 400)) for name, value in every.items() if value))


def described(document: Assessment) -> str:
    """Return the methods paragraph."""
    what = document.scale.short(document.named_scoring)
    sentences = [_compared(document), _nested(document), _risk_sentence(document)]
    if document.choice is not None:
        sentences.append(
            f"With the choice among learners repeated in every split, the {what} was "
            f"{value_and_interval(document.choice)}."
        )
    if document.baseline is not None:
        rule = clean(document.baseline_rule or "", 80) or "the best constant answer"
        sentences.append(f"The {what} of {rule} was {number(document.baseline)}.")
    area, name = honest_rank(document, "auc"), document.named_ranks.get("auc")
    if area is not None and area.value is not None and name != document.named_scoring:
        sentences.append(f"The area under the ROC curve was {value_and_interval(area)}.")
    rests_on = cautions([form.name for form in _forms(document)])
    by = f"{computed(document.best_learner.risk.versions)}, seed {document.seed}."
    return " ".join([*sentences, *_learned(document), *rests_on, by])


def _learned(document: Assessment) -> list[str]:
    """Describe how learning curves were measured, and the best learner's expected risk."""
    if all(learner.learning_curve is None for learner in document.learners.values()):
        return []
    text = "Learning curves were measured on nested subsamples of the training rows, tuned anew on "
    text += "each, and fitted by an inverse power law."
    expected = document.best_learner.expected
    if not expected:
        return [text]
    last, band = expected[-1], expected[-1].interval
    what = "a risk of" if document.scale.perfect is None else clean(document.named_scoring, 40)
    more = f"With {last.n_train:g} rows, {clean(document.best, 60)} is expected to have {what} "
    more += f"{number(last.value)} ({percent(band.confidence_level)} band "
    return [text, f"{more}{number(band.low)} to {number(band.high)})."]


def _compared(document: Assessment) -> str:
    n, rows = len(document.learners), document.n_rows
    learners = document.ranked_learners
    names = listed([f"{clean(n, 60)} ({_grid(len(o.curve))})" for n, o in learners.items()])
    what = f"We compared {n} learners on {rows} rows:" if n > 1 else f"On {rows} rows we tested"
    tuned, loss = _method(document.tuned_by), clean(document.named_scoring, 40)
    loss += " loss" if document.scale.perfect is None else ""
    rule = clean(document.rule, 40)
    if not document.tuned:
        return f"{what} {names}, by {loss}."
    return f"{what} {names}. Settings were chosen by {tuned} ({loss}, rule {rule})."


def _nested(document: Assessment) -> str:
    outer, inner = _method(document.tested_by), _method(document.tuned_by)
    in_pairs, noun = document.tested_by == "pairs", document.scale.noun
    outer = inner if in_pairs else outer
    if all(len(learner.curve) == 1 for learner in document.learners.values()):
        return (
            f"The {noun} of each learner was estimated by {outer}, on rows that took no part in "
            "its fit and on the same splits for all."
        )
    if in_pairs:
        return (
            f"The {noun} of each tuned learner was estimated by nested {inner} on one set of "
            "folds: every fold, and every pair of folds, was left out once. A fold was tested by "
            "the setting that was best on the others in fits without both, so it took no part in "
            "the choice; the folds were the same for all."
        )
    return (
        f"The {noun} of each tuned learner was estimated by nested resampling (outer "
        f"{outer}, inner {inner}): tuning was repeated inside every outer training set and tested "
        "on rows that took no part in it, on the same splits for all."
    )


def _risk_sentence(document: Assessment) -> str:
    best = document.best_learner
    which = "best learner" if len(document.learners) > 1 else "learner"
    is_tuned, error = best.selected is not None, document.scale.perfect is None
    what = "an estimated risk of" if error else clean(document.named_scoring, 40)
    tuned = "risk that tuned it" if error else "score that tuned it"
    selected = f"; the {tuned} was {number(value_of(best.selected))}" if is_tuned else ""
    named = f"{clean(document.best, 60)} ({setting_text(best.setting)})"
    return f"The {which} was {named}, with {what} {value_and_interval(best.risk)}{selected}."


def honest_rank(document: Assessment, name: str) -> RiskEstimate | Measured | None:
    """Return the honest "auc" or "average-precision" of the best learner, if the page has it."""
    if name not in document.named_ranks:
        return None if document.validation is None else document.validation.measure(name)
    return document.of_ranks(name)


def computed(versions: Mapping[str, str]) -> str:
    """Return a phrase with the versions used."""
    version = clean(versions.get("truerisk", "of unknown version"), 40)
    learn = clean(versions.get("sklearn", ""), 40)
    return f"Computed with truerisk {version}{f' and scikit-learn {learn}' if learn else ''}"


def references(document: Assessment) -> list[str]:
    """Return the references of the paragraph."""
    cited = [REFERENCES["nested"], REFERENCES["cv"]]
    if document.rule == "1-se":
        cited.append(REFERENCES["1-se"])
    cited += [form.reference for form in _forms(document)]
    learners = document.learners.values()
    if any(learner.learning_curve is not None for learner in learners):
        cited.append(REFERENCES["learning"])
    methods = [document.tuned_by, *(name for learner in learners for name in learner.criteria)]
    if any("632" in method for method in methods):
        cited.append(reference_of("bootstrap-.632"))
    return list(dict.fromkeys(cited))


def reference_of(interval: str) -> str:
    """Return the publication of an interval, by its name (grouped or not), or ""."""
    name = interval.removesuffix("-grouped")
    return as_form(name).reference if name in names() else REFERENCES.get(name, "")


def _forms(document: Assessment) -> list[IntervalForm[Any]]:
    """Return the intervals that the page reports, in the order of their registry."""
    estimates: list[RiskEstimate | Measured] = [*document.risks.values()]
    estimates += [document.choice] if document.choice else []
    area = honest_rank(document, "auc")
    given = [one.interval for one in (*estimates, *([] if area is None else [area]))]
    words = {one.method.removesuffix("-grouped") for one in given if one is not None}
    return [as_form(name) for name in names() if name in words]


def repeat(document: Assessment) -> Repeat:
    """Return the command or call, the seed, the fingerprints and the versions."""
    risk, learners = document.best_learner.risk, document.ranked_learners.values()
    call = "\n".join(clean(line, 1000) for line in document.command.splitlines())
    facts = {
        "seed": str(document.seed),
        "data fingerprint": risk.data_fingerprint,
        "plan fingerprint": risk.plan_fingerprint,
        "engines": ", ".join(sorted({learner.risk.engine for learner in learners})),
    }
    return Repeat.from_call(call or _call(document), facts, risk.versions)


def _call(document: Assessment) -> str:
    learners = document.ranked_learners
    words = ", ".join(repr(clean(name, 60)) for name in learners)
    criteria = dict.fromkeys(label for each in learners.values() for label in each.criteria)
    methods = [document.tuned_by, *criteria]
    interval = f" interval={document.interval!r}," if document.interval else ""
    curves = [clean(name, 60) for name, each in learners.items() if each.learning_curve is not None]
    level, given = document.confidence_level, dict(document.given)
    further = given.pop("scores", None)  # This key exists in documents of version 1.
    scoring = f"[{document.scoring!r}, *{further}]" if further else repr(document.scoring)
    scoring = given.pop("scoring", scoring)
    lines = [
        f"learners = {{...}}  # {words}",
        f"tr.assess(learners, X, y, cv={methods!r}, outer={document.tested_by!r},",
        *(f"          {argument}," for argument in arguments(given)),
        f"          rule={document.rule!r}, scoring={scoring},{interval}",
        *([f"          learning_curve={curves!r},"] if curves else []),
        f"          confidence_level={level:.15g}, random_state={document.seed})",
    ]
    return "\n".join(clean(line, 1000) for line in lines)


def arguments(typed: Mapping[str, str]) -> list[str]:
    """Format the arguments as they appear in a function call, omitting those without a name."""
    return [f"{name}={text}" for name, text in typed.items() if name.isidentifier()]


def _grid(n: int) -> str:
    return "one setting" if n == 1 else f"{n} settings"


def _method(name: str) -> str:
    shown = clean(name, 60)
    return f"{shown} cross-validation" if shown.endswith("-fold") else shown


def value_and_interval(estimate: WithInterval | Measured) -> str:
    """Format a risk with its interval and the interval's name for a sentence."""
    interval = estimate.interval
    name = "" if interval is None else f", {clean(interval.method, 40)}"
    return f"{number(estimate.value)} ({level_and_ends(interval)}{name})"


def level_and_ends(interval: Interval | None) -> str:
    """Format an interval for a sentence, or say that there is none."""
    if interval is None:
        return "no interval"
    level = percent(interval.confidence_level)
    return f"{level} interval {number(interval.low)} to {number(interval.high)}"
