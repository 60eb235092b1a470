"""A fit of the studio with its defaults."""

import pytest

from swarmdp.studio.catalogue import BUILT_IN, expert_to_show
from swarmdp.studio.learning import DEMO_RUNS, StudioFit
from swarmdp.studio.messages import Learn
from swarmdp.studio.stage import Play


@pytest.mark.parametrize("name", BUILT_IN)
def test_default_settings_and_seed_end_in_a_right_verdict(name: str) -> None:
    """The expert can be learned, and the verdict says so."""
    system = BUILT_IN[name].create()
    fit = StudioFit(Play(system, expert_to_show(system), 1), Learn(1, 20, errors=False))
    assert fit.demo().runs == DEMO_RUNS
    last = fit.run(lambda facts: None, lambda policy: None)
    assert last["phase"] == "done"
    assert last["verdict"].startswith("reproduces")
    assert not last["alarm"]
    assert last["identified"] is not None
    assert len(last["identified"]) == len(last["weights"])
