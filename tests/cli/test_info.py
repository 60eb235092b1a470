"""`swarmdp info`."""

import pytest

import swarmdp
from swarmdp.cli import main


def test_info(capsys: pytest.CaptureFixture[str]) -> None:
    main(["info"])
    shown = capsys.readouterr().out
    for word in (swarmdp.__version__, "numba", "threads", "compiled code"):
        assert word in shown
