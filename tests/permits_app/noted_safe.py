"""A Safe that its owners changed, and took note of."""

from __future__ import annotations

from permits_app.actions.note_safe import note_safe
from permits_app.actions.watch_safes import watch_safe
from tests.permits_app.execution.test_safe_wallet import SafeGolem
from tools_app.core import clock


def take_note(owned: SafeGolem) -> None:
    """The next round sees the Safe as it is now, and an owner says that it is theirs."""
    golem = owned.live.golem
    golem.refresh_from_db()
    watch_safe(wallet_id=golem.wallet.pk, now=clock.now())
    note_safe(golem_id=golem.pk, actor="owner:1", reason="our handler", now=clock.now())
