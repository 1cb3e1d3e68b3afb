"""Reminders by mail, to a server that speaks plain SMTP."""

import socketserver
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from simcounsel.errors import StudyError
from simcounsel.trial.opening import invite
from simcounsel.trial.reminding import remind_all
from tests.trial.stage import Browser, Clock, links, running, site, trial_of, written


class Taking(socketserver.StreamRequestHandler):
    """Takes one message after the other."""

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        data = False
        for line in self.rfile:
            text = line.decode().rstrip("\r\n")
            if data:
                self.server.taken.append(text)  # type: ignore[attr-defined]
                data = text != "."
                if not data:
                    self.wfile.write(b"250 taken\r\n")
            elif text.upper().startswith("DATA"):
                data = True
                self.wfile.write(b"354 go on\r\n")
            elif text.upper().startswith("QUIT"):
                self.wfile.write(b"221 bye\r\n")
                return
            else:
                self.wfile.write(b"250 fine\r\n")


@pytest.fixture
def server() -> Iterator[socketserver.TCPServer]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Taking) as found:
        found.taken = []  # type: ignore[attr-defined]
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found
        found.shutdown()


def test_a_reminder_is_sent_once_to_who_has_an_address(
    tmp_path: Path, server: socketserver.TCPServer
) -> None:
    port = server.server_address[1]
    written(
        tmp_path,
        people=2,
        mail=f"mail: {{host: 127.0.0.1, port: {port}, tls: false, sender: s@example.org}}",
    )
    invite(trial_of(tmp_path), tmp_path, ["robin@example.org"])
    clock = Clock(datetime(2026, 3, 2, 18, 0, tzinfo=UTC))
    with running(tmp_path, clock) as found, site(found) as client:
        for link, name in zip(links(tmp_path)[::2], ("Sam", "Robin"), strict=True):
            Browser(client, link).enter(name)
        told = list(remind_all(found, "https://x.org", send=True))
        assert told[0].startswith("P001  no address") and told[1] == "P003: sent"
        assert list(remind_all(found, "https://x.org", send=True)) == [
            "nobody is to be reminded now"
        ]
    message = "\n".join(server.taken)  # type: ignore[attr-defined]
    assert "To: robin@example.org" in message and "https://x.org/t/" in message


def test_what_a_server_refuses_is_named(tmp_path: Path) -> None:
    written(tmp_path, people=1, mail="mail: {host: 127.0.0.1, port: 1, sender: s@example.org}")
    invite(trial_of(tmp_path), tmp_path, ["robin@example.org"])
    clock = Clock(datetime(2026, 3, 2, 18, 0, tzinfo=UTC))
    with running(tmp_path, clock) as found, site(found) as client:
        Browser(client, links(tmp_path)[1]).enter("Robin")
        with pytest.raises(StudyError, match="127.0.0.1:1 did not take the message to P002"):
            list(remind_all(found, "https://x.org", send=True))
        assert not found.people["P002"].reminded
