"""OBSERVE's cheap reads: prices, balances, positions and the pool, in one batch at one block.

The reader answers equal reads of one context once. What the tick before found says what will be asked, so all of it
goes out together; when something changed since, only the difference is asked again. A node that does not answer makes
the tick quiet, never fails it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from golem_project.heartbeat.frozen_token_watch import expect_still_calls
from golem_project.heartbeat.liquidity_rule import LiquidityRule
from golem_project.heartbeat.observation import Observation, ObservedPosition, ObservedToken, deviation_bps
from permits_app.actions.value_unpriced_holdings import weigh_unpriced
from permits_app.permits.other_chain_holdings import Elsewhere
from tools_app.chain.chains import get_deployment
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.chain.tokens import TokenNotFound
from tools_app.core.errors import GolemError
from tools_app.core.required_value import require
from tools_app.core.stored_json import read_stored
from tools_app.portfolio.holdings import NO_FEED, Holdings, measure_holdings, value_of
from tools_app.portfolio.markets import list_markets
from tools_app.portfolio.position_priority import list_foremost
from tools_app.portfolio.read_all_positions import FirstReads, foretell_positions
from tools_app.standards.erc20 import BALANCE_OF
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.markets import Markets, Pool, RangePosition, RangePositions, sort_tokens
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import NATIVE, FeedPrice, GolemView, TokenMeta

MOST_TOKENS: Final = 12
MOST_POSITIONS: Final = 50
# An emptied position stays in the wallet. It is not read again but every so often, in case somebody filled it.
_LOOKS_BETWEEN_EMPTY_ONES: Final = 20
_PRICE_UNIT: Final = 10**18


@dataclass(frozen=True, slots=True)
class KnownRange:
    """What the look before saw of one protocol's positions in ranges; `looks` counts those since its first."""

    held: int = 0
    positions: tuple[Mapping[str, object], ...] = ()
    empty: tuple[str, ...] = ()
    looks: int = 0


@dataclass(frozen=True, slots=True)
class KnownPlaces:
    """What the look before knew: the watched pool with its two tokens and fee, and positions by protocol."""

    pool: str | None = None
    manager: str = ""
    venue: str | None = None
    pair: tuple[str, str, int] | None = None
    ranges: Mapping[str, KnownRange] = field(default_factory=dict)


def observe_chain(
    *,
    chain: ChainReader,
    golem: GolemView,
    rule: LiquidityRule | None,
    known: Mapping[str, object],
    hints: Sequence[PositionRef] = (),
    tokens: Sequence[str] = (),
) -> Observation:
    """One look at the golem's home chain. `known` is `known_positions` of the look before, `hints` name positions it
    had, `tokens` further tokens to look at. Never raises GolemError.
    """
    try:
        wanted = (golem.base_asset, *((rule.token_a, rule.token_b) if rule else ()), *tokens)
        return _observe(chain, golem, rule, known, hints, wanted)
    except GolemError as error:
        return Observation(anomalies=(f"{error.code}: {error.detail}",), known_positions=known)


def add_elsewhere(seen: Observation, elsewhere: Elsewhere) -> Observation:
    """What was seen at home with what the golem holds on its other chains; the value is told where all of it is."""
    if seen.whole is None:
        return seen
    whole = elsewhere.join(seen.whole)
    # Without a price at home nothing could be told there; the other chains do not make up for it.
    total = whole.nav_micro_usd if seen.total_micro_usd is not None and whole.is_steady else None
    unread = tuple(str(each) for each in elsewhere.unread)
    return replace(
        seen,
        whole=whole,
        at_home=seen.whole,
        elsewhere=elsewhere,
        total_micro_usd=total,
        anomalies=(*seen.anomalies, *unread),
    )


def _observe(
    chain: ChainReader,
    golem: GolemView,
    rule: LiquidityRule | None,
    stored: Mapping[str, object],
    hints: Sequence[PositionRef],
    wanted: Sequence[str],
) -> Observation:
    known = read_stored(KnownPlaces, stored)
    anomalies: list[str] = []
    tokens = _list_tokens(chain, wanted, anomalies)
    markets = list_markets(chain.chain_id)
    _warm(chain, golem, tokens, markets, known, hints)
    pool = _find_pool(chain, markets, rule, known, anomalies)
    held = _read_holdings(chain, golem, tokens, anomalies)
    whole = None
    if golem.address is not None:
        measured = measure_holdings(chain=chain, account=golem.address, tokens=tokens, hints=hints)
        whole = weigh_unpriced(
            golem_id=golem.id, chain_id=chain.chain_id, block_number=chain.block.number, holdings=measured
        )
        anomalies += _list_uncounted(whole)
    positions, known_ids = _read_positions(chain, golem, markets, held, known, whole, pool)
    price, deviation = _price_of(chain, pool, held)
    total = _total(held, whole)
    return Observation(
        block=chain.block,
        holdings=tuple(held),
        positions=positions,
        whole=whole,
        pool=pool,
        price=price,
        deviation_bps=deviation,
        total_micro_usd=total,
        anomalies=tuple(anomalies),
        known_positions={**known_ids, **_remember_pool(pool)},
    )


def _list_tokens(chain: ChainReader, wanted: Sequence[str], anomalies: list[str]) -> tuple[TokenMeta, ...]:
    """The coin, its wrapped form, and those that are wanted; all registered ones where they are few."""
    found: dict[str, TokenMeta] = {NATIVE: chain.native()}
    for reference in wanted:
        try:
            token = chain.token(reference)
        except TokenNotFound:
            anomalies.append(f"TOKEN_NOT_FOUND: {reference} is not registered on chain {chain.chain_id}")
            continue
        found[token.address] = token
    registered = chain.registered_tokens()
    wrapped = f"W{chain.native().symbol}"
    few = len(registered) <= MOST_TOKENS
    found.update({token.address: token for token in registered if few or token.symbol == wrapped})
    return tuple(found.values())


def _warm(
    chain: ChainReader,
    golem: GolemView,
    tokens: Sequence[TokenMeta],
    markets: Mapping[str, Markets],
    known: KnownPlaces,
    hints: Sequence[PositionRef],
) -> None:
    """Ask everything that will be asked, at once."""
    calls: list[ReadCall] = []
    first = FirstReads()
    if golem.address is not None:
        first = foretell_positions(chain_id=chain.chain_id, account=golem.address, hints=hints)
        balances = dict.fromkeys(each.address for each in (*tokens, *chain.registered_tokens()) if not each.is_native)
        calls += [ReadCall(each, BALANCE_OF, (golem.address,)) for each in balances]
        calls += expect_still_calls(chain, golem.address, (*tokens, *chain.registered_tokens()))
        calls += first.calls
        for name, each in markets.items():
            seen = known.ranges.get(name, KnownRange())
            calls += each.ranges.expect_calls(
                chain.chain_id,
                golem.address,
                held=seen.held,
                limit=MOST_POSITIONS,
                known=seen.positions,
                empty=seen.empty,
            )
    remembered = _remembered_pool(markets, known)
    if remembered is not None:
        calls += markets[remembered.protocol].state_calls(remembered)
    accounts = [golem.address] if golem.address is not None else []
    chain.preload(calls=calls, prices_of=tokens, contracts=first.contracts, accounts=accounts)


def _feed_of(chain_id: int, token: TokenMeta) -> object:
    named = get_deployment(chain_id)
    feed = named.feeds.get(token.address)
    return named.feeds.get(NATIVE) if feed is None and token.address == named.wrapped_native else feed


def _find_pool(
    chain: ChainReader,
    markets: Mapping[str, Markets],
    rule: LiquidityRule | None,
    known: KnownPlaces,
    anomalies: list[str],
) -> Pool | None:
    """The rule's pool at this block; its address is looked up once and then remembered."""
    if rule is None or not markets:
        return None
    try:
        pair = sort_tokens(chain.token(rule.token_a).address, chain.token(rule.token_b).address)
    except TokenNotFound:
        return None
    found = _remembered_pool(markets, known)
    if found is None or known.pair != (*pair, rule.fee_tier):
        found = _locate(chain, markets, pair, rule.fee_tier)
    if found is None:
        anomalies.append(f"POOL_NOT_FOUND: no V3 pool of {rule.token_a} and {rule.token_b} at {rule.fee_tier}")
        return None
    states = markets[found.protocol].states(chain, [found])
    if not states or not states[0].is_usable:
        anomalies.append(f"POOL_UNREADABLE: {found.id}")
        return None
    return states[0]


def _locate(chain: ChainReader, markets: Mapping[str, Markets], pair: tuple[str, str], fee: int) -> Pool | None:
    for name, each in markets.items():
        found = each.locate(chain, *pair, fee)
        if found is not None:
            return Pool("v3", found, *pair, fee, protocol=name)
    return None


def _remembered_pool(markets: Mapping[str, Markets], known: KnownPlaces) -> Pool | None:
    """The pool the look before watched, stateless."""
    if not known.pool or known.venue not in markets:
        return None
    token0, token1, fee = require(known.pair)
    return Pool("v3", PoolId(known.pool, known.manager), token0, token1, fee, protocol=require(known.venue))


def _read_holdings(
    chain: ChainReader, golem: GolemView, tokens: Iterable[TokenMeta], anomalies: list[str]
) -> list[ObservedToken]:
    if golem.address is None:
        return []
    wanted = list(tokens)
    answers = chain.call_many(
        [ReadCall(token.address, BALANCE_OF, (golem.address,)) for token in wanted if not token.is_native]
    )
    raw_of = dict(zip((token.address for token in wanted if not token.is_native), answers, strict=True))
    found = []
    for token in wanted:
        if token.is_native:
            raw = chain.native_balance(golem.address)
        else:
            answer = raw_of[token.address]
            raw = int(answer.values[0]) if answer.ok else 0
        found.append(ObservedToken(token, raw, _read_price(chain, token, raw, anomalies)))
    return found


def _read_price(chain: ChainReader, token: TokenMeta, raw: int, anomalies: list[str]) -> FeedPrice | None:
    if _feed_of(chain.chain_id, token) is None:
        return None
    try:
        return chain.price(token)
    except (PriceStale, PriceUnavailable) as error:
        if raw:
            anomalies.append(f"{error.code}: {error.detail}")
        return None


def _read_positions(
    chain: ChainReader,
    golem: GolemView,
    markets: Mapping[str, Markets],
    held: Iterable[ObservedToken],
    known: KnownPlaces,
    whole: Holdings | None,
    pool: Pool | None,
) -> tuple[tuple[ObservedPosition, ...], dict[str, object]]:
    if golem.address is None or not markets:
        return (), {}
    prices = {each.token.address: each for each in held}
    worth = {(each.ref.protocol, each.ref.id): each.micro_usd for each in whole.positions} if whole else {}
    valued: list[ObservedPosition] = []
    ranges: dict[str, object] = {}
    for name, each in markets.items():
        first = _list_foremost(chain, each.ranges, whole, pool)
        seen = known.ranges.get(name, KnownRange())
        found, ranges[name] = _read_ranges(chain, golem.address, each.ranges, seen, first)
        valued += [_value_position(position, prices, worth.get((name, position.position_id))) for position in found]
    return tuple(valued), {"ranges": ranges}


def _list_foremost(chain: ChainReader, ranges: RangePositions, whole: Holdings | None, pool: Pool | None) -> list[str]:
    """Ids of those with something in them, of the watched pool first and what is worth most before the rest."""
    held = list_foremost(whole.positions) if whole is not None else []
    mine = [each for each in held if ranges.name(chain.chain_id, each.ref.id) == each.ref and each.position.is_whole]
    watched = pool.id if pool is not None else ""
    return [each.ref.id for each in sorted(mine, key=lambda each: each.position.facts.get("pool") != watched)]


def _read_ranges(
    chain: ChainReader,
    owner: str,
    ranges: RangePositions,
    known: KnownRange,
    first: Sequence[str],
) -> tuple[list[RangePosition], dict[str, object]]:
    """`first` and then the newest, so many as are looked at: more than that anybody can send."""
    newest, count = ranges.list_ids(chain, owner, limit=MOST_POSITIONS)
    ids = list(dict.fromkeys((*first, *newest)))[:MOST_POSITIONS]
    looks = known.looks + 1
    empty = set(known.empty) & set(ids) if looks % _LOOKS_BETWEEN_EMPTY_ONES else set()
    asked = ranges.read_many(chain, [each for each in ids if each not in empty])
    found = [each for each in asked if each.liquidity or each.fees0 or each.fees1]
    empty |= {each.position_id for each in asked} - {each.position_id for each in found}
    rows = [ranges.remember(each) for each in found]
    return found, {"held": count, "positions": rows, "empty": sorted(empty), "looks": looks}


def _value_position(
    position: RangePosition, prices: Mapping[str, ObservedToken], micro_usd: int | None
) -> ObservedPosition:
    """A position with its worth as the holdings count it, and what its fees are worth."""
    sides = (prices.get(position.pool.token0), prices.get(position.pool.token1))
    plain = ObservedPosition(position, None, None)
    if any(side is None or side.price is None for side in sides):
        return plain
    earned = sum(
        value_of(raw, side.token, side.price)
        for raw, side in zip((position.fees0, position.fees1), sides, strict=True)
        if side is not None and side.price is not None
    )
    return replace(plain, micro_usd=micro_usd, fees_micro_usd=earned)


def _price_of(chain: ChainReader, pool: Pool | None, held: Iterable[ObservedToken]) -> tuple[int | None, int | None]:
    """The watched price, and how far the pool is from the feeds."""
    by_address = {each.token.address: each for each in held}
    if pool is None:
        coin = by_address.get(NATIVE)
        return (coin.price.answer if coin and coin.price else None), None
    spot = pool.spot
    price = spot.numerator * _PRICE_UNIT // spot.denominator
    side0, side1 = by_address.get(pool.token0), by_address.get(pool.token1)
    if side0 is None or side1 is None or side0.price is None or side1.price is None:
        return price, None
    fair = (
        side0.price.answer
        * 10 ** (side1.token.decimals + side1.price.decimals)
        * _PRICE_UNIT
        // (side1.price.answer * 10 ** (side0.token.decimals + side0.price.decimals))
    )
    return price, deviation_bps(pool_price=price, feed_price=fair)


def _total(held: Sequence[ObservedToken], whole: Holdings | None) -> int | None:
    """The net asset value in micro-USD; None where nothing has a price, or one of those that count is missing.

    A golem must not look poor, and fall into a worse phase for good, because a price is missing for a while.
    """
    if whole is None or not whole.is_steady or all(each.price is None for each in held):
        return None
    return whole.nav_micro_usd


def _list_uncounted(whole: Holdings) -> list[str]:
    """What is in positions and cannot be counted for now; what never has a price is no news."""
    return [each for each in whole.problems if " in " in each and not each.startswith(NO_FEED)]


def _remember_pool(pool: Pool | None) -> dict[str, object]:
    if pool is None:
        return {}
    named = {"pool": pool.id, **({"manager": pool.pool_id.manager} if pool.pool_id.manager else {})}
    return {**named, "pair": [pool.token0, pool.token1, pool.fee], "venue": pool.protocol}
