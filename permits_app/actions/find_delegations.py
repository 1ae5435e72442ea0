"""find_delegations: look whose code the accounts of golems' keys run (EIP-7702), and tell their owners at once.

Only who has a key delegates its account: another hand holds the key too, or an owner did it in a wallet. The chain is
read first, outside any transaction. Appends SignerDelegated and SignerDelegationEnded; emits signer:delegated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.core.cache import cache
from django.db import transaction

from archetypes_app.models import Golem
from permits_app.custody.account_code import choose_code
from permits_app.custody.safe_view import open_chain
from permits_app.models import SigningKey
from permits_app.models.signing_key import KeyState
from permits_app.permits.blocked_commits import list_silent_chains
from tools_app.chain.running_code import find_delegate
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.golem_chains import list_chains

_ACTOR: Final = "system:delegations"
_AT_ONCE: Final = 100
MOST_A_ROUND: Final = 1_000
"""Keys of a round, of which there is one in 15 seconds: each is a question to a node."""
_TURN: Final = "find_delegations.last_key"


def find_delegations(*, now: datetime) -> dict[str, int]:
    """Look at keys that sign or may come to, on each chain of its golem: all of them, or where they are more than
    `MOST_A_ROUND`, so many from where the round before ended. A chain that fails stops no other's.
    """
    silent = set(list_silent_chains(now=now))
    by_chain: dict[int, list[SigningKey]] = defaultdict(list)
    for key in _take_turn():
        for chain_id in set(list_chains(key.golem)) - silent:
            by_chain[chain_id].append(key)
    found = one_by_one(list(by_chain), lambda each: _look(each, by_chain[each], now), what="the keys of chain")
    return {"delegated": sum(found)}


def _take_turn() -> list[SigningKey]:
    """A turn that was forgotten begins anew at the first key."""
    last = int(cache.get(_TURN, 0))
    looked_at = SigningKey.objects.exclude(state=KeyState.DROPPED, had_code=False)
    looked_at = looked_at.select_related("golem").order_by("pk")
    keys = list(looked_at.filter(pk__gt=last)[:MOST_A_ROUND])
    if last and len(keys) < MOST_A_ROUND:
        keys += looked_at.filter(pk__lte=last)[: MOST_A_ROUND - len(keys)]
    cache.set(_TURN, keys[-1].pk if len(keys) == MOST_A_ROUND else 0, timeout=None)
    return keys


def _look(chain_id: int, keys: Sequence[SigningKey], now: datetime) -> int:
    chain, delegated = open_chain(chain_id, now=now), 0
    for begin in range(0, len(keys), _AT_ONCE):
        some = keys[begin : begin + _AT_ONCE]
        chain.preload(contracts=[key.address for key in some])
        for key in some:
            runs = find_delegate(chain.code(key.address)) or ""
            delegated += bool(runs)
            if key.delegated.get(str(chain_id), "") != runs:
                _keep(key, chain_id, runs, now)
    return delegated


@retry_aborted
def _keep(seen: SigningKey, chain_id: int, runs: str, now: datetime) -> None:
    with transaction.atomic():
        Golem.objects.select_for_update(no_key=True, of=("self",)).get(pk=seen.golem_id)
        key = SigningKey.objects.select_for_update(no_key=True, of=("self",)).get(pk=seen.pk)
        if key.delegated.get(str(chain_id), "") == runs:
            return
        kept = {chain: contract for chain, contract in key.delegated.items() if chain != str(chain_id)}
        key.delegated = {**kept, str(chain_id): runs} if runs else kept
        key.save(update_fields=["delegated", "updated_at"])
        facts = {"chain_id": str(chain_id), "account": key.address, "contract": runs}
        name = "SignerDelegated" if runs else "SignerDelegationEnded"
        audit_log.append(golem_id=key.golem_id, event=name, actor=_ACTOR, data=facts, now=now)
        # What its owners gave it themselves is no alarm.
        if runs and runs != choose_code(key, chain_id):
            told = {"account": key.address, "contract": runs, "chain_id": chain_id}
            event_bus.emit(golem_id=key.golem_id, event=Event(EventType.SIGNER_DELEGATED, told), now=now)
