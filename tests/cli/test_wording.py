"""Messages of Python in the words of the command line."""

import pytest

from swarmdp.cli.wording import in_options


@pytest.mark.parametrize(
    ("python", "options"),
    [
        ("give fps=25", "give --fps 25"),
        ('leave it out, or arena="circle" .', "leave it out, or --arena circle."),
        ("cannot read ../a.csv: give max_gap=3", "cannot read ../a.csv: give --max-gap 3"),
        ('columns={"individual": "fish"}', "--column individual=fish"),
    ],
)
def test_arguments_become_options(python: str, options: str) -> None:
    assert in_options(python) == options
