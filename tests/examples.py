"""A user's own system, as the documentation shows it."""

from pathlib import Path

ROOT = Path(__file__).parent.parent


def snippets(page: str) -> list[str]:
    """The Python code blocks of a page of the documentation, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [block.split("```")[0] for block in text.split("```python\n")[1:]]
