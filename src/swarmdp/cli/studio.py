"""`swarmdp studio`: a page on which swarms are watched, rewards painted and learned."""

import argparse
from pathlib import Path
from typing import Any

from swarmdp.cli.common import HelpFormatter

EXTRA = 'pip install "swarmdp[studio]"'


def add(commands: Any) -> None:
    """Add the command and its options."""
    studio = commands.add_parser(
        "studio",
        help="watch swarms, paint a reward, see it learned, on a page of this machine",
        description="Open a page on which swarms are watched side by side, a reward is painted by "
        "hand or learned, and both are kept. It is served on this machine only, to whoever has "
        "the link that is printed. Ctrl-C ends it.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    studio.set_defaults(command=_run)
    studio.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="the folder whose fits and trajectories the page opens and saves",
    )
    studio.add_argument("--port", type=int, default=0, help="port to listen on; 0 for a free one")
    studio.add_argument(
        "--no-browser", action="store_true", help="only print the link, open no browser"
    )
    studio.add_argument(
        "--system",
        metavar="MODULE:CLASS",
        help="a system of your own, importable from here, with a picture and measures",
    )


def _run(options: argparse.Namespace) -> None:
    from swarmdp.cli.systems import class_of
    from swarmdp.support.errors import InvalidInput

    try:
        from swarmdp.studio.server import serve
    except ModuleNotFoundError as missing:
        raise InvalidInput(
            f"the studio needs the package {missing.name}, which is not installed: {EXTRA}"
        ) from None
    if not 0 <= options.port < 2**16:
        raise InvalidInput(f"--port must be from 0 to 65535, got {options.port}")
    if options.system is not None:
        class_of(options.system)  # refused now, not on the page

    def entries() -> Any:
        from swarmdp.studio.catalogue import BUILT_IN, Entry

        if options.system is None:
            return BUILT_IN
        own = class_of(options.system)
        return {own.__name__: Entry(options.system), **BUILT_IN}

    serve(
        options.folder, entries, port=options.port, browser=not options.no_browser, print_line=_say
    )


def _say(line: str) -> None:
    print(line, flush=True)
