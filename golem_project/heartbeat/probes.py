"""OBSERVE's cheap reads: prices, balances, positions and the pool, in one batch at one block.

The reader answers equal reads of one context once. What the tick before found says what will be asked, so all of it
goes out together; when something changed since, only the difference is asked again. A node that does not answer makes
the tick quiet, never fails it. Seed: architecture, "probes.py"; facts A09 (PROBE).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from golem_project.heartbeat.liquidity_rule import LiquidityRule
from golem_project.heartbeat.observation import HeldPosition, Holding, Observation, deviation_bps, value_of
from tools_app.chain.chains import get_deployment
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.chain.networks import ChainNotSupported
from tools_app.chain.tokens import TokenNotFound
from tools_app.core.errors import GolemError
from tools_app.protocols.uniswap import pools as pool_reads
from tools_app.protocols.uniswap.addresses import Deployment, deployment_on
from tools_app.protocols.uniswap.pools import ZERO_ADDRESS, Pool, sort_tokens
from tools_app.protocols.uniswap.v3 import positions as position_reads
from tools_app.protocols.uniswap.v3.positions import list_position_ids, pool_position_key, read_positions
from tools_app.standards.erc20 import BALANCE_OF
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.views import NATIVE, FeedPrice, GolemView, TokenMeta

MOST_TOKENS: Final = 12
MOST_POSITIONS: Final = 50
# An emptied position stays in the wallet. It is not read again but every so often, in case somebody filled it.
_LOOKS_BETWEEN_EMPTY_ONES: Final = 20
_PRICE_UNIT: Final = 10**18


def observe_chain(
    *, chain: ChainReader, golem: GolemView, rule: LiquidityRule | None, known: Mapping[str, Any]
) -> Observation:
    """One look at the golem's home chain. `known` is `known_positions` of the look before. Never raises GolemError."""
    try:
        return _observe(chain, golem, rule, known)
    except GolemError as error:
        return Observation(anomalies=(f"{error.code}: {error.detail}",), known_positions=known)


def _observe(chain: ChainReader, golem: GolemView, rule: LiquidityRule | None, known: Mapping[str, Any]) -> Observation:
    anomalies: list[str] = []
    tokens = _list_tokens(chain, golem, rule, anomalies)
    deployment = _find_deployment(chain.chain_id)
    _warm(chain, golem, tokens, deployment, known)
    pool = _find_pool(chain, deployment, rule, known, anomalies)
    held = _read_holdings(chain, golem, tokens, anomalies)
    positions, known_ids = _read_positions(chain, golem, deployment, held, known)
    price, deviation = _price_of(chain, pool, held)
    total = _total(chain.chain_id, held, positions)
    return Observation(
        block=chain.block,
        holdings=tuple(held),
        positions=positions,
        pool=pool,
        price=price,
        deviation_bps=deviation,
        total_micro_usd=total,
        anomalies=tuple(anomalies),
        known_positions={**known_ids, **_remember_pool(pool)},
    )


def _list_tokens(
    chain: ChainReader, golem: GolemView, rule: LiquidityRule | None, anomalies: list[str]
) -> tuple[TokenMeta, ...]:
    """The coin, its wrapped form, the base asset, the rule's pair; all registered ones where they are few."""
    found: dict[str, TokenMeta] = {NATIVE: chain.native()}
    for reference in (golem.base_asset, *((rule.token_a, rule.token_b) if rule else ())):
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


def _find_deployment(chain_id: int) -> Deployment | None:
    with suppress(ChainNotSupported):
        return deployment_on(chain_id)
    return None


def _warm(
    chain: ChainReader,
    golem: GolemView,
    tokens: Sequence[TokenMeta],
    deployment: Deployment | None,
    known: Mapping[str, Any],
) -> None:
    """Ask everything that will be asked, at once."""
    calls: list[ReadCall] = []
    if golem.address is not None:
        calls += [ReadCall(each.address, BALANCE_OF, (golem.address,)) for each in tokens if not each.is_native]
        if deployment is not None:
            calls += _position_calls(deployment, golem.address, known)
    if known.get("pool"):
        calls += [ReadCall(known["pool"], signature) for signature in (pool_reads.SLOT0, pool_reads.LIQUIDITY)]
    chain.preload(calls=calls, prices_of=tokens, accounts=[golem.address] if golem.address is not None else [])


def _feed_of(chain_id: int, token: TokenMeta) -> Any:
    named = get_deployment(chain_id)
    feed = named.feeds.get(token.address)
    return named.feeds.get(NATIVE) if feed is None and token.address == named.wrapped_native else feed


def _position_calls(deployment: Deployment, owner: str, known: Mapping[str, Any]) -> list[ReadCall]:
    """The reads `list_position_ids` and `read_positions` will make if nothing changed since."""
    manager = deployment.v3_position_manager
    held = int(known.get("held", 0))
    calls = [ReadCall(manager, position_reads.NFT_BALANCE, (owner,))]
    calls += [
        ReadCall(manager, position_reads.NFT_BY_INDEX, (owner, index))
        for index in range(max(0, held - MOST_POSITIONS), held)
    ]
    for row in known.get("positions", ()):
        position_id, pool, lower, upper = row["id"], row["pool"], row["lower"], row["upper"]
        key = pool_position_key(manager, lower, upper)
        pair = (row["token0"], row["token1"], row["fee"])
        calls += [
            ReadCall(manager, each, (position_id,)) for each in (position_reads.POSITIONS, position_reads.OWNER_OF)
        ]
        calls.append(ReadCall(deployment.v3_factory, pool_reads.GET_POOL, pair))
        calls += [
            ReadCall(pool, each)
            for each in (
                pool_reads.SLOT0, pool_reads.LIQUIDITY, position_reads.FEE_GROWTH0, position_reads.FEE_GROWTH1,
            )
        ]  # fmt: skip
        calls += [ReadCall(pool, position_reads.TICKS, (tick,)) for tick in (lower, upper)]
        calls.append(ReadCall(pool, position_reads.POOL_POSITION, (key,)))
    return calls


def _find_pool(
    chain: ChainReader,
    deployment: Deployment | None,
    rule: LiquidityRule | None,
    known: Mapping[str, Any],
    anomalies: list[str],
) -> Pool | None:
    """The rule's pool at this block; its address is looked up once and then remembered."""
    if rule is None or deployment is None:
        return None
    try:
        pair = sort_tokens(chain.token(rule.token_a).address, chain.token(rule.token_b).address)
    except TokenNotFound:
        return None
    address = known.get("pool")
    if address is None or known.get("pair") != [*pair, rule.fee_tier]:
        address = chain.call(deployment.v3_factory, pool_reads.GET_POOL, *pair, rule.fee_tier)[0]
    if address == ZERO_ADDRESS:
        anomalies.append(f"POOL_NOT_FOUND: no V3 pool of {rule.token_a} and {rule.token_b} at {rule.fee_tier}")
        return None
    slot0, liquidity = chain.call_many([ReadCall(address, pool_reads.SLOT0), ReadCall(address, pool_reads.LIQUIDITY)])
    if not (slot0.ok and liquidity.ok and slot0.values[0]):
        anomalies.append(f"POOL_UNREADABLE: {address}")
        return None
    return Pool(
        "v3", address, *pair, rule.fee_tier, sqrt_price=slot0.values[0], pool_tick=slot0.values[1],
        liquidity=liquidity.values[0],
    )  # fmt: skip


def _read_holdings(
    chain: ChainReader, golem: GolemView, tokens: Iterable[TokenMeta], anomalies: list[str]
) -> list[Holding]:
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
        found.append(Holding(token, raw, _read_price(chain, token, raw, anomalies)))
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
    deployment: Deployment | None,
    held: Iterable[Holding],
    known: Mapping[str, Any],
) -> tuple[tuple[HeldPosition, ...], dict[str, Any]]:
    if golem.address is None or deployment is None:
        return (), {}
    ids, count = list_position_ids(chain, deployment, golem.address, limit=MOST_POSITIONS)
    looks = int(known.get("looks", 0)) + 1
    empty = set(known.get("empty", ())) & set(ids) if looks % _LOOKS_BETWEEN_EMPTY_ONES else set()
    asked = read_positions(chain, deployment, [each for each in ids if each not in empty])
    found = [each for each in asked if each.liquidity or each.fees0 or each.fees1]
    empty |= {each.position_id for each in asked} - {each.position_id for each in found}
    prices = {each.token.address: each for each in held}
    rows = [
        {
            "id": each.position_id, "pool": each.pool.address, "token0": each.pool.token0, "token1": each.pool.token1,
            "fee": each.pool.fee, "lower": each.tick_lower, "upper": each.tick_upper,
        }
        for each in found
    ]  # fmt: skip
    valued = tuple(_value_position(each, prices) for each in found)
    return valued, {"held": count, "positions": rows, "empty": sorted(empty), "looks": looks}


def _value_position(position: position_reads.Position, prices: Mapping[str, Holding]) -> HeldPosition:
    sides = (prices.get(position.pool.token0), prices.get(position.pool.token1))
    plain = HeldPosition(position, None, None)
    if any(side is None or side.price is None for side in sides):
        return plain
    amounts = position.amounts()
    fees = (position.fees0, position.fees1)
    worth, earned = (
        sum(
            value_of(raw, side.token, side.price)
            for raw, side in zip(each, sides, strict=True)
            if side is not None and side.price is not None
        )
        for each in (amounts, fees)
    )
    return replace(plain, micro_usd=worth + earned, fees_micro_usd=earned)


def _price_of(chain: ChainReader, pool: Pool | None, held: Iterable[Holding]) -> tuple[int | None, int | None]:
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
        side0.price.answer * 10 ** (side1.token.decimals + side1.price.decimals) * _PRICE_UNIT
        // (side1.price.answer * 10 ** (side0.token.decimals + side0.price.decimals))
    )  # fmt: skip
    return price, deviation_bps(pool_price=price, feed_price=fair)


def _total(chain_id: int, held: Sequence[Holding], positions: Iterable[HeldPosition]) -> int | None:
    """Micro-USD of what has a feed; None while one of those feeds does not answer.

    A golem must not look poor, and fall into a worse phase for good, because a price is missing for a while.
    """
    missing = {each.token.address for each in held if each.price is None and _feed_of(chain_id, each.token)}
    if any(each.raw and each.token.address in missing for each in held):
        return None
    for each in positions:
        if each.micro_usd is None and {each.position.pool.token0, each.position.pool.token1} & missing:
            return None
    priced = [each.micro_usd for each in held if each.micro_usd is not None]
    if not priced:
        return None
    return sum(priced) + sum(each.micro_usd for each in positions if each.micro_usd is not None)


def _remember_pool(pool: Pool | None) -> dict[str, Any]:
    return {} if pool is None else {"pool": pool.address, "pair": [pool.token0, pool.token1, pool.fee]}
