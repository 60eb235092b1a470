"""Seeds of parts of the work; the numbers themselves are tested with their kernels."""

from swarmdp.model.streams import Part, derived_seed

WORKS = {
    "fit": "LEARNING EVALUATION START REWARD_UPDATE SURROUNDINGS RACING RESAMPLING JUDGING "
    "OTHER_DEMOS PAGE_MEASURES EXPLAINING SEARCHING DEVIATING REPLANNING",
    "page of a fit": "PAGE_SWARMS PAGE_MEASURES",
    "analysis": "INTERACTION JUDGING_HELD_OUT PAGE_SIMULATION SHIFTING CONTROLLER GROUP_DISTANCES "
    "REWARD_SEARCH ENCOUNTERS",
    "resampled demos": "RESAMPLED_RUNS SIMULATED_RUNS",
    "verdict": "STRETCHES OTHER_STARTS RANDOM_POLICIES",
    "cone": "COUNTING SPLITTING DRAWING DRAWING_LEVELS",
}


def test_parts_of_the_same_work_have_different_seeds() -> None:
    assert set(Part.__members__) == {name for names in WORKS.values() for name in names.split()}
    for names in WORKS.values():
        seeds = {derived_seed(7, Part[name]) for name in names.split()}
        assert len(seeds) == len(names.split())


def test_a_part_is_its_number() -> None:
    assert derived_seed(7, Part.JUDGING, 2) == derived_seed(7, 8, 2) != derived_seed(7, 8)
    assert derived_seed(7, Part.JUDGING) == 1305486381710064574
