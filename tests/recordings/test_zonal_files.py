"""Zonal controllers as files."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from swarmdp import kernels
from swarmdp.recordings.zonal import Response, ZonalController
from swarmdp.recordings.zonal_files import read_zonal, write_zonal
from swarmdp.recordings.zone_models import Zone, ZoneModel
from swarmdp.support.errors import FileError, InvalidInput

ZONES = {
    "repulsion": Zone(outer=2.0),
    "alignment": Zone(nearest=4),
    "attraction": Zone(inner=2.0, outer=9.0),
}
SUM = ZonalController(ZoneModel("sum", ZONES), (0.4, 0.3, 0.2), 0.1, 0.5, 3.0, 0.8, 0.2, 0.1)
PRIORITY = ZonalController(
    ZoneModel("priority", {**ZONES, "alignment": Zone(outer=5.0)}),
    (0.4, 0.3),
    -0.1,
    0.5,
    3.0,
    0.8,
)
RESPONDING = replace(
    SUM,
    hurry=0.0,
    responses=(
        Response("density ahead", 4.0, -0.3),
        Response("speed difference", 5.0, 0.4),
        Response("others ahead", 6.0, 0.2),
        Response("time to collision", 3.0, -0.5),
        Response("sidestep", 4.0, 0.6),
    ),
    contact=1.0,
    speed_spread=0.5,
    speed_memory=0.5,
    speed_noise=0.6,
    speed_rest=0.2,
)


def test_json_is_read_again(tmp_path: Path) -> None:
    for controller in (SUM, PRIORITY, RESPONDING):
        path = write_zonal(controller, tmp_path / "controller.json", "cm", 0.3)
        assert read_zonal(path) == controller
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(FileError, match="not a zonal controller"):
        read_zonal(tmp_path / "other.json")
    with pytest.raises(InvalidInput, match="must end in"):
        write_zonal(SUM, tmp_path / "controller.txt", "cm", 0.3)


def test_csv_has_units(tmp_path: Path) -> None:
    lines = write_zonal(SUM, tmp_path / "controller.csv", "cm", 0.3).read_text().splitlines()
    assert lines[0] == "number,value,unit"
    assert "repulsion: to,2.0,cm" in lines
    assert "alignment: nearest neighbours,4,1" in lines
    assert "noise of turns,0.24,rad" in lines
    lines = write_zonal(RESPONDING, tmp_path / "two.csv", "cm", 0.3).read_text().splitlines()
    assert "noise of speeds,0.3,cm/s" in lines


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("controller", [SUM, PRIORITY, RESPONDING])
def test_the_header_computes_as_the_kernel_does(
    controller: ZonalController, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    position, heading = rng.uniform(-7, 7, (1, 20, 2)), rng.uniform(-3, 3, (1, 20))
    turn, speed = rng.normal(0, 0.3, (1, 20)), rng.uniform(0.2, 1.5, (1, 20))
    kind, walls = kernels.space.CIRCLE, np.array([[0.0, 0.0], [12.0, 0.0]])
    expected, _, faster = kernels.recorded.zonal_turns(
        position, heading, turn, controller.row[None], kind, walls, speed=speed
    )
    seen = kernels.recorded.sight(position, heading, 1, 0.0, kind, walls)[0]
    write_zonal(controller, tmp_path / "controller.h", "cm", 0.3)
    rows = []
    for i in range(20):
        gap = (np.delete(position[0], i, 0) - position[0, i]) @ np.array([1, 1j])
        gap = gap[np.argsort(np.abs(gap))] * np.exp(-1j * heading[0, i])
        order = np.argsort(np.linalg.norm(np.delete(position[0], i, 0) - position[0, i], axis=1))
        along = np.exp(1j * (np.delete(heading[0], i)[order] - heading[0, i]))
        unit, paces = gap / np.abs(gap), np.delete(speed[0], i)[order]
        others = ", ".join(
            f"{{{abs(g)!r}, {u.real!r}, {u.imag!r}, {h.real!r}, {h.imag!r}, {p!r}}}"
            for g, u, h, p in zip(
                gap.tolist(), unit.tolist(), along.tolist(), paces.tolist(), strict=True
            )
        )
        rows.append(
            f"{{ const swarmdp_neighbour others[] = {{{others}}}; "
            f'printf("%.15g %.15g\\n", swarmdp_turn(others, 19, {float(speed[0, i])!r}, '
            f"{float(turn[0, i])!r}, {float(seen[i, 3])!r}, {float(seen[i, 4])!r}), "
            f"swarmdp_speed_change(others, 19, {float(speed[0, i])!r})); }}"
        )
    code = '#include <stdio.h>\n#include "controller.h"\nint main(void) {\n'
    (tmp_path / "main.c").write_text(code + "\n".join(rows) + "\nreturn 0; }\n")
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    program = tmp_path / "main"
    subprocess.run(["cc", *strict, str(tmp_path / "main.c"), "-o", str(program), "-lm"], check=True)
    printed = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    turns, changes = np.array(printed.split(), float).reshape(-1, 2).T
    np.testing.assert_allclose(turns, expected[0], atol=1e-9)
    np.testing.assert_allclose(changes, faster[0] * controller.speed_spread, atol=1e-9)
    assert bool(controller.responses) == bool(np.abs(changes).max() > 0.01)
