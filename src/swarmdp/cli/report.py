"""`swarmdp report`: the report of a reproduction, drawn again from what is finished."""

import argparse
from pathlib import Path
from typing import Any

from swarmdp.cli.common import add_command, page_address
from swarmdp.support import files
from swarmdp.support.progress import shown


def add(commands: Any) -> None:
    """Add the command and its options."""
    report = add_command(
        commands,
        "report",
        _run,
        summary="draw the report of a reproduction again, without computing",
        description="Draw the figures and the page of a reproduction again from the finished units "
        "in its folder, without computing any. If it is still running or was stopped, only "
        "complete figures are drawn.",
    )
    report.add_argument("folder", type=Path, help="folder that swarmdp reproduce wrote")


def _run(options: argparse.Namespace) -> None:
    from swarmdp.paper import report as reproduction
    from swarmdp.paper.store import open_store
    from swarmdp.support.errors import InvalidInput

    store = open_store(options.folder)
    files.check_folder(options.folder)
    if not reproduction.complete_figures(store):
        raise InvalidInput(
            f"no figure of {options.folder} is complete yet: continue it with swarmdp reproduce"
        )
    with shown(None, "drawing and judging") as tell:
        page = reproduction.write_report(store, tell)
    print(f"look at {page_address(page)}")
