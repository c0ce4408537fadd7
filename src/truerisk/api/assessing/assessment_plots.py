"""`Assessment.plot_*()`: the figures of the page by matplotlib, for SVG, PNG and PDF."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from truerisk.api.assessing.tested_learners import TestedLearners
from truerisk.api.assessing.tuned_learner import TunedLearner
from truerisk.comparing.paired import of_score
from truerisk.core.errors import Refusal, UnknownName
from truerisk.core.present import WHOLE_SEARCH, params_text
from truerisk.core.registry import closest, displays
from truerisk.core.results import RiskEstimate
from truerisk.core.statistics.error_posterior import ErrorPosterior
from truerisk.core.statistics.roc import RocCurve

__all__ = ["Plots"]

NO_CALIBRATION = "there is no calibration: it needs classes and a model with probabilities."
NO_BOXES = "no learner was tested on random splits: assess with outer='monte-carlo'."


class Plots(TestedLearners):
    """What an assessment draws; each returns matplotlib's axes (needs matplotlib).

    ``a.plot_ladder().figure.savefig("ladder.svg")`` writes a file.
    """

    def plot_ladder(self, ax: Any = None) -> Any:
        """The optimism ladder: apparent, selected and honest risk of every learner."""
        rungs = {name: _rung(self.learners[name]) for name in self.ranking}
        if self.choice is not None:
            rungs[WHOLE_SEARCH] = _honest(self.choice)
        scale = self.problem.loss.scale
        options = {"baseline": scale.value(self.baseline), "axis": scale.axis(self.named_loss)}
        return displays.load("ladder")(rungs, ax=ax, **options)

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
        scale = self.problem.loss.scale
        shown = {name: [scale.value(v) for v in risks] for name, risks in self.monte_carlo.items()}
        return displays.load("boxes")(shown, ax=ax, what=scale.short(self.named_loss))

    def plot_posterior(self, ax: Any = None, learner: str | None = None) -> Any:
        """The posterior of a learner's true error after the honest test."""
        return ErrorPosterior.of_estimate(self._learner(learner).risk).plot(ax=ax)

    def plot_roc(self, ax: Any = None, learner: str | None = None) -> Any:
        """The ROC curve of rows without part in tuning or fit; its AUC is the honest one."""
        one, name = self._learner(learner), self.ranks.get("auc")
        curve, own = _curve_of(one), None if name is None else of_score(one.risk, name).own_scale
        if own is not None and own.value is not None:
            curve = replace(curve, auc=own.value, interval=own.interval)
        return curve.plot(ax=ax)

    def plot_precision_recall(self, ax: Any = None, learner: str | None = None) -> Any:
        """Precision against recall of such rows."""
        return _curve_of(self._learner(learner)).precision_recall().plot(ax=ax)

    def plot_calibration(self, ax: Any = None, learner: str | None = None) -> Any:
        """Observed shares over the probabilities of such rows."""
        calibration = self._learner(learner).calibration
        if calibration is None:
            raise Refusal(NO_CALIBRATION)
        return calibration.plot(ax=ax)

    def plot_stability(self, ax: Any = None) -> Any:
        """How often each outer split chose what was chosen on all rows."""
        tuned = [name for name in self.ranking if len(self.learners[name].curve) > 1]
        shares = {name: _shares(self.learners[name]) for name in tuned}
        return displays.load("stability")(shares, ax=ax)

    def _learner(self, name: str | None) -> TunedLearner:
        known = self.learners
        if name is not None and name not in known:
            raise UnknownName(f"no learner {name!r}{closest(name, known) or '.'}")
        return known[self.best if name is None else name]


def _curve_of(one: TunedLearner) -> RocCurve:
    if one.roc is None:
        raise Refusal(f"there is no ROC curve: {one.no_roc}")
    return one.roc


def _rung(one: TunedLearner) -> dict[str, float | None]:
    apparent = None if one.apparent is None else one.apparent.own_scale.value
    known = None if one.optimism is None else one.selected
    selected = None if known is None else known.own_scale.value
    return {**_honest(one.risk), "apparent": apparent, "selected": selected}


def _honest(risk: RiskEstimate) -> dict[str, float | None]:
    own = risk.own_scale
    low, high = (None, None) if own.interval is None else (own.interval.low, own.interval.high)
    return {"apparent": None, "selected": None, "honest": own.value, "low": low, "high": high}


def _shares(one: TunedLearner) -> list[tuple[str, float]]:
    """The setting chosen on all rows first, with share 0 where no outer split chose it."""
    counts = dict(one.stability.frequencies)
    order = [one.curve.best, *(c for c in counts if c != one.curve.best)]
    settings, n = one.stability.candidates, one.stability.n_splits
    return [(params_text(settings[c]), counts.get(c, 0) / n) for c in order]
