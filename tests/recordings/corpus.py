"""A corpus of small files of tracks as people and tools write them, each with the right answer.

All hold the same swarm, or a part of it. The files are written here, in the manner of the tools,
and not taken from anybody's data.
"""

import bz2
import datetime
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

FRAMES, MANY = 12, 3
NAMES: tuple[str, ...] = ("anna", "NA", "carl")
POSITIONS: NDArray[np.float64] = np.round(
    np.cumsum(np.random.default_rng(5).normal(1, 0.5, (FRAMES, MANY, 2)), axis=0)
    + np.array([[40.0, 20.0], [1240.0, 20.0], [90.0, 1500.0]]),
    2,
)
Rows = list[tuple[int, int, float, float]]  # frame, individual, x, y


@dataclass(frozen=True)
class Case:
    """A file, how it is read, and what must come out."""

    name: str
    content: bytes
    said: str = ""  # in one of the notes
    positions: NDArray[np.float64] = field(default_factory=POSITIONS.copy)
    labels: tuple[str | int, ...] | None = NAMES
    fps: float = 10.0
    unit: str = "cm"
    options: dict[str, Any] = field(default_factory=lambda: {"fps": 10, "unit": "cm"})
    tolerance: float = 1e-9


def table(
    separator: str = ",",
    header: str | None = "frame,animal,x,y",
    form: str = "{:.2f}",
    decimal: str = ".",
    labels: Sequence[object] = NAMES,
    clock: Callable[[int], str] = str,
    missing: str | None = None,
    positions: NDArray[np.float64] = POSITIONS,
) -> str:
    """The positions as a long table; with a mark for what is missing, one point is."""
    lines = [] if header is None else [header.replace(",", separator)]
    for t, frame in enumerate(positions):
        for label, place in zip(labels, frame, strict=True):
            x, y = (form.format(value) for value in place)
            if decimal == ",":
                x, y = (value.translate(str.maketrans(".,", ",.")) for value in (x, y))
            if missing is not None and t == 4 and label == labels[1]:
                x = y = missing
            lines.append(separator.join([clock(t), str(label), x, y]))
    return "\n".join(lines) + "\n"


def one_missing() -> NDArray[np.float64]:
    positions = POSITIONS.copy()
    positions[4, 1] = np.nan
    return positions


def separators() -> Iterator[Case]:
    names = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "blank", "   ": "blanks"}
    for separator, name in names.items():
        yield Case(f"{name}.csv", table(separator).encode(), "guessed")
        if separator != ",":
            text = table(separator, decimal=",")
            yield Case(f"{name} and decimal comma.txt", text.encode(), "decimal comma")
    quoted = table().replace("anna", '"anna"').replace("frame", '"frame"')
    yield Case("quotes.csv", quoted.encode(), "guessed")
    yield Case("line ends.csv", table().replace("\n", "\r\n").encode(), "guessed")
    yield Case("blanks behind commas.csv", table(", ").encode(), "guessed")


def encodings() -> Iterator[Case]:
    umlauts = ("änne", "ödön", "carl")
    text = table(labels=umlauts)
    for name, said in {
        "utf-8": "guessed",
        "utf-8-sig": "guessed",
        "utf-16": "utf-16",
        "latin-1": "latin-1",
    }.items():
        yield Case(f"{name}.csv", text.encode(name), said, labels=umlauts)
    big = b"\xfe\xff" + text.encode("utf-16-be")
    yield Case("utf-16-be.csv", big, "utf-16", labels=umlauts)


def beginnings() -> Iterator[Case]:
    for name, before, said in [
        ("hash comments", "# filmed in May\n# by hand\n", "2 lines"),
        ("percent comments", "% filmed in May\n", "1 lines"),
        ("slash comments", "// filmed in May\n", "1 lines"),
        ("a title", "Tracks of the first trial\n\n", "2 lines"),
        ("titles with values", "Date: 2026-05-01\nArena: 2 m\n\n", "3 lines"),
        ("blank lines", "\n\n", "2 lines"),
        ("sep comma", "sep=,\n", "1 lines"),
    ]:
        yield Case(f"{name}.csv", (before + table()).encode(), said)
    yield Case("sep semicolon.csv", ("sep=;\n" + table(";")).encode(), "1 lines")
    padded = f"Tracks of the first trial,,,\n,,,\n{table()}"
    yield Case("a title with commas.csv", padded.encode(), "2 lines")
    unnamed = "\n".join(f"{line},," for line in table().splitlines())
    yield Case("commas behind.csv", unnamed.encode(), "guessed")
    indexed = "\n".join(f"{n or ''},{line}" for n, line in enumerate(table().splitlines()))
    yield Case("an index.csv", indexed.encode(), "guessed")
    under = table().replace("x,y\n", "x,y\n(none),(none),(cm),(cm)\n", 1)
    yield Case("a line of units.csv", under.encode(), "guessed")


def archive(members: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


def packed() -> Iterator[Case]:
    text = table()
    yield Case("packed.csv.gz", gzip.compress(text.encode()), "unpacked")
    yield Case("packed.csv.bz2", bz2.compress(text.encode()), "unpacked")
    yield Case("packed.csv.xz", lzma.compress(text.encode()), "unpacked")
    yield Case("packed.zip", archive({"tracks.csv": text}), "unpacked tracks.csv")
    finder: dict[str, str | bytes] = {"tracks.csv": text, "__MACOSX/._tracks.csv": b"\0"}
    yield Case("packed on a Mac.zip", archive(finder), "unpacked tracks.csv")


def numbers() -> Iterator[Case]:
    yield Case("thousands.csv", table(";", form="{:,.2f}").encode(), "thousands")
    yield Case("german.csv", table(";", form="{:,.2f}", decimal=",").encode(), "1.234,5")
    swiss = table(";", form="{:,.2f}").replace(",", "'")
    yield Case("swiss.csv", swiss.encode(), "1'234")
    yield Case("exponents.csv", table(form="{:.5e}").encode(), "guessed", tolerance=6e-3)
    yield Case("plus signs.csv", table(form="{:+.2f}").encode(), "guessed")


def marks() -> Iterator[Case]:
    for number, mark in enumerate(
        ["-", "--", "NA", "N/A", "n/a", "null", "", "?", "nan", "NaN", ".", "*", "None", "lost"]
    ):
        text = table(missing=mark)
        yield Case(f"missing {number}.csv", text.encode(), "guessed", positions=one_missing())
    for lost in (0, -1):
        places = POSITIONS.copy()
        places[3:6, 1] = lost
        expected = POSITIONS.copy()
        expected[3:6, 1] = np.nan
        text = table(positions=places)
        yield Case(f"lost at {lost}.csv", text.encode(), "taken as not seen", positions=expected)


def columns() -> Iterator[Case]:
    habits = "sheep cow agent track_id TRACK_ID ID individual fish_id Particle tag bird robot Name"
    for name in [*habits.split(), "shepherd"]:
        text = table(header=f"frame,{name},x,y")
        yield Case(f"individual {name}.csv", text.encode(), f"individual is column {name!r}")
    text = table(header="frame,hamster,x,y", labels=(4, 5, 9))
    yield Case("numbers as labels.csv", text.encode(), "'hamster'", labels=(4, 5, 9))
    for name in ("Frame", "FRAME", "frame_number", "Frame Number", "image", "fr", "frame.id"):
        yield Case(f"{name}.csv", table(header=f"{name},id,x,y").encode(), f"column {name!r}")
    for x, y in (("X", "Y"), ("pos_x", "pos_y"), ("x_pos", "y_pos"), ("centroid_x", "centroid_y")):
        yield Case(f"{x}.csv", table(header=f"frame,id,{x},{y}").encode(), f"{x!r}")
    for x, y in (("x_cm", "y_cm"), ("x [cm]", "y [cm]"), ("x (cm)", "y (cm)"), ("x/cm", "y/cm")):
        text = table(header=f"frame,id,{x},{y}")
        name = x.replace("/", " per ")
        yield Case(f"{name}.csv", text.encode(), f"{x!r}", options={"fps": 10})
    lines = ["frame,x,y", *(f"{t},{x},{y}" for t, (x, y) in enumerate(POSITIONS[:, 0]))]
    alone = POSITIONS[:, :1]
    text = "\n".join(lines) + "\n"
    yield Case("alone.csv", text.encode(), "all rows are of one", alone, ("1",))
    large = tuple(10**20 + number for number in range(MANY))
    text = table(labels=[f"{label}.0" for label in large])
    names = tuple(f"{label}.0" for label in large)
    yield Case("large numbers.csv", text.encode(), "guessed", labels=names)


def headerless() -> Iterator[Case]:
    for separator, name in {" ": "blanks", ",": "commas", "\t": "tabs"}.items():
        for order in ("frame first", "individual first"):
            lines = []
            for t in range(FRAMES):
                for n in range(MANY):
                    both = [str(t), str(n + 7)]
                    both = both if order == "frame first" else both[::-1]
                    lines.append(separator.join([*both, *(f"{v:.2f}" for v in POSITIONS[t, n])]))
            text = "\n".join(lines) + "\n"
            said = "by the steps that individuals make"
            yield Case(f"{name}, {order}.txt", text.encode(), said, labels=(7, 8, 9))


START = datetime.datetime(2026, 5, 31, 12, 59, 55)
NIGHT = datetime.datetime(2026, 5, 31, 23, 59, 55)


def clocked(form: str, start: datetime.datetime = START) -> Callable[[int], str]:
    """The time of a frame, five seconds apart, in the form of `strftime`."""
    return lambda t: (start + datetime.timedelta(seconds=5 * t)).strftime(form)


def times() -> Iterator[Case]:
    slow = {"fps": 0.2, "options": {"unit": "cm"}}
    for name, header, clock, said in [
        ("seconds", "time_s,animal,x,y", lambda t: str(5 * t), "guessed"),
        ("milliseconds", "time_ms,animal,x,y", lambda t: str(5000 * t), "guessed"),
        ("ISO", "time,animal,x,y", clocked("%Y-%m-%d %H:%M:%S"), "guessed"),
        ("ISO with T and Z", "timestamp,animal,x,y", clocked("%Y-%m-%dT%H:%M:%SZ"), "guessed"),
        ("clock", "time,animal,x,y", clocked("%H:%M:%S"), "of one day"),
        ("clock with fractions", "time,animal,x,y", clocked("%H:%M:%S.000"), "of one day"),
        ("clock with PM", "time,animal,x,y", clocked("%I:%M:%S %p"), "of one day"),
        ("minutes", "t,animal,x,y", lambda t: f"{75 + t // 12}:{5 * t % 60:02}", "minutes"),
        ("dots", "date_time,animal,x,y", clocked("%d.%m.%Y %H:%M:%S", NIGHT), "day, month, year"),
        ("US", "time,animal,x,y", clocked("%m/%d/%Y %I:%M:%S %p", NIGHT), "month, day, year"),
        ("UK", "time,animal,x,y", clocked("%d/%m/%Y %H:%M:%S", NIGHT), "day, month, year"),
        ("one day", "time,animal,x,y", clocked("05/06/2026 %H:%M:%S"), "guessed"),
    ]:
        text = table(header=header, clock=clock)
        yield Case(f"{name}.csv", text.encode(), said, **slow)  # type: ignore[arg-type]
    both = table(header="date,time,animal,x,y", clock=clocked("%Y-%m-%d,%H:%M:%S"))
    yield Case("date and time.csv", both.encode(), "dates are in column", **slow)  # type: ignore[arg-type]
    both = table(header="Date,Time,animal,x,y", clock=clocked("%d.%m.%Y,%H:%M:%S"))
    yield Case("date and time, local.csv", both.encode(), "in column", **slow)  # type: ignore[arg-type]


def wide() -> Iterator[Case]:
    def lines(first: str | None, names: Sequence[str], separator: str = ",") -> str:
        rows = [separator.join([*([first] if first else []), *names])]
        for t, frame in enumerate(POSITIONS):
            begin = [str(t)] if first else []
            rows.append(separator.join([*begin, *(f"{value:.2f}" for value in frame.ravel())]))
        return "\n".join(rows) + "\n"

    def named(form: str, who: Sequence[object]) -> list[str]:
        return [form.format(who=one, axis=axis) for one in who for axis in "xy"]

    numbered: tuple[str | int, ...] = (1, 2, 3)
    said = "a row for each frame"
    for number, form in enumerate(["X{who}", "{axis}_{who}", "{who}_{axis}", "{axis} {who}"]):
        form = form.replace("X{who}", "{axis}{who}")
        text = lines("frame", named(form, numbered), ";")
        yield Case(f"wide {number}.csv", text.encode(), said, labels=numbered)
    for number, form in enumerate(["{who}_{axis}", "{who}.{axis}", "{axis}_{who}", "{who} {axis}"]):
        text = lines("frame", named(form, ("anna", "berta", "carl")))
        yield Case(
            f"wide names {number}.csv", text.encode(), said, labels=("anna", "berta", "carl")
        )
    text = lines("frame", named("fish{who}_{axis}_cm", numbered))
    fish = ("fish1", "fish2", "fish3")
    yield Case("wide with units.csv", text.encode(), said, labels=fish, options={"fps": 10})
    text = lines(None, named("fish{who} {axis}", numbered))
    yield Case("wide without frames.csv", text.encode(), "no column is a time", labels=fish)


def tools() -> Iterator[Case]:
    every: Rows = [(t, n, *POSITIONS[t, n].tolist()) for t in range(FRAMES) for n in range(MANY)]
    yield from trackmate(every)
    numbered: tuple[str | int, ...] = (0, 1, 2)
    pixels: dict[str, Any] = {"labels": numbered, "unit": "px", "options": {"fps": 10}}
    head = (
        "xHead\tyHead\ttHead\txTail\tyTail\ttTail\txBody\tyBody\ttBody\tcurvature\timageNumber\tid"
    )
    for part in ("body", "head", "tail"):
        rows = [head]
        for t, n, x, y in every:
            cells = {p: ((x, y) if p == part else (0.5, 0.5)) for p in ("head", "tail", "body")}
            points = [f"{a}\t{b}\t0.1" for a, b in cells.values()]
            rows.append("\t".join([*points, "0.01", str(t), str(n)]))
        options = pixels | {"options": {"fps": 10, "keypoint": part}}
        text = "\n".join(rows) + "\n"
        yield Case(f"fasttrack {part}.txt", text.encode(), f"the {part} stands", **options)
    sleap = "track,frame_idx,instance.score,nose.x,nose.y,nose.score,tail.x,tail.y,tail.score\n"
    rows = [f"track_{n},{t},0.9,{x},{y},0.8,1,2,0.7" for t, n, x, y in every]
    tracks = ("track_0", "track_1", "track_2")
    nose: dict[str, Any] = {"labels": tracks, "unit": "px"}
    nose["options"] = {"fps": 10, "keypoint": "nose"}
    yield Case("sleap.csv", (sleap + "\n".join(rows)).encode(), "'nose' stands", **nose)
    more = [*rows, ",3,0.9,5,5,0.8,1,2,0.7"]
    yield Case("sleap, untracked.csv", (sleap + "\n".join(more)).encode(), "1 instances", **nose)
    yield from boxes(every)
    yield from geographic()


def trackmate(every: Rows) -> Iterator[Case]:
    numbered: tuple[str | int, ...] = (0, 1, 2)
    microns: dict[str, Any] = {"labels": numbered, "unit": "um", "fps": 0.2, "options": {}}
    head = (
        "LABEL,ID,TRACK_ID,QUALITY,POSITION_X,POSITION_Y,POSITION_Z,POSITION_T,FRAME,RADIUS\n"
        "Label,Spot ID,Track ID,Quality,X,Y,Z,T,Frame,Radius\n"
        "Label,Spot ID,Track ID,Quality,X,Y,Z,T,Frame,R\n"
        ",,,(quality),(micron),(micron),(micron),(sec),,(micron)\n"
    )
    rows = [
        f"ID{i},{i},{n},1.5,{x},{y},0.0,{5 * t}.0,{t},2.5" for i, (t, n, x, y) in enumerate(every)
    ]
    yield Case("spots.csv", (head + "\n".join(rows)).encode(), "read as TrackMate", **microns)
    more = [*rows, "ID99,99,,1.5,7.0,8.0,0.0,15.0,3,2.5"]
    yield Case("more spots.csv", (head + "\n".join(more)).encode(), "1 spots are in", **microns)
    plain = head.split("\n")[0] + "\n" + "\n".join(rows)
    options = microns | {"options": {"fps": 0.2, "unit": "um"}}
    yield Case("spots without units.csv", plain.encode(), "read as TrackMate", **options)
    particles = ""
    for who in range(MANY):
        spots = [
            f'<detection t="{t}" x="{x}" y="{y}" z="0.0" />' for t, n, x, y in every if n == who
        ]
        particles += f'<particle nSpots="{len(spots)}">{"".join(spots)}</particle>\n'
    simple = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<Tracks nTracks="3" spaceUnits="micron" '
        f'frameInterval="5.0" timeUnits="sec" from="TrackMate v7.1">\n{particles}</Tracks>\n'
    )
    yield Case("tracks.xml", simple.encode(), "read as TrackMate", **microns)
    frames, edges = "", ""
    for t in range(FRAMES):
        inside = "".join(
            f'<Spot ID="{i}" name="ID{i}" FRAME="{u}" POSITION_T="{5 * u}.0" POSITION_X="{x}" '
            f'POSITION_Y="{y}" POSITION_Z="0.0" QUALITY="1.5" />'
            for i, (u, n, x, y) in enumerate(every)
            if u == t
        )
        frames += f'<SpotsInFrame frame="{t}">{inside}</SpotsInFrame>\n'
    for who in range(MANY):
        links = "".join(
            f'<Edge SPOT_SOURCE_ID="{MANY * t + who}" SPOT_TARGET_ID="{MANY * (t + 1) + who}" />'
            for t in range(FRAMES - 1)
        )
        edges += f'<Track name="Track_{who}" TRACK_ID="{who}">{links}</Track>\n'
    for kept in ((0, 1, 2), (0, 2)):
        passed = "".join(f'<TrackID TRACK_ID="{who}" />' for who in kept)
        whole = (
            '<?xml version="1.0" encoding="UTF-8"?>\n<TrackMate version="7.1">\n'
            f'<Model spatialunits="µm" timeunits="sec"><AllSpots nspots="36">{frames}</AllSpots>\n'
            f"<AllTracks>{edges}</AllTracks><FilteredTracks>{passed}</FilteredTracks></Model>\n"
            '<Settings><ImageData pixelwidth="0.5" timeinterval="5.0" /></Settings></TrackMate>\n'
        )
        said = "1 tracks did not pass" if len(kept) < MANY else "read as TrackMate"
        options = microns | {"labels": kept, "positions": POSITIONS[:, list(kept)]}
        yield Case(f"model of {len(kept)}.xml", whole.encode(), said, **options)


def boxes(every: Rows) -> Iterator[Case]:
    pixels: dict[str, Any] = {"labels": (1, 2, 3), "unit": "px", "options": {"fps": 10}}
    said = "the centre of a box is the position"
    lines = [f"{t + 1},{n + 1},{x - 5},{y - 10},10,20,1,1,0.9" for t, n, x, y in every]
    yield Case("gt.txt", "\n".join(lines).encode(), said, **pixels)
    flagged = [*lines, "3,9,5,5,10,20,0,7,1.0"]
    yield Case("gt with others.txt", "\n".join(flagged).encode(), "1 boxes with", **pixels)
    lines = [f"{t + 1}, {n + 1}, {x - 5}, {y - 10}, 10, 20, -1, -1, -1, -1" for t, n, x, y in every]
    yield Case("result.txt", "\n".join(lines).encode(), said, **pixels)


def geographic() -> Iterator[Case]:
    """Places in Kenya; a degree there has these metres by the usual series in cosines."""
    north, east = -1.45, 36.95
    metres = {"lat": 110_575.02, "lon": 111_284.05}
    centre = POSITIONS.reshape(-1, 2).mean(axis=0)
    degrees = (POSITIONS - centre) / [metres["lon"], metres["lat"]] + [east, north]
    expected = POSITIONS - centre
    options: dict[str, Any] = {"positions": expected, "unit": "m", "fps": 1 / 300, "options": {}}
    options["tolerance"] = 0.02
    head = (
        "event-id,visible,timestamp,location-long,location-lat,gps:dop,sensor-type,"
        "individual-taxon-canonical-name,tag-local-identifier,individual-local-identifier,study-name"
    )
    rows, hidden = [head], "false,2026-05-31 12:03:00.000,40.0,3.0"
    for t in range(FRAMES):
        for n, who in enumerate(("Olope", "Naboisho", "Sotua")):
            when = START + datetime.timedelta(seconds=300 * t + n)
            lon, lat = degrees[t, n]
            rows.append(
                f'{100 * t + n},true,{when:%Y-%m-%d %H:%M:%S}.000,{lon:.7f},{lat:.7f},4.6,"gps",'
                f'"Connochaetes taurinus","{2000 + n}","{who}","Wildebeest"'
            )
    names = ("Olope", "Naboisho", "Sotua")
    options["labels"] = names
    text = "\n".join(rows) + "\n"
    yield Case("movebank.csv", text.encode(), "projected on a plane", **options)
    more = text + f'9999,{hidden},9.9,"gps","Connochaetes taurinus","2000","Olope","Wildebeest"\n'
    yield Case("movebank, outlier.csv", more.encode(), "1 rows are marked", **options)
    rows = ["id;Latitude;Longitude;Date;Time"]
    for t in range(FRAMES):
        for n, who in enumerate(names):
            when = NIGHT + datetime.timedelta(seconds=300 * t)
            lon, lat = degrees[t, n]
            rows.append(f"{who};{lat:.7f};{lon:.7f};{when:%d.%m.%Y};{when:%H:%M:%S}")
    text = "\n".join(rows) + "\n"
    yield Case("collars.csv", text.encode(), "projected on a plane", **options)


def workbook(sheets: dict[str, list[list[object]]], dates: str = "") -> bytes:
    """An Excel workbook; texts of the first column are shared, others stand in their cells."""
    shared: list[str] = []
    members: dict[str, str | bytes] = {}
    listed, relations = "", ""
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    for number, (name, rows) in enumerate(sheets.items(), 1):
        body = ""
        for r, row in enumerate(rows, 1):
            cells = ""
            for c, value in enumerate(row):
                place = f"{chr(65 + c)}{r}"
                if value is None:
                    continue
                if isinstance(value, str) and (c == 0 or r == 1):
                    shared.append(value)
                    cells += f'<c r="{place}" t="s"><v>{len(shared) - 1}</v></c>'
                elif isinstance(value, str):
                    cells += f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
                else:
                    style = ' s="1"' if dates and c == 0 else ""
                    cells += f'<c r="{place}"{style}><v>{value!r}</v></c>'
            body += f'<row r="{r}">{cells}</row>'
        members[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{space}"><sheetData>{body}</sheetData></worksheet>'
        )
        listed += f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>'
        relations += f'<Relationship Id="rId{number}" Target="worksheets/sheet{number}.xml"/>'
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    members["xl/workbook.xml"] = (
        f'<workbook xmlns="{space}" xmlns:r="{office}"><sheets>{listed}</sheets></workbook>'
    )
    members["xl/_rels/workbook.xml.rels"] = f"<Relationships>{relations}</Relationships>"
    texts = "".join(f"<si><t>{text}</t></si>" for text in shared)
    members["xl/sharedStrings.xml"] = f'<sst xmlns="{space}">{texts}</sst>'
    if dates:
        members["xl/styles.xml"] = (
            f'<styleSheet xmlns="{space}"><numFmts><numFmt numFmtId="164" formatCode="{dates}"/>'
            '</numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>'
        )
    return archive(members)


def excel() -> Iterator[Case]:
    def rows(clock: Callable[[int], object] = int) -> list[list[object]]:
        return [
            [clock(t), NAMES[n], *POSITIONS[t, n].tolist()]
            for t in range(FRAMES)
            for n in range(MANY)
        ]

    head: list[object] = ["frame", "animal", "x", "y"]
    yield Case("book.xlsx", workbook({"Tracks": [head, *rows()]}), "sheet 'Tracks'")
    title: list[list[object]] = [["Trial 1"], [None]]
    yield Case("book with a title.xlsx", workbook({"A": [*title, head, *rows()]}), "sheet 'A'")
    both = {"Notes": [], "Tracks": [head, *rows()], "More": [head]}
    yield Case("book of three.xlsx", workbook(both), "not read: 'More'")
    slow: dict[str, Any] = {"fps": 0.2, "options": {"unit": "cm"}}
    timed: list[object] = ["time", "animal", "x", "y"]
    days = 46_173 + 12 / 24
    dated = workbook({"A": [timed, *rows(lambda t: days + 5 * t / 86400)]}, "yyyy-mm-dd hh:mm:ss")
    yield Case("book with dates.xlsx", dated, "sheet 'A'", **slow)
    clock = workbook({"A": [timed, *rows(lambda t: 0.5 + 5 * t / 86400)]}, "hh:mm:ss")
    yield Case("book with times.xlsx", clock, "of one day", **slow)


SOURCES = (
    separators,
    encodings,
    beginnings,
    packed,
    numbers,
    marks,
    columns,
    headerless,
    times,
    wide,
    tools,
    excel,
)
CORPUS = {case.name: case for source in SOURCES for case in source()}
