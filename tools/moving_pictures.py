"""`make pictures`: the moving picture of README, made again.

A Vicsek swarm is recorded and learned with the seeds of README; the recorded swarm moves beside
the learned one, which starts from the same state and meets other noise.
"""

from pathlib import Path

from PIL import Image, ImageSequence

import swarmdp

PLACE = Path(__file__).parent.parent / "docs" / "images" / "learned.gif"
STEPS = 45
WIDE, COLOURS = 600, 24
LARGEST = 1_500_000  # bytes


def main() -> None:
    """Write the picture, and say how large it is."""
    vicsek = swarmdp.Vicsek()
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=100, runs=5, seed=1)
    result = swarmdp.fit(vicsek, demo, seed=1)
    start = {name: demo[name][:1, 0] for name in vicsek.fields}
    recorded = swarmdp.rollout(vicsek, vicsek.expert, steps=STEPS, seed=1)
    learned = swarmdp.rollout(vicsek, result.policy, steps=STEPS, seed=2, initial=start)
    swarmdp.animate(PLACE, vicsek, {"recorded": recorded, "learned": learned})
    _shrink(PLACE)
    size = PLACE.stat().st_size
    if size > LARGEST:
        raise SystemExit(f"{PLACE.name} has {size} bytes, more than {LARGEST}")
    print(f"{PLACE.name}: {size} bytes; {result.verdicts[0].words}")


def _shrink(path: Path) -> None:
    """Fewer pixels and colours: a page shows it at this width."""
    with Image.open(path) as picture:
        pause = picture.info["duration"]
        high = round(picture.height * WIDE / picture.width)
        frames = [
            frame.convert("RGB").resize((WIDE, high), Image.Resampling.LANCZOS)
            for frame in ImageSequence.Iterator(picture)
        ]
    palette = frames[len(frames) // 2].quantize(COLOURS)
    small = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    small[0].save(path, save_all=True, append_images=small[1:], duration=pause, loop=0)


if __name__ == "__main__":
    main()
