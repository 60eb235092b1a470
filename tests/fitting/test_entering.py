"""How far it is from `swarmdp.fit` to Algorithm 1, in files that are entered on the way."""

import sys
from types import FrameType

import swarmdp

MOST_FILES = 10


def test_few_files_are_entered_before_algorithm_1() -> None:
    vicsek = swarmdp.Vicsek(n_agents=20)
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=50, seed=1)
    fit = swarmdp.fit  # imported now, not when it is called
    files: list[str] = []
    reached = False

    def enter(frame: FrameType, event: str, _: object) -> None:
        nonlocal reached
        reached = reached or frame.f_code.co_name == "generic_irl"
        name = frame.f_code.co_filename.replace("\\", "/")
        if event == "call" and not reached and "/swarmdp/" in name and name not in files:
            files.append(name)

    sys.setprofile(enter)
    try:
        fit(vicsek, demo, seed=2, iterations=1, judge=False)
    finally:
        sys.setprofile(None)
    assert reached
    assert len(files) <= MOST_FILES, files
