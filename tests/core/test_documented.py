"""The "?" in the HTML representation of an estimator leads to its page of the documentation."""

import re
import subprocess
import sys
from pathlib import Path

API = Path(__file__).parents[2] / "docs" / "api"
SCRIPT = """
from sklearn.naive_bayes import GaussianNB
import truerisk as tr

class Own(tr.HonestSearchCV):
    pass

wrap = tr.models.MultipleImputation(GaussianNB())
search = tr.HonestSearchCV(GaussianNB())
models = [search, tr.models.LinearDiscriminant(), wrap, Own(GaussianNB())]
for model in models:
    link = model._get_doc_link()
    print(link or "none", (link or "truerisk") in model._repr_html_())
"""


def links(folder, project_url):
    """Return the link of each estimator, and whether its representation has it, or any link."""
    written = folder / "truerisk-0.dist-info" / "METADATA"
    written.parent.mkdir()
    written.write_text(f"Name: truerisk\nVersion: 0\nProject-URL: {project_url}\n")
    command = [sys.executable, "-c", SCRIPT]
    told = subprocess.run(
        command, env={"PYTHONPATH": str(folder)}, capture_output=True, text=True, check=True
    )
    return [line.split() for line in told.stdout.splitlines()]


def test_estimators_link_to_their_page_on_the_site_of_the_metadata(tmp_path):
    """Each link names a page that docs/api makes; a class of the user has no page."""
    *own, (users, has_link) = links(tmp_path, "Documentation, https://docs.example/truerisk/")
    assert (users, has_link) == ("none", "False")
    text = "".join(page.read_text("utf-8") for page in API.glob("*.md"))
    pages = set(re.findall(r"~?(truerisk\.[\w.]+)", text))
    for link, is_shown in own:
        start, _, page = link.rpartition("/")
        assert start == "https://docs.example/truerisk/api/generated"
        assert page.removesuffix(".html") in pages
        assert is_shown == "True"


def test_estimators_link_nowhere_without_a_site(tmp_path):
    assert {link for link, _ in links(tmp_path, "Source, https://code.example")} == {"none"}
