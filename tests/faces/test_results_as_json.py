"""Every result that is a record comes back from its JSON, and wrong numbers in it are refused."""

import html
import json
import math
import posixpath
import re
from dataclasses import fields, is_dataclass
from typing import get_type_hints

import matplotlib.pyplot as plt
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from tests.golden.records import differences
from tests.support.results import RESULTS, X, Y, classes_without_figure, searched

import truerisk as tr
from truerisk.extend import BadData, Column, Range, Record
from truerisk.report.record_figures import draw_main_figure
from truerisk.results.earlier_versions import CONVERSIONS
from truerisk.study.results import StudyResults


@pytest.fixture(scope="module", params=RESULTS)
def result(request):
    return RESULTS[request.param]()


def test_from_json_gives_what_was_written(result):
    again = type(result).from_json(result.to_json())
    assert type(again) is type(result)
    assert again.to_json() == result.to_json()


def parts_by_class(result):
    """Return the result and the results inside it, one of each class."""
    return {type(record): record for record in records_in(result)}.values()


def parts_with_schema(result):
    """Return those of them that name a schema."""
    return [*{type(one): one for one in records_in(result) if one.schema}.values()]


def test_from_json_reads_version_1_as_version_2_and_refuses_version_3(result):
    for part in parts_with_schema(result):
        assert part.schema.endswith("/2")
        written = json.loads(part.to_json())
        old = as_version_1(written)
        assert old["schema"] == f"{part.schema[:-1]}1"
        again = json.loads(type(part).from_json(json.dumps(old)).to_json())
        assert differences(written, again) == []
        derived = {name for one in records_in(part) for name in one.derived}
        for later in with_later_version(written, derived):
            with pytest.raises(BadData, match=r"of version 3 of .* 1 to 2: upgrade truerisk"):
                type(part).from_json(json.dumps(later))


def as_version_1(content):
    """The document with the numbers of version 1, which held a loss for each score."""
    if isinstance(content, list):
        return [as_version_1(each) for each in content]
    if not isinstance(content, dict):
        return content
    old = {name: as_version_1(part) for name, part in content.items()}
    schema = old.get("schema")
    if isinstance(schema, str) and schema.startswith("truerisk."):
        old["schema"] = f"{schema[:-1]}1"
        old = CONVERSIONS.get(old["schema"], dict)(_renamed(old))
    return _renamed(old)


def _renamed(content):
    """With `is_score`, as version 1 called it, at any depth."""
    if isinstance(content, list):
        return [_renamed(each) for each in content]
    if not isinstance(content, dict):
        return content
    names = {"greater_is_better": "is_score"}
    return {names.get(name, name): _renamed(part) for name, part in content.items()}


def with_later_version(content, derived):
    """Yield the content, each time with the version 3 in the place of one version that is read."""
    if isinstance(content, dict):
        for key, value in content.items():
            if key == "schema":
                yield {**content, key: value.replace("/2", "/3")}
            elif key not in derived:
                yield from ({**content, key: one} for one in with_later_version(value, derived))
    elif isinstance(content, list):
        for place, value in enumerate(content):
            for one in with_later_version(value, derived):
                yield [*content[:place], one, *content[place + 1 :]]


def test_record_and_its_parts_are_shown_in_brief_and_on_a_page(result, tmp_path):
    again = type(result).from_json(result.to_json())
    assert again._repr_html_() == result._repr_html_()
    for part in parts_by_class(result):
        assert len(repr(part).splitlines()) <= 12
        view, page = part._repr_html_(), part.to_html(tmp_path / "page.html")
        assert page == (tmp_path / "page.html").read_text("utf-8")
        assert len(page) < 150_000
        for block in part.blocks():
            # Views leave out columns that hold nothing but dashes.
            cells = {cell for row in block.rows for cell in row} - {"–"}
            assert all(html.escape(cell) in view for cell in cells)
        if not part.blocks():
            assert html.escape(str(part)) in view


NO_PICTURE = {
    "Checklist",
    "DeclaredOutcome",
    "Measured",
    "DifferenceFromBest",
    "OperatingPoint",
    "Status",
}
NO_PICTURE |= {"TunedLearner", "ModelUpdates"}
NO_PICTURE |= {"CandidateDifference", "ComparisonPlan", "OrderTest", "Submission", "TableRisk"}


def test_plot_draws_a_record_and_its_parts_or_says_why_not(result):
    without = NO_PICTURE | classes_without_figure()
    for part in parts_by_class(result):
        axes = plt.figure().add_subplot()
        if type(part).__name__ in without and draw_main_figure(part) is None:
            with pytest.raises(BadData, match=f"this {type(part).__name__} has no picture"):
                part.plot(ax=axes)
        else:
            assert type(part).__name__ not in classes_without_figure()
            assert part.plot(ax=axes) is axes
            assert axes.has_data()
        plt.close("all")


def test_to_frame_has_a_line_for_each_entry_or_measure():
    model = RESULTS["validation"]()
    benefit, roc = model.net_benefit, model.discrimination.roc
    assert benefit.to_frame()["thresholds"].tolist() == benefit.thresholds.tolist()
    assert {"honest", "treat_all"} <= {*benefit.to_frame()}
    assert roc.to_frame()["tpr"].tolist() == roc.tpr.tolist()
    frame = model.to_frame()
    assert frame["word"].tolist() == [*model.measures]
    assert frame["honest"].tolist() == [each.honest for each in model.measures.values()]
    assert [*model.discrimination.to_frame()["word"]] == [*model.discrimination]


def test_record_has_a_frame_and_metrics(result):
    """Lines with the names of what it holds; finite floats by names in MLflow's letters."""
    again = type(result).from_json(result.to_json())
    assert again.to_metrics() == result.to_metrics()
    for part in parts_by_class(result):
        frame = part.to_frame()
        assert len(frame) or isinstance(part, StudyResults)  # of a file: no replicates
        assert part.frame().equals(frame)
        for name, value in part.to_metrics().items():
            assert type(value) is float
            assert math.isfinite(value)
            assert re.fullmatch(r"[\w. -]+(/[\w. -]+)*", name)
            assert posixpath.normpath(name) == name


def is_short(text):
    """At most 12 lines, and no array's insides: 1,500 characters hold the longest table."""
    return len(text) <= 1500 and text.count("\n") < 12


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_repr_of_results_and_what_hangs_on_them_is_short(tmp_path):
    """Public attributes of large results; of a search what its fit has left; tables of files."""
    knn, line = KNeighborsClassifier(), LogisticRegression()
    learners = {"knn": (knn, {"n_neighbors": [3, 5]}), "line": line}
    search = tr.HonestSearchCV(*learners["knn"], scoring=["zero-one", "auc"], cv=5).fit(X, Y)
    shown = {name: one for name, one in vars(search).items() if name.endswith("_")}
    for large in (
        tr.assess(learners, X, Y, scoring=["zero-one", "auc"], cv=["5-fold"]),
        tr.validate(line, X, Y, subgroups=X[:, :1] > 0),
        tr.audit(searched(), X, Y),
    ):
        names = {name for name in {*dir(type(large)), *vars(large)} if name[0] != "_"}
        shown |= {name: getattr(large, name, None) for name in names - {"problem"}}
        shown[type(large).__name__] = large
    (tmp_path / "a.csv").write_text("x,y\n" + "".join(f"{i * i},{i % 2}\n" for i in range(60)))
    shown["table"] = tr.datasets.read_table(tmp_path / "a.csv", "y")
    shown["data set"] = tr.datasets.load("digits")
    shown |= {"curve": tr.risk_curve(knn, {"n_neighbors": [*range(1, 20)]}, X, Y)}
    ours = {name: one for name, one in shown.items() if type(one).__module__.startswith("truerisk")}
    texts = {name: repr(one) for name, one in ours.items() if not callable(one)}
    assert len(texts) > 20
    assert not {name for name, text in texts.items() if not is_short(text)}


def test_to_metrics_is_the_number_to_report_its_interval_and_what_it_took():
    models = {"../k 1%": KNeighborsClassifier(3), "line": LogisticRegression()}
    assessed = tr.assess(models, X, Y, scoring=["auc", "f1"])
    metrics, scores = assessed.to_metrics(), assessed.report
    assert metrics["auc"] == scores.value
    assert [metrics["auc.low"], metrics["auc.high"]] == [*ends(scores)]
    assert metrics["f1"] == scores.scores["f1"].value
    assert metrics["n_fits"] == metrics["line/n_fits"] + metrics["_k 1_/n_fits"]
    assert metrics["baseline"] == 0.5
    assert metrics["_k 1_/auc"] == assessed.risks["../k 1%"].value
    assert metrics["line/f1.low"] == assessed.risks["line"].scores["f1"].interval.low
    assert not {"line/selected", "line/optimism"} & {*metrics}  # nothing was tuned

    audit = tr.audit(searched(), X, Y)
    metrics = audit.to_metrics()
    assert [metrics["accuracy.low"], metrics["accuracy.high"]] == [*ends(audit.honest)]
    assert metrics["claimed"] - metrics["accuracy"] == pytest.approx(metrics["optimism"])
    assert metrics["n_fits"] == audit.honest.n_fits
    rough = tr.audit(searched(), level="scores").to_metrics()
    assert rough["accuracy"] == rough["rough"]
    assert "accuracy.low" not in rough

    model = tr.validate(LogisticRegression(), X, Y)
    metrics = model.to_metrics()
    assert metrics["brier.high"] == model.measures["brier"].interval.high
    assert metrics["zero-one.high"] == model.risk.interval.high


def test_to_metrics_of_a_fitted_search():
    search = tr.HonestSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 9]}, scoring=["zero-one", "f1"]
    )
    search.fit(X, Y)
    metrics = search.to_metrics()
    assert metrics["selected"] == search.selected_risk_.value
    assert metrics["optimism"] == search.optimism_
    assert metrics["f1"] == search.scores_["f1"].value
    assert search.risk_.to_metrics().items() < metrics.items()
    alone = tr.HonestSearchCV(LogisticRegression()).fit(X, Y)
    assert alone.to_metrics() == alone.risk_.to_metrics()


def ends(risk):
    return risk.interval.low, risk.interval.high


IMPOSSIBLE = {
    "std_error": -1.0,
    "p_value": 1.5,
    "better": 1.5,
    "brier": 1.5,
    "confidence_level": 2.0,
    "n_rows": -1,
    "n_positive": -1.0,
    "done": -1,
    "seconds": -1.0,
    "rope": -0.1,
    "width": -0.1,
    "assurance": 1.5,
    "n_tuning": -1,
    "n_test": -1,
}


def damages(content, derived):
    """The content, each time with one impossible number in the place of what stood there.

    What is `derived` is written and never read.
    """
    if isinstance(content, dict):
        for key, value in content.items():
            if key in derived:
                continue
            if key in IMPOSSIBLE and isinstance(value, int | float):
                yield {**content, key: IMPOSSIBLE[key]}
            else:
                yield from ({**content, key: other} for other in damages(value, derived))
    elif isinstance(content, list) and content and isinstance(content[0], dict):
        yield from ([other, *content[1:]] for other in damages(content[0], derived))


def below_range(result, content):
    """The content, each time with the first number of a field below the range of its type."""
    public = {name: getattr(tr, name) for name in tr.__all__}  # some types are imported late
    for name, hint in get_type_hints(type(result), None, public, include_extras=True).items():
        value = content.get(name)
        for mark in getattr(hint, "__metadata__", ()):
            limits = mark.numbers if isinstance(mark, Column) else mark
            if isinstance(limits, Range):
                low = limits.low - max(1, abs(limits.low))
                if isinstance(value, int | float):
                    yield {**content, name: low}
                elif isinstance(value, list) and isinstance(value[0], int | float):
                    yield {**content, name: [low, *value[1:]]}


def test_from_json_refuses_a_number_that_cannot_be(result):
    content = json.loads(result.to_json())
    derived = {name for one in records_in(result) for name in one.derived}
    tried = [*damages(content, derived), *below_range(result, content)]
    assert tried
    for content in tried:
        with pytest.raises(BadData, match="damaged"):
            type(result).from_json(json.dumps(content))


def records_in(value):
    """The records that a result is made of."""
    if isinstance(value, Record):
        yield value
    if is_dataclass(value):
        for each in fields(value):
            yield from records_in(getattr(value, each.name, None))
    elif isinstance(value, dict):
        for each in value.values():
            yield from records_in(each)
    elif isinstance(value, tuple | list):
        for each in value:
            yield from records_in(each)


def test_record_classes_are_all_tried_here():
    made = {type(one) for make in RESULTS.values() for one in records_in(make())}
    tried = {each for cls in made for each in cls.__mro__}
    ours = {cls for cls in Record.__subclasses__() if cls.__module__.startswith("truerisk.")}
    assert ours <= tried
