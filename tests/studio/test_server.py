"""Only the owner gets in, and nothing that a stranger sends stops the studio."""

import asyncio
import contextlib
import http.client
import json
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

import swarmdp
from swarmdp.studio import connections, server
from swarmdp.studio.connections import MOST_CONNECTIONS
from swarmdp.studio.server import MOST_TABS, PAGE_FILES, REPORT_FILES, Studio, listen_on, serve
from swarmdp.support.errors import FileError, InvalidInput
from tests.studio.served import PATIENCE, Tab, joined, places, served, step_of


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with served(tmp_path_factory.mktemp("folder")) as one:
        yield one


def asked(
    studio: Studio, path: str, host: str | None = None, method: str = "GET"
) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=PATIENCE)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{studio.port}")
    connection.endheaders()
    answer = connection.getresponse()
    answer.text = answer.read().decode()  # type: ignore[attr-defined]
    connection.close()
    return answer


def test_the_page_and_its_parts_are_served_under_a_strict_policy(studio: Studio) -> None:
    for path in ("/", *(f"/{name}" for name in (*PAGE_FILES, *REPORT_FILES))):
        answer = asked(studio, path)
        assert answer.status == 200
        policy = str(answer.headers["content-security-policy"])
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert studio.token not in answer.text  # type: ignore[attr-defined]
        assert "server" not in answer.headers


def test_every_part_of_the_page_is_served(studio: Studio) -> None:
    assets = Path(server.__file__).parent / "assets"
    written = {path.name for path in assets.iterdir() if path.suffix in (".js", ".css")}
    assert written == {*PAGE_FILES, "exported.css", "exported.js"}  # these are of pages for others


def test_the_page_asks_for_nothing_from_elsewhere() -> None:
    assets = Path(server.__file__).parent / "assets"
    for path in assets.iterdir():
        if path.suffix in (".js", ".css", ".html"):
            text = path.read_text(encoding="utf-8")
            text = text.replace("http://www.w3.org/2000/svg", "").replace("http://127.0.0.1", "")
            assert "http" not in text, path
            assert "innerHTML" not in text
            assert "eval(" not in text


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/%2e%2e/server.py",
        "/..%2fserver.py",
        "//etc/passwd",
        "/etc/passwd",
        "/assets/studio.js",
        "/__init__.py",
        "/studio.html",
        "/socket",
    ],
)
def test_no_other_path_leads_anywhere(studio: Studio, path: str) -> None:
    assert asked(studio, path).status in (403, 404)
    assert asked(studio, "/", method="POST").status == 405


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1:{port}.evil.example",
    ],
)
def test_a_request_under_another_name_is_refused(studio: Studio, host: str) -> None:
    """A name of the attacker's that leads to this machine (DNS rebinding)."""
    answer = asked(studio, "/", host.format(port=studio.port))
    assert answer.status == 421
    assert "127.0.0.1" in answer.text  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "changes",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": None},
        {"origin": "http://127.0.0.1"},
        {"origin": "https://127.0.0.1:{port}"},
        {"origin": "http://127.0.0.1:{port}.evil.example"},
        {"subprotocols": None},
        {"subprotocols": ["swarmdp"]},
        {"subprotocols": ["swarmdp", "token."]},
        {"subprotocols": ["swarmdp", "token.{wrong}"]},
        {"subprotocols": ["swarmdp", "token.{wrong}", "token.{token}"]},
        {"subprotocols": ["token.{token}"]},
        {"additional_headers": {"Host": "evil.example"}},
        {"additional_headers": {"Origin": "http://evil.example"}},
    ],
    ids=str,
)
def test_a_socket_of_a_stranger_is_refused(studio: Studio, changes: dict[str, object]) -> None:
    def filled(value: object) -> object:
        if isinstance(value, str):
            return value.format(port=studio.port, token=studio.token, wrong="x" * len(studio.token))
        return [filled(entry) for entry in value] if isinstance(value, list) else value

    with pytest.raises(InvalidStatus) as caught:
        Tab(studio, **{name: filled(value) for name, value in changes.items()})
    assert caught.value.response.status_code in (400, 403)


def test_the_token_is_long_and_new_each_time() -> None:
    one, other = (Studio(1, Path(), dict) for _ in range(2))
    assert one.token != other.token
    assert len(one.token) >= 43
    assert one.token not in repr(one)
    assert one.link == f"http://127.0.0.1:1/#token={one.token}"


def test_it_listens_on_the_loopback_address_only() -> None:
    with listen_on(0) as where:
        assert where.getsockname()[0] == "127.0.0.1"
        with pytest.raises(FileError, match="Choose another one"):
            listen_on(where.getsockname()[1])
    with pytest.raises(FileError):
        listen_on(70_000)
    with pytest.raises(InvalidInput, match="is not a folder"):
        serve(Path("/nowhere/at/all"), dict)


def test_ten_thousand_malformed_messages_leave_it_running(studio: Studio) -> None:
    texts: list[str | bytes] = [
        "",
        "{",
        "[]",
        '{"kind": "paint", "weights": "all"}',
        '{"kind": "open"}',
        "x" * 1000,
        b"\0",
    ]
    sent = 0
    with Tab(studio) as other:
        other.show(n_agents=20)
        while sent < 10_000:
            with joined(studio) as attacker:
                try:
                    for _ in range(1000):
                        attacker.send(texts[sent % len(texts)])
                        sent += 1
                except ConnectionClosed:
                    sent += 1
        before = step_of(other.hear("frame"))
        assert step_of(other.hear("frame")) > before


def test_a_message_that_is_too_long_ends_its_own_tab_only(studio: Studio) -> None:
    with Tab(studio) as other, joined(studio) as attacker:
        attacker.send(json.dumps({"kind": "open", "name": "x" * 200_000}))
        with pytest.raises(ConnectionClosed):
            list(iter(lambda: attacker.recv(PATIENCE), None))
        assert other.show(n_agents=20)["kind"] == "scene"


@contextlib.contextmanager
def half_open(port: int, count: int) -> Iterator[list[socket.socket]]:
    """Connections that never say what they want, or only half of it."""
    with contextlib.ExitStack() as all_of_them:
        half = []
        for number in range(count):
            one = socket.create_connection(("127.0.0.1", port), PATIENCE)
            half.append(all_of_them.enter_context(one))
            if number % 2:
                with contextlib.suppress(ConnectionError):
                    one.sendall(b"GET /socket HTTP/1.1\r\nHost: 127.0.0.1")
        yield half


def is_closed(one: socket.socket) -> bool:
    """Whether the other side has ended a connection."""
    one.settimeout(PATIENCE)
    try:
        return one.recv(1000) == b""
    except ConnectionError:
        return True


def test_half_open_sockets_make_room_for_new_ones(studio: Studio) -> None:
    with half_open(studio.port, MOST_CONNECTIONS + 10) as half:
        assert asked(studio, "/").status == 200
        assert all(map(is_closed, half[:10]))
        with Tab(studio) as tab:
            assert tab.show(n_agents=20)["kind"] == "scene"


def test_a_head_must_come_in_time(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SECONDS", 0.2)
    with half_open(studio.port, 4) as half:
        assert all(map(is_closed, half))
    slow = socket.create_connection(("127.0.0.1", studio.port), PATIENCE)
    with slow, contextlib.suppress(ConnectionError):
        for byte in b"GET / HTTP/1.1\r\n" + b"x-more: 1\r\n" * 1000:
            slow.sendall(bytes([byte]))
            time.sleep(0.02)  # a byte now and then gives no more time
        raise AssertionError("a head that has no end was accepted")
    answered = socket.create_connection(("127.0.0.1", studio.port), PATIENCE)
    with answered:
        host = f"127.0.0.1:{studio.port}".encode()
        answered.sendall(b"POST / HTTP/1.1\r\nHost: " + host + b"\r\nContent-Length: 9\r\n\r\n")
        assert answered.recv(100).startswith(b"HTTP/1.1 405")
        while not is_closed(answered):
            pass


def test_a_flood_of_sockets_is_quiet(tmp_path: Path) -> None:
    """With few descriptors, as many systems allow: no error, no line, and the page is served."""
    with command_at_work(tmp_path, descriptors=200) as (process, other_studio):
        with half_open(other_studio.port, 1200):
            assert asked(other_studio, "/").status == 200
            with Tab(other_studio) as tab:
                assert tab.show(n_agents=20)["kind"] == "scene"
        process.send_signal(signal.SIGINT)
        said, complaints = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, complaints
    assert complaints == ""
    assert said.endswith("The studio is closed.\n")
    assert "failed" not in said


def test_errors_of_connections_are_one_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    lines: list[str] = []
    handle = connections.quiet_handler(lines.append)
    context = {"message": "accept failed", "exception": OSError(24, "too many files")}

    async def fail() -> None:
        for _ in range(1000):
            handle(asyncio.get_running_loop(), context)

    asyncio.run(fail())
    assert lines == ["a connection failed, others go on (accept failed: OSError)"]
    assert capsys.readouterr() == ("", "")


def test_too_many_tabs_are_told_so(studio: Studio) -> None:
    with contextlib.ExitStack() as tabs:
        for _ in range(MOST_TABS):
            assert "loading" in tabs.enter_context(joined(studio)).recv(PATIENCE)
        with joined(studio) as late, pytest.raises(ConnectionClosed) as caught:
            late.recv(PATIENCE)
    assert caught.value.rcvd is not None
    assert "close one" in caught.value.rcvd.reason


def test_two_tabs_do_not_disturb_each_other(studio: Studio) -> None:
    with Tab(studio) as one, Tab(studio) as other:
        assert one.show(n_agents=20, seed=4)["agents"] == 20
        assert other.show("Ising", shape=12)["agents"] == 144
        one.say("run", playing=False)
        assert other.hear("frame")["data"][0] == 3
        first = one.hear("frame")
        assert first["data"][0] == 1
        assert places(first, 20).shape == (2, 20, 2)


def test_a_tab_that_leaves_in_the_middle_frees_its_place(studio: Studio) -> None:
    for _ in range(MOST_TABS + 3):
        with Tab(studio) as tab:
            tab.say("show", system="Vicsek", settings={}, seed=1)
    with Tab(studio) as tab:
        assert tab.show(n_agents=20)["kind"] == "scene"


@contextlib.contextmanager
def command_at_work(
    folder: Path, descriptors: int | None = None
) -> Iterator[tuple["subprocess.Popen[str]", Studio]]:
    """`swarmdp studio` in a process of its own, with at most so many open files."""

    def limit() -> None:
        if descriptors is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

    command = [sys.executable, "-m", "swarmdp", "studio", str(folder), "--no-browser"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=limit
    ) as process:
        try:
            assert process.stdout is not None
            link = re.search(r":(\d+)/#token=(\S+)", process.stdout.readline())
            assert link is not None
            yield process, Studio(int(link[1]), folder, dict, token=link[2])
        finally:
            process.kill()


def learning_tab(studio: Studio) -> Tab:
    """A tab whose fit has made an iteration, and goes on."""
    tab = Tab(studio)
    tab.show(n_agents=20)
    tab.say("learn", seed=1, iterations=200, errors=False)
    while tab.hear("learning")["phase"] != "iterating":
        pass
    return tab


def test_an_interrupt_ends_it_cleanly_and_nothing_is_lost(tmp_path: Path) -> None:
    """Ctrl-C in the middle of a fit that nobody has saved: it is kept in the folder."""
    with command_at_work(tmp_path) as (process, other_studio):
        learning_tab(other_studio)
        process.send_signal(signal.SIGINT)
        said, complaints = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, complaints
    assert complaints == ""
    assert said.endswith("The studio is closed.\n")
    assert other_studio.token not in said  # the token is printed once, in the link
    assert [path.name for path in tmp_path.iterdir()] == ["unsaved-fit-1"]
    assert isinstance(swarmdp.load(tmp_path / "unsaved-fit-1"), swarmdp.Result)


@pytest.mark.parametrize("lost", [False, True])
def test_a_closed_tab_leaves_nothing_and_a_lost_one_its_fit(tmp_path: Path, lost: bool) -> None:
    with served(tmp_path) as studio:
        tab = learning_tab(studio)
        if lost:
            tab.socket.socket.shutdown(socket.SHUT_RDWR)
        else:
            tab.socket.close(1001)
        while studio.tabs:
            time.sleep(0.01)
    assert [path.name for path in tmp_path.iterdir()] == ["unsaved-fit-1"] * lost
