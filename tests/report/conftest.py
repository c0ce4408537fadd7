"""One chromium for the session, and pages to look at in it."""

import html
import importlib.util
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.support.demsar import C45, DATA_SETS, METHODS
from tests.support.rms_data import drawn

import truerisk as tr
from truerisk.comparison import method_pairs
from truerisk.report.page import result_from_dict

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&{{7*7}}"
ARABIC = "\u202eمريض\u202c"
LONG = "x" * 10_000


def draw_any(content: Any) -> str:
    """Return the page of a result that was written down."""
    return result_from_dict(content).to_html()


def told(page: str) -> str:
    """Return the words of a page."""
    return html.unescape(re.sub(r"<[^>]*>", " ", page.partition("<body>")[2]))


@pytest.fixture(scope="session")
def found() -> Any:
    """Three learners on 26 rows of one class and 14 of the other, two criteria."""
    X, y = tr.datasets.make_difficult(60, random_state=1)
    kept = np.sort(np.r_[np.flatnonzero(y == y[0])[:14], np.flatnonzero(y != y[0])[:26]])
    X, y = X[kept], y[kept]
    learners = {
        "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 3, 7]}),
        "tree": (
            DecisionTreeClassifier(random_state=0),
            {"max_depth": [1, 2], "min_samples_leaf": [1, 3, 5]},
        ),
        "bayes": GaussianNB(),
    }
    return tr.assess(learners, X, y, cv=["3-fold", "loo"], outer="4-fold")


@pytest.fixture(scope="session")
def content(found: Any) -> dict[str, Any]:
    """Its JSON, read again."""
    return json.loads(found.to_json())


@pytest.fixture(scope="session")
def hostile() -> dict[str, Any]:
    """Names and class labels that try to leave their place."""
    X, y = tr.datasets.make_difficult(40, random_state=1)
    frame = pd.DataFrame({HOSTILE: X[:, 0], ARABIC: X[:, 1], LONG: X[:, 1]})
    labels = np.where(y == y[0], HOSTILE, ARABIC)
    learners = {
        HOSTILE: (KNeighborsClassifier(), {"n_neighbors": [1, 3]}),
        ARABIC: GaussianNB(),
        LONG: DecisionTreeClassifier(random_state=0),
    }
    assessed = tr.assess(learners, frame, labels, cv=["3-fold"], outer="4-fold")
    plain = assessed.to_dict()
    plain["source"] = plain["command"] = f"{HOSTILE}\n{ARABIC}{LONG}"
    return json.loads(json.dumps(plain))


@pytest.fixture(scope="session")
def audited() -> Any:
    """A search among 58 settings on 60 rows, by its level."""
    X, y = tr.datasets.make_difficult(60, random_state=1)
    grid = {"n_neighbors": list(range(1, 30)), "weights": ["uniform", "distance"]}
    search = GridSearchCV(KNeighborsClassifier(), grid, cv=5).fit(X, y)
    return {
        "scores": tr.audit(search, level="scores"),
        "bbc": tr.audit(search, X, y, level="bbc"),
        "pairs": tr.audit(search, X, y),
        "nested": tr.audit(search, X, y, level="nested", outer="3-fold"),
    }


@pytest.fixture(scope="session")
def compared() -> Any:
    """Demšar's table, with a hole."""
    values = C45.copy()
    values[3, 1] = np.nan
    return tr.compare_many(
        values, better="higher", methods=METHODS, data_sets=DATA_SETS, quantity="AUC"
    )


@pytest.fixture(scope="session")
def validated() -> Any:
    """With optimism, of a model that is not well calibrated."""
    return tr.validate(GaussianNB(), *drawn()[:2], replicates=4)


@pytest.fixture(scope="session")
def parts() -> Any:
    """A validation with subgroups, one of them too small, and stability."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = (X[:, 0] + rng.logistic(size=90) > 0).astype(int)
    site = np.repeat(["a", "b", "<i>c</i>", "tiny"], [40, 30, 15, 5])
    return tr.validate(LogisticRegression(), X, y, replicates=0, subgroups={"site": site})


@pytest.fixture(scope="session")
def learned() -> Any:
    """Two learners with learning curves, one with a reason."""
    X, y = tr.datasets.make_simple(60, random_state=0)
    learners = {
        "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
        "tree": DecisionTreeClassifier(random_state=0),
        "lda": LinearDiscriminantAnalysis(),
    }
    return tr.assess(learners, X, y, cv=["4-fold"], learning_curve="cheap")


@pytest.fixture(scope="session")
def dated() -> Any:
    """Long enough for a test of a trend."""
    load = tr.datasets.make_daily_load
    X, y = load(600, random_state=1)
    return tr.assess({"ridge": Ridge(), "mean": DummyRegressor()}, X, y, time=load.dates(600))


@pytest.fixture(scope="session")
def results(
    found: Any, audited: Any, compared: Any, validated: Any, parts: Any, learned: Any, dated: Any
) -> dict[str, Any]:
    """Results of every kind that has a page and is read from JSON."""
    return {
        "assessment": found,
        **{f"audit {level}": audit for level, audit in audited.items()},
        "many": compared,
        "validation": validated,
        "parts": parts,
        "learning": learned,
        "over time": dated,
    }


@pytest.fixture(scope="session")
def wild(hostile: Any, audited: Any) -> dict[str, Any]:
    """The JSON of results whose names try to leave their place."""
    audit = json.loads(audited["bbc"].to_json())
    for name in ("search", "source", "command", "conclusion", "level"):
        audit[name] = f"{HOSTILE} {ARABIC} {LONG}"
    audit["settings"] = [{f"{HOSTILE}{i}": f"{ARABIC}{LONG}"} for i in range(58)]
    audit["claimed"].update(scoring=HOSTILE, method=HOSTILE, params={HOSTILE: LONG})
    audit["honest"].update(method=HOSTILE, notes=[HOSTILE, LONG])
    for one in audit["findings"]:
        one.update(sentence=HOSTILE, remedy=LONG)
    audit["versions"] = {HOSTILE: LONG}
    values = np.random.default_rng(0).normal(size=(80, 20))
    values[3, 4] = np.nan
    methods = [HOSTILE, ARABIC, LONG, *(f"{HOSTILE}{i}" for i in range(17))]
    data_sets = [f"{HOSTILE}{i}{LONG}" for i in range(80)]
    with pytest.MonkeyPatch.context() as patched:
        few = partial(method_pairs.dirichlet_signed_rank, draws=50)
        patched.setattr(method_pairs, "dirichlet_signed_rank", few)
        many = tr.compare_many(values, methods=methods, data_sets=data_sets, quantity=HOSTILE)
    X, y, _ = drawn()
    labels = np.where(y == 1, HOSTILE, "!")
    validation = tr.validate(GaussianNB(), X, labels, replicates=0)
    return {
        "assessment": hostile,
        "audit": audit,
        "many": many.to_dict(),
        "validation": validation.to_dict(),
    }


# ---------------------------------------------------------------- the browser


def chromium_path() -> str:
    """The browser that `make browser` found; none is a failure, never a skip."""
    place = Path(__file__).parent / "chromium.py"
    spec = importlib.util.spec_from_file_location("chromium", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path: str | None = module.find()
    if path is None:
        pytest.fail("there is no chromium for the tests of the report: run `make browser`")
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless chromium."""
    from playwright.sync_api import sync_playwright

    path = chromium_path()
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield running
        running.close()


@dataclass
class Opened:
    """A page in the browser, and what it let out."""

    page: Any
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector)).strip()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Open a page from its file; console, errors, dialogs and requests are kept."""
    contexts = []

    def opened(content: dict[str, Any] | str, **options: Any) -> Opened:
        path = tmp_path / f"{len(contexts)}.html"
        text = content if isinstance(content, str) else draw_any(content)
        path.write_text(text, encoding="utf-8")
        options.setdefault("viewport", {"width": 1200, "height": 900})
        context = browser.new_context(**options)
        contexts.append(context)
        found = Opened(context.new_page())
        page, own = found.page, path.as_uri()
        page.on("console", lambda message: found.said.append(message.text))
        page.on("pageerror", lambda error: found.said.append(str(error)))
        page.on("dialog", lambda dialog: (found.said.append("dialog"), dialog.dismiss()))
        page.on("request", lambda ask: found.asked.append(ask.url) if ask.url != own else None)
        page.goto(own)
        return found

    yield opened
    for context in contexts:
        context.close()
