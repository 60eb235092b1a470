"""A classifier that tries to tell the learned swarm from the recorded one."""

from typing import TYPE_CHECKING

import numpy as np

from swarmdp.judging.statistics import StatisticsTable
from swarmdp.model.verdict import Telling
from swarmdp.support.arrays import Floats

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier


_ENOUGH_RUNS = 5  # of a demo, for a classifier of whole runs; with fewer, blocks of time are told
TREES = 50
_MOST = 60  # learned runs that a classifier of blocks looks at
NULLS = 5  # learned runs that are taken for the demo, to see what chance makes of them


def telling_by_forest(table: StatisticsTable, starts: int, learned: int, seed: int) -> Telling:
    """Tell the first `starts` runs of the table from the `learned` ones of each start after them.

    With several runs of the demo the samples are runs; those of one start are never in both parts
    of a cross-validation. With few the samples are blocks of time: each block is told by what was
    learned from the others, and the same is done for learned runs in place of the demo's, since
    the blocks of one run resemble each other whatever made it.
    """
    if starts >= _ENOUGH_RUNS:
        return _telling_by_runs(table, starts, learned, seed)
    return _telling_by_blocks(table, starts, learned, seed)


def _telling_by_runs(table: StatisticsTable, starts: int, learned: int, seed: int) -> Telling:
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import GroupKFold

    rows = starts * (1 + learned)
    samples = table.values[:rows]
    start = np.arange(rows) % starts
    recorded = np.arange(rows) < starts
    chances, importance = np.zeros(rows), np.zeros(samples.shape[1])
    for train, test in GroupKFold(min(5, starts)).split(samples, recorded, start):
        forest = _forest(seed).fit(samples[train], recorded[train])
        chances[test] = forest.predict_proba(samples[test])[:, 1]
        importance += forest.feature_importances_
    names = [statistic.name for statistic in table.statistics]
    auc = float(roc_auc_score(recorded, chances))
    return Telling(auc, 0.5, "runs", _telltale(names, importance))


def _telling_by_blocks(table: StatisticsTable, starts: int, learned: int, seed: int) -> Telling:
    runs = table.by_block[: starts * (1 + learned)].reshape(
        1 + learned, starts, -1, len(table.titles)
    )
    runs = runs[: 1 + _MOST]
    auc, importance = _auc_of_blocks(runs, 0, seed)
    nulls = [_auc_of_blocks(runs[1:], k, seed)[0] for k in range(min(NULLS, len(runs) - 1))]
    return Telling(
        auc, float(np.mean(nulls)), "blocks of time", _telltale(table.titles, importance)
    )


def _auc_of_blocks(runs: Floats, demo: int, seed: int) -> tuple[float, Floats]:
    """The AUC when member `demo` of runs (members, starts, blocks, K) is taken for the demo."""
    members, starts, blocks, size = runs.shape
    recorded = np.arange(members) == demo
    areas, importance = [], np.zeros(size)
    folds = min(5, blocks)
    for fold in range(folds):
        test = np.arange(blocks) % folds == fold
        train = ~test if folds > 1 else test
        labels = np.broadcast_to(recorded[:, None, None], (members, starts, int(train.sum())))
        forest = _forest(seed).fit(runs[:, :, train].reshape(-1, size), labels.ravel())
        chance = forest.predict_proba(runs[:, :, test].reshape(-1, size))[:, 1]
        chance = chance.reshape(members, -1)
        # Blocks of the same time and start are compared with each other.
        recorded_chance, others = chance[recorded][0], chance[~recorded]
        areas.append(np.mean((others < recorded_chance) + 0.5 * (others == recorded_chance)))
        importance += forest.feature_importances_
    return float(np.mean(areas)), importance


def _forest(seed: int) -> "RandomForestClassifier":
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(
        TREES,
        min_samples_leaf=2,
        class_weight="balanced_subsample",
        random_state=seed % 2**32,
    )


def _telltale(
    names: tuple[str, ...] | list[str], importance: Floats
) -> tuple[tuple[str, float], ...]:
    shares = importance / max(float(importance.sum()), 1e-300)
    best = np.argsort(-shares, kind="stable")[:3]
    return tuple((names[k], float(shares[k])) for k in best)
