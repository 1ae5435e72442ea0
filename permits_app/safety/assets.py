"""What a golem holds, in assets and micro-USD: the basis of every rule about its portfolio.

The chain's coin and its wrapped form are one asset. Wallet balances and the contents of Uniswap V3 positions count;
what has no fresh price is left out, so the portfolio is never taken for larger than it is.
Seed: decisions, "Safety hooks" (concentration).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from permits_app.safety.positions import list_held_positions
from permits_app.safety.records import UnderWay
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.units import value_in_micro_usd
from tools_app.standards.erc20 import BALANCE_OF
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.enums import ActionClass, Category
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.views import NATIVE, FeedPrice, TokenMeta

RAISING = frozenset({ActionClass.NEW_POSITION, ActionClass.INCREASE_POSITION, ActionClass.REBALANCE})
# A swap changes what is held and a transfer gives it away; everything else puts value into a venue.
NO_POSITION = frozenset({Category.TRADING, Category.WALLET})


@dataclass(frozen=True, slots=True)
class Portfolio:
    """Values before and after a plan, in micro-USD by asset address; `names` are symbols for people.

    `position_after` is what the venue position that the plan enters would be worth; zero when it enters none.
    `positions` counts the venue positions held before it; `is_complete` is off when a held asset has no price.
    """

    before: Mapping[str, int]
    after: Mapping[str, int]
    names: Mapping[str, str]
    base_asset: str
    position_after: int = 0
    positions: int = 0
    is_complete: bool = True

    @property
    def total_before(self) -> int:
        return sum(self.before.values())

    @property
    def total_after(self) -> int:
        return sum(self.after.values())


def find_wrapped_native(chain: ChainReader) -> str | None:
    """Address of the registered token that wraps the chain's coin, by its symbol: WETH for ETH."""
    wanted = f"W{chain.native().symbol}"
    return next((token.address for token in chain.registered_tokens() if token.symbol == wanted), None)


def find_base_asset(chain: ChainReader, base_asset: str) -> str:
    """Address of the asset a golem measures itself in, the wrapped form for the coin. Raises TokenNotFound."""
    token = chain.token(base_asset)
    return find_wrapped_native(chain) or NATIVE if token.is_native else token.address


def read_portfolio(
    *,
    chain: ChainReader,
    account: str,
    base_asset: str,
    plan: TxPlan,
    enters_position: bool,
    position_id: int | None,
    under_way: Sequence[UnderWay] = (),
) -> Portfolio:
    """What `account` holds and what it would hold after `plan` as quoted.

    With `enters_position` what the plan spends stays the golem's, inside a venue position: that of `position_id`, or
    a new one. A held asset without a fresh price is left out, which makes every share look larger, never smaller;
    one that the plan moves is not: raises PriceUnavailable, PriceStale. What is `under_way` counts as happened, before
    and after; a block that holds it already counts it twice, which refuses too much and never too little.
    """
    moved = {token.address: token for token in plan.tokens}
    change: dict[str, int] = defaultdict(int)
    for flow in plan.receives:
        change[flow.token.address] += flow.expected
    for flow in plan.spends:
        change[flow.token.address] -= flow.expected
    tokens = {token.address: token for token in (chain.native(), *chain.registered_tokens(), *moved.values())}
    for flow in (each for other in under_way for each in (*other.spends, *other.receives)):
        tokens.setdefault(flow.token.address, flow.token)
    held = read_balances(chain=chain, account=account, tokens=tokens.values())
    entered: dict[str, int] = defaultdict(int)
    opened = _foresee(under_way, held, entered, position_id)
    if enters_position:
        for address, each in change.items():
            entered[address] += max(0, -each)
        change.clear()
    positions = list_held_positions(chain=chain, account=account, also=position_id)
    for position in positions:
        for address, raw in position.amounts.items():
            tokens.setdefault(address, chain.token(address))
            held[address] = held.get(address, 0) + raw
            if position.position_id == position_id:
                entered[address] += raw
    prices = _read_prices(chain, tokens, needed={address for address in tokens if held[address] or address in moved})
    _require_prices(chain, moved, prices)
    wrapped = find_wrapped_native(chain)
    before: dict[str, int] = defaultdict(int)
    after: dict[str, int] = defaultdict(int)
    names: dict[str, str] = {}
    for address, price in prices.items():
        token = tokens[address]
        asset = wrapped if token.is_native and wrapped is not None else address
        before[asset] += value_of(held[address], token, price)
        after[asset] += value_of(max(0, held[address] + change[address]), token, price)
        names[asset] = tokens[asset].symbol
    inside = sum(value_of(raw, tokens[address], prices[address]) for address, raw in entered.items())
    return Portfolio(
        before, after, names, find_base_asset(chain, base_asset), inside if enters_position else 0,
        len(positions) + opened,
        is_complete=all(address in prices for address, raw in held.items() if raw),
    )  # fmt: skip


def _foresee(
    under_way: Sequence[UnderWay], held: dict[str, int], entered: dict[str, int], position_id: int | None
) -> int:
    """Let it happen to `held` and to what is `entered` into `position_id`; how many positions it opens besides."""
    opened = 0
    for other in under_way:
        if not other.enters:
            for flow in other.receives:
                held[flow.token.address] += flow.expected
            for flow in other.spends:
                held[flow.token.address] = max(0, held[flow.token.address] - flow.expected)
        elif other.position_id is None:
            opened += 1
        elif other.position_id == position_id:
            for flow in other.spends:
                entered[flow.token.address] += flow.expected
    return opened


def value_of(raw: int, token: TokenMeta, price: FeedPrice) -> int:
    """Micro-USD of base units at a feed price, rounded up."""
    return value_in_micro_usd(raw=raw, token_decimals=token.decimals, price=price.answer, price_decimals=price.decimals)


def read_balances(*, chain: ChainReader, account: str, tokens: Iterable[TokenMeta]) -> dict[str, int]:
    """Base units by token address, the coin under NATIVE; a token that does not answer counts as none held."""
    wanted = list(tokens)
    erc20 = [token for token in wanted if not token.is_native]
    answers = chain.call_many([ReadCall(token.address, BALANCE_OF, (account,)) for token in erc20])
    found = {
        token.address: int(answer.values[0]) if answer.ok else 0 for token, answer in zip(erc20, answers, strict=True)
    }
    if len(erc20) < len(wanted):
        found[NATIVE] = chain.native_balance(account)
    return found


def _read_prices(chain: ChainReader, tokens: Mapping[str, TokenMeta], *, needed: set[str]) -> dict[str, FeedPrice]:
    prices: dict[str, FeedPrice] = {}
    for address in tokens:
        if address in needed:
            with suppress(PriceUnavailable, PriceStale):
                prices[address] = chain.price(tokens[address])
    return prices


def _require_prices(chain: ChainReader, moved: Mapping[str, TokenMeta], prices: Mapping[str, FeedPrice]) -> None:
    for address, token in moved.items():
        if address not in prices:
            chain.price(token)
