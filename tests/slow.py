"""Which tests are slow, and why: `make test` leaves them to `make test-slow`.

They drive other programs, or repeat at length what a quick test sees in small. The rest sees most
failures in a few minutes. A row names a folder, a file or a test with all its parameters.
"""

from collections.abc import Mapping

_PROCESSES = "starts processes and kills, interrupts or waits for them"
_COMPILES = "compiles kernels in other processes"
_STATISTICS = "many fits or runs, since it is about a rate or a spread"
_EVERY = "every case; quick tests have some of them"
_SCRIPTS = "runs scripts that the studio wrote"
_BROWSER = "drives a browser"
_ANALYSIS = "a whole analysis; quick tests have its parts"

SLOW: Mapping[str, str] = {
    "tests/benchmarks": "measures",
    "tests/campaigns": "samples of the attacks, many of them in processes that are killed",
    "tests/studies": "small runs of the studies, which are no part of the package",
    "tests/test_package.py": "builds archives, installs them and runs tests in them",
    "tests/test_tutorials.py": "runs whole notebooks",
    "tests/test_site.py": _BROWSER,
    "tests/test_documentation.py::test_snippets_run_as_written": "runs the documentation",
    "tests/kernels/test_compile.py": _COMPILES,
    "tests/paper/test_cluster.py": "starts and kills schedulers and workers of Dask",
    "tests/report/test_browser.py": _BROWSER,
    "tests/report/test_space_player.py": _BROWSER,
    "tests/report/test_no_browser.py": "starts pytest twice",
    "tests/studio/test_browser.py": _BROWSER,
    "tests/judging/test_calibration.py": _STATISTICS,
    "tests/judging/test_first_example.py": _STATISTICS,
    "tests/judging/test_advice.py::test_a_fit_that_tried_other_learners_does_not_advise_them": (
        "two fits that try all learners"
    ),
    "tests/cli/test_fit.py::test_fit_by_other_updates": _EVERY,
    "tests/cli/test_fit.py::test_who_may_take_over_is_an_option": "three fits with their pages",
    "tests/cli/test_fit_tracks.py::test_an_interrupted_analysis_keeps_its_fit": (
        "four analyses with their verdicts"
    ),
    "tests/cli/test_reproduce.py::test_a_second_start_gives_the_same_bytes": "two reproductions",
    "tests/fitting/test_by_actions.py::test_vicsek_s_alignment_is_learned": _STATISTICS,
    "tests/fitting/test_fit.py::test_an_interrupt_while_a_file_is_made_is_not_lost": _PROCESSES,
    "tests/fitting/test_observations.py::test_every_update_works_with_products": _EVERY,
    "tests/fitting/test_takeover.py::test_policy_search_takes_over_where_there_is_no_clone": (
        "two searches, and a verdict on every finalist"
    ),
    "tests/fitting/test_takeover.py::test_experiments_are_taken_over_one_by_one": (
        "each experiment by itself, beside the batch"
    ),
    "tests/fitting/test_smallest.py::test_other_neighbours_are_tried": (
        "many fits; quick tests have those of classes and actions"
    ),
    "tests/recordings/test_space.py::test_a_whole_analysis_is_saved_and_read_again": _ANALYSIS,
    "tests/recordings/test_space.py::test_a_third_coordinate_that_never_changes_is_left_out": (
        _ANALYSIS
    ),
    "tests/recordings/test_components.py"
    "::test_an_analysis_says_what_the_reward_tells_of_a_new_component": _ANALYSIS,
    "tests/judging/test_stretches.py::test_small_differences_are_noticed_with_one_demo": (
        _STATISTICS
    ),
    "tests/irl/test_resampling.py::test_errors_are_as_large_as_rewards_differ_between_demos": (
        _STATISTICS
    ),
    "tests/irl/updates/test_mwal.py::test_the_mixture_reaches_the_value_of_the_game": _EVERY,
    "tests/kernels/test_streams.py::test_moments_of_normals": _STATISTICS,
    "tests/model/test_trajectory.py::test_a_disk_that_fills_up_while_writing": _PROCESSES,
    "tests/paper/test_engine.py::test_an_interrupt_keeps_what_is_done": _PROCESSES,
    "tests/paper/test_engine.py::test_killed_at_any_moment_it_goes_on_to_the_same_bits": _PROCESSES,
    "tests/paper/test_engine.py::test_two_processes_with_different_seeds_at_once": _PROCESSES,
    "tests/studio/test_learning.py": "fits with the defaults",
    "tests/studio/test_server.py::test_an_interrupt_ends_it_cleanly_and_nothing_is_lost": (
        _PROCESSES
    ),
    "tests/studio/test_server.py::test_a_flood_of_sockets_is_quiet": _PROCESSES,
    "tests/studio/test_session.py::test_the_script_repeats_a_painted_swarm": _SCRIPTS,
    "tests/studio/test_session.py::test_the_script_repeats_what_was_learned": _SCRIPTS,
    "tests/support/test_memory.py::test_many_classes_learn_in_little_memory": (
        "measures memory in processes of its own"
    ),
    "tests/support/test_netcdf.py::test_permission_denied_is_not_called_damaged": _PROCESSES,
    "tests/support/test_progress.py"
    "::test_on_a_terminal_an_analysis_says_what_it_does_before_it_fits": "two analyses",
    "tests/theory/test_volumes.py::test_splitting_takes_over_where_nothing_is_hit": _STATISTICS,
    "tests/cli/test_fit.py::test_agents_that_remember": _STATISTICS,
    "tests/cli/test_fit_tracks.py::test_the_same_from_python": _ANALYSIS,
    "tests/cli/test_fit_tracks.py::test_the_same_seed_gives_the_same_files": _ANALYSIS,
    "tests/irl/test_rational.py::test_intervals_cover_known_rewards": _STATISTICS,
    "tests/model/test_augmented.py::test_as_many_bits_as_are_needed_are_learned": _STATISTICS,
    "tests/model/test_augmented.py"
    "::test_the_verdict_of_agents_that_only_react_asks_for_a_history": _STATISTICS,
    "tests/recordings/test_zonal.py"
    "::test_the_search_comes_nearer_and_is_the_same_for_the_same_seed": "whole searches",
    "tests/report/test_space_page.py::test_from_a_file_to_a_page": _ANALYSIS,
    "tests/systems/test_vicsek_space.py"
    "::test_a_verdict_knows_the_expert_from_agents_that_turn_less": _STATISTICS,
    "tests/systems/test_vicsek_space.py"
    "::test_order_of_agents_that_all_see_each_other_is_the_mean_cosine_of_the_noise": _STATISTICS,
    "tests/theory/test_chain.py::test_full_size_fits_into_memory": "a matrix of full size",
}


def reason(nodeid: str) -> str | None:
    """Why the test with this name is slow; None if it is not."""
    path, _, test = nodeid.partition("::")
    name = f"{path}::{test.partition('[')[0]}"
    return next((SLOW[row] for row in (name, *_above(path)) if row in SLOW), None)


def is_left_out(path: str, marks: str) -> bool:
    """Whether no test of a file is among those that pytest's option -m chooses."""
    whole = any(row in SLOW for row in _above(path))
    if marks == "not slow":
        return whole
    return marks == "slow" and not whole and not any(row.startswith(f"{path}::") for row in SLOW)


def _above(path: str) -> tuple[str, ...]:
    """The path of a file and its folders."""
    return (path, *(path[:end] for end, letter in enumerate(path) if letter == "/"))
