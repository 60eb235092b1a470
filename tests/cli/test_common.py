"""What the commands share."""

import warnings

import pytest

from swarmdp.cli.common import run_guarded
from swarmdp.support.errors import SwarmdpWarning


def test_warnings_of_the_package_get_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        warnings.simplefilter("always")
        warnings.warn("too few draws", SwarmdpWarning, stacklevel=1)
        warnings.warn("of another", UserWarning, stacklevel=1)

    with pytest.warns(UserWarning, match="of another") as warned:
        run_guarded("program", work)
    assert len(warned) == 1
    assert capsys.readouterr().err == "program: warning: too few draws\n"


@pytest.mark.parametrize("said", ["", "Unable to allocate 8 GiB"])
def test_too_little_memory_gets_one_line(said: str, capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        raise MemoryError(said)

    with pytest.raises(SystemExit) as stop:
        run_guarded("program", work)
    assert stop.value.code == 2
    printed = capsys.readouterr().err
    assert printed.startswith("program: there is not enough memory")
    assert said in printed
    assert printed.count("\n") == 1
