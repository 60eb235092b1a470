"""The rows of the study of small swarms as lines and as tables in Markdown."""

import math
from collections.abc import Sequence

from studies.rows import Row, markdown

PLAYERS = {
    "default": "Algorithm 2",
    "paper": "Algorithm 2 as in the paper",
    "best_responses": "exact best responses",
}


def name_of(row: Row) -> str:
    """A swarm in words."""
    if row["kind"] == "random":
        return f"random swarm {row['seed']}"
    radius = "none" if row["radius"] is None else row["radius"]
    return f"{_kind_of(row)}, radius {radius}"


def _kind_of(row: Row) -> str:
    return f"Ising ring, {row['sees']}" if row["kind"] == "ising" else "Vicsek ring"


def line(row: Row) -> str:
    """A row in one line, for the eye."""
    name = f"{name_of(row)}, {row['agents']} agents"
    if row["part"] == "shares":
        return (
            f"{name}, {row['varied']}: R_L {_share(row['local'])}, R_G {_share(row['global'])}, "
            f"agreement {_number(row['agreement'])}, {row['seconds']} s"
        )
    if row["part"] == "learners":
        counts = ", ".join(f"{n} {row[n]['found']}" for n in PLAYERS)
        return f"{name}: equilibria for {row['with_equilibrium']}; found: {counts}"
    return f"{name}, demo of {row['demo_runs']}: {row['in_local_cone']} of {row['experiments']}"


def _share(share: Row) -> str:
    """A share with its interval, or exact."""
    logs = (share[name] for name in ("log", "log_low", "log_high"))
    value, low, high = (0.0 if log is None else math.exp(log) for log in logs)
    if share["method"] == "exact":
        return f"{value:.4g}"
    return f"{value:.3g} ({low:.3g} to {high:.3g})"


def _number(value: float | None, error: float | None = None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if error is None else f"{value:.3f} ± {error:.3f}"


def tables(rows: Sequence[Row]) -> str:
    """The rows as tables in Markdown."""
    parts = []
    for varied in ("radius", "agents", "noise", "discount"):
        shares = [r for r in rows if r["part"] == "shares" and r["varied"] == varied]
        if shares:
            parts.append(f"### By {varied}\n\n{_share_table(shares, varied)}")
    learners = [r for r in rows if r["part"] == "learners"]
    if learners:
        parts.append(f"### Algorithm 2\n\n{_learner_table(learners)}")
        parts.append(f"### Prices\n\n{_price_table(learners)}")
    rewards = [r for r in rows if r["part"] == "rewards"]
    if rewards:
        parts.append(f"### Algorithm 1\n\n{_reward_table(rewards)}")
    return "\n".join(parts)


def _share_table(rows: Sequence[Row], varied: str) -> str:
    head = (
        *("swarm", varied, "observations", "share in R_L", "share in R_G", "R_G / R_L"),
        *("agreement", "local equilibria", "global ones"),
    )
    lines = []
    for row in rows:
        value = row[varied] if row[varied] is not None else "nothing"
        name = _kind_of(row) if varied == "radius" else name_of(row)
        ratio = "-"
        if row["ratio"] is not None:
            r = row["ratio"]
            exact = r["low"] == r["high"]
            ratio = f"{r['value']:.3g}"
            ratio += "" if exact else f" ({r['low']:.3g} to {r['high']:.3g})"
        expected = [
            _number(row[n], row[f"{n}_error"] or None) if n in row else ""
            for n in ("local_equilibria", "global_equilibria")
        ]
        lines.append(
            (
                *(name, value, row["observations"], _share(row["local"]), _share(row["global"])),
                ratio,
                _number(row["agreement"], row["agreement_error"]),
                *expected,
            )
        )
    return markdown(head, lines)


def _learner_table(rows: Sequence[Row]) -> str:
    head = (
        *("swarm", "an equilibrium exists", "policy", "found one", "the best of them"),
        *("own fixed point", "regret, mean", "where it missed one", "where there is none"),
        *("90 %", "worst", "best policy found"),
    )
    lines = []
    for row in rows:
        for name, label in PLAYERS.items():
            numbers = row[name]
            lines.append(
                (
                    name_of(row),
                    f"{row['with_equilibrium']} of {row['rewards']}",
                    label,
                    numbers["found"],
                    numbers["best_of_those"],
                    numbers["fixed_point"],
                    *(
                        "-" if numbers[f"regret_{n}"] is None else f"{numbers[f'regret_{n}']:.4f}"
                        for n in ("mean", "missed_mean", "without_mean", "90", "worst")
                    ),
                    numbers["best_policy"],
                )
            )
    return markdown(head, lines)


def _price_table(rows: Sequence[Row]) -> str:
    names = ("anarchy", "stability", "locality")
    head = ("swarm", "with an equilibrium", *(f"{n}: mean, largest" for n in names))
    lines = [
        (
            name_of(row),
            f"{row['prices_with_equilibrium']} of {row['prices_of']}",
            *(f"{row[f'{n}_mean']:.3f}, {row[n][-1]:.3f}" if row[n] else "-" for n in names),
        )
        for row in rows
    ]
    return markdown(head, lines)


def _reward_table(rows: Sequence[Row]) -> str:
    head = (
        *("swarm", "roll-outs in the demo", "reward in R_L", "in R_G", "policy is the expert's"),
        *("margin, mean", "worst", "largest possible"),
    )
    lines = [
        (
            *(name_of(row), row["demo_runs"]),
            *(f"{row[n]} of {row['experiments']}" for n in ("in_local_cone", "in_global_cone")),
            f"{row['policy_is_the_expert']} of {row['experiments']}",
            *(f"{row[f'margin_{n}']:.3f}" for n in ("mean", "worst", "largest_possible")),
        )
        for row in rows
    ]
    return markdown(head, lines)
