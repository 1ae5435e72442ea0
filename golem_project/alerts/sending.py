"""One message through one channel: a mail, a post to a chat's webhook, a call of Telegram, a push to a browser.

Sending raises NotSent, no more.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from smtplib import SMTPException

from Crypto.PublicKey import ECC
from django.conf import settings
from django.core.mail import EmailMessage
from django.urls import reverse

from golem_project.alerts import push_key
from golem_project.alerts.errors import ChannelRefused
from golem_project.alerts.models import AlertChannel, ChannelKind
from golem_project.alerts.push_message import AUTH_BYTES, read_point, seal_message
from golem_project.stream import sealed_secrets
from tools_app.core import clock, guarded_http
from tools_app.core.guarded_http import AddressRefused, ExchangeFailed
from tools_app.core.stored_json import read_stored
from tools_app.core.taint import Secret, Tainted, TaintLabel

MOST_LINES = 30
PUSHED_LINES = 4
"""What a notification shows, and what one record of web push holds of the longest lines."""


class NotSent(Exception):
    """The message did not get there. Its text names the kind of failure and no secret."""


def send_lines(channel: AlertChannel, lines: Sequence[str], *, path: str = "") -> None:
    """Send `lines` as one message; a browser opens `path` for it. No transaction is open. Raises NotSent."""
    target = open_target(channel)
    shown = list(lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        shown.append(f"and {len(lines) - MOST_LINES} more")
    text = "\n".join(shown)
    if channel.kind == ChannelKind.EMAIL:
        mail_text(target.address, subject=shown[0][:120] if len(lines) == 1 else f"{len(lines)} alerts", text=text)
        return
    try:
        if channel.kind == ChannelKind.PUSH:
            _push(target, shown, path=path)
        elif channel.kind == ChannelKind.WEBHOOK:
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
    p256dh: str
    auth: Secret


@dataclass(frozen=True, slots=True)
class _SealedTarget:
    """What is sealed of a channel: empty where its kind has none."""

    address: str = ""
    chat_id: str = ""
    url: str = ""
    token: str = ""
    p256dh: str = ""
    auth: str = ""


def open_target(channel: AlertChannel) -> OpenTarget:
    """The address and keys of a channel. Raises NotSent where they cannot be opened."""
    try:
        found = read_stored(
            _SealedTarget,
            json.loads(sealed_secrets.unseal(bytes(channel.sealed_target), bound_to=channel.pk.bytes)),
        )
    except sealed_secrets.SealBroken:
        raise NotSent("its address does not open with this server's passphrase; make the channel anew") from None
    return OpenTarget(
        address=Tainted(found.address, TaintLabel.USER_PII),
        chat_id=Tainted(found.chat_id, TaintLabel.USER_PII),
        url=Secret(found.url, TaintLabel.OWNER_SECRET),
        token=Secret(found.token, TaintLabel.OWNER_SECRET),
        p256dh=found.p256dh,
        auth=Secret(found.auth, TaintLabel.OWNER_SECRET),
    )


def check_browser(target: Mapping[str, str]) -> None:
    """Refuse what is no browser's subscription: a key of its own, and 16 bytes it chose. Raises ChannelRefused."""
    try:
        given = read_stored(_SealedTarget, target)
        read_point(push_key.to_bytes(given.p256dh))
        is_whole = len(push_key.to_bytes(given.auth)) == AUTH_BYTES
    except ValueError:
        is_whole = False
    if not is_whole:
        raise ChannelRefused("this is no subscription of a browser; load the page again and try once more")


def _push(target: OpenTarget, lines: Sequence[str], *, path: str) -> None:
    """Seal the lines for the browser and hand them to its push service."""
    url = target.url.reveal()
    checked = guarded_http.resolve(url, allows_private=settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES)
    shown = [*lines[:PUSHED_LINES], *([f"and {len(lines) - PUSHED_LINES} more"] if len(lines) > PUSHED_LINES else [])]
    message = json.dumps({"title": "Golem", "body": "\n".join(shown), "path": path or reverse("admin:index")})
    body = seal_message(
        message.encode(),
        browser_key=push_key.to_bytes(target.p256dh),
        auth=push_key.to_bytes(target.auth.reveal()),
        own=ECC.generate(curve="p256"),
        salt=secrets.token_bytes(16),
    )
    contact = settings.GOLEM_PUBLIC_URL or f"mailto:{settings.DEFAULT_FROM_EMAIL}"
    headers = {
        "Content-Type": "application/octet-stream",
        "Content-Encoding": "aes128gcm",
        "TTL": "86400",
        "Urgency": "high",
        "User-Agent": "golem-alerts/1",
        "Authorization": push_key.authorize(url, contact=contact, now=clock.now()),
    }
    answer = guarded_http.post(checked, headers=headers, body=body, seconds=settings.GOLEM_ALERT_TIMEOUT_SECONDS)
    if answer.status in (404, 410):
        raise NotSent("its browser takes no alerts any more; remove it, and allow them there anew")
    if not 200 <= answer.status < 300:
        raise NotSent(f"the browser's push service answered {answer.status}")


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
