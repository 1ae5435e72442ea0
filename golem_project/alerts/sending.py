"""One message through one channel: a mail, a post to a chat's webhook, a call of Telegram. Raises NotSent, no more."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import EmailMessage

from golem_project.alerts.models import AlertChannel, ChannelKind
from golem_project.stream import sealed_secrets
from tools_app.core import guarded_http
from tools_app.core.guarded_http import AddressRefused, ExchangeFailed
from tools_app.core.taint import Secret, Tainted, TaintLabel

MOST_LINES = 30


class NotSent(Exception):
    """The message did not get there. Its text names the kind of failure and no secret."""


def send_lines(channel: AlertChannel, lines: Sequence[str]) -> None:
    """Send `lines` as one message. No transaction is open. Raises NotSent."""
    target = open_target(channel)
    shown = list(lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        shown.append(f"and {len(lines) - MOST_LINES} more")
    text = "\n".join(shown)
    if channel.kind == ChannelKind.EMAIL:
        mail_text(target.address, subject=shown[0][:120] if len(lines) == 1 else f"{len(lines)} alerts", text=text)
        return
    try:
        if channel.kind == ChannelKind.WEBHOOK:
            # Slack reads <…> as a link and & as the start of an entity.
            plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
            _post(target.url.reveal(), {"text": plain})
        else:
            url = f"{settings.GOLEM_TELEGRAM_URL}/bot{target.token.reveal()}/sendMessage"
            _post(url, {"chat_id": target.chat_id.value, "text": text, "disable_web_page_preview": True})
    except (AddressRefused, ExchangeFailed) as error:
        raise NotSent(str(error)) from None


@dataclass(frozen=True, slots=True)
class OpenTarget:
    """Where a channel's messages go: a person's data and keys, each with its label; empty where the kind has
    none.
    """

    address: Tainted
    chat_id: Tainted
    url: Secret
    token: Secret


def open_target(channel: AlertChannel) -> OpenTarget:
    """The address and keys of a channel. Raises NotSent where they cannot be opened."""
    try:
        found: dict[str, str] = json.loads(
            sealed_secrets.unseal(bytes(channel.sealed_target), bound_to=channel.pk.bytes)
        )
    except sealed_secrets.SealBroken:
        raise NotSent("its address does not open with this server's passphrase; make the channel anew") from None
    return OpenTarget(
        address=Tainted(found.get("address", ""), TaintLabel.USER_PII),
        chat_id=Tainted(found.get("chat_id", ""), TaintLabel.USER_PII),
        url=Secret(found.get("url", ""), TaintLabel.OWNER_SECRET),
        token=Secret(found.get("token", ""), TaintLabel.OWNER_SECRET),
    )


def _post(url: str, body: Mapping[str, object]) -> None:
    target = guarded_http.resolve(url, allows_private=settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES)
    headers = {"Content-Type": "application/json", "User-Agent": "golem-alerts/1"}
    sent = json.dumps(body).encode()
    answer = guarded_http.post(target, headers=headers, body=sent, seconds=settings.GOLEM_ALERT_TIMEOUT_SECONDS)
    if not 200 <= answer.status < 300:
        raise NotSent(f"the chat answered {answer.status}")


def mail_text(address: Tainted, *, subject: str, text: str) -> None:
    """Send one mail. Raises NotSent."""
    if not settings.EMAIL_HOST:
        raise NotSent("this server sends no mail; its operator sets GOLEM_EMAIL_HOST")
    try:
        EmailMessage(
            subject=f"Golem: {subject}", body=text, from_email=settings.DEFAULT_FROM_EMAIL, to=[address.value]
        ).send()
    except (SMTPException, OSError, ValueError) as error:
        raise NotSent(f"the mail server did not take it ({type(error).__name__})") from None
