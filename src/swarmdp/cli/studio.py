"""`swarmdp studio`: a page on which swarms are watched, rewards painted and learned."""

import argparse
from pathlib import Path
from typing import Any

from swarmdp.cli.common import add_command

_EXTRA = 'pip install "swarmdp[studio]"'


def add(commands: Any) -> None:
    """Add the command and its options."""
    studio = add_command(
        commands,
        "studio",
        _run,
        summary="watch swarms, and paint or learn rewards, on a local page",
        description="Open a page on which you watch swarms side by side, and paint or learn a "
        "reward. The page is served on this machine only, to whoever has the printed link. Ctrl-C "
        "ends it. With --export, write a single file instead that shows rewards and their swarms "
        "to anyone, without an installation.",
    )
    studio.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="folder in which the page opens and saves fits and trajectories",
    )
    studio.add_argument("--port", type=int, default=0, help="port to listen on; 0 for a free one")
    studio.add_argument(
        "--no-browser", action="store_true", help="print the link without opening a browser"
    )
    studio.add_argument(
        "--system",
        metavar="MODULE:CLASS",
        help="vicsek, ising, or a class of your own, from an installed module or a file in the "
        "current folder. It needs a picture and measures",
    )
    studio.add_argument(
        "--export",
        type=Path,
        metavar="PAGE.html",
        help="write a page with the swarms of named rewards and of a learned one, and exit",
    )
    studio.add_argument(
        "--reward",
        metavar="LINK|FIT",
        help="with --export: show this reward first, given as the link that 'Copy link' copied, in "
        "quotes, or as the folder of a fit",
    )


def _run(options: argparse.Namespace) -> None:
    from swarmdp.cli.systems import class_of
    from swarmdp.support.errors import InvalidInput

    try:
        from swarmdp.studio.server import serve
    except ModuleNotFoundError as missing:
        raise InvalidInput(
            f"the studio needs the package {missing.name}, which is not installed: {_EXTRA}"
        ) from None
    if not 0 <= options.port < 2**16:
        raise InvalidInput(f"--port must be from 0 to 65535, got {options.port}")
    if options.system is not None:
        class_of(options.system)  # a wrong name is reported now, not on the page
    if options.reward is not None and options.export is None:
        raise InvalidInput("--reward is for --export: give the name of a page to write as well")

    def entries() -> Any:
        from swarmdp.studio.catalogue import BUILT_IN, Entry
        from swarmdp.systems.registry import built_in

        if options.system is None:
            return BUILT_IN
        kind, known = class_of(options.system), built_in(options.system)
        path = options.system if known is None else known.path
        return {kind.__name__: Entry(path), **BUILT_IN}

    if options.export is not None:
        _export(options, entries())
        return

    serve(
        options.folder,
        entries,
        port=options.port,
        browser=not options.no_browser,
        print_line=_print_line,
    )


def _export(options: argparse.Namespace, entries: Any) -> None:
    from swarmdp.studio.export import export

    _print_line("planning rewards and simulating their swarms (a minute at most) ...")
    path = export(options.export, entries, next(iter(entries)), options.reward)
    _print_line(f"{path}: {path.stat().st_size / 1e6:.1f} MB, opens in any browser")


def _print_line(line: str) -> None:
    print(line, flush=True)
