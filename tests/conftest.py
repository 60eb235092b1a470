"""What all tests share."""

from pathlib import Path

import hypothesis
import pytest

from swarmdp.cli import main

# The same examples in every run: a test that passed must not fail for another reason than a change.
hypothesis.settings.register_profile("same", derandomize=True)
hypothesis.settings.load_profile("same")


@pytest.fixture(scope="session")
def reproduction(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole reproduction at the smallest scale, for all tests that look at it."""
    folder = tmp_path_factory.mktemp("reproduction")
    main(["reproduce", "--scale", "smoke", "-o", str(folder)])
    return folder
