"""One chromium for the session, and pages to look at in it."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.report.page import read_any

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&{{7*7}}"
ARABIC = "\u202eمريض\u202c"
LONG = "x" * 10_000


def draw_any(content: Any) -> str:
    """The page of a result that was written down."""
    return read_any(content).to_html()


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
    import pandas as pd

    X, y = tr.datasets.make_difficult(40, random_state=1)
    frame = pd.DataFrame({HOSTILE: X[:, 0], ARABIC: X[:, 1], LONG: X[:, 1]})
    labels = np.where(y == y[0], HOSTILE, ARABIC)
    learners = {
        HOSTILE: (KNeighborsClassifier(), {"n_neighbors": [1, 3]}),
        ARABIC: GaussianNB(),
        LONG: DecisionTreeClassifier(random_state=0),
    }
    drawn = tr.assess(learners, frame, labels, cv=["3-fold"], outer="4-fold")
    plain = drawn.to_dict()
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


@pytest.fixture
def wild(audited: Any) -> dict[str, Any]:
    """The JSON of an audit whose names try to leave their place."""
    plain = json.loads(audited["bbc"].to_json())
    for name in ("search", "source", "command", "conclusion", "level"):
        plain[name] = f"{HOSTILE} {ARABIC} {LONG}"
    plain["settings"] = [{f"{HOSTILE}{i}": f"{ARABIC}{LONG}"} for i in range(58)]
    plain["claimed"].update(scoring=HOSTILE, method=HOSTILE, params={HOSTILE: LONG})
    plain["honest"].update(method=HOSTILE, notes=[HOSTILE, LONG])
    for one in plain["findings"]:
        one.update(sentence=HOSTILE, remedy=LONG)
    plain["versions"] = {HOSTILE: LONG}
    return plain


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
