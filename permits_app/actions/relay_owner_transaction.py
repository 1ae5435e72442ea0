"""relay_owner_transaction: have the Safe execute what its owners signed, once, and see what came of it.

The signatures are counted against the Safe's owners of now; whoever else sent the same transaction first is found by
its hash in the Safe's events. Reads the chain with no transaction open; each change of state is its own short one.
Appends OwnerTransactionSent and OwnerTransactionExecuted or OwnerTransactionFailed.
"""

from __future__ import annotations

from datetime import datetime

from django.conf import settings

from permits_app.actions.end_expired_signatures import SIGNED_ENDED, has_ended
from permits_app.approval_errors import ChangeClosed, ChangeStale, OwnerCallReverts, SignaturesIncomplete
from permits_app.approvals.owner_calls import encode_relay
from permits_app.approvals.owner_states import move_alone
from permits_app.approvals.safe_nonces import check_turn
from permits_app.approvals.signatures import pick_signatures
from permits_app.custody.safe_view import SafeView, find_execution, is_success, open_chain, read_safe
from permits_app.gas_relayer import IN_FLIGHT, RelayOrder, follow, send_order, sign_empty
from permits_app.models import OwnerTransaction, RelayedTransaction
from permits_app.models.approval import ChangeState
from permits_app.models.owner_transaction import OwnerTransactionState, RelayPurpose, RelayState
from permits_app.policy_cage.safe_tx import join_signatures
from tools_app.chain.networks import get_network
from tools_app.core import clock
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import LogEntry

S = OwnerTransactionState
_ACTOR = "system:relayer"


def relay_owner_transaction(*, asked: OwnerTransaction, now: datetime) -> bool:
    """Whether the chain has executed it; False while it is under way.

    Raises SignaturesIncomplete, SafeTurnAwaited, ChangeStale when the Safe used the nonce for something else,
    OwnerCallReverts, and what the relayer raises.
    """
    if asked.state == S.EXECUTED:
        return True
    under_way = asked.relays.filter(state__in=[str(state) for state in IN_FLIGHT]).first()
    if under_way is None:
        chain = open_chain(asked.chain_id, now=now)
        safe = read_safe(chain, asked.safe)
        if safe.nonce > asked.safe_nonce:
            return _settle_elsewhere(asked, chain)
        under_way = _send(asked, safe, chain, now)
    follow(under_way, seconds=settings.GOLEM_RELAYER_WAIT_SECONDS)
    # Whatever of its payloads was mined, and whoever sent it: the Safe's own word decides.
    chain = open_chain(asked.chain_id, now=clock.now())
    under_way.refresh_from_db()
    since = under_way.block_number or asked.asked_block
    log = find_execution(chain, safe=asked.safe, safe_tx_hash=asked.safe_tx_hash, since=since)
    if log is not None:
        return _settle(asked, log)
    # A payload that was replaced says nothing: the next look finds its successor, or sends anew; the Safe's nonce lets
    # only one of them execute.
    if under_way.state != RelayState.REVERTED:
        return False
    if read_safe(chain, asked.safe).nonce > asked.safe_nonce:
        # Somebody else was first: with the same transaction, in an earlier block, or with another one.
        return _settle_elsewhere(asked, chain)
    _fail(asked, {"tx_hash": under_way.tx_hash})
    raise OwnerCallReverts("it was mined and the Safe did not execute it", tx_hash=under_way.tx_hash)


def settle_failed(*, asked: OwnerTransaction, safe: SafeView, chain: ChainReader) -> bool:
    """Whether the Safe executed after all what was recorded as failed; `safe` is the Safe at the reader's block.

    Until its nonce is used, whoever saw the signed call may send it again. It is given up once the nonce went to
    another transaction, so deep that no reorganisation is expected to bring it back. Raises what a node raises.
    """
    if safe.nonce <= asked.safe_nonce:
        return False
    log = find_execution(chain, safe=asked.safe, safe_tx_hash=asked.safe_tx_hash, since=asked.asked_block)
    if log is not None and is_success(log):
        return _settle(asked, log)
    now = clock.now()
    deep = chain.block_at(max(chain.block.number - get_network(asked.chain_id).confirmations + 1, 0))
    if read_safe(open_chain(asked.chain_id, now=now, block=deep), asked.safe).nonce > asked.safe_nonce:
        move_alone(asked=asked, to=S.DEAD, actor=_ACTOR, now=now, facts={})
    return False


def count_missing(asked: OwnerTransaction, safe: SafeView) -> int:
    """How many more owners of the Safe have to sign."""
    return max(0, safe.threshold - len(pick_signatures(asked, safe)))


def build_raw_call(asked: OwnerTransaction, safe: SafeView, *, now: datetime) -> str:
    """Call data for the Safe, 0x-hex, that anybody may send. Raises SignaturesIncomplete, ChangeClosed where what was
    signed has ended by time.
    """
    if has_ended(asked.request, at=now):
        raise ChangeClosed(SIGNED_ENDED, state=ChangeState.EXPIRED)
    return "0x" + _encode(asked, safe).hex()


def _send(asked: OwnerTransaction, safe: SafeView, chain: ChainReader, now: datetime) -> RelayedTransaction:
    check_turn(asked, safe)
    order = RelayOrder(
        purpose=RelayPurpose.EXECUTE,
        to=asked.safe,
        data=_encode(asked, safe),
        owner_transaction=asked,
        owners=safe.owners,
    )
    row = send_order(order=order, chain=chain, now=now)
    facts = {"tx_hash": row.tx_hash, "relayer": row.sender}
    move_alone(asked=asked, to=S.SENT, actor=_ACTOR, now=clock.now(), facts=facts)
    return row


def _encode(asked: OwnerTransaction, safe: SafeView) -> bytes:
    missing = count_missing(asked, safe)
    if missing:
        raise SignaturesIncomplete(
            f"{missing} more owner{'s' if missing > 1 else ''} of the Safe must sign",
            missing=str(missing),
            threshold=str(safe.threshold),
        )
    document = {
        "chain_id": str(asked.chain_id),
        "safe": asked.safe,
        "nonce": str(asked.safe_nonce),
        "to": asked.to,
        "value": asked.value_wei,
        "data": asked.data,
        "operation": str(asked.operation),
    }
    picked = pick_signatures(asked, safe)
    if asked.own_key in picked:
        # The relayer sends it and not the golem's key, so its word has to be in the bytes.
        picked[asked.own_key] = sign_empty(asked)
    return encode_relay(document, join_signatures(picked))


def _settle_elsewhere(asked: OwnerTransaction, chain: ChainReader) -> bool:
    log = find_execution(chain, safe=asked.safe, safe_tx_hash=asked.safe_tx_hash, since=asked.asked_block)
    if log is not None:
        return _settle(asked, log)
    move_alone(asked=asked, to=S.DEAD, actor=_ACTOR, now=clock.now(), facts={})
    raise ChangeStale("the Safe used this nonce for another transaction", bound_nonce=str(asked.safe_nonce))


def _settle(asked: OwnerTransaction, log: LogEntry) -> bool:
    facts = {"tx_hash": log.tx_hash, "block_number": str(log.block_number)}
    if not is_success(log):
        _fail(asked, facts)
        raise OwnerCallReverts("the Safe tried it and the call failed", tx_hash=log.tx_hash)
    now = clock.now()
    move_alone(asked=asked, to=S.EXECUTED, actor=_ACTOR, now=now, facts=facts, executed_in=log.tx_hash, executed_at=now)
    return True


def _fail(asked: OwnerTransaction, facts: dict[str, str]) -> None:
    move_alone(asked=asked, to=S.FAILED, actor=_ACTOR, now=clock.now(), facts=facts)
