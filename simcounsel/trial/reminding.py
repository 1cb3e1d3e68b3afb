"""Who is to be reminded that today's talk waits."""

import os
import smtplib
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage

from simcounsel.errors import StudyError
from simcounsel.trial.plan import Mail
from simcounsel.trial.running import Running
from simcounsel.trial.texts import reminder, title_of

PASSWORD = "SIMCOUNSEL_SMTP_PASSWORD"
WAIT_S = 30


@dataclass(frozen=True, kw_only=True)
class Due:
    """A message that is due."""

    code: str
    to: str | None
    """An address; None: whoever has one for the code sends it."""
    subject: str
    body: str
    date: str
    """Of today, where the participant is."""


def due(running: Running, base: str) -> Iterator[Due]:
    """For each who has a talk left today that they have not begun, once it is time where they
    are, and only once a day.
    """
    trial, now = running.trial, running.now()
    known = {one.code: one for one in running.store.people()}
    for code, who in sorted(running.people.items()):
        day = who.day(now)
        waits = who.arm is None or trial.arm(who.arm).waits
        if waits or who.withdrawn or who.paused or who.lost or not day or day > trial.days:
            continue
        local = now.astimezone(who.clock)
        date = local.date().isoformat()
        talked = any(talk.day == day and talk.own() for talk in who.talks)
        if talked or date in who.reminded or f"{local:%H:%M}" < trial.remind_at:
            continue
        one = known.get(code)
        link = f"{base.rstrip('/')}/t/{one.token}" if one and one.token else base
        subject, body = reminder(
            running.language(who),
            link=link,
            day=day,
            days=trial.days,
            title=title_of(trial, running.language(who)),
        )
        to = one.contact if one else None
        yield Due(code=code, to=to, subject=subject, body=body, date=date)


def remind_all(running: Running, base: str, *, send: bool) -> Iterator[str]:
    """Each message, sent or told, and written down. StudyError where there is no mail server."""
    mail = running.trial.mail
    if send and mail is None:
        raise StudyError(
            f"{running.folder / 'trial.yaml'}: no `mail`; add its host and sender, or leave out"
            " --send and send the list yourself"
        )
    count = 0
    for one in due(running, base):
        count += 1
        if send and mail is not None and one.to:
            _send(mail, one)
            running.happen(one.code, "reminded", date=one.date, by="mail")
            yield f"{one.code}: sent"
        else:
            running.happen(one.code, "reminded", date=one.date, by="list")
            yield f"{one.code}  {one.to or 'no address'}\n{one.subject}\n{one.body}\n"
    if not count:
        yield "nobody is to be reminded now"


def _send(mail: Mail, one: Due) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = mail.sender, str(one.to), one.subject
    message.set_content(one.body)
    try:
        with smtplib.SMTP(mail.host, mail.port, timeout=WAIT_S) as server:
            if mail.tls:
                server.starttls()
            if mail.user:
                server.login(mail.user, os.environ.get(PASSWORD, ""))
            server.send_message(message)
    except (OSError, smtplib.SMTPException) as error:
        raise StudyError(
            f"mail: {mail.host}:{mail.port} did not take the message to {one.code} ({error}); look"
            f" at `mail` in trial.yaml, and at the variable {PASSWORD}"
        ) from None
