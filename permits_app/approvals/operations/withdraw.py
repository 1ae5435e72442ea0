"""`withdraw`: owners take money out of a golem's account, to an address they registered; no agent has part in it.

What is asked for is simulated first and shown with its effect. It is carried out by `actions/carry_out_withdrawal.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from archetypes_app.models import Golem
from permits_app.approval_errors import AddressNotRegistered, ChangeStale
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from permits_app.custody.safe_view import open_chain
from permits_app.custody.signing_route import SigningRoute, find_own_route
from permits_app.models.withdrawal import WITHDRAW, find_standing
from permits_app.safety.withdrawal_plan import plan_withdrawal, rehearse_withdrawal
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.core.stored_json import read_stored, write_stored
from tools_app.core.typed_numbers import UnclearNumber, read_typed_units
from tools_app.core.units import format_micro_usd, format_units
from tools_app.portfolio.holdings import value_of
from tools_app.standards.erc20 import balance_of
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import RiskTier
from tools_app.toolkit.views import NATIVE, TokenMeta
from tools_app.wording.formats import format_chain

_BUDGET_MS: Final = 10_000
_GAS_KEPT: Final = 2
"""So many times the gas of the transfer stays when the whole coin goes: fees may rise until owners approve."""


@dataclass(frozen=True, slots=True)
class _Transfer:
    """What is asked for: `amount` in units, empty for everything."""

    chain_id: int
    to: str
    token: str
    amount: str


@dataclass(frozen=True, slots=True)
class _SeenTransfer:
    """The transfer as it was simulated: base units of a token, what they are worth (micro-USD), and wei for gas."""

    account: str
    token: str
    symbol: str
    decimals: int
    amount: int
    held: int
    worth: int | None
    gas_wei: int
    coin: str
    block: int


@dataclass(frozen=True, slots=True)
class _WithdrawArguments:
    """Where it goes, and what was seen of it."""

    chain_id: int
    to: str
    seen: _SeenTransfer


@dataclass(frozen=True, slots=True)
class _WithdrawChange:
    """What was asked for, as its request keeps it."""

    account: str
    chain_id: int
    to: str
    address_id: str


class Withdraw:
    """`arguments`: `chain_id`, `to`, `token` (address, symbol, NATIVE), `amount` in units; empty is everything."""

    name = WITHDRAW

    def observe(self, golem: Golem, arguments: Mapping[str, object], *, now: datetime) -> dict[str, object]:
        """What the account holds, and what the transfer does in a simulation.

        Raises AddressNotRegistered, InvalidParams, SafeNeedsOwners, SimulationFailed, and what a node raises.
        """
        asked = read_stored(_Transfer, arguments)
        chain_id, to = asked.chain_id, asked.to
        if find_standing(golem.pk, chain_id=chain_id, address=to) is None:
            raise AddressNotRegistered(
                "money is withdrawn to registered addresses alone; register this one first, which takes two days",
                address=to,
            )
        chain = open_chain(chain_id, now=now)
        route = find_own_route(golem=golem, chain=chain)
        token = _find_token(chain, asked.token.strip())
        if token.address == to:
            raise InvalidParams("a token sent to its own contract is lost", fields={"token": "sent to itself"})
        held = balance_of(chain, token, route.account)
        amount = _read_amount(asked.amount, token, held, to, chain=chain, route=route)
        plan = plan_withdrawal(chain_id=chain_id, token=token, amount=amount, to=to)
        rehearsed = rehearse_withdrawal(plan, route=route, chain=chain, budget_ms=_BUDGET_MS)
        seen = _SeenTransfer(
            account=route.account,
            token=token.address,
            symbol=token.symbol,
            decimals=token.decimals,
            amount=amount,
            held=held,
            worth=_value(chain, token, amount),
            gas_wei=rehearsed.gas.wei,
            coin=chain.native().symbol,
            block=chain.block.number,
        )
        return {**arguments, "seen": write_stored(seen)}

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """The transfer as it was simulated. Raises AddressNotRegistered."""
        asked = read_stored(_WithdrawArguments, arguments)
        seen, chain_id, to = asked.seen, asked.chain_id, asked.to
        known = find_standing(golem.pk, chain_id=chain_id, address=to)
        if known is None:
            raise AddressNotRegistered("this address was taken off the withdrawal addresses", address=to)

        def say(raw: int) -> str:
            return format_units(raw, seen.decimals, seen.symbol)

        amount, worth = seen.amount, seen.worth
        told = "its worth is not known" if worth is None else f"about {format_micro_usd(worth)}"
        gas = format_units(seen.gas_wei, 18, seen.coin)
        lines = (
            BeforeAndAfter(
                f"Account {seen.account} on {format_chain(chain_id)}",
                say(seen.held),
                say(seen.held - amount),
                f"simulated at block {seen.block:,}: {say(amount)} leaves, {told}, and at most {gas} for gas",
            ),
            BeforeAndAfter("Goes to", "", f"{known.label}, {to}", "nobody brings it back from there"),
            BeforeAndAfter(
                "Its record", "", "a withdrawal", "no loss of the golem, and no part of its spending limits"
            ),
        )
        change: dict[str, object] = {
            "account": seen.account,
            "chain_id": str(chain_id),
            "token": seen.token,
            "amount": str(amount),
            "to": to,
            "address_id": str(known.pk),
        }
        title = f"Withdraw {say(amount)} to {known.label}"
        return Proposal(title[:200], change, lines, RiskTier.CRITICAL, value_micro_usd=min(worth or 0, 2**62))

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """The address stands as it was registered then, and the golem acts with the same account."""
        kept = read_stored(_WithdrawChange, change)
        known = find_standing(golem.pk, chain_id=kept.chain_id, address=kept.to)
        if known is None or str(known.pk) != kept.address_id:
            raise ChangeStale("the address was taken off the withdrawal addresses")
        if golem.address != kept.account:
            raise ChangeStale("the golem acts with another account now")

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """The chain has it: nothing of this server changes with it."""
        return {name: change[name] for name in ("chain_id", "token", "amount", "to")}


def _find_token(chain: ChainReader, ref: str) -> TokenMeta:
    coin = chain.native()
    return coin if ref == NATIVE or ref.lower() in ("", coin.symbol.lower()) else chain.token(ref)


def _read_amount(text: str, token: TokenMeta, held: int, to: str, *, chain: ChainReader, route: SigningRoute) -> int:
    """Base units. Raises InvalidParams."""
    shown = format_units(held, token.decimals, token.symbol)
    if not text.strip():
        amount = held - (_keep_for_gas(token, to, chain=chain, route=route) if token.is_native and held else 0)
        if amount <= 0:
            raise InvalidParams(f"the account holds {shown}, and nothing of it can leave", fields={"token": "empty"})
        return amount
    try:
        amount = read_typed_units(text, token.decimals)
    except UnclearNumber as error:
        raise InvalidParams(str(error), fields={"amount": "unclear"}) from None
    if not 0 < amount <= held:
        raise InvalidParams(
            f"write an amount above zero and at most {shown}, which is what the account holds",
            fields={"amount": "out of range"},
            held=str(held),
        )
    return amount


def _keep_for_gas(token: TokenMeta, to: str, *, chain: ChainReader, route: SigningRoute) -> int:
    """Wei that stay so that the account can pay for the transfer itself."""
    if route.pays_gas != route.account:
        return 0
    plan = plan_withdrawal(chain_id=chain.chain_id, token=token, amount=1, to=to)
    rehearsed = rehearse_withdrawal(plan, route=route, chain=chain, budget_ms=_BUDGET_MS)
    return int(_GAS_KEPT * rehearsed.gas.wei)


def _value(chain: ChainReader, token: TokenMeta, amount: int) -> int | None:
    """Micro-USD, None where no feed tells."""
    try:
        return value_of(amount, token, chain.price(token))
    except GolemError:
        return None
