"""`truerisk posterior`: the numbers of `ErrorPosterior`, and what it refuses."""

from __future__ import annotations

import pytest

import truerisk as tr


def test_the_four_measures_are_printed(call):
    """Wallman's, beside mean and interval, by their names."""
    said = call("posterior", "--errors", 6, "--rows", 60)
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines() == [
        "6 errors in 60 test rows, prior Beta(1, 1)",
        "mean                   0.1129",
        "95 % interval          [0.0474, 0.2019]",
        "95 % bound (ub)        0.1849",
        "P(error > ½) (50 %)    2.69e-11",
        "E[error²] (q2)         0.0143",
        "share of errors (err)  0.1000",
    ]


def test_level_and_prior_reach_the_numbers(call):
    """One JSON document, of the class's own numbers."""
    options = ("--level", 0.9, "--prior", 0.5, 2, "--json")
    content = call("posterior", "--errors", 15, "--rows", 150, *options).content
    post = tr.ErrorPosterior(15, 150, (0.5, 2))
    assert content["schema"] == "truerisk.posterior/2"
    assert (content["errors"], content["n"], content["prior"]) == (15, 150, [0.5, 2])
    interval = post.interval(0.9)
    assert content["interval"] == {"low": interval.low, "high": interval.high}
    assert content["measures"] == post.measures(0.9)._asdict()
    assert (content["mean"], content["std"]) == (post.mean, post.std)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--errors", 6), "Missing option '--rows'"),
        (("--errors", 7, "--rows", 6), "7"),
        (("--errors", -1, "--rows", 6), "-1"),
        (("--errors", 1, "--rows", 0), "0"),
        (("--errors", 1, "--rows", 6, "--level", 1), "range"),
        (("--errors", 1, "--rows", 6, "--prior", 0, 1), "prior"),
        (("--errors", 6, "--rows", 10**23), "more than 1,000,000,000,000,000"),
        (("--errors", 1, "--rows", 6, "--prior", 1e308, 1e308, "--json"), "is worth more than"),
    ],
)
def test_what_is_no_test_is_refused(call, arguments, message):
    """With a sentence, and not with a traceback."""
    said = call("posterior", *arguments)
    assert said.code == 2
    assert message in said.err
    assert "Traceback" not in said.err
