"""Replaces the secret of a webhook: each older one signs along for 24 hours, so that no receiver misses a signature."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from golem_project.stream import sealed_secrets, webhook_signatures
from golem_project.stream.models import OldSecret, WebhookEndpoint
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.taint import Secret
from tools_app.core.transaction_retry import retry_aborted

OLD_SECRET_LIVES = timedelta(hours=24)
MOST_OLD_SECRETS = 4


class RotatedTooOften(
    GolemError,
    code="WEBHOOK_ROTATED_TOO_OFTEN",
    status=409,
    recovery=Recovery.WAIT,
    title="This webhook's secret was rotated too often",
    cleared_by="the oldest of its secrets ends, 24 hours after it was replaced",
):
    """A secret was replaced so often that no more signatures fit beside the newest."""


@retry_aborted
def rotate_secret(*, endpoint: WebhookEndpoint, now: datetime) -> Secret:
    """A new secret; each older one signs along until it was replaced 24 hours ago. Raises RotatedTooOften."""
    secret = webhook_signatures.make_secret()
    with transaction.atomic():
        # Two tabs that rotate at once: the second keeps what the first made.
        row = WebhookEndpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk)
        forget_old_secrets(now=now)
        if row.old_secrets.count() >= MOST_OLD_SECRETS:
            raise RotatedTooOften(
                f"{MOST_OLD_SECRETS} older secrets still sign along; rotate again when the oldest ends,"
                " or remove the webhook and make a new one"
            )
        OldSecret.objects.create(endpoint=row, sealed_secret=row.sealed_secret, until=now + OLD_SECRET_LIVES)
        sealed_secret = seal_secret(row, secret)
        WebhookEndpoint.objects.filter(pk=row.pk).update(sealed_secret=sealed_secret)
    endpoint.sealed_secret = sealed_secret
    return Secret(secret)


def forget_old_secrets(*, now: datetime) -> int:
    """Delete secrets that sign no more. Returns how many."""
    return OldSecret.objects.filter(until__lte=now).delete()[0]


def reveal_secrets(endpoint: WebhookEndpoint, *, now: datetime) -> list[str]:
    """The secrets that sign now, the newest first. Raises SealBroken."""
    old = endpoint.old_secrets.filter(until__gt=now).order_by("-until", "-pk").values_list("sealed_secret", flat=True)
    return [
        sealed_secrets.unseal(bytes(text), bound_to=endpoint.pk.bytes).decode()
        for text in (endpoint.sealed_secret, *old)
    ]


def seal_secret(endpoint: WebhookEndpoint, secret: str) -> bytes:
    """The secret as it is stored: sealed, and bound to its webhook."""
    return sealed_secrets.seal(secret.encode(), bound_to=endpoint.pk.bytes)
