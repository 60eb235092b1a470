"""`swarmdp report`: the report of a reproduction, drawn again from what is finished."""

import argparse
from pathlib import Path
from typing import Any

from swarmdp.cli.common import address
from swarmdp.support import files
from swarmdp.support.progress import shown


def add(commands: Any) -> None:
    """Add the command and its options."""
    report = commands.add_parser(
        "report",
        help="draw the report of a reproduction again from what is finished",
        description="Draw figures, claims and page of a reproduction again from the units in its "
        "folder, without computing any: of one that is still at work or was stopped, the figures "
        "that are complete.",
        allow_abbrev=False,
    )
    report.set_defaults(command=_run)
    report.add_argument("folder", type=Path, help="folder that swarmdp reproduce wrote")


def _run(options: argparse.Namespace) -> None:
    from swarmdp.paper import report as reproduction
    from swarmdp.paper.store import open_store
    from swarmdp.support.errors import InvalidInput

    store = open_store(options.folder)
    files.check_folder(options.folder)
    if not reproduction.complete_figures(store):
        raise InvalidInput(
            f"no figure of {options.folder} is complete yet: swarmdp reproduce goes on with it"
        )
    with shown(None, "drawing and judging") as tell:
        page = reproduction.write_report(store, tell)
    print(f"look at {address(page)}")
