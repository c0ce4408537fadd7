"""Learning curves on the page: what is drawn is what was measured, and damaged ones are refused."""

from __future__ import annotations

import copy
import json

import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.report.conftest import draw_any
from tests.report.test_in_browser import require_open_to_all

import truerisk as tr
from truerisk.core.errors import BadData
from truerisk.core.formats import number
from truerisk.report.learning import draw_learning
from truerisk.report.methods_text import described, references, repeat

LEARNERS = {
    "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
    "tree": DecisionTreeClassifier(random_state=0),
    "lda": LinearDiscriminantAnalysis(),
}


@pytest.fixture(scope="module")
def curves() -> tr.Assessment:
    """Two learners with curves, one with a reason."""
    X, y = tr.datasets.make_simple(60, random_state=0)
    return tr.assess(LEARNERS, X, y, cv=["4-fold"], learning_curve="cheap")


@pytest.fixture
def content(curves):
    """Its JSON, read again."""
    return json.loads(curves.to_json())


def test_a_figure_has_every_size_and_the_law_beyond(content, curves) -> None:
    """Measured risks as a table with what is expected of more rows, and a sentence on twice."""
    document = tr.Assessment.from_dict(content)
    figure = draw_learning(
        document.learning_curves["knn"], document.learners["knn"].expected, "knn"
    )
    one = curves.learners["knn"]
    sizes = [f"{size:g}" for size in one.learning_curve.sizes]
    assert [row[0] for row in figure.table.rows][: len(sizes)] == sizes
    measured = [number(value) for value in one.learning_curve.values]
    assert [row[1] for row in figure.table.rows][: len(sizes)] == measured
    last = one.expected[-1]
    said = f"{number(last.value)} [{number(last.interval.low)}, {number(last.interval.high)}]"
    assert figure.caption == f"With twice the rows (120) expect {said}."
    assert figure.table.rows[-1][0] == "120"
    beyond = [at for at in one.expected if at.n_train > one.learning_curve.sizes[-1]]
    assert sum("(expected)" in row[1] for row in figure.table.rows) == len(beyond) > 2
    assert str(figure.svg).count('class="baseline"') == 1  # all rows there are


def test_the_page_has_the_section_and_says_who_has_none(content, curves) -> None:
    """From the assessment and from its JSON alike; without curves there is no such section."""
    page = curves.to_html()
    assert page == draw_any(content)
    assert '<section id="learning"' in page
    assert "tree: no learning curve: it takes" in page
    for one in content["learners"].values():
        one.update(learning_curve=None, no_learning_curve=None)
    assert '<section id="learning"' not in draw_any(content)


def test_a_page_of_an_earlier_version_is_drawn(content) -> None:
    """Whose JSON does not know of learning curves."""
    for one in content["learners"].values():
        del one["learning_curve"], one["no_learning_curve"]
    assert '<section id="learning"' not in draw_any(content)


def test_a_curve_that_is_not_carried_on_says_why(content) -> None:
    """In place of what to expect."""
    stored = content["learners"]["lda"]["learning_curve"]
    stored.update(expected=[], lacking="a + b n^-c does not fit")
    document = tr.Assessment.from_dict(content)
    figure = draw_learning(
        document.learning_curves["lda"], document.learners["lda"].expected, "lda"
    )
    assert figure.caption == "The curve is not extrapolated: a + b n^-c does not fit"
    assert 'class="band' not in str(figure.svg)


def test_what_was_done_names_the_curves(content) -> None:
    """The paragraph, the reference and the call."""
    document = tr.Assessment.from_dict(content)
    assert "Learning curves were measured on nested subsamples" in described(document)
    assert f"With 120 rows, {document.best} is expected" in described(document)
    assert any(one.startswith("Mukherjee") for one in references(document))
    curved = [name for name in document.ranking if name != "tree"]
    assert f"learning_curve={curved!r}," in repeat(document).call


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"sizes": [10.0]}, "estimates' is .* not as long as 'sizes'"),
        ({"sizes": "many"}, "sizes"),
        ({"confidence_level": 7}, "confidence_level"),
        ({"lacking": 3}, "lacking"),
    ],
)
def test_damaged_curves_are_refused(content, change, wrong) -> None:
    """With the place that is wrong."""
    damaged = copy.deepcopy(content)
    damaged["learners"]["lda"]["learning_curve"].update(change)
    with pytest.raises(BadData, match=wrong):
        tr.Assessment.from_dict(damaged)


def test_sizes_that_do_not_ascend_are_refused(content) -> None:
    """They would be drawn as a line that goes back."""
    content["learners"]["lda"]["learning_curve"]["sizes"].reverse()
    with pytest.raises(BadData, match="ascending"):
        tr.Assessment.from_dict(content)


def test_the_section_shuts_nobody_out(show, content) -> None:
    """Nothing that axe-core finds, and nothing that sticks out, on a phone or on a desk."""
    require_open_to_all(show(content), phone=390)
