"""apply_eip7702_code: a golem's account runs the code that its owners agreed to (EIP-7702), and none once it left.

The account's key signs which code it runs, for its nonce of now, and the relayer sends that. Nothing is sent while the
golem has something under way, whose nonce that would be. The chain is read first, outside any transaction; each look
goes one step on, so that what a reorganisation took out is sent again. Appends AccountCodeSent.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db import transaction

from permits_app.custody.account_code import NO_CODE, choose_code, is_known_code
from permits_app.custody.safe_view import open_chain
from permits_app.gas_relayer import IN_FLIGHT, RelayOrder, follow, send_order, sign_code
from permits_app.models import ActionPermit, OutboundTransaction, RelayedTransaction, SigningKey, Wallet
from permits_app.models.owner_transaction import RelayPurpose
from permits_app.models.permit import UNFINISHED
from permits_app.models.transaction import UNSETTLED
from permits_app.permits.blocked_commits import list_silent_chains
from tools_app.chain.running_code import find_delegate, hash_code
from tools_app.core import audit_log
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.context import ChainReader

_ACTOR: Final = "system:delegations"
_LOOK_SECONDS: Final = 1.0


def apply_eip7702_code(*, now: datetime) -> dict[str, int]:
    """Go one step on with each key that was let run code. One that fails stops no other."""
    keys = list(SigningKey.objects.filter(had_code=True).select_related("golem").order_by("pk"))
    sent = one_by_one(keys, lambda key: _settle(key, now), what="the account's code of")
    return {"codes_sent": sum(sent)}


def _settle(key: SigningKey, now: datetime) -> int:
    chain_id = key.golem.home_chain_id
    if chain_id in list_silent_chains(now=now):
        return 0
    moving = RelayedTransaction.objects.filter(
        purpose=RelayPurpose.DELEGATE, chain_id=chain_id, to=key.address, state__in=[str(each) for each in IN_FLIGHT]
    ).first()
    if moving is not None and follow(moving, seconds=_LOOK_SECONDS) is None:
        return 0
    chain, wanted = open_chain(chain_id, now=now), choose_code(key, chain_id)
    runs = find_delegate(chain.code(key.address)) or ""
    if runs == wanted:
        if not wanted:
            SigningKey.objects.filter(pk=key.pk).update(had_code=False)
        return 0
    if runs and not is_known_code(chain_id=chain_id, contract=runs):
        # Somebody else has the key: its owners are told of that, and nobody here pays for setting it right again.
        return 0
    if _is_busy(key) or not _is_as_agreed(key, chain, wanted):
        return 0
    _send(key, chain, wanted, now)
    return 1


def _send(key: SigningKey, chain: ChainReader, wanted: str, now: datetime) -> None:
    word = sign_code(key, chain_id=chain.chain_id, contract=wanted or NO_CODE)
    order = RelayOrder(purpose=RelayPurpose.DELEGATE, to=key.address, data=b"", authorization=word, key=key)
    row = send_order(order=order, chain=chain, now=now)
    facts = {"chain_id": str(chain.chain_id), "account": key.address, "contract": wanted, "tx_hash": row.tx_hash}
    _note(key, facts, now)
    follow(row, seconds=_LOOK_SECONDS)


@retry_aborted
def _note(key: SigningKey, facts: dict[str, str], now: datetime) -> None:
    with transaction.atomic():
        audit_log.append(golem_id=key.golem_id, event="AccountCodeSent", actor=_ACTOR, data=facts, now=now)


def _is_busy(key: SigningKey) -> bool:
    """Whether something of the golem waits for the nonce that this would use."""
    sent = OutboundTransaction.objects.filter(
        sender=key.address, is_live=True, state__in=[str(each) for each in UNSETTLED]
    )
    begun = ActionPermit.objects.filter(signer=key.address, status__in=[str(each) for each in UNFINISHED])
    return sent.exists() or begun.exists()


def _is_as_agreed(key: SigningKey, chain: ChainReader, wanted: str) -> bool:
    """Whether what runs at the contract is what its owners were shown. To run nothing needs nobody's word."""
    if not wanted:
        return True
    agreed = Wallet.objects.get(address=key.address).runs[str(chain.chain_id)]
    return bool(hash_code(chain.code(wanted)) == agreed["code_hash"])
