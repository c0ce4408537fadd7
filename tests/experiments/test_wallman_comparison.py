"""Figures 5 and 1: a1 and a2 by hand, shared data, verdicts in words; the problems as points."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from truerisk.experiments.experiment import stream
from truerisk.experiments.wallman_comparison import MEASURES, SITUATIONS, wallman_figure_5
from truerisk.models import FisherClassifier, ParzenClassifier
from truerisk.results.error_posterior import ErrorPosterior


@pytest.fixture
def every(draws_of):
    return draws_of("wallman-figure-5")


@pytest.fixture
def draws(every):
    return {name: values[0] for name, values in every.items()}


@pytest.fixture
def findings(findings_of):
    return findings_of("wallman-figure-5")


def by_hand(situation, number):
    """The document's text (§3.7), with scikit-learn alone."""
    rng = stream(f"wallman comparison {situation.problem.name}", 0, number)
    X, y = situation.problem((90, 90), shuffle=False, random_state=rng)
    fresh = situation.problem((2500, 2500), shuffle=False, random_state=rng)
    order = rng.permutation(180)
    tuning, test = order[:120], order[120:]
    likelihood = situation.widths == "maximum-likelihood"
    learners = [
        KNeighborsClassifier(3),
        DecisionTreeClassifier(criterion="entropy", random_state=0),
        ParzenClassifier(situation.widths, per_class=likelihood),
        FisherClassifier(),
    ]
    risks = []
    for model in learners:
        wrong = []
        for fold in range(5):
            train = np.sort(tuning[fold::5])
            rest = np.setdiff1d(tuning, train)
            wrong.append((model.fit(X[train], y[train]).predict(X[rest]) != y[rest]).mean())
        risks.append(np.mean(wrong))
    chosen = int(np.argmin(np.round(risks, 12)))
    design = np.sort(rng.permutation(tuning)[:30])
    first = measured(learners[chosen].fit(X[design], y[design]), X[test], y[test], fresh)
    design, test = np.split(rng.permutation(180), [30])
    design = np.sort(design)
    second = measured(learners[0].fit(X[design], y[design]), X[test], y[test], fresh)
    return chosen, first, second


def measured(model, X, y, fresh):
    """The four measures and the error on fresh rows."""
    errors = int((model.predict(X) != y).sum())
    post = ErrorPosterior(errors, len(y))
    true = (model.predict(fresh[0]) != fresh[1]).mean()
    return [post.upper(), post.mass_above(0.5), post.second_moment(), errors / len(y), true]


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda s: s.name)
def test_it_does_what_the_text_says(situation, draws):
    """Choice, masses and verdicts are those of a plain loop over scikit-learn's models."""
    chosen, first, second = by_hand(situation, 0)
    assert draws[f"{situation.name}: choice"] == chosen
    np.testing.assert_allclose(draws[f"{situation.name}: above ½"], [first[1], second[1]])
    verdicts = [int(np.sign(b - a)) for a, b in zip(first, second, strict=True)]
    assert draws[f"{situation.name}: verdicts"].tolist() == verdicts


def test_a_replicate_depends_on_seed_and_number_alone(every):
    """Again the same, another number another."""
    again = wallman_figure_5.replicate(0, 2)
    assert all(np.array_equal(every[name][2], again[name]) for name in again)
    assert any(not np.array_equal(every[name][0], again[name]) for name in again)


def test_what_is_compared_and_what_is_only_shown(findings):
    """Simple and difficult stand beside earlier counts; Highleyman (twice) and colon do not."""
    titles = [table.title for table in findings.tables]
    assert [t.split(":")[0] for t in titles[:2]] == ["simple", "difficult"]
    assert titles[2:] == ["wins in per cent, by each measure", "what a1 chose, in per cent"]
    names = [row.name for row in findings.tables[2].rows]
    assert sum(name.startswith("Highleyman") for name in names) == 4


def test_wins_are_shares_of_data_sets(every, findings):
    """The wins of a1 and a2 are the counted verdicts, in per cent; ties are a win of neither."""
    rows = {row.name: row for row in findings.tables[0].rows}
    for place, measure in enumerate(MEASURES):
        for who, sign in (("a1", 1), ("a2", -1)):
            share = 100 * np.mean(every["simple: verdicts"][:, place] == sign)
            assert rows[f"{who}, {measure}"].ours == pytest.approx(share)
            assert rows[f"{who}, {measure}"].std_error > 0
    assert rows["a1, true"].reference == 80


def test_every_verdict_of_the_document_is_a_claim(findings):
    """25 verdicts in words and the size of the masses above one half."""
    claims = findings.claims
    assert len(claims) == 26
    assert claims[0].text == "simple, (ub): a2 has the higher score"
    assert claims[8].text == "difficult, (err): a1 has the higher score"
    winners = "".join(claim.text.split(": a")[1][0] for claim in claims[:-1])
    assert winners == "".join(s.winners for s in SITUATIONS)


def test_difficult_is_decided_at_once(every, findings):
    """Fisher is chosen and better on the large test set, in every data set; three are too few."""
    assert findings.claims[9].verdict == "undecided"
    many = {name: np.concatenate([values] * 10) for name, values in every.items()}
    assert wallman_figure_5.findings(many).claims[9].verdict == "holds"
    (chosen,) = [row for row in findings.tables[3].rows if row.name == "difficult"]
    assert chosen.means[3] == 100


def test_a_panel_for_each_situation(findings):
    """Bars of a1 and a2 by measure, named, with their standard errors."""
    (figure,) = findings.figures
    assert [panel.title for panel in figure.panels] == [s.name for s in SITUATIONS]
    for panel in figure.panels:
        assert [series.label for series in panel.series][:2] == ["a1", "a2"]
        assert all(len(s.y) == len(s.error) == len(MEASURES) for s in panel.series[:2])


def test_the_winner_of_the_document_is_marked_over_its_bar(findings):
    """Left of the middle where that is a1, and above bar and whisker; shares end at 100 %."""
    for panel, situation in zip(findings.figures[0].panels, SITUATIONS, strict=True):
        first, second, won = panel.series
        assert ["1" if x < round(x) else "2" for x in won.x] == [*situation.winners]
        bars = [
            {"1": first, "2": second}[winner].y[i] for i, winner in enumerate(situation.winners)
        ]
        assert (won.y > bars).all()
        assert (panel.names, panel.limits) == (MEASURES, (0, 100))


def test_a_panel_of_2000_points_for_each_problem(findings_of):
    """1000 of each class, of the first replicate, and no two panels alike."""
    (figure,) = findings_of("wallman-figure-1").figures
    assert len(figure.panels) == 4
    seen = {tuple(line.x[:3]) for panel in figure.panels for line in panel.series}
    assert len(seen) == 8
    assert all(len(line.x) == 1000 for panel in figure.panels for line in panel.series)
