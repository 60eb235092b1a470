"""Every message is checked before anything is done with it."""

import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmdp.studio import messages
from swarmdp.studio.limits import BURST, PATIENCE, RATE, MessageLimit
from swarmdp.support.errors import InvalidInput

GOOD: list[dict[str, Any]] = [
    {"kind": "show", "system": "Vicsek", "settings": {"n_agents": 50, "periodic": True}, "seed": 1},
    {"kind": "run", "playing": True},
    {"kind": "step"},
    {"kind": "pace", "pace": 60},
    {"kind": "restart", "seed": 0},
    {"kind": "visible", "visible": False},
    {"kind": "drawn", "frame": 3},
    {"kind": "paint", "weights": [0, -1.5, 1], "number": 2},
    {"kind": "learn", "seed": 1, "iterations": 5, "errors": False},
    {"kind": "stop"},
    {"kind": "go-on"},
    {"kind": "list"},
    {"kind": "open", "name": "fits/one"},
    {"kind": "save", "what": "fit", "name": "one"},
    {"kind": "script"},
    {"kind": "gif"},
    {"kind": "page"},
]


@pytest.mark.parametrize("plain", GOOD, ids=lambda plain: str(plain["kind"]))
def test_messages_are_read_whole(plain: dict[str, Any]) -> None:
    message = messages.parse_message(json.dumps(plain))
    assert type(message) is messages.MESSAGE_KINDS[plain["kind"]]
    for name in plain.keys() - {"kind"}:
        with pytest.raises(InvalidInput, match=name):
            messages.parse_message(json.dumps({key: plain[key] for key in plain if key != name}))
        with pytest.raises(InvalidInput):
            messages.parse_message(json.dumps({**plain, name: None}))
    with pytest.raises(InvalidInput, match="unknown field `other`"):
        messages.parse_message(json.dumps({**plain, "other": 1}))


def test_every_kind_is_tried() -> None:
    assert {plain["kind"] for plain in GOOD} == set(messages.MESSAGE_KINDS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[]",
        "3",
        "null",
        "{}",
        '{"kind": 3}',
        '{"kind": "shut"}',
        "[" * 10_000,
        '{"kind": "paint", "weights": [], "number": 1}',
        '{"kind": "paint", "weights": [NaN], "number": 1}',
        '{"kind": "paint", "weights": [1e999], "number": 1}',
        '{"kind": "paint", "weights": [Infinity], "number": 1}',
        '{"kind": "paint", "weights": [1000.5], "number": 1}',
        '{"kind": "paint", "weights": [1' + "0" * 5000 + '], "number": 1}',
        '{"kind": "paint", "weights": [true], "number": 1}',
        '{"kind": "paint", "weights": [[1]], "number": 1}',
        '{"kind": "paint", "weights": ["1"], "number": 1}',
        json.dumps({"kind": "paint", "weights": [0] * 1001, "number": 1}),
        '{"kind": "pace", "pace": 61}',
        '{"kind": "pace", "pace": 1.5}',
        '{"kind": "restart", "seed": -1}',
        '{"kind": "restart", "seed": 4294967296}',
        '{"kind": "restart", "seed": 1' + "0" * 5000 + "}",
        '{"kind": "drawn", "frame": 4294967297}',
        '{"kind": "restart", "seed": true}',
        '{"kind": "learn", "seed": 1, "iterations": 201, "errors": false}',
        '{"kind": "show", "system": "Vicsek", "settings": {"a b": 1}, "seed": 1}',
        '{"kind": "show", "system": "Vicsek", "settings": {"radius": "wide"}, "seed": 1}',
        '{"kind": "show", "system": "Vicsek", "settings": {"radius\\n": 1}, "seed": 1}',
        '{"kind": "show", "system": "Vicsek", "settings": {"radius": 1.1e9}, "seed": 1}',
        '{"kind": "show", "system": "Vicsek", "settings": {"radius": NaN}, "seed": 1}',
        json.dumps(
            {"kind": "show", "system": "V", "settings": {f"s{i}": 1 for i in range(51)}, "seed": 1}
        ),
        json.dumps({"kind": "show", "system": "V" * 65, "settings": {}, "seed": 1}),
        '{"kind": "open", "name": ""}',
        '{"kind": "open", "name": "a\\u0000b"}',
        '{"kind": "open", "name": "a\\ud800"}',
        '{"kind": "open", "name": "a\ud800"}',
        '{"kind": "save", "what": "fit\\n", "name": "a"}',
        json.dumps({"kind": "save", "what": "fit", "name": "x" * 65}),
        '{"kind": "save", "what": "shadow", "name": "a"}',
        json.dumps({"kind": "open", "name": "x" * 501}),
        json.dumps({"kind": "open", "name": "x" * 70_000}),
        json.dumps({"kind": "x" * 60_000}),
        json.dumps({"kind": "stop", "x" * 60_000: 1}),
        '{"deep": ' + "[" * 60_000,
        '{"kind": "stop", "deep": ' + "[" * 60_000,
    ],
    ids=lambda text: text[:30],
)
def test_what_is_no_message_is_refused_in_words(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        messages.parse_message(text)
    assert 10 < len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"kind": "pace", "pace": 61}', "`int` <= 60 - at `$.pace`"),
        ('{"kind": "pace", "pace": "fast"}', "Expected `int`, got `str` - at `$.pace`"),
        ('{"kind": "learn", "seed": 1, "iterations": 0, "errors": true}', "`int` >= 1"),
        ('{"kind": "save", "what": "shadow", "name": "a"}', "fit|left|right"),
        ('{"kind": "shut"}', "kinds are show, run, "),
        ('{"kind": "open", "name": "a\\u0000b"}', "printable characters - at `$.name`"),
    ],
)
def test_an_answer_names_what_was_expected(text: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(reason)):
        messages.parse_message(text)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), np.float64("nan")])
def test_what_is_sent_has_no_number_that_browsers_cannot_read(number: float) -> None:
    text = messages.message_text("planned", best=number, values=[np.float64(0.5), np.int64(3)])
    assert json.loads(text) == {"kind": "planned", "best": None, "values": [0.5, 3]}


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["kind", "seed", "weights", "name"]), inner, max_size=4
            )
        ),
        max_leaves=6,
    ),
    st.sampled_from(sorted(messages.MESSAGE_KINDS)),
)
def test_anything_else_is_refused_as_well(inner: Any, kind: str) -> None:
    plain = {**inner, "kind": kind} if isinstance(inner, dict) else inner
    try:
        messages.parse_message(json.dumps(plain))
    except InvalidInput:
        return


def test_messages_come_at_a_bounded_rate() -> None:
    now = 0.0
    limit = MessageLimit(lambda: now)
    assert all(limit.passes() for _ in range(int(BURST)))
    assert not limit.passes()
    now = 1.0
    assert sum(limit.passes() for _ in range(int(BURST))) == int(RATE)
    assert limit.exceeded == (BURST - RATE + 1 > PATIENCE)
