"""The built pages, served to a browser; `make docs` builds them and `make site` asks for them."""

import contextlib
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.report.conftest import browser

__all__ = ["browser"]

SITE = Path(__file__).parent.parent.parent / "docs" / "_build" / "html"


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing of it."""

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture(scope="session")
def site():
    """The folder of the built pages; none is a failure, never a skip."""
    if not (SITE / "index.html").exists():
        pytest.fail("the pages are not built: run `make docs`")
    return SITE


@pytest.fixture(scope="session")
def address(site):
    """Where a server of this machine shows the pages."""
    handler = partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def reader(browser, address):
    """Opens a page in a window of a width, in a colour scheme; what it asks elsewhere is kept."""
    with contextlib.ExitStack() as opened:

        def read(path: str, *, width: int = 1280, scheme: str = "light") -> tuple[Any, list[str]]:
            window = {"width": width, "height": 900}
            context = browser.new_context(viewport=window, color_scheme=scheme)
            opened.callback(context.close)
            page = context.new_page()
            elsewhere: list[str] = []
            page.on("request", lambda asked: elsewhere.append(asked.url))
            page.goto(f"{address}/{path}", wait_until="load")
            return page, [url for url in elsewhere if not url.startswith((address, "data:"))]

        yield read
