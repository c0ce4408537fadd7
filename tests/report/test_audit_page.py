"""The page of an audit says what the audit says, in one file."""

import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from tests.report.conftest import draw_any, told

import truerisk as tr
from truerisk.core.formats import format_number
from truerisk.exceptions import FindingWarning
from truerisk.report.audit_figures import draw_claim, draw_settings


@pytest.fixture
def content(audited):
    """The JSON of level bbc, to be changed."""
    return json.loads(audited["bbc"].to_json())


@pytest.mark.parametrize(("level", "rungs"), [("scores", 2), ("bbc", 3), ("nested", 3)])
def test_audit_page_has_claim_honest_risk_and_findings(audited, level, rungs):
    """The numbers of the audit, its conclusion, and what to do about each finding."""
    found = audited[level]
    page = told(found.to_html())
    for one in (found.claimed, found.honest, found.rough):
        assert format_number(one.value) in page
        assert format_number(one.loss_value) not in page.partition("Copy as SVG")[0]
    for sentence in found.conclusion.split(". "):
        assert sentence.rstrip(".") in page
    for finding in found.findings:
        assert f"{finding.sentence}" in page
        assert finding.remedy in page
    assert ("Report this score" in page) == (level != "scores")
    assert ("Roughly corrected" in page) == (level == "scores")
    figure = draw_claim(found)  # at level scores the honest risk is the correction
    assert len(figure.table.rows) == len(figure.keys) == rungs


def test_pages_state_a_finding_on_the_rows_once():
    X, y = tr.datasets.make_simple(60, random_state=0)
    X = pd.DataFrame(X).rename(columns=str).assign(patient_id=np.arange(60) % 20)
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1]}, cv=5).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FindingWarning)
        results = tr.audit(search, X, y), tr.assess({"nb": search}, X, y, outer="5-fold")
    for found in results:
        (sentence,) = [one.sentence for one in found.findings if one.code == "group-numbers"]
        assert told(found.to_html()).count(sentence) == 1


def test_audit_page_has_the_verdict(content):
    claimed, interval = content["claimed"]["value"], content["honest"]["interval"]
    ends = {"refuted": claimed + 0.1, "possible": claimed}
    intervals = {word: {**interval, "low": low, "high": low + 0.1} for word, low in ends.items()}
    for word, changed in {**intervals, "open": None}.items():
        page = told(draw_any({**content, "honest": {**content["honest"], "interval": changed}}))
        assert re.search(rf"The claim\s+{word}", page)


def test_settings_figure_has_every_setting(audited):
    """The drawing has a point for each, its table the measured scores from the best on."""
    found = audited["bbc"]
    figure = draw_settings(found)
    assert len(found.risks) == found.n_candidates == 58
    assert found.risks[found.chosen] == pytest.approx(found.claimed.value)
    rows = figure.table.rows
    assert [row[1] for row in rows] == [format_number(r) for r in sorted(found.risks, reverse=True)]
    assert sum(row[2] == "yes" for row in rows) == len(found.within_one_error)
    assert [row[0] for row in rows if row[3] == "yes"] == ["n_neighbors=3, weights=distance"]
    assert figure.svg.count("data-tip") == 58
    assert figure.svg.count('class="point s0" data-tip') == len(found.within_one_error)


def test_audit_page_of_many_settings_stays_small(content):
    n = 20_000
    content.update(
        settings=[{"n": i} for i in range(n)],
        risks=[0.1 + i / n for i in range(n)],
        within_one_error=[0, 1],
        n_candidates=n,
    )
    page = draw_any(content)
    assert len(page.encode()) < 300_000
    assert f"{n - 60} further rows are not on the page" in page


BOUND = ["Varma", "Bengio", "Tibshirani"]


@pytest.mark.parametrize(
    ("level", "authors"),
    [
        ("scores", ["Tibshirani"]),
        ("bbc", ["Tsamardinos", "Tibshirani"]),
        ("pairs", BOUND),
        ("nested", BOUND),
    ],
)
def test_audit_page_cites_what_was_done(audited, level, authors):
    """Bootstrap bias correction, nested resampling and the rough correction have a reference."""
    for found in (audited[level], replace(audited[level], mixes="groups")):
        listed = found.to_html().partition('<ul class="references">')[2].partition("</ul>")[0]
        assert level == "bbc" or re.findall(r"<li>(\w+)", listed) == authors
