"""How often the right number of kinds of individuals is found, and who belongs to which.

Simulated mixtures (leaders, individuals that react to nobody, fast and slow ones, two species,
three kinds) and groups of one kind whose individuals vary a little (`simulated_kinds.py`), each
with numbers drawn at random. The first half was developed with, the other half is run once. The
plainest alternative stands beside it: k-means of the same characteristics, each divided by its
spread, with the number of kinds of the best silhouette.
"""

import itertools
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from studies.command import main
from studies.rows import Job, Row, collect, conditions
from studies.simulated_kinds import MIXTURES, SAME, draw_mixture, record_mixture
from swarmdp.model.streams import derived_seed
from swarmdp.recordings.arena import Circle
from swarmdp.recordings.kinds import MOST_KINDS, characteristics_of, find_kinds
from swarmdp.recordings.rule import fit_rule

OF_EACH = 4  # mixtures of a name in each half
OF_SAME = 5  # groups of one kind of a name in each half


def measured(name: str, number: int, part: str) -> Row:
    """What is found in one recording."""
    seed = derived_seed(2027, [*MIXTURES, *SAME].index(name), number, part == "run once")
    mixed = draw_mixture(name, np.random.default_rng(seed))
    recording, truth = record_mixture(mixed, derived_seed(seed, 1))
    began = time.process_time()
    train = recording.decisions().train
    arena = Circle((0.0, 0.0), mixed.rules[0].tank)
    rule = fit_rule(train, arena, seed=1)
    found = find_kinds(train, arena, rule, rules=False, seed=1)
    seconds = time.process_time() - began
    known = characteristics_of(train, arena, rule)
    plain = _clusters(known.values)
    return {
        "kinds": mixed.kinds,
        "found": found.count,
        "p": round(found.p, 4),
        "differing": list(found.differing),
        "members": _agreement(truth, found.members),
        "clusters": int(plain.max()) + 1,
        "cluster_members": _agreement(truth, plain),
        "seconds": round(seconds, 1),
    }


def _agreement(truth: NDArray[np.int64], found: NDArray[np.int64]) -> float:
    """The share of individuals whose kind is right, whatever kinds are called."""
    size = int(max(truth.max(), found.max())) + 1
    table = np.zeros((size, size))
    np.add.at(table, (truth, found), 1)
    best = max(
        sum(table[i, j] for i, j in enumerate(order))
        for order in itertools.permutations(range(size))
    )
    return round(float(best) / len(truth), 3)


def _clusters(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """k-means with the number of clusters of the best silhouette; one if that is below a half."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    filled = np.where(np.isfinite(values), values, np.nanmean(values, axis=0))
    scaled = (filled - filled.mean(axis=0)) / np.maximum(filled.std(axis=0), 1e-12)
    best, labels = 0.5, np.zeros(len(values), np.int64)
    for count in range(2, MOST_KINDS + 1):
        tried = KMeans(count, n_init=10, random_state=0).fit_predict(scaled)
        score = float(silhouette_score(scaled, tried))
        if score > best:
            best, labels = score, tried.astype(np.int64)
    return labels


def study(output: Path, *, quick: bool = False, only: Sequence[str] = ()) -> None:
    """Look for kinds in all recordings of a part, and write a row for each and the table of all."""
    part = "run once" if "once" in only else "developed with"
    wanted = [name for name in (*MIXTURES, *SAME) if name in only] or [*MIXTURES, *SAME]
    jobs = [
        Job({"name": name, "number": number, "part": part}, partial(measured, name, number, part))
        for name in wanted
        for number in range(1 if quick else OF_EACH if name in MIXTURES else OF_SAME)
    ]
    rows = collect(
        output / "kinds.json",
        jobs,
        conditions(quick=quick),
        lambda row: (
            f"{row['name']} {row['number']}: {row['found']} of {row['kinds']} kinds, "
            f"members {row['members']:.0%} (p = {row['p']}, {', '.join(row['differing'])}; k-means "
            f"{row['clusters']}, {row['cluster_members']:.0%}; {row['seconds']} s)"
        ),
    )
    (output / "table.md").write_text(table(rows), encoding="utf-8")
    print(table(rows))


def table(rows: Sequence[Row]) -> str:
    """The share of right numbers of kinds and of right members, of each name and part."""
    parts = list(dict.fromkeys(row["part"] for row in rows))
    lines = [
        f"| | {' | '.join(f'{part}: kinds, members, k-means' for part in parts)} |",
        f"| --- |{' --- |' * len(parts)}",
    ]
    groups = {name: [name] for name in (*MIXTURES, *SAME)}
    groups |= {"all mixtures": list(MIXTURES), "all of one kind": list(SAME)}
    for title, names in groups.items():
        cells = []
        for part in parts:
            some = [row for row in rows if row["name"] in names and row["part"] == part]
            right = sum(row["found"] == row["kinds"] for row in some)
            plain = sum(row["clusters"] == row["kinds"] for row in some)
            members = np.mean([row["members"] for row in some]) if some else 0.0
            cells.append(f"{right} of {len(some)}, {members:.0%}, {plain} of {len(some)}")
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(
        study,
        "kinds",
        "How often the right number of kinds of individuals is found, and who belongs to which. "
        "About ten minutes for each half.",
        only="names of mixtures, or 'once' for the half that is run once",
    )
