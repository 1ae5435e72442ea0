"""Defines how a golem's calls reach the chain: whose funds, whose signature, and what carries several calls.

Tools, hooks and limits see the account; nonces, gas and signatures are the signer's. What `carry` returns is what is
simulated, hashed and signed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from django.conf import settings

from archetypes_app.models import Golem
from permits_app.approval_errors import CageHasNoSafe
from permits_app.custody.safe_view import SafeView, read_safe
from permits_app.errors import SafeNeedsOwners, SessionNotActive, SignerUnavailable
from permits_app.models import ActionPermit, CageMirror, SigningKey, Wallet
from permits_app.models.signing_key import KeyState
from permits_app.models.wallet import WalletKind
from permits_app.permits.leaving_chains import OF_A_KEY
from permits_app.permits.plan_store import ENDS_AT, decode_calls, encode_calls, read_stated_end
from permits_app.policy_cage.contract import build_execute_call, build_payout_call, decode_cage_error
from permits_app.policy_cage.roles import find_payout, list_payees
from permits_app.policy_cage.safe_batches import build_safe_call, consent_of
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from permits_app.policy_cage.state import CageState
from tools_app.chain.chains import get_deployment
from tools_app.chain.networks import ChainNotSupported
from tools_app.simulation.engine import CallOutcome
from tools_app.standards.deadline_contract import TOO_LATE, is_there, make_end_call, say_moment
from tools_app.standards.user_operation import ENTRY_POINT
from tools_app.standards.zerodev_kernel import build_execute
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import Call

# What a Safe adds to its calls' own gas: a transaction, its proxy, nonce, event and MultiSend; for each owner a
# signature. Its calls are no transactions any more.
_SAFE_GAS: Final = 50_000
_OWNER_GAS: Final = 10_000
_TRANSACTION_GAS: Final = 21_000


class Carrier(StrEnum):
    """What carries the calls."""

    NONE = "NONE"
    CAGE = "CAGE"
    SAFE = "SAFE"
    OWNERS = "OWNERS"
    OPERATION = "OPERATION"


@dataclass(frozen=True, slots=True)
class SigningRoute:
    """`account` holds the funds; `signer` signs, pays gas and counts nonces. `through` is the cage, or MultiSend.

    SAFE is one that the signer suffices for, OWNERS one whose owners sign each plan: `safe` is what it said of itself,
    `signatures` what they signed, empty while they are asked. `runs` is whose code the signer's own account runs
    (EIP-7702), as its owners agreed, or empty. OPERATION is a user operation of a smart account, which
    counts its nonces itself at the EntryPoint, `through`, and pays the gas unless a `paymaster` does. `payees` are whom
    the cage lets the golem pay, as `list_payees` tells: a transfer to one of them goes through the cage's own door,
    where it is no loss. `ends_at`, Unix seconds, is when what a Safe's owners sign ends by itself; 0 where it does not.
    """

    account: str
    signer: str
    carrier: Carrier = Carrier.NONE
    through: str = ""
    safe: SafeView | None = None
    signatures: bytes = b""
    paymaster: str = ""
    payees: Mapping[tuple[str, str], int] = field(default_factory=dict)
    ends_at: int = 0
    runs: str = ""

    @property
    def acts_for(self) -> str:
        """The account when something carries its calls, else empty."""
        return self.account if self.carrier is not Carrier.NONE else ""

    @property
    def pays_gas(self) -> str:
        """Whose coin the gas is; empty when a paymaster pays."""
        return "" if self.paymaster else self.signer

    @property
    def runs_as(self) -> str:
        """Who is seen to make the calls that are simulated."""
        if self.carrier is Carrier.OPERATION:
            return self.through
        return self.account if self.waits_for_owners else self.signer

    def carry(self, calls: Sequence[Call]) -> tuple[Call, ...]:
        """The transactions of `signer` that make `calls` from `account`: themselves, or one that carries them all."""
        if self.carrier is Carrier.CAGE and calls:
            return (self._carry_through_cage(calls),)
        if self.carrier in (Carrier.SAFE, Carrier.OWNERS) and calls:
            signatures = consent_of(self.signer) if self.carrier is Carrier.SAFE else self.signatures
            made = self.make_from_safe(calls)
            return (build_safe_call(made, safe=self.account, signatures=signatures, multi_send=self.through),)
        if self.carrier is Carrier.OPERATION and calls:
            return (build_execute(calls, account=self.account),)
        return tuple(calls)

    def make_from_safe(self, calls: Sequence[Call]) -> tuple[Call, ...]:
        """What the Safe does for `calls`: first the one that undoes all the rest once its time is over."""
        return (make_end_call(self.ends_at), *calls) if self.ends_at else tuple(calls)

    def _carry_through_cage(self, calls: Sequence[Call]) -> Call:
        paid = find_payout(calls, self.payees)
        if paid is None:
            return build_execute_call(self.through, calls)
        return build_payout_call(
            self.through, recipient=paid.recipient, asset=paid.asset, amount=paid.amount, label=calls[0].label
        )

    @property
    def waits_for_owners(self) -> bool:
        """Whether the owners of the Safe have yet to sign what is planned."""
        return self.carrier is Carrier.OWNERS and not self.signatures

    def rehearse(self, calls: Sequence[Call]) -> tuple[Call, ...]:
        """What is simulated: what is sent; or, before its owners signed, the Safe's calls from the Safe itself."""
        return self.make_from_safe(calls) if self.waits_for_owners else self.carry(calls)

    def outcomes_of_sent(self, rehearsed: Sequence[CallOutcome]) -> tuple[CallOutcome, ...]:
        """One outcome for each call that is sent: of calls that the Safe will make together, their gas and its own.

        A user operation takes gas around its call, for its signature and the bundler's trouble.
        """
        if self.carrier is Carrier.OPERATION:
            return tuple(_add_gas(outcome, settings.GOLEM_OPERATION_GAS_AROUND) for outcome in rehearsed)
        if not self.waits_for_owners or not rehearsed:
            return tuple(rehearsed)
        owners = self.safe.threshold if self.safe is not None else 0
        extra = _SAFE_GAS + _OWNER_GAS * owners - _TRANSACTION_GAS * len(rehearsed)
        before = [outcome.gas_before_refunds for outcome in rehearsed]
        return (
            CallOutcome(
                succeeded=all(outcome.succeeded for outcome in rehearsed),
                output=b"",
                logs=(),
                gas_used=sum(outcome.gas_used for outcome in rehearsed) + extra,
                gas_before_refunds=None if None in before else sum(gas or 0 for gas in before) + extra,
            ),
        )

    def encode_sent(self, calls: Sequence[Call], gas_limits: Sequence[int]) -> list[dict[str, object]]:
        """The calls as the permit keeps them; an operation with its EntryPoint, who pays, its call's gas; what owners
        sign with its end.
        """
        sent = encode_calls(calls, gas_limits)
        if self.ends_at:
            return [{**call, ENDS_AT: str(self.ends_at)} for call in sent]
        if self.carrier is not Carrier.OPERATION:
            return sent
        terms = {"entry_point": self.through, "paymaster": self.paymaster}
        around = settings.GOLEM_OPERATION_GAS_AROUND
        return [
            {**call, "user_operation": {**terms, "call_gas_limit": str(limit - around)}}
            for call, limit in zip(sent, gas_limits, strict=True)
        ]

    def explain(self, outcome: CallOutcome) -> str | None:
        """Why a carried call reverted, in the words of what carried it."""
        if self.ends_at and not outcome.succeeded and outcome.output[:4] == TOO_LATE:
            return f"what the Safe's owners sign ended at {say_moment(self.ends_at)}"
        if outcome.succeeded or self.carrier is not Carrier.CAGE or not outcome.output:
            return outcome.revert_reason
        return decode_cage_error(outcome.output).text


def _add_gas(outcome: CallOutcome, gas: int) -> CallOutcome:
    before = outcome.gas_before_refunds
    return replace(
        outcome, gas_used=outcome.gas_used + gas, gas_before_refunds=None if before is None else before + gas
    )


def plain_route(address: str) -> SigningRoute:
    """An account that signs for itself."""
    return SigningRoute(account=address, signer=address)


def find_own_route(*, golem: Golem, chain: ChainReader) -> SigningRoute:
    """The way of calls that the golem makes at once, without anybody. Raises as find_route, and SafeNeedsOwners."""
    route = find_route(golem=golem, chain=chain)
    if route.waits_for_owners and route.safe is not None:
        raise SafeNeedsOwners(
            f"the Safe {route.account} wants {route.safe.threshold} of its owners; they have to do this themselves",
            safe=route.account,
            threshold=str(route.safe.threshold),
            owners=list(route.safe.owners),
            held=[route.signer],
        )
    return route


def find_route(*, golem: Golem, chain: ChainReader | None) -> SigningRoute:
    """The way of `golem`'s calls now; `chain` is asked only for a Safe without a cage.

    Raises SignerUnavailable, SessionNotActive.
    """
    wallet: Wallet | None = getattr(golem, "wallet", None)
    if wallet is None or wallet.kind in OF_A_KEY:
        agreed = wallet.runs.get(str(chain.chain_id), {}) if wallet is not None and chain is not None else {}
        return replace(plain_route(golem.address), runs=agreed["contract"]) if agreed else plain_route(golem.address)
    if wallet.kind == WalletKind.POLICY_CAGE:
        return _route_through_cage(golem, wallet)
    if wallet.kind == WalletKind.ZERODEV:
        return SigningRoute(
            account=wallet.address,
            signer=wallet.address,
            carrier=Carrier.OPERATION,
            through=ENTRY_POINT,
            paymaster=settings.GOLEM_ZERODEV_PAYMASTER,
        )
    if wallet.kind == WalletKind.GNOSIS_SAFE:
        return _route_through_safe(golem, wallet, chain)
    raise SignerUnavailable(f"no signer serves wallets of kind {wallet.kind}", address=wallet.address)


def _find_mirror(golem: Golem) -> CageMirror | None:
    return getattr(getattr(golem, "policy_cage", None), "mirror", None)


def _route_through_cage(golem: Golem, wallet: Wallet) -> SigningRoute:
    mirror = _find_mirror(golem)
    if mirror is None or mirror.account != wallet.address:
        raise SignerUnavailable(
            f"no mirrored cage acts for the Safe {wallet.address}; register its cage first", address=wallet.address
        )
    if not mirror.is_enforced:
        raise SignerUnavailable(
            f"the cage {mirror.contract} is no module of the Safe {wallet.address}; its owners enable it there",
            address=wallet.address,
            contract=mirror.contract,
        )
    key: str = mirror.state["session"]["key"]
    if key == ZERO_ADDRESS:
        raise SessionNotActive(
            f"the cage {mirror.contract} has no session key; its owners appoint one with setSession",
            contract=mirror.contract,
        )
    if not SigningKey.objects.filter(golem=golem, address=key).exclude(state=KeyState.DROPPED).exists():
        raise SessionNotActive(
            f"the cage's session key {key} is not one of this golem's; its owners appoint the staged one",
            contract=mirror.contract,
            session_key=key,
        )
    return SigningRoute(
        account=wallet.address,
        signer=key,
        carrier=Carrier.CAGE,
        through=mirror.contract,
        payees=list_payees(CageState.from_dict(mirror.state)),
    )


def _route_through_safe(golem: Golem, wallet: Wallet, chain: ChainReader | None) -> SigningRoute:
    key = SigningKey.objects.filter(golem=golem, state=KeyState.ACTIVE).first()
    if key is None:
        raise SignerUnavailable(f"the golem has no key that signs for the Safe {wallet.address}")
    if chain is None:
        raise SignerUnavailable(f"the owners of the Safe {wallet.address} cannot be read without a chain")
    try:
        safe = read_safe(chain, wallet.address)
    except CageHasNoSafe as error:
        raise SignerUnavailable(
            f"{wallet.address} does not answer as a Safe on chain {chain.chain_id}", address=wallet.address
        ) from error
    multi_send = _find_multi_send(chain.chain_id)
    is_enough = key.address in safe.owners and safe.threshold == 1
    carrier = Carrier.SAFE if is_enough else Carrier.OWNERS
    return SigningRoute(account=wallet.address, signer=key.address, carrier=carrier, through=multi_send, safe=safe)


def end_by_time(route: SigningRoute, *, chain: ChainReader, at: datetime) -> SigningRoute:
    """`route` with `at`, cut to whole seconds, as the end of what owners sign. Unchanged where nobody is asked to sign,
    and on a chain without `Deadline` or MultiSendCallOnly. Raises what the chain raises.
    """
    if not route.waits_for_owners or not route.through or not is_there(chain):
        return route
    return replace(route, ends_at=int(at.timestamp()))


def find_end_through(chain: ChainReader) -> str:
    """MultiSendCallOnly, where what owners sign can be given an end; empty on a chain without it or without `Deadline`.
    Raises what the chain raises.
    """
    multi_send = _find_multi_send(chain.chain_id)
    return multi_send if multi_send and chain.code(multi_send) and is_there(chain) else ""


def carries_its_batch(permit: ActionPermit) -> bool:
    """Whether what is signed makes exactly the calls that the permit says its account makes; judged from the bytes."""
    if not permit.acts_for or not permit.calls:
        return not permit.batch
    if len(permit.calls) != 1 or not permit.batch:
        return False
    [signed], batch = decode_calls(permit.calls), decode_calls(permit.batch)
    if permit.acts_for == permit.signer:
        return SigningRoute(permit.acts_for, permit.signer, Carrier.OPERATION).carry(batch) == (signed,)
    mirror = _find_mirror(permit.golem)
    payees = list_payees(CageState.from_dict(mirror.state)) if mirror is not None and mirror.state else {}
    cage = SigningRoute(permit.acts_for, permit.signer, Carrier.CAGE, signed.to)
    # A permit from before somebody could be paid is carried as it was.
    routes = [cage, replace(cage, payees=payees)]
    if signed.to == permit.acts_for:
        multi_send = _find_multi_send(permit.chain_id)
        ends_at = read_stated_end(permit)
        routes = [
            SigningRoute(permit.acts_for, permit.signer, carrier, multi_send, ends_at=ends_at)
            for carrier in (Carrier.SAFE, Carrier.OWNERS)
        ]
        if not multi_send and (len(batch) > 1 or ends_at):
            return False
    return any(route.carry(batch) == (signed,) for route in routes)


def _find_multi_send(chain_id: int) -> str:
    try:
        return get_deployment(chain_id).contracts.get("safe_multi_send_call_only", "")
    except ChainNotSupported:
        return ""
