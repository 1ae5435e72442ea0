"""Lets the addressee of a mailbox agree before anything else is mailed there.

A code goes to the address; whoever reads it there types it on the page of the alerts. The mail holds no word of a
person, so that nobody can have a stranger mailed a text of theirs. How many go to one address, and from one person,
in a day is bounded by constraints of the database.
"""

from __future__ import annotations

import secrets
from datetime import date, datetime, timedelta
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.crypto import salted_hmac

from golem_project.alerts.errors import CodeRefused, TooManyCodes
from golem_project.alerts.models import MOST_CODES_A_PERSON, MOST_CODES_AN_ADDRESS, AlertChannel, ConfirmationMail
from golem_project.alerts.sending import mail_text, open_target
from tools_app.core import event_log
from tools_app.core.transaction_retry import retry_aborted

CODE_LIVES: Final = timedelta(hours=1)
MOST_TRIES: Final = 5
_LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_LENGTH: Final = 8
_KEPT_DAYS: Final = 2
_SUBJECT: Final = "a code to receive alerts here"


def mail_code(*, channel: AlertChannel, now: datetime) -> None:
    """Mail a fresh code to the channel's address; a former code ends. Raises TooManyCodes, NotSent."""
    address = open_target(channel).address
    _count_mail(person=channel.person, address=address.value, today=now.date())
    code = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
    AlertChannel.objects.filter(pk=channel.pk).update(
        code_digest=_digest(str(channel.pk), code), code_ends_at=now + CODE_LIVES, code_tries=0
    )
    mail_text(
        address,
        subject=_SUBJECT,
        text=(
            f"Somebody with an account on a Golem server wants its alerts to go to this address.\n\n"
            f"The code is {code}. It works for one hour, on the server's page Alerts.\n\n"
            "If you did not ask for this, do nothing: nothing more is sent here without the code."
        ),
    )


def confirm_channel(*, channel: AlertChannel, code: str, now: datetime) -> None:
    """Take the code that came by mail; the channel is told of what happens from now on. Raises CodeRefused."""
    waiting = AlertChannel.objects.filter(
        pk=channel.pk, confirmed_at__isnull=True, code_ends_at__gt=now, code_tries__lt=MOST_TRIES
    )
    if not waiting.update(code_tries=F("code_tries") + 1):
        raise CodeRefused("there is no code for this channel that still works; have another one sent")
    typed = "".join(code.upper().split())
    head = event_log.read_head()
    row = AlertChannel.objects.filter(
        pk=channel.pk, confirmed_at__isnull=True, code_digest=_digest(str(channel.pk), typed)
    )
    if not row.update(confirmed_at=now, code_digest="", log_id=head.log_id, position=head.position):
        raise CodeRefused("that is not the code which was mailed; look at the newest mail")


@retry_aborted
def _count_mail(*, person: Any, address: str, today: date) -> None:  # Any: which model accounts have is a setting
    """Note one more mail of today. The constraints refuse one too many, whoever else asks at the same time."""
    digest = _digest("address", address.strip().casefold())
    ConfirmationMail.objects.filter(day__lt=today - timedelta(days=_KEPT_DAYS)).delete()
    of_today = ConfirmationMail.objects.filter(day=today)
    here, mine = of_today.filter(address_digest=digest).count(), of_today.filter(person=person).count()
    if here >= MOST_CODES_AN_ADDRESS or mine >= MOST_CODES_A_PERSON:
        raise TooManyCodes("so many codes were mailed today that the next one goes out tomorrow (UTC)")
    try:
        with transaction.atomic():
            ConfirmationMail.objects.create(
                day=today, person=person, address_digest=digest, number_of_address=here, number_of_person=mine
            )
    except IntegrityError:
        raise TooManyCodes("another code is just being mailed; look for it, or ask again in a minute") from None


def _digest(what: str, text: str) -> str:
    return salted_hmac(f"alerts.mail_confirmation.{what}", text, algorithm="sha256").hexdigest()
