"""The relayer: a key that pays for gas and can do nothing else. It sends what owners of a Safe signed.

It sends two kinds of calls only: execTransaction of a Safe behind a cage or of a golem's own, a cage's applyChange.
Beside them it carries the word of a golem's key that its account runs known code, or none (EIP-7702), in an empty call.
One transaction at a time per chain, so that nonces need no cursor; bytes are stored before they are sent, and sent
again when a reorganisation takes them out; what it may spend on gas within 24 h is capped, and one owner leaves half of
it to the others. A key that owns the Safe, or
that is a golem's wallet, is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from eth_utils import is_checksum_address

from archetypes_app.models import Golem
from permits_app.approval_errors import (
    OwnerCallReverts,
    RelayerBudgetUsed,
    RelayerBusy,
    RelayerNotConfigured,
    RelayerRefuses,
)
from permits_app.custody.account_code import check_known_code
from permits_app.custody.safe_view import open_chain
from permits_app.custody.signers.base import SignedAuthorization, SignedTransaction, UnsignedTransaction
from permits_app.custody.signers.choose_signer import open_keystore
from permits_app.custody.signers.eth_account_library import read_authorization
from permits_app.custody.signers.local import LocalSigner
from permits_app.errors import SimulationRecognised
from permits_app.execution import broadcast, confirm_transaction, payload_delivery
from permits_app.execution.replacement import Fees, raise_fees
from permits_app.models import CageMirror, OwnerTransaction, RelayedTransaction, SigningKey, Wallet
from permits_app.models.owner_transaction import RelayPurpose, RelayState
from permits_app.models.wallet import WalletKind
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import decode_cage_error
from permits_app.policy_cage.safe_tx import EXEC_TRANSACTION, SafeTx, hash_safe_tx
from permits_app.safety.final_simulation import foretell_nothing, list_differing
from tools_app.chain.networks import get_network
from tools_app.chain.node_errors import FeeTooLow, NonceTooLow
from tools_app.chain.signatures import parse_signature
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.transaction_retry import retry_aborted
from tools_app.core.units import format_units
from tools_app.simulation.engine import SigningTerms, SimulationRequest, SimulationResult
from tools_app.simulation.select import run_simulation
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import FeeQuote, ReceiptView

IN_FLIGHT: Final = (RelayState.SIGNED, RelayState.SENT, RelayState.REORGED)
# What a Safe adds to the recovery byte of a signature over the message of its hash.
_SIGNED_MESSAGE: Final = 4
_OPEN: Final = (*IN_FLIGHT, RelayState.REPLACED)
_IN_A_BLOCK: Final = (RelayState.MINED, RelayState.REVERTED)
_MAY_CALL: Final = {
    RelayPurpose.EXECUTE: parse_signature(EXEC_TRANSACTION).selector,
    RelayPurpose.APPLY: parse_signature(FUNCTIONS["applyChange"]).selector,
}
_GAS_MARGIN_BPS: Final = 13_000
_GAS_SPARE: Final = 40_000
_AUTHORIZATION_GAS: Final = 25_000
_SEND_BUDGET_MS: Final = 10_000
_SIMULATION_BUDGET_MS: Final = 8_000
_DAY: Final = timedelta(hours=24)
_MOST_FINALS: Final = 50


@dataclass(frozen=True, slots=True)
class RelayOrder:
    """One call to be relayed: no coins go with it. With an `authorization` it is empty, and to the account of `key`."""

    purpose: RelayPurpose
    to: str
    data: bytes
    owner_transaction: OwnerTransaction | None = None
    mirror: CageMirror | None = None
    subject: str = ""
    owners: Sequence[str] = ()
    authorization: SignedAuthorization | None = None
    key: SigningKey | None = None

    @property
    def golem(self) -> Golem | None:
        """Whose call it is."""
        if self.owner_transaction is not None:
            golem: Golem = self.owner_transaction.request.golem
            return golem
        if self.key is not None:
            return self.key.golem
        return self.mirror.cage.golem if self.mirror is not None else None


def find_relayer_address() -> str:
    """The address of the relayer's key in the server's keystore; empty when there is none."""
    if settings.GOLEM_RELAYER_ADDRESS:
        return str(settings.GOLEM_RELAYER_ADDRESS)
    path = Path(settings.GOLEM_RELAYER_ADDRESS_FILE)
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def create_relayer() -> str:
    """Make a key in the server's keystore and name it in the address file. Raises RelayerRefuses when there is one."""
    if find_relayer_address():
        raise RelayerRefuses(f"the relayer is {find_relayer_address()} already")
    address = open_keystore().create()
    path = Path(settings.GOLEM_RELAYER_ADDRESS_FILE)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(address + "\n", encoding="utf-8")
    return address


def open_relayer() -> LocalSigner:
    """The relayer's signer. Raises RelayerNotConfigured, RelayerRefuses for a key that is more than a relayer's."""
    address = find_relayer_address()
    if not address:
        raise RelayerNotConfigured(
            "make a key that only pays for gas with `manage.py relayer --create`, or send what was signed yourself"
        )
    if not is_checksum_address(address):
        raise RelayerNotConfigured("GOLEM_RELAYER_ADDRESS is no address with its checksum")
    if any(kind.objects.filter(address=address).exists() for kind in (Wallet, Golem, SigningKey)):
        raise RelayerRefuses(f"{address} is a golem's account or key; the relayer needs a key of its own")
    return LocalSigner(keystore=open_keystore(), address=address)


def send_order(*, order: RelayOrder, chain: ChainReader, now: datetime) -> RelayedTransaction:
    """Judge, sign, store and send one call. Asks the node; no transaction may be open.

    Raises RelayerNotConfigured, RelayerRefuses, RelayerBudgetUsed, RelayerBusy, OwnerCallReverts, SimulationRecognised,
    what a node raises.
    """
    signer = open_relayer()
    _check_order(order, signer.address)
    _clear_the_way(chain.chain_id, signer.address)
    request = _request(order, chain, signer.address)
    free = _rehearse(request)
    fees = chain.fees()
    outcome = free.calls[0]
    gas = (outcome.gas_before_refunds or outcome.gas_used) * _GAS_MARGIN_BPS // 10_000 + _GAS_SPARE
    gas += _AUTHORIZATION_GAS if order.authorization is not None else 0
    owner_id = order.golem.owner_id if order.golem is not None else None
    _check_budget(chain, signer.address, cost=gas * fees.max_fee, gas=gas, now=now, owner_id=owner_id)
    _rehearse_signed(request, free, gas=gas, fees=fees, block_hash=chain.block.hash)
    nonce = _read_used_nonce(chain.chain_id, signer.address)
    _check_unused(chain.chain_id, signer.address, nonce)
    plain = UnsignedTransaction(
        chain_id=chain.chain_id,
        nonce=nonce,
        to=order.to,
        value=0,
        data=order.data,
        gas_limit=gas,
        max_fee_per_gas=fees.max_fee,
        max_priority_fee_per_gas=fees.priority_fee,
    )
    row = _store(order, plain, signer)
    _send(row)
    return row


def follow(row: RelayedTransaction, *, seconds: float) -> ReceiptView | None:
    """The receipt of a relayed call; sends stored bytes again that were not seen sent, and raises a stuck fee.

    None when it is not mined after `seconds`.
    """
    if row.state in (RelayState.SIGNED, RelayState.REORGED):
        _send(row)
    deadline = Deadline.after_ms(int(seconds * 1_000))
    hashes = _hashes_of_nonce(row)
    receipt = broadcast.poll(lambda: _find_confirmed(row.chain_id, hashes), deadline=deadline, renew_lease=lambda: None)
    if receipt is None:
        _give_up_or_replace(row)
        return None
    _record(row, receipt)
    return receipt


def _find_confirmed(chain_id: int, tx_hashes: Sequence[str]) -> ReceiptView | None:
    """A receipt counts once a second reading says the same; a node that just mined it may need a moment for that."""
    deadline = Deadline.after_ms(_SEND_BUDGET_MS)
    receipt = broadcast.find_any_receipt(chain_id=chain_id, tx_hashes=tx_hashes, deadline=deadline)
    if receipt is None or not confirm_transaction.confirm(chain_id, receipt, deadline=deadline):
        return None
    return receipt


def sign_empty(asked: OwnerTransaction) -> bytes:
    """The word of a golem's key, as an owner of the Safe, for using a nonce up: for an empty call and nothing else.

    65 bytes as the Safe takes a signed message. Raises RelayerRefuses, SignerUnavailable.
    """
    tx = SafeTx(
        to=asked.to,
        data=bytes.fromhex(asked.data[2:]),
        nonce=asked.safe_nonce,
        value=int(asked.value_wei),
        operation=asked.operation,
    )
    if tx != SafeTx(to=asked.safe, data=b"", nonce=asked.safe_nonce):
        raise RelayerRefuses("a golem's key signs an empty transaction of its Safe, nothing else")
    digest = hash_safe_tx(tx, safe=asked.safe, chain_id=asked.chain_id)
    signer = LocalSigner(keystore=open_keystore(), address=asked.own_key)
    signature = signer.sign_message(digest, chain_id=asked.chain_id)
    return signature[:64] + bytes([signature[64] + _SIGNED_MESSAGE])


def sign_code(key: SigningKey, *, chain_id: int, contract: str) -> SignedAuthorization:
    """The word of a golem's key that its own account runs the code of `contract` from now on (EIP-7702).

    Raises SignerMismatch for code that is not known here, SignerUnavailable, NonceUnsettled, what a node raises.
    """
    signer = LocalSigner(keystore=open_keystore(), address=key.address)
    nonce = _read_used_nonce(chain_id, key.address)
    return signer.sign_authorization(chain_id=chain_id, contract=contract, nonce=nonce)


def find_lost(*, chain_id: int) -> list[RelayedTransaction]:
    """Relayed calls that a reorganisation took out of their block, marked so; what lies deep enough is final.

    The newest final one is looked at as well: a chain may roll back past what was final. One that reverted is followed
    like one that did not: mined again, it may succeed. Asks the node; raises its errors.
    """
    relayed = RelayedTransaction.objects.filter(chain_id=chain_id, block_number__isnull=False)
    rows = list(relayed.filter(state__in=[str(state) for state in _IN_A_BLOCK]).order_by("nonce"))
    finals = relayed.filter(state=RelayState.FINAL).order_by("-block_number")
    newest = list(finals[:1])
    if not rows and not newest:
        return []
    deadline = Deadline.after_ms(_SEND_BUDGET_MS)
    hashes, head = confirm_transaction.find_block_hashes(chain_id, _blocks_of([*rows, *newest]), deadline=deadline)
    if newest and _has_left(newest[0], hashes):
        rows += finals[:_MOST_FINALS]
        hashes, head = confirm_transaction.find_block_hashes(chain_id, _blocks_of(rows), deadline=deadline)
    lost = []
    for row in rows:
        if _has_left(row, hashes):
            _move(row, RelayState.REORGED, block_number=None, sent_at=clock.now())
            lost.append(row)
        elif row.block_number in hashes and head - row.block_number + 1 >= get_network(chain_id).confirmations:
            _move(row, RelayState.FINAL)
    return lost


def _blocks_of(rows: Sequence[RelayedTransaction]) -> set[int]:
    return {row.block_number for row in rows if row.block_number is not None}


def _has_left(row: RelayedTransaction, hashes: Mapping[int, str | None]) -> bool:
    if row.block_number is None or row.block_number not in hashes:
        return False
    found = hashes[row.block_number]
    # A row from before the hash was kept says nothing about its block.
    return found is None or bool(row.block_hash and found != row.block_hash)


def _check_order(order: RelayOrder, address: str) -> None:
    if order.purpose == RelayPurpose.DELEGATE:
        _check_authorization(order)
        return
    if order.data[:4] != _MAY_CALL[order.purpose] or not _is_known(order):
        raise RelayerRefuses("the relayer sends owners' transactions and due changes of mirrored cages, nothing else")
    if address in order.owners:
        raise RelayerRefuses(f"{address} owns the Safe; this server must not hold an owner's key", address=address)


def _check_authorization(order: RelayOrder) -> None:
    """An empty call to the account of a golem's key, with that key's word for known code or none. Raises
    RelayerRefuses, SignerMismatch.
    """
    word = order.authorization
    if word is None or order.data or not SigningKey.objects.filter(address=order.to, had_code=True).exists():
        raise RelayerRefuses("the relayer carries what a golem's own key signed for its own account, nothing else")
    check_known_code(chain_id=word.chain_id, contract=word.contract)


def _is_known(order: RelayOrder) -> bool:
    """Whether it goes to a golem's cage, or to the Safe behind one, or that a golem acts with."""
    if order.purpose == RelayPurpose.APPLY:
        return CageMirror.objects.filter(contract=order.to).exists()
    mirrored = CageMirror.objects.filter(account=order.to)
    return mirrored.exists() or Wallet.objects.filter(address=order.to, kind=WalletKind.GNOSIS_SAFE).exists()


def _clear_the_way(chain_id: int, address: str) -> None:
    """Earlier transactions are followed first. Raises RelayerBusy while one is under way."""
    earlier = RelayedTransaction.objects.filter(chain_id=chain_id, sender=address, state__in=IN_FLIGHT)
    for row in earlier.order_by("nonce"):
        if follow(row, seconds=0.2) is None:
            raise RelayerBusy(f"{row.tx_hash} is under way", tx_hash=row.tx_hash)


def _check_unused(chain_id: int, address: str, nonce: int) -> None:
    """A call that was mined under this nonce has left the chain, and comes first. Raises RelayerBusy."""
    used = RelayedTransaction.objects.filter(
        chain_id=chain_id, sender=address, nonce__gte=nonce, state__in=[str(state) for state in _IN_A_BLOCK]
    ).first()
    if used is not None:
        raise RelayerBusy(f"a reorganisation took {used.tx_hash} out; it is sent again first", tx_hash=used.tx_hash)


def _request(order: RelayOrder, chain: ChainReader, sender: str) -> SimulationRequest:
    call = Call(to=order.to, data=order.data, value=0, label="relayed")
    return SimulationRequest(chain_id=chain.chain_id, sender=sender, calls=(call,), block=chain.block)


def _rehearse(request: SimulationRequest) -> SimulationResult:
    """Raises OwnerCallReverts."""
    result = run_simulation(request, deadline=Deadline.after_ms(_SIMULATION_BUDGET_MS))
    outcome = result.calls[0]
    if not outcome.succeeded:
        reason = decode_cage_error(outcome.output)
        raise OwnerCallReverts(
            f"the chain would refuse it: {reason.text if reason.name else outcome.revert_reason or reason.text}",
            error=reason.name or "",
        )
    return result


def _rehearse_signed(
    request: SimulationRequest, free: SimulationResult, *, gas: int, fees: FeeQuote, block_hash: str
) -> None:
    """Once more with the gas and the fees that are signed: it must do what it did in the `free` run.

    Raises OwnerCallReverts, SimulationRecognised.
    """
    terms = SigningTerms(
        gas_limits=(gas,),
        base_fee=min(fees.base_fee, fees.max_fee),
        max_fee_per_gas=fees.max_fee,
        max_priority_fee_per_gas=fees.priority_fee,
        randomness=foretell_nothing(request.chain_id, block_hash),
    )
    signed = _rehearse(replace(request, terms=terms))
    # What a contract writes into a log may be the price of gas; who tells what may not differ.
    told = [[(log.address, log.topics) for log in run.calls[0].logs] for run in (free, signed)]
    if told[0] != told[1] or list_differing(free, signed):
        raise SimulationRecognised("the call does something else with the gas and the fees it would be signed with")


def _check_budget(
    chain: ChainReader, address: str, *, cost: int, gas: int, now: datetime, owner_id: int | None = None
) -> None:
    """Raises RelayerRefuses, RelayerBudgetUsed. `owner_id`: whose call it is; None for one that is sent already."""
    if gas > settings.GOLEM_RELAYER_MOST_GAS:
        raise RelayerRefuses(f"it needs {gas} gas; the relayer sends at most {settings.GOLEM_RELAYER_MOST_GAS}")
    day = RelayedTransaction.objects.filter(chain_id=chain.chain_id, sender=address, created_at__gt=now - _DAY)
    day, most = day.exclude(state=RelayState.REPLACED), settings.GOLEM_RELAYER_MOST_WEI_PER_DAY
    used = _sum_fees(day)
    if owner_id is not None and used + cost <= most and _has_others(chain.chain_id, owner_id):
        # Nobody's signatures may use up what another owner needs to tighten a rule or to stop.
        day, most = day.filter(_of_owner(owner_id)), most // 2
        used = _sum_fees(day)
    oldest = day.order_by("created_at").values_list("created_at", flat=True).first()
    coin = chain.native()
    if cost > most:
        raise RelayerBudgetUsed(
            f"it would cost up to {format_units(cost, coin.decimals, coin.symbol)} at a base fee of"
            f" {chain.fees().base_fee} wei; it may pay {format_units(most, coin.decimals, coin.symbol)} within 24 h",
            observed=str(cost),
            limit=str(most),
            base_fee_wei=str(chain.fees().base_fee),
            cleared_by="gas costs less, or the operator raises GOLEM_RELAYER_MOST_WEI_PER_DAY",
        )
    if used + cost > most:
        raise RelayerBudgetUsed(
            f"it spent {format_units(used, coin.decimals, coin.symbol)} of"
            f" {format_units(most, coin.decimals, coin.symbol)} within 24 h",
            observed=str(used + cost),
            limit=str(most),
            resets_at=(oldest + _DAY).isoformat() if oldest else None,
        )
    held = chain.native_balance(address)
    if held < cost:
        raise RelayerBudgetUsed(
            f"{address} holds {format_units(held, coin.decimals, coin.symbol)}; send it coins for gas",
            observed=str(held),
            limit=str(cost),
            cleared_by="coins for gas at the relayer's address",
        )


def _sum_fees(rows: QuerySet[RelayedTransaction]) -> int:
    return sum(int(wei) for wei in rows.values_list("fee_wei", flat=True))


def _of_owner(owner_id: int) -> Q:
    keys = SigningKey.objects.filter(golem__owner_id=owner_id)
    return (
        Q(mirror__cage__golem__owner_id=owner_id)
        | Q(owner_transaction__request__golem__owner_id=owner_id)
        | Q(purpose=RelayPurpose.DELEGATE, to__in=keys.values("address"))
    )


def _has_others(chain_id: int, owner_id: int) -> bool:
    """Whether somebody else's cage or Safe is on the chain."""
    mirrors = CageMirror.objects.filter(chain_id=chain_id).exclude(cage__golem__owner_id=owner_id)
    asked = OwnerTransaction.objects.filter(chain_id=chain_id).exclude(request__golem__owner_id=owner_id)
    return bool(mirrors.exists() or asked.exists())


def _store(
    order: RelayOrder, plain: UnsignedTransaction, signer: LocalSigner, *, replaced: RelayedTransaction | None = None
) -> RelayedTransaction:
    word = order.authorization
    signed = signer.sign(plain) if word is None else signer.sign_carrying(plain, word)
    return _keep(order, plain, signer.address, signed, replaced)


@retry_aborted
def _keep(
    order: RelayOrder,
    plain: UnsignedTransaction,
    sender: str,
    signed: SignedTransaction,
    replaced: RelayedTransaction | None,
) -> RelayedTransaction:
    try:
        with transaction.atomic():
            if replaced is not None:
                _move(replaced, RelayState.REPLACED)
            return RelayedTransaction.objects.create(
                owner_transaction=order.owner_transaction,
                mirror=order.mirror,
                purpose=order.purpose,
                subject=order.subject,
                chain_id=plain.chain_id,
                sender=sender,
                nonce=plain.nonce,
                to=plain.to,
                data="0x" + plain.data.hex(),
                gas_limit=plain.gas_limit,
                max_fee_per_gas=str(plain.max_fee_per_gas),
                max_priority_fee_per_gas=str(plain.max_priority_fee_per_gas),
                raw="0x" + signed.raw.hex(),
                tx_hash=signed.tx_hash,
                fee_wei=str(plain.gas_limit * plain.max_fee_per_gas),
            )
    except IntegrityError as error:
        # The same bytes again: another worker signed this very call between our look and our write.
        if not any(constraint in str(error) for constraint in ("relayer_one_at_a_time", "_tx_hash_key")):
            raise
        raise RelayerBusy("another worker sends one at this moment") from None


def _send(row: RelayedTransaction) -> None:
    """Hand the stored bytes to the node. A node that does not answer leaves them to the next look."""
    deadline = Deadline.after_ms(_SEND_BUDGET_MS)
    try:
        broadcast.send_raw(chain_id=row.chain_id, raw=row.raw, tx_hash=row.tx_hash, deadline=deadline)
    except (NonceTooLow, FeeTooLow):
        # What the node takes at no fee like this is raised by the next look, inside the day's budget.
        return
    except GolemError as error:
        if error.http_status < 500:
            raise
    if row.state == RelayState.SIGNED:
        _move(row, RelayState.SENT, sent_at=clock.now())


def _give_up_or_replace(row: RelayedTransaction) -> None:
    """A nonce used elsewhere frees the relayer; a fee that nobody takes is raised, inside the day's budget."""
    deadline = Deadline.after_ms(_SEND_BUDGET_MS)
    mined = _read_used_nonce(row.chain_id, row.sender)
    if mined > row.nonce:
        hashes = _hashes_of_nonce(row)
        receipt = broadcast.find_any_receipt(chain_id=row.chain_id, tx_hashes=hashes, deadline=deadline)
        if receipt is not None:
            if confirm_transaction.confirm(row.chain_id, receipt, deadline=deadline):
                _record(row, receipt)
        elif confirm_transaction.is_taken_by_another(
            chain_id=row.chain_id,
            sender=row.sender,
            nonce=row.nonce,
            tx_hashes=hashes,
            since_block=0,
            deadline=deadline,
        ):
            _move(row, RelayState.REPLACED)
        return
    chain = open_chain(row.chain_id, now=clock.now())
    if row.sent_at is None:
        # No node has taken it: its fee is raised where that is why.
        if chain.fees().base_fee <= int(row.max_fee_per_gas):
            return
    elif clock.now() - row.sent_at < timedelta(seconds=settings.GOLEM_STUCK_AFTER_SECONDS):
        return
    old = Fees(cap=int(row.max_fee_per_gas), priority=int(row.max_priority_fee_per_gas))
    fees = raise_fees(old=old, market=chain.fees(), raise_bps=settings.GOLEM_FEE_RAISE_BPS)
    _check_budget(chain, row.sender, cost=row.gas_limit * fees.cap, gas=row.gas_limit, now=clock.now())
    plain = UnsignedTransaction(
        chain_id=row.chain_id,
        nonce=row.nonce,
        to=row.to,
        value=0,
        data=bytes.fromhex(row.data[2:]),
        gas_limit=row.gas_limit,
        max_fee_per_gas=fees.cap,
        max_priority_fee_per_gas=fees.priority,
    )
    order = RelayOrder(
        purpose=RelayPurpose(row.purpose),
        to=row.to,
        data=plain.data,
        owner_transaction=row.owner_transaction,
        mirror=row.mirror,
        subject=row.subject,
        authorization=read_authorization(bytes.fromhex(row.raw[2:])),
    )
    _send(_store(order, plain, open_relayer(), replaced=row))


@retry_aborted
def _record(row: RelayedTransaction, receipt: ReceiptView) -> None:
    to = RelayState.MINED if receipt.succeeded else RelayState.REVERTED
    mined = RelayedTransaction.objects.filter(tx_hash=receipt.tx_hash).first() or row
    with transaction.atomic():
        if mined.pk != row.pk:
            _move(row, RelayState.REPLACED)
        _move(mined, to, block_number=receipt.block_number, block_hash=receipt.block_hash, fee_wei=str(receipt.fee))
    row.refresh_from_db()


def _move(row: RelayedTransaction, to: RelayState, **columns: object) -> None:
    leaves: Sequence[RelayState] = _IN_A_BLOCK if to == RelayState.FINAL else _OPEN
    if to == RelayState.REORGED:
        leaves = (*_IN_A_BLOCK, RelayState.FINAL)
    RelayedTransaction.objects.filter(pk=row.pk, state__in=[str(state) for state in leaves]).update(
        state=to, updated_at=clock.now(), **columns
    )
    row.refresh_from_db()


def _read_used_nonce(chain_id: int, address: str) -> int:
    """How many nonces of an account are used, by two readings. Raises NonceUnsettled, what a node raises."""
    deadline = Deadline.after_ms(_SEND_BUDGET_MS)
    return payload_delivery.read_used_nonce(
        chain_id=chain_id, address=address, is_of_operations=False, deadline=deadline
    )


def _hashes_of_nonce(row: RelayedTransaction) -> list[str]:
    same = RelayedTransaction.objects.filter(chain_id=row.chain_id, sender=row.sender, nonce=row.nonce)
    return list(same.filter(to=row.to, data=row.data).order_by(F("pk").desc()).values_list("tx_hash", flat=True))
