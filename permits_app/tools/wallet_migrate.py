"""`wallet_migrate`: everything that an account's balances hold goes to another wallet of its owner, the coin last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Final

from pydantic import Field

from permits_app.tools.wallet import is_registered_recipient, wallet
from permits_app.tools.wallet_holdings import describe_held, list_uncounted, read_holdings
from tools_app.core.errors import GolemError, InvalidParams, Recovery
from tools_app.core.units import format_units, usd_to_micro
from tools_app.standards import erc20
from tools_app.toolkit.canonical_param_values import Meaning
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer, TickBudget
from tools_app.toolkit.params import Address, ChainId, Flag, MicroUsdText, RawAmountOrZero, Token
from tools_app.toolkit.plan import PlanOutcome, TokenFlow, TxPlan
from tools_app.toolkit.result import TokenAmount, UsdAmount

MOST_MOVED: Final = 12
"""Transfers in one plan; what is left over is moved by asking again."""
_GAS_RESERVE_WEI: Final = 10**16
_LEAST_USD: Final = "0.01"

Tokens = Annotated[
    list[Token],
    Field(min_length=1, max_length=MOST_MOVED, description="Only these tokens; left out, all that are registered."),
    Meaning.ANY_ORDER,
]
GasReserve = Annotated[
    RawAmountOrZero, Field(description="Wei of the chain's coin that stay for gas; 10000000000000000 is 0.01.")
]


class NothingToMigrate(GolemError, status=409, recovery=Recovery.CHECK_STATE, title="Nothing is left to move"):
    """No balance is worth moving, or everything was moved before."""


class DestinationNotRegistered(
    GolemError, status=403, recovery=Recovery.ASK_OWNER, title="An owner registers the destination first"
):
    """Everything goes only where an owner said that it may go."""


@dataclass(frozen=True, slots=True)
class Migrated:
    """What left, token by token. `left_behind` names balances and positions that stayed, and why."""

    tx_hashes: tuple[str, ...]
    total_migrated: tuple[TokenAmount, ...]
    total_migrated_usd: UsdAmount
    left_behind: tuple[str, ...]


def report_migration(outcome: PlanOutcome) -> Migrated:
    """Each amount from the golem's balance differences."""
    spends = outcome.plan.spends
    return Migrated(
        tx_hashes=tuple(dict.fromkeys(receipt.tx_hash for receipt in outcome.receipts)),
        total_migrated=tuple(TokenAmount(-outcome.deltas.get(flow.token.address, 0), flow.token) for flow in spends),
        total_migrated_usd=UsdAmount(int(outcome.plan.details["worth_micro_usd"])),
        left_behind=tuple(outcome.plan.details["left_behind"]),
    )


@wallet.write(
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_migration,
    action_class=ActionClass.DECREASE_POSITION,
    privileged=True,
    snippet=(
        "migrate: move every balance to another wallet that the owner registered, tokens first and the coin last; the"
        " preview is the dry run, and owners approve it."
    ),
    guidelines=(
        "Close positions first: a migration moves balances, and what lies in protocols stays with the old account.",
        "When it stopped half-way ask again: it plans what is still there and moves nothing twice.",
    ),
)
def wallet_migrate(
    ctx: WriteContext,
    recipient: Address,
    gas_reserve: GasReserve = _GAS_RESERVE_WEI,
    tokens: Tokens | None = None,
    min_balance_usd: MicroUsdText = _LEAST_USD,
    include_coin: Flag = True,
    chain_id: ChainId | None = None,
) -> TxPlan:
    """Move every balance of the golem's account to a wallet that its owner registered.

    Use when a golem gets another account. Tokens go first, those of most worth before the others, the coin last less
    `gas_reserve`; twelve transfers in one plan. Balances without a price are named and stay unless `tokens` names them.
    Does not move positions, NFTs or rights received: they are told as left behind. Always needs the owners' approval.
    """
    reader = ctx.chain(chain_id)
    if recipient == ctx.account:
        raise InvalidParams("the destination is the golem's own account", fields={"recipient": "another wallet"})
    if not is_registered_recipient(ctx, reader.chain_id, recipient):
        raise DestinationNotRegistered(
            f"{recipient} is no registered recipient on chain {reader.chain_id}: an owner adds it to the golem's"
            " allowlist as a recipient, then this is asked again",
            recipient=recipient,
            chain_id=reader.chain_id,
        )
    ctx.step("Reading the balances")
    flows, worth, left = _choose(ctx, reader, tokens, usd_to_micro(Decimal(min_balance_usd)), gas_reserve, include_coin)
    if not flows:
        raise NothingToMigrate(
            "no balance is worth moving" + (f"; left behind: {'; '.join(left)}" if left else ""),
            left_behind=list(left),
        )
    ctx.step("Building the transfers")
    return TxPlan(
        chain_id=reader.chain_id,
        calls=tuple(erc20.transfer(token=flow.token, recipient=recipient, amount=flow.bound) for flow in flows),
        spends=tuple(flows),
        action_class=ActionClass.DECREASE_POSITION,
        recipients=(recipient,),
        details={
            "recipient": recipient,
            "moves": [format_units(flow.bound, flow.token.decimals, flow.token.symbol) for flow in flows],
            "worth_micro_usd": str(worth),
            "left_behind": list(left),
        },
    )


def _choose(
    ctx: WriteContext,
    reader: ChainReader,
    asked: Sequence[str] | None,
    least_micro_usd: int,
    gas_reserve: int,
    include_coin: bool,
) -> tuple[list[TokenFlow], int, tuple[str, ...]]:
    """Choose the tokens that move, sum up their worth in micro-USD, and give the reason for each that stays."""
    holdings = read_holdings(reader, ctx.account)
    named = {reader.token(each).address for each in asked} if asked is not None else None
    left = [f"{describe_held(each).label}: a position, leave it first" for each in holdings.positions]
    left += list_uncounted(reader, ctx.account, holdings)
    moving: list[tuple[int, TokenFlow]] = []
    coin: tuple[int, TokenFlow] | None = None
    for held in (*holdings.tokens, *holdings.claims):
        raw = held.raw - gas_reserve if held.token.is_native else held.raw
        is_claim = held in holdings.claims
        if raw <= 0 or (named is not None and held.token.address not in named):
            continue
        if held.token.is_native and not include_coin:
            continue
        micro = held.micro_usd or 0
        shown = format_units(held.raw, held.token.decimals, held.token.symbol)
        if is_claim:
            left.append(f"{shown}: it stands for a position")
        elif held.problem and (named is None or held.token.is_native):
            left.append(f"{shown}: it has no price now ({held.problem})")
        elif not held.problem and micro < least_micro_usd:
            left.append(f"{shown}: worth less than is moved")
        elif held.token.is_native:
            coin = (micro * raw // held.raw, TokenFlow(held.token, raw, raw))
        else:
            moving.append((micro, TokenFlow(held.token, raw, raw)))
    moving.sort(key=lambda each: -each[0])
    room = MOST_MOVED - (coin is not None)
    left += [f"{flow.token.symbol}: over {MOST_MOVED} transfers, ask again" for _, flow in moving[room:]]
    # While tokens are left over their gas is still to be paid, so the coin waits for the last plan.
    chosen = moving[:room] + ([coin] if coin is not None and len(moving) <= room else [])
    return [flow for _, flow in chosen], sum(micro for micro, _ in chosen), tuple(left)
