"""watch_safes: look at the Safes that golems act through without a cage, as a mirror looks at those behind one.

The chain is read first, outside any transaction; then the wallet's row is locked and written if nobody else was faster.
What became weaker, and transactions of the Safe that nobody here asked for, are told: SafeChanged, safe:changed.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.custody.agreed_safe import list_handlers
from permits_app.custody.safe_view import read_safe
from permits_app.models import ActionPermit, OutboundTransaction, OwnerTransaction, Wallet
from permits_app.models.owner_transaction import OwnerTransactionState
from permits_app.models.wallet import WalletKind
from permits_app.permits.blocked_commits import list_silent_chains
from permits_app.policy_cage.safe_watch import (
    SafeState,
    adopt_code,
    is_told,
    list_changes,
    list_unagreed,
    read_safe_state,
    say_change,
    settle_first,
)
from tools_app import runner
from tools_app.core import audit_log, event_bus
from tools_app.core.clock import Deadline
from tools_app.core.events import Event, EventType
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.transaction_retry import retry_aborted

_BUDGET_MS = 8_000
_ACTOR = "system:safe-watch"


def watch_safes(*, now: datetime) -> dict[str, int]:
    """Every Safe without a cage on a chain that answers; one that fails stops nobody else's."""
    wallets = Wallet.objects.filter(kind=WalletKind.GNOSIS_SAFE).exclude(
        golem__home_chain_id__in=list_silent_chains(now=now)
    )
    listed = list(wallets.order_by("pk").values_list("pk", flat=True))
    done = list(one_by_one(listed, lambda pk: watch_safe(wallet_id=pk, now=now), what="the Safe of wallet"))
    return {"seen": len(done), "failed": len(listed) - len(done)}


def watch_safe(*, wallet_id: int, now: datetime) -> Wallet:
    """Look at one. Raises what a node raises, and CageHasNoSafe where there is none any more."""
    wallet = Wallet.objects.select_related("golem").get(pk=wallet_id)
    chain = runner.open_reader(wallet.golem.home_chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
    view = read_safe(chain, wallet.address)
    state = read_safe_state(chain, wallet.address)
    return _keep(wallet, state, view.nonce, now)


@retry_aborted
def _keep(seen: Wallet, state: SafeState | None, nonce: int, now: datetime) -> Wallet:
    with transaction.atomic():
        Golem.objects.select_for_update(no_key=True, of=("self",)).get(pk=seen.golem_id)
        wallet = Wallet.objects.select_for_update(no_key=True, of=("self",)).get(pk=seen.pk)
        if (wallet.address, wallet.safe, wallet.safe_nonce) != (seen.address, seen.safe, seen.safe_nonce):
            return wallet
        lines = _list_new(wallet, state, seen.golem.home_chain_id)
        if (outside := _count_outside(wallet, nonce, seen.golem.home_chain_id)) > 0:
            lines.append(f"nonce: {wallet.safe_nonce} became {nonce}, {outside} of it for what nobody here asked")
        wallet.safe = state.as_dict() if state is not None else {}
        wallet.safe_nonce = nonce
        wallet.save(update_fields=["safe", "safe_noted", "safe_nonce", "updated_at"])
        if lines:
            _tell(wallet, lines, now)
    return wallet


def _list_new(wallet: Wallet, state: SafeState | None, chain_id: int) -> list[str]:
    """What is weaker than at the last look, or ends what keys were allowed. At the first one everything that is not
    known is told.
    """
    if state is None:
        return ["it does not answer as a Safe does"] if wallet.safe else []
    handlers = list_handlers(chain_id)
    if not wallet.safe_noted:
        wallet.safe_noted = settle_first(state, known=(), handlers=handlers).as_dict()
        return [say_change(each) for each in list_unagreed(state, None, known=(), handlers=handlers)]
    wallet.safe_noted = adopt_code(wallet.safe_noted, state)
    before = SafeState.from_dict(wallet.safe or wallet.safe_noted)
    return [say_change(each) for each in list_changes(before, state) if is_told(each)]


def _count_outside(wallet: Wallet, nonce: int, chain_id: int) -> int:
    """How many of the Safe's transactions since the last look nobody here asked for; what may be ours is taken off."""
    if wallet.safe_nonce is None or nonce <= wallet.safe_nonce:
        return 0
    asked = OwnerTransaction.objects.filter(
        chain_id=chain_id, safe=wallet.address, safe_nonce__gte=wallet.safe_nonce, safe_nonce__lt=nonce
    ).exclude(state=OwnerTransactionState.SIGNING)
    plans = asked.values_list("request__permit_id", flat=True)
    # A Safe of the golem's key alone is called without anybody being asked.
    own = ActionPermit.objects.filter(golem_id=wallet.golem_id, acts_for=wallet.address).exclude(
        pk__in=[each for each in plans if each]
    )
    sent = OutboundTransaction.objects.filter(
        permit__in=own, to=wallet.address, broadcast_count__gt=0, created_at__gt=wallet.updated_at
    )
    return nonce - wallet.safe_nonce - asked.count() - sent.count()


def _tell(wallet: Wallet, lines: list[str], now: datetime) -> None:
    data = {"contract": "", "account": wallet.address, "lines": lines}
    audit_log.append(golem_id=wallet.golem_id, event="SafeChanged", actor=_ACTOR, data=data, now=now)
    told = {"account": wallet.address, "contract": wallet.address, "count": len(lines)}
    event_bus.emit(golem_id=wallet.golem_id, event=Event(EventType.SAFE_CHANGED, told), now=now)
