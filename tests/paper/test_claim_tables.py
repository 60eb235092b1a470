"""Claims on the page: counted, listed where they do not hold, in a table with their figure."""

import math
import re

import pytest

from swarmdp.paper.claim_tables import claim_counts, claim_table
from swarmdp.paper.claims import Claim
from swarmdp.support.errors import InvalidInput


def claim(name: str, learner: str = "", **more: object) -> Claim:
    fields: dict[str, object] = {
        "about": "Ising",
        "statement": "it holds",
        "holds": True,
        "value": 0.5,
        "error": 0.1,
        "unit": "",
        "criterion": "",
    } | more
    return Claim(name, learner=learner, **fields)  # type: ignore[arg-type]


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_nothing_is_said_of_no_claims() -> None:
    assert claim_counts([]) == claim_table([]) == ""


def test_verdicts_are_counted() -> None:
    claims = [
        claim("a"),
        claim("b"),
        claim("c", holds=None),
        claim("d", holds=None, value=math.nan),
    ]
    assert text_of(claim_counts(claims)) == (
        "Of 4 claims: 2 hold 1 not decided at this scale 1 not measured"
    )
    failed = claim("e", "paper", holds=False, statement="it beats < that")
    assert text_of(claim_counts([failed])) == (
        "Of 1 claims: 1 does not hold What does not hold: Ising, the paper&#39;s learner: "
        "it beats &lt; that"
    )


def test_learners_share_the_row_of_a_statement() -> None:
    claims = [
        claim("a", "paper", criterion="if so"),
        claim("b", "default", criterion="if not so"),
        claim("c", "default", statement="another", criterion="always", unit="of it"),
    ]
    html = claim_table(claims)
    assert html.count("<tr") == 3  # with the heads
    assert html.count('class="empty"') == 1
    assert text_of(html) == (
        "What the paper says The paper&#39;s learner The default learner "
        "It holds How it is decided the paper&#39;s learner: if so the default learner: if not so "
        "✓ holds 0.50 ± 0.10 ✓ holds 0.50 ± 0.10 "
        "Another How it is decided always ✓ holds 0.50 ± 0.10 of it"
    )
    assert re.findall(r'id="claim-(\w)"', html) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("names", "message"),
    [(["a b"], "name of a claim must be letters"), (["a", "a"], "must differ, got 'a' twice")],
)
def test_bad_names_are_refused(names: list[str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        claim_counts([claim(name) for name in names])
