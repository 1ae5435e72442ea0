"""What a golem holds, in assets and micro-USD: the basis of every rule about its portfolio.

The chain's coin and its wrapped form are one asset. Everything comes from `measure_holdings`: tokens count and the legs
of positions, what is owed subtracts, and what has no fresh price, or claims to be worth more than anybody holds, is
left out, so the portfolio is never taken for larger than it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from permits_app.errors import HoldingsImplausible
from permits_app.safety.call_records import UnderWay
from permits_app.safety.predicted_holdings import Dependent, Foresight, Kept, Share
from tools_app.core.units import BPS
from tools_app.portfolio.holdings import IMPLAUSIBLE, Holdings, PriceBook, Worth, measure_holdings
from tools_app.portfolio.issuer_and_bridge_risk import Dependence, depends_of_token, sum_dependences
from tools_app.standards.loan_callback import list_contracts
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import ActionClass, Category
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import ACCOUNT, PositionRef
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import NATIVE, TokenMeta

RAISING = frozenset({ActionClass.NEW_POSITION, ActionClass.INCREASE_POSITION, ActionClass.REBALANCE})
# A swap changes what is held and a transfer gives it away; everything else puts value into a venue.
GIFT_BPS = 10
"""An asset worth less of what is held takes up no room of the number of assets by itself."""
NO_POSITION = frozenset({Category.TRADING, Category.WALLET})


@dataclass(frozen=True, slots=True)
class Portfolio:
    """Values before and after a plan, in micro-USD by asset address, below zero where more is owed than held; `names`
    are symbols for people.

    `position_after` is what the venue position that the plan enters would be worth; zero when it enters none.
    `positions` counts the venue positions held before it; `is_complete` is off when the value cannot be held against an
    earlier one. `shares` are assets of which more is kept at a protocol than before. `exposure` is how far positions
    follow an asset without holding it, by asset. `collateral_bps` is the least of what is held over what is owed in the
    positions that the plan changes, None without debt. `depending` is what depends on each issuer, bridge and oracle;
    the base asset by itself depends on nobody.
    """

    before: Mapping[str, int]
    after: Mapping[str, int]
    names: Mapping[str, str]
    base_asset: str
    position_after: int = 0
    positions: int = 0
    is_complete: bool = True
    shares: tuple[Share, ...] = ()
    exposure: Mapping[str, int] = field(default_factory=dict)
    collateral_bps: int | None = None
    depending: tuple[Dependent, ...] = ()

    @property
    def total_before(self) -> int:
        return sum(self.before.values())

    @property
    def total_after(self) -> int:
        return sum(self.after.values())

    def count_assets(self) -> int:
        """How many are held after the plan. What is worth next to nothing counts where the plan adds to it alone:
        anybody can send some of every token.
        """
        least = self.total_before * GIFT_BPS // BPS
        return sum(
            value > 0 and (value >= least or value > self.before.get(asset, 0)) for asset, value in self.after.items()
        )

    def weigh(self, values: Mapping[str, int], asset: str) -> int:
        """How much of the portfolio moves with an asset, whichever way: held, owed and followed."""
        return abs(values.get(asset, 0) + self.exposure.get(asset, 0))


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
    position_id: str,
    under_way: Sequence[UnderWay] = (),
    hints: Sequence[PositionRef] = (),
    holdings: Holdings | None = None,
) -> Portfolio:
    """What `account` holds and what it would hold after `plan` as quoted. `holdings` spares reading them again.

    What a plan changes in positions is what it says; with `enters_position` one that says nothing puts what it spends
    into a venue position of the golem: that of `position_id`, or a new one where that is empty. A held asset without
    a fresh price is left out, which makes every share look larger, never smaller; one that the plan moves is not:
    raises PriceUnavailable, PriceStale, HoldingsImplausible. What is `under_way` counts as happened, before and after;
    a block that holds it already counts it twice, which refuses too much and never too little.
    """
    held = holdings or measure_holdings(chain=chain, account=account, hints=hints, tokens=list_moved(plan, under_way))
    protocol = find_protocol(plan)
    now = Foresight.of(held)
    now.let_happen(under_way, protocol)
    valuation = _Valuation(chain, held, find_wrapped_native(chain))
    base = find_base_asset(chain, base_asset)
    before, shares_before = valuation.sum_assets(now), valuation.sum_shares(now)
    depending_before = valuation.sum_dependences(now, base)
    positions, opened = len(held.positions), now.opened
    for kept in now.positions.values():
        kept.is_touched = False
    entered = None
    if plan.changes or not enters_position:
        now.move(plan.receives, plan.spends)
        now.apply(plan.changes, by="this plan")
    else:
        now.move((), plan.spends)
        entered = now.enter(plan.spends, protocol, position_id, by="this plan")
    touched = [kept for kept in now.positions.values() if kept.is_touched]
    claims = held.claim_tokens | SHELF.claims_on(chain.chain_id) | _list_rewards(plan)
    valuation.require([token for token in plan.tokens if token.address not in claims], touched)
    after, shares_after = valuation.sum_assets(now), valuation.sum_shares(now)
    depending_after = valuation.sum_dependences(now, base)
    return Portfolio(
        before=before,
        after=after,
        names=valuation.names,
        base_asset=base,
        position_after=valuation.value(entered.held) if entered is not None else _largest(touched, valuation),
        positions=positions + opened,
        is_complete=held.is_steady,
        shares=tuple(
            Share(*key, before=shares_before.get(key, 0), after=worth)
            for key, worth in sorted(shares_after.items())
            if worth > shares_before.get(key, 0)
        ),
        exposure=valuation.sum_exposure(),
        collateral_bps=min((ratio for kept in touched if (ratio := valuation.cover(kept)) is not None), default=None),
        depending=tuple(
            Dependent(each.kind.value, each.name, depending_before.get(each, 0), depending_after.get(each, 0))
            for each in sorted({*depending_before, *depending_after})
        ),
    )


def add_elsewhere(portfolio: Portfolio, elsewhere: Sequence[Holdings], *, chain: ChainReader) -> Portfolio:
    """The portfolio with what the golem holds on other chains, before and after alike.

    An asset is the same on every chain that registers it under one symbol; any other is an asset of its own. Without
    anything elsewhere it stays the very same.
    """
    if not elsewhere:
        return portfolio
    valuation = _Elsewhere(chain)
    for holdings in elsewhere:
        valuation.add(holdings)
    before, after = dict(portfolio.before), dict(portfolio.after)
    exposure = dict(portfolio.exposure)
    for asset, worth in valuation.values.items():
        before[asset] = before.get(asset, 0) + worth
        after[asset] = after.get(asset, 0) + worth
    for asset, worth in valuation.exposure.items():
        exposure[asset] = exposure.get(asset, 0) + worth
    shares = ((each, valuation.shares.get((each.protocol, each.asset), 0)) for each in portfolio.shares)
    depending = {(each.kind, each.name): each for each in portfolio.depending}
    for dependence, worth in sum_dependences(elsewhere, base_symbol=chain.token(portfolio.base_asset).symbol).items():
        key = (dependence.kind.value, dependence.name)
        known = depending.get(key, Dependent(*key, 0, 0))
        depending[key] = replace(known, before=known.before + worth, after=known.after + worth)
    return replace(
        portfolio,
        before=before,
        after=after,
        names={**valuation.names, **portfolio.names},
        positions=portfolio.positions + sum(len(holdings.positions) for holdings in elsewhere),
        is_complete=portfolio.is_complete and all(holdings.is_steady for holdings in elsewhere),
        shares=tuple(replace(each, before=each.before + more, after=each.after + more) for each, more in shares),
        exposure=exposure,
        depending=tuple(depending[key] for key in sorted(depending)),
    )


class _Elsewhere:
    """Micro-USD by asset of what is held on other chains, under the names of the assets of `chain`."""

    def __init__(self, chain: ChainReader) -> None:
        self._wrapped = find_wrapped_native(chain)
        self._coin = f"W{chain.native().symbol}"
        self._known = {token.symbol: token.address for token in chain.registered_tokens()}
        self.values: dict[str, int] = defaultdict(int)
        self.exposure: dict[str, int] = defaultdict(int)
        self.shares: dict[tuple[str, str], int] = defaultdict(int)
        self.names: dict[str, str] = {}

    def add(self, holdings: Holdings) -> None:
        """What one other chain holds."""
        for worth in holdings.list_parts():
            self.values[self._name(worth.token)] += worth.micro_usd or 0
        for held in holdings.positions:
            for worth in held.exposure:
                self.exposure[self._name(worth.token)] += worth.micro_usd or 0
            kept = [worth for worth in held.parts if worth.raw > 0 and worth.micro_usd is not None]
            is_one = held.ref.kind != ACCOUNT
            whole = sum(worth.micro_usd or 0 for worth in kept)
            for asset in dict.fromkeys(self._name(worth.token) for worth in kept):
                own = sum(worth.micro_usd or 0 for worth in kept if self._name(worth.token) == asset)
                self.shares[held.ref.protocol, asset] += whole if is_one else own

    def _name(self, token: TokenMeta) -> str:
        symbol = f"W{token.symbol}" if token.is_native else token.symbol
        here = self._wrapped if symbol == self._coin else self._known.get(symbol)
        asset = here if here is not None and token.is_registered else f"{token.chain_id}:{token.address}"
        self.names[asset] = token.symbol or token.address
        return asset


def list_moved(plan: TxPlan, under_way: Sequence[UnderWay]) -> list[TokenMeta]:
    """Every token that the plan, or what is under way, moves in the wallet."""
    others = (flow.token for other in under_way for flow in (*other.spends, *other.receives))
    return list({token.address: token for token in (*plan.tokens, *others)}.values())


def _list_rewards(plan: TxPlan) -> frozenset[str]:
    """Tokens that only arrive, out of what never counts in a position: nobody prices them there, or in the wallet."""
    out_of_it = {change.token for change in plan.changes if not change.counts and change.expected < 0}
    given = {flow.token.address for flow in plan.spends} | {left.token.address for left in plan.allowances}
    return frozenset(out_of_it - given)


def find_protocol(plan: TxPlan) -> str:
    """The protocol whose contract the plan calls, by the name its positions bear; empty for none of the shelf.

    Of several it is one whose positions change: who lends for a moment, and where is traded on the way, is not it.
    """
    known = [SHELF.of_contract(plan.chain_id, contract) for contract in list_contracts(plan)]
    names = [each.name for each in known if each is not None and each.positions is not None]
    changed = {change.protocol for change in plan.changes}
    return next((name for name in names if name in changed), next(iter(names), ""))


def _largest(touched: Sequence[Kept], valuation: _Valuation) -> int:
    return max((valuation.value(kept.held) for kept in touched if kept.is_one), default=0)


class _Valuation:
    """Values of what is foreseen, at the prices the holdings were measured at. `names` grow as assets are met."""

    def __init__(self, chain: ChainReader, holdings: Holdings, wrapped: str | None) -> None:
        self._chain, self._holdings, self._wrapped = chain, holdings, wrapped
        self._book = PriceBook(chain, {each.token.address: each.token for each in holdings.list_parts()})
        # A balance or a leg that cannot be believed takes its whole token out.
        self._refused = {each.token.address for each in holdings.list_parts() if each.problem == IMPLAUSIBLE}
        self.names: dict[str, str] = {}
        self._known_depends: dict[str, frozenset[Dependence]] = {}

    def require(self, moved: Iterable[TokenMeta], touched: Iterable[Kept]) -> None:
        """Raises PriceUnavailable, PriceStale, HoldingsImplausible for what a plan moves."""
        for token in moved:
            self._book.learn(token)
        inside = (address for kept in touched for address in (*kept.held, *kept.owed))
        for address in dict.fromkeys([*(token.address for token in moved), *inside]):
            token = self._book.token(address)
            if address in self._refused:
                known = self._holdings.token(address)
                raise HoldingsImplausible(
                    f"{token.symbol or address} claims a balance that nobody can hold; its contract cannot be believed",
                    token=address,
                    balance=str(known.raw if known is not None else 0),
                )
            self._chain.price(token)

    def sum_assets(self, foreseen: Foresight) -> dict[str, int]:
        """Micro-USD by asset: what the wallet holds, what positions hold, less what they owe."""
        held, owed = defaultdict(int, foreseen.wallet), defaultdict[str, int](int)
        for kept in foreseen.positions.values():
            for address, raw in kept.held.items():
                held[address] += raw
            for address, raw in kept.owed.items():
                owed[address] -= raw
        values: dict[str, int] = defaultdict(int)
        for address, raw in (*held.items(), *owed.items()):
            self._add(values, address, raw)
        return values

    def sum_shares(self, foreseen: Foresight) -> dict[tuple[str, str], int]:
        """Micro-USD kept by protocol and asset. Where tokens stand or fall together, all of it counts for each."""
        shares: dict[tuple[str, str], int] = defaultdict(int)
        for kept in foreseen.positions.values():
            worths: dict[str, int] = defaultdict(int)
            for address, raw in kept.held.items():
                self._add(worths, address, raw)
            whole = sum(worths.values())
            for asset, worth in worths.items():
                shares[kept.protocol, asset] += whole if kept.is_one and worth else worth
        return shares

    def sum_exposure(self) -> dict[str, int]:
        """Micro-USD by which positions follow an asset without holding it."""
        values: dict[str, int] = defaultdict(int)
        for worth in (each for held in self._holdings.positions for each in held.exposure):
            self._add(values, worth.token.address, worth.raw)
        return values

    def sum_dependences(self, foreseen: Foresight, base: str) -> dict[Dependence, int]:
        """Micro-USD held by issuer, bridge and oracle; what the token `base` depends on by itself is left out."""
        sums: dict[Dependence, int] = defaultdict(int)

        def add(amounts: Mapping[str, int], whole: frozenset[Dependence]) -> None:
            for address, raw in amounts.items():
                own = frozenset() if address == base else self._depends(address)
                worths: dict[str, int] = defaultdict(int)
                if found := whole | own:
                    self._add(worths, address, raw)
                for each in found:
                    sums[each] += sum(worths.values())

        add(foreseen.wallet, frozenset())
        for kept in foreseen.positions.values():
            add(kept.held, kept.depends)
        return {each: worth for each, worth in sums.items() if worth}

    def _depends(self, address: str) -> frozenset[Dependence]:
        if address not in self._known_depends:
            self._known_depends[address] = depends_of_token(self._chain.chain_id, address)
        return self._known_depends[address]

    def value(self, amounts: Mapping[str, int]) -> int:
        """Micro-USD of base units by token."""
        values: dict[str, int] = defaultdict(int)
        for address, raw in amounts.items():
            self._add(values, address, raw)
        return sum(values.values())

    def cover(self, kept: Kept) -> int | None:
        """What is held over what is owed in basis points; None without debt."""
        owed = self.value(kept.owed)
        return self.value(kept.held) * BPS // owed if owed else None

    def _add(self, values: dict[str, int], address: str, raw: int) -> None:
        if not raw or address in self._refused:
            return
        worth: Worth = self._book.weigh(address, raw)
        if worth.micro_usd is None:
            return
        is_coin = address == NATIVE and self._wrapped is not None
        asset = self._wrapped if is_coin and self._wrapped is not None else address
        values[asset] += worth.micro_usd
        self.names[asset] = self._book.token(asset).symbol
