"""One reproduction of the paper at the smallest scale, for all tests that look at it."""

from pathlib import Path

import pytest

from swarmdp.cli import main


@pytest.fixture(scope="session")
def reproduction(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole reproduction."""
    folder = tmp_path_factory.mktemp("reproduction")
    main(["reproduce", "--scale", "smoke", "-o", str(folder)])
    return folder
