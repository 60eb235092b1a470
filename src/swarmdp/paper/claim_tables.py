"""Claims as the report shows them: how many hold, and a table below each figure."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from swarmdp.paper.claims import Claim
from swarmdp.report.page import check_page_names
from swarmdp.support.markup import render_macro

TEMPLATE = "paper/templates/claims.html.j2"


class VerdictLook(NamedTuple):
    """How a verdict on a claim is shown."""

    sign: str
    style: str  # the class of its style
    several: str  # the words for several


CLAIM_VERDICTS = {
    "holds": VerdictLook("✓", "holds", "hold"),
    "does not hold": VerdictLook("✗", "does-not-hold", "do not hold"),
    "not decided at this scale": VerdictLook("?", "not-decided", "not decided at this scale"),
    "not measured": VerdictLook("–", "not-measured", "not measured"),
}


def claim_counts(claims: Sequence[Claim]) -> Markup:
    """How many claims hold; those that do not are listed."""
    check_page_names("claim", [claim.name for claim in claims])
    return render_macro(TEMPLATE, "counts", claims, CLAIM_VERDICTS) if claims else Markup()


def claim_table(claims: Sequence[Claim]) -> Markup:
    """A row for each statement, a column for each group, such as a learner."""
    if not claims:
        return Markup()
    rows: dict[str, list[Claim]] = {}
    for claim in claims:
        rows.setdefault(claim.statement, []).append(claim)
    groups = list(dict.fromkeys(claim.group for claim in claims))
    return render_macro(TEMPLATE, "table", list(rows.values()), groups, CLAIM_VERDICTS)
