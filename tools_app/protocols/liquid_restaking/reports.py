"""Writes what the tools of liquid restaking answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.core.units import format_units
from tools_app.protocols.liquid_restaking import etherfi, kelp, renzo
from tools_app.protocols.liquid_restaking.addresses import ETHERFI, KELP
from tools_app.standards import erc20
from tools_app.standards.receipts import list_events, read_details
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.plan import PlanOutcome
from tools_app.toolkit.report import Report, seen
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import NATIVE, TokenMeta

NO_SPLIT: Final = (
    "no contract tells how a rate's growth splits into staking, restaking and rewards; points are on no chain"
)
NO_OPERATORS: Final = "which operators an issuer delegates to is not read; a slash of any shows as a rate that fell"


class DepositReport(Told):
    """What a deposit gave. `exchange_rate` is ETH of one token; `current_apy` is simple and in percent, null where no
    rate a day old is known.
    """

    lrt_received: TokenAmount
    lrt_token: str
    exchange_rate: str
    current_apy: str | None


class WithdrawReport(Told):
    """What leaving did: `eth_received` at once, or `request_id` to claim with lrt_claim_withdrawal once it is paid.

    `estimated_completion` is the earliest time, null while nobody knows. `way` is `redeemed` or `queued`.
    """

    way: str
    eth_received: TokenAmount | None
    eth_requested: TokenAmount | None
    request_id: str | None
    estimated_completion: str | None
    fee_bps: int


class ClaimReport(Report):
    """What a request gave."""

    request_id: str
    eth_received: TokenAmount = seen(lambda outcome: TokenAmount(outcome.deltas.get(NATIVE, 0), _coin(outcome)))


class ApyRow(Told):
    """One issuer's token: the simple yearly rate by which its worth in ETH grew in a week, in percent."""

    protocol: str
    lrt_symbol: str
    exchange_rate: str
    base_staking_apy: str | None
    restaking_apy: str | None
    protocol_rewards: str | None
    total_apy: str | None
    points_program: str | None


class Apys(OfChain):
    """The issuers' rates; parts that no chain tells are null."""

    apys: tuple[ApyRow, ...]
    basis: str
    why_null: str


class HoldingRow(Told):
    """What is held of one issuer's token, at the issuer's own rate."""

    protocol: str
    lrt_symbol: str
    balance: str
    balance_eth: TokenAmount
    balance_usd: str | None
    apy: str | None
    points_earned: str | None


class WaitingRow(Told):
    """A request that waits; `eth` is what it gives now. `claimable_from` is null while nobody knows."""

    request_id: str
    protocol: str
    eth: TokenAmount
    is_claimable: bool
    claimable_from: str | None


class Held(OfChain):
    """Holdings and requests of an account."""

    holdings: tuple[HoldingRow, ...]
    pending_withdrawals: tuple[WaitingRow, ...]
    has_more_requests: bool
    why_null: str


class SlashRow(Told):
    """A time at which the issuer's rate fell."""

    block_number: int
    rate_before: str
    rate_after: str
    loss_bps: int


class DepegRisk(OfChain):
    """How a token stands against its ether. Percents are of the issuer's rate, negative is a discount; null where no
    market tells. `withdrawal_queue_depth` is what waits, `queue_is_liquid` whether the issuer could pay it now.
    """

    lrt_symbol: str
    exchange_rate: str
    market_price: str | None
    market_source: str | None
    current_premium_discount: str | None
    max_deviation_7d: str | None
    max_deviation_30d: str | None
    withdrawal_queue_depth: TokenAmount
    queue_is_liquid: bool
    instant_redemption_available: TokenAmount
    instant_redemption_fee_bps: int
    slashing_exposure: tuple[SlashRow, ...]
    risk_level: str
    risk_factors: tuple[str, ...]
    risk_rule: str
    why_null: str


@dataclass(frozen=True, slots=True)
class _DepositDetails:
    token: str
    symbol: str
    exchange_rate: str
    current_apy: str | None


@dataclass(frozen=True, slots=True)
class _WithdrawDetails:
    protocol: str
    queue: str
    way: str
    worth: int
    fee_bps: int
    estimated_completion: str | None


def report_deposit(outcome: PlanOutcome) -> DepositReport:
    """What arrived is what the token's own events say came to the account."""
    details = read_details(_DepositDetails, outcome)
    token = TokenMeta(outcome.plan.chain_id, details.token, details.symbol, 18, "", is_registered=False)
    moved = list_events(outcome, erc20.MOVED, contract=token.address)
    came = sum(each.value for each in moved if each.to == outcome.account)
    return DepositReport(
        lrt_received=TokenAmount(came, token),
        lrt_token=token.symbol,
        exchange_rate=details.exchange_rate,
        current_apy=details.current_apy,
    )


def report_withdraw(outcome: PlanOutcome) -> WithdrawReport:
    """From the issuer's own events, or from what arrived."""
    details, coin = read_details(_WithdrawDetails, outcome), _coin(outcome)
    is_queued = details.way == "queued"
    return WithdrawReport(
        way=details.way,
        eth_received=None if is_queued else TokenAmount(outcome.deltas.get(NATIVE, 0), coin),
        eth_requested=TokenAmount(details.worth, coin) if is_queued else None,
        request_id=_find_request(outcome, details) if is_queued else None,
        estimated_completion=details.estimated_completion,
        fee_bps=details.fee_bps,
    )


def rate_text(rate: int) -> str:
    """Wei of a whole token as decimal text of ETH."""
    return format_units(rate, 18)


def _find_request(outcome: PlanOutcome, details: _WithdrawDetails) -> str | None:
    """The last request that the issuer's queue logged."""
    if details.protocol == ETHERFI:
        numbers = [each.request_id for each in list_events(outcome, etherfi.REQUESTS, contract=details.queue)]
    elif details.protocol == KELP:
        numbers = [each.user_nonce for each in list_events(outcome, kelp.REQUESTS, contract=details.queue)]
    else:
        numbers = [each.withdraw_request_id for each in list_events(outcome, renzo.REQUESTS, contract=details.queue)]
    return f"{details.protocol}-{numbers[-1]}" if numbers else None


def _coin(outcome: PlanOutcome) -> TokenMeta:
    return TokenMeta(outcome.plan.chain_id, NATIVE, "ETH", 18, "", is_registered=False)
