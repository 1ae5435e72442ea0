"""What a golem holds, in assets and micro-USD: the basis of every rule about its portfolio.

The chain's coin and its wrapped form are one asset. A position in a pool is no balance and is not counted, so the
portfolio is never taken for larger than what the account itself holds. Seed: decisions, "Safety hooks" (concentration).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from permits_app.safety.token_calls import list_recipients
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.units import value_in_micro_usd
from tools_app.standards.erc20 import BALANCE_OF
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.views import NATIVE, TokenMeta


@dataclass(frozen=True, slots=True)
class Portfolio:
    """Values before and after a plan, in micro-USD by asset address; `names` are symbols for people.

    `parked` is what the plan moves out of the account without paying anybody: the value of the position it enters.
    """

    before: Mapping[str, int]
    after: Mapping[str, int]
    names: Mapping[str, str]
    base_asset: str
    parked: int = 0

    @property
    def total_before(self) -> int:
        return sum(self.before.values())

    @property
    def total_after(self) -> int:
        return sum(self.after.values()) + self.parked


def find_wrapped_native(chain: ChainReader) -> str | None:
    """Address of the registered token that wraps the chain's coin, by its symbol: WETH for ETH."""
    wanted = f"W{chain.native().symbol}"
    return next((token.address for token in chain.registered_tokens() if token.symbol == wanted), None)


def find_base_asset(chain: ChainReader, base_asset: str) -> str:
    """Address of the asset a golem measures itself in, the wrapped form for the coin. Raises TokenNotFound."""
    token = chain.token(base_asset)
    return find_wrapped_native(chain) or NATIVE if token.is_native else token.address


def read_portfolio(*, chain: ChainReader, account: str, base_asset: str, plan: TxPlan) -> Portfolio:
    """What `account` holds and what it would hold after `plan` as quoted.

    A held asset without a fresh price is left out, which makes every share look larger, never smaller; one that
    the plan moves is not: raises PriceUnavailable, PriceStale.
    """
    wrapped = find_wrapped_native(chain)
    moved = {token.address: token for token in plan.tokens}
    tokens = {token.address: token for token in (chain.native(), *chain.registered_tokens(), *moved.values())}
    balances = read_balances(chain=chain, account=account, tokens=tokens.values())
    change: dict[str, int] = defaultdict(int)
    for flow in plan.receives:
        change[flow.token.address] += flow.expected
    for flow in plan.spends:
        change[flow.token.address] -= flow.expected
    before: dict[str, int] = defaultdict(int)
    after: dict[str, int] = defaultdict(int)
    names: dict[str, str] = {}
    for address, token in tokens.items():
        held, then = balances[address], max(0, balances[address] + change[address])
        if not held and not then:
            continue
        asset = wrapped if token.is_native and wrapped is not None else address
        try:
            price = chain.price(token)
        except (PriceUnavailable, PriceStale):
            if address in moved:
                raise
            continue
        for sums, raw in ((before, held), (after, then)):
            sums[asset] += value_in_micro_usd(
                raw=raw, token_decimals=token.decimals, price=price.answer, price_decimals=price.decimals
            )
        names[asset] = tokens[asset].symbol if asset in tokens else token.symbol
    stays = all(recipient == account for recipient in list_recipients(plan))
    parked = max(0, sum(before.values()) - sum(after.values())) if stays else 0
    return Portfolio(before, after, names, find_base_asset(chain, base_asset), parked)


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
