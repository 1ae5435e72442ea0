"""What an account has at Uniswap: V3 and V4 positions (`nft`, by their token id), V2 shares (`share`, by their pair).

Every V3 position is listed by its manager; of an account that somebody buried under more than can be read, those that
hints name and the newest are, and one more position says how many are not. V4's manager lists nobody's positions: those
that hints name are read, where the account has more the newest of all are looked at, and logs tell of what came to it
before. The same goes for V3 positions that lie at the staker of rewards: they stay what they were, are worth the same
and say that they are staked. V2 shares are looked for in the pairs of registered tokens, and in those that hints name.
Legs are at the feeds' ratio, fees included. Where a token has no feed the other side counts with its fees alone,
`facts["unpriced"]` says why, and who sums up meets a leg without a price.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import isqrt
from typing import Final

from tools_app.chain.abi import checksum
from tools_app.chain.deployments import Deployment as KnownChain
from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.units import format_units
from tools_app.protocols.uniswap.addresses import NAME, UniswapDeployment, find_deployment
from tools_app.protocols.uniswap.fair_amounts import FeedRatios, FeedReads, sqrt_price_of
from tools_app.protocols.uniswap.liquidity_mining.addresses import mining_on
from tools_app.protocols.uniswap.liquidity_mining.deposits import DEPOSITS
from tools_app.protocols.uniswap.pool_addresses import v2_pair_address, v3_pool_address
from tools_app.protocols.uniswap.pools import BALANCE_OF, GET_RESERVES, TOKEN0, TOKEN1
from tools_app.protocols.uniswap.positions_in_logs import NFT, SHARE, find_born, is_v4_ref
from tools_app.protocols.uniswap.v2 import math as v2_math
from tools_app.protocols.uniswap.v3 import positions as v3
from tools_app.protocols.uniswap.v4 import positions as v4_reads
from tools_app.protocols.uniswap.v4.addresses import V4Contracts, v4_on
from tools_app.standards.paused_tokens import StillReads
from tools_app.standards.pool_maths import reserves_at
from tools_app.toolkit.context import AbiValues, ReadCall, ReadOutcome
from tools_app.toolkit.markets import sort_tokens
from tools_app.toolkit.pool_hooks import PoolHooks
from tools_app.toolkit.positions import (
    LOCKED_WORDS,
    Act,
    ExitStep,
    Leg,
    Position,
    PositionRef,
    PositionsUnreadable,
    Reads,
    ShareIndex,
    Stuck,
    Wait,
    gather,
)
from tools_app.toolkit.views import NATIVE, LogEntry

MOST_NFTS: Final = 1_000
"""So many V3 positions of an account are read, besides those that hints name."""
STEP_OF_NEWEST: Final = 64
"""The first of the newest is a multiple of it, so that a plan that opens a position hardly ever moves it."""
BEYOND: Final = "beyond"
"""The id under which the positions that are not read are told."""
_SUPPLY: Final = "function totalSupply() view returns (uint256)"
K_LAST: Final = "function kLast() view returns (uint256)"
_SHARE_CALLS: Final = 3
_INDEX_SCALE: Final = 10**18
_PERCENT_DECIMALS: Final = 4


class UniswapPositions:
    """Reads V3 positions and V2 shares."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Every position with something in it; for an account without any, one batch. Raises PositionsUnreadable."""
        place = find_deployment(chain_id)
        if place is None:
            return ()
        found = _Here(chain_id, place, load_deployment(KNOWN_NETWORKS[chain_id]))
        pairs = dict(_registered_pairs(place.v2_factory, tuple(token.address for token in found.known.tokens)))
        hinted = [ref.id for ref in hints if ref.kind == SHARE and ref.id not in pairs]
        v4, mining = v4_on(chain_id), mining_on(chain_id)
        numbers = [] if v4 is None else sorted({v4_reads.number_of(ref.id) for ref in hints if is_v4_ref(ref)})
        hinted_v3 = [] if mining is None else _list_v3(hints)
        counted, balances, named, counted_newer, newer, kept = yield from gather(
            [ReadCall(place.v3_position_manager, v3.NFT_BALANCE, (account,))],
            [ReadCall(pair, BALANCE_OF, (account,)) for pair in (*pairs, *hinted)],
            [ReadCall(pair, signature) for pair in hinted for signature in (TOKEN0, TOKEN1)],
            [] if v4 is None else v4_reads.count_calls(v4, account),
            [call for number in numbers if v4 is not None for call in v4_reads.record_calls(v4, number)],
            [ReadCall(mining.staker, DEPOSITS, (number,)) for number in hinted_v3 if mining is not None],
        )
        staked = {
            number: int(told.values[1])
            for number, told in zip(hinted_v3, kept, strict=True)
            if told.ok and told.values[0] == account
        }
        told = dict(zip((*pairs, *hinted), balances, strict=True))
        pairs.update(_confirm(place, hinted, named))
        held = {pair: amount for pair in pairs if (amount := _read_shares(told[pair], pair))}
        (count,) = _answer(counted[0], "how many V3 positions there are")
        nfts = _Nfts.of(count, [ref for ref in hints if ref.kind == NFT and ref.protocol == NAME])
        older: tuple[Position, ...] = ()
        if count or held or staked:
            older = yield from _read_held(found, account, nfts, {pair: pairs[pair] for pair in held}, held, staked)
        if v4 is None:
            return older
        return (*older, *(yield from _read_v4(found, v4, account, numbers, newer, counted_newer)))

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """Those that logs tell of."""
        return find_born(logs, account, chain_id)


class UniswapExits:
    """Out of a V3 or V4 position: take liquidity and fees out, then what fees are left. V2 shares are given back."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """The tool that takes out what is in it; where one of its tokens stands still both wait for that."""
        if position.locked and not position.facts.get("is_at_staker"):
            return Wait(None, LOCKED_WORDS[position.locked[0].reason])
        if position.ref.kind == SHARE:
            pair = {"pair": position.ref.id, "chain_id": position.ref.chain_id}
            return Act("uniswap_lp_remove_shares", pair, "its shares are given back for both tokens")
        if position.ref.id == BEYOND:
            return Stuck(f"{position.facts['not_read']} V3 positions are more than can be read; name those to leave")
        wanted = {"position_id": position.ref.id, "chain_id": position.ref.chain_id}
        if position.facts.get("is_at_staker"):
            return Act("uniswap_lp_unstake_position", wanted, "it comes back from the staker")
        if int(position.facts["liquidity"]):
            return Act("uniswap_lp_remove_liquidity", wanted, "its liquidity and fees are taken back")
        if int(position.facts["fees0"]) or int(position.facts["fees1"]):
            return Act("uniswap_lp_collect_fees", wanted, "its fees are taken back")
        return None


def _list_v3(hints: Sequence[PositionRef]) -> list[int]:
    """The numbers of V3 positions among them."""
    return sorted({int(ref.id) for ref in hints if ref.kind == NFT and ref.id.isdecimal() and int(ref.id) < 2**256})


@dataclass(frozen=True, slots=True)
class _Here:
    """Uniswap on one chain, and what is known of the chain."""

    chain_id: int
    place: UniswapDeployment
    known: KnownChain

    def name(self, token: str) -> str:
        symbols = {NATIVE: KNOWN_NETWORKS[self.chain_id].native_symbol}
        symbols.update({each.address: each.symbol for each in self.known.tokens})
        return symbols.get(token, f"{token[:6]}..{token[-4:]}")

    def pool_of(self, record: v3.V3Record) -> str:
        return v3_pool_address(self.place.v3_factory, record.token0, record.token1, record.fee)


@dataclass(frozen=True, slots=True)
class _Nfts:
    """Which V3 positions of an account are read: those with an index from `first` on, and the `hinted` ids."""

    count: int
    first: int = 0
    hinted: tuple[int, ...] = ()

    @classmethod
    def of(cls, count: int, hints: Sequence[PositionRef]) -> _Nfts:
        """All of them, or the newest and those that were met before."""
        if count <= MOST_NFTS:
            return cls(count)
        first = -(-(count - MOST_NFTS) // STEP_OF_NEWEST) * STEP_OF_NEWEST
        return cls(count, min(first, count - 1), tuple(_list_v3(hints)))

    def tell_beyond(self, here: _Here, read: int) -> tuple[Position, ...]:
        """A position that stands for those that were not read; nothing that counts it is complete."""
        left = self.count - read
        if left <= 0:
            return ()
        ref = PositionRef(NAME, NFT, here.chain_id, BEYOND)
        facts = {"held": str(self.count), "not_read": str(left), "liquidity": "0", "fees0": "0", "fees1": "0"}
        return (Position(ref, f"{left} more Uniswap V3 positions, not read", (), facts=facts, is_whole=False),)


def _read_held(
    here: _Here,
    account: str,
    nfts: _Nfts,
    pairs: Mapping[str, tuple[str, str]],
    held: Mapping[str, int],
    staked: Mapping[int, int],
) -> Reads[tuple[Position, ...]]:
    """`staked` are V3 positions at the staker, each with the number of its stakes."""
    manager = here.place.v3_position_manager
    share_feeds = FeedReads.of(here.known, [token for pair in pairs.values() for token in pair])
    still_in_pairs = StillReads.of(here.chain_id, _list_ways(pairs.items(), account))
    numbered, owners, states, prices, stopped = yield from gather(
        [ReadCall(manager, v3.NFT_BY_INDEX, (account, index)) for index in range(nfts.first, nfts.count)],
        [ReadCall(manager, v3.OWNER_OF, (each,)) for each in nfts.hinted],
        [ReadCall(pair, signature) for pair in pairs for signature in (_SUPPLY, GET_RESERVES, K_LAST)],
        share_feeds.calls,
        still_in_pairs.calls,
    )
    ratios, still_ones = share_feeds.read(prices), still_in_pairs.read(stopped)
    shares = [
        _make_share(here, pair, tokens, held[pair], states[_SHARE_CALLS * i : _SHARE_CALLS * (i + 1)], ratios)
        for i, (pair, tokens) in enumerate(pairs.items())
    ]
    shares = [replace(each, locked=still_ones.lock(each.legs, each.ref.id, account)) for each in shares]
    if not nfts.count and not staked:
        return tuple(shares)
    ids = [_answer(outcome, "which V3 positions there are")[0] for outcome in numbered]
    # One that is burned has no owner, and one that was sent away another.
    still = [each for each, told in zip(nfts.hinted, owners, strict=True) if told.ok and told.values[0] == account]
    ids = list(dict.fromkeys((*ids, *still)))
    at_home = len(ids)
    ids += [each for each in staked if each not in ids]
    told = yield [ReadCall(manager, v3.POSITIONS, (each,)) for each in ids]
    records = [
        v3.make_record(str(each), account, _answer(outcome, f"V3 position {each}"))
        for each, outcome in zip(ids, told, strict=True)
    ]
    # A closed position is kept by its manager for ever.
    open_ones = [each for each in records if each.liquidity or any(each.owed)]
    feeds = FeedReads.of(here.known, [token for each in open_ones for token in (each.token0, each.token1)])
    ways = _list_ways(((here.pool_of(each), (each.token0, each.token1)) for each in open_ones), account)
    still_in_pools = StillReads.of(here.chain_id, ways)
    states, prices, stopped = yield from gather(
        [call for each in open_ones for call in v3.state_calls(each, here.pool_of(each), manager=manager)],
        feeds.calls,
        still_in_pools.calls,
    )
    ratios, still_ones = feeds.read(prices), still_in_pools.read(stopped)
    size = v3.STATE_CALLS
    made = [
        _make_nft(here, each, states[size * i : size * (i + 1)], ratios, stakes=staked.get(int(each.position_id)))
        for i, each in enumerate(open_ones)
    ]
    made = [replace(each, locked=still_ones.lock(each.legs, str(each.facts["pool"]), account)) for each in made]
    return (*shares, *(each for each in made if any(leg.raw for leg in each.legs)), *nfts.tell_beyond(here, at_home))


def _read_v4(
    here: _Here,
    v4: V4Contracts,
    account: str,
    numbers: Sequence[int],
    told: Sequence[ReadOutcome],
    counted: Sequence[ReadOutcome],
) -> Reads[tuple[Position, ...]]:
    """V4 positions at the feeds' ratio, with their fees: those of `numbers`, and where the account has more, those
    among the newest of all. A plan that opens one is measured so.
    """
    if all(each.is_absent for each in counted) and not numbers:
        # Where V4 is not, nothing was opened.
        return ()
    for outcome in counted:
        _answer(outcome, "how many V4 positions there are")
    records = v4_reads.make_records(numbers, told)
    own = [each for each in records if each.owner == account]
    (held,), (next_number,) = (each.values for each in counted)
    if held > len(own):
        newest = [each for each in v4_reads.list_newest(next_number) if each not in numbers]
        owners = yield [v4_reads.owner_call(v4, each) for each in newest]
        mine = [each for each, owner in zip(newest, owners, strict=True) if owner.ok and owner.values[0] == account]
        more = yield [call for each in mine for call in v4_reads.record_calls(v4, each)]
        own += [each for each in v4_reads.make_records(mine, more) if each.owner == account]
    # One that is empty stays with its owner until it is burned.
    own = [each for each in own if each.liquidity]
    feeds = FeedReads.of(here.known, [token for each in own for token in each.tokens])
    asked = [call for each in own for call in v4_reads.state_calls(each, v4)]
    # The manager holds the tokens of all pools.
    still_there = StillReads.of(here.chain_id, _list_ways(((v4.manager, each.tokens) for each in own), account))
    states, prices, stopped = yield from gather(asked, feeds.calls, still_there.calls)
    ratios, size, made = feeds.read(prices), v4_reads.STATE_CALLS, []
    still_ones = still_there.read(stopped)
    for i, record in enumerate(own):
        outcomes = states[size * i : size * (i + 1)]
        for outcome in outcomes:
            _answer(outcome, f"the pool of V4 position {record.number}")
        told_of = _describe_nft(here, v4_reads.make_position(record, v4, outcomes), ratios)
        made.append(replace(told_of, locked=still_ones.lock(told_of.legs, v4.manager, account)))
    return tuple(each for each in made if any(leg.raw for leg in each.legs))


def _list_ways(held: Iterable[tuple[str, tuple[str, str]]], account: str) -> Iterator[tuple[str, str]]:
    """Each token with who holds it and with who would get it: frozen at either it does not move. `held` are holders
    and the tokens that lie with them.
    """
    return ((token, at) for holder, tokens in held for token in tokens for at in (holder, account))


def _make_nft(
    here: _Here, record: v3.V3Record, outcomes: Sequence[ReadOutcome], ratios: FeedRatios, *, stakes: int | None
) -> Position:
    for outcome in outcomes:
        _answer(outcome, f"the pool of V3 position {record.position_id}")
    made = _describe_nft(here, v3.make_position(record, here.pool_of(record), outcomes), ratios)
    if stakes is None:
        return made
    facts = {**made.facts, "is_at_staker": True, "stakes": str(stakes)}
    return replace(made, label=f"{made.label}, at the staker", facts=facts)


def _describe_nft(here: _Here, read: v3.V3Position, ratios: FeedRatios) -> Position:
    pool = read.pool
    ratio = ratios.between(pool.token0, pool.token1)
    now = read.amounts()
    legs = _make_legs(
        (pool.token0, pool.token1),
        fair=read.amounts(sqrt_price=sqrt_price_of(ratio)) if ratio else None,
        present=now,
        fees=(read.fees0, read.fees1),
        ratios=ratios,
    )
    facts = {
        "version": pool.version,
        "pool": pool.id,
        "token0": pool.token0,
        "token1": pool.token1,
        "fee": str(pool.fee),
        "tick_lower": str(read.tick_lower),
        "tick_upper": str(read.tick_upper),
        "in_range": read.is_in_range,
        "pool_tick": str(pool.pool_tick),
        "liquidity": str(read.liquidity),
        "fees0": str(read.fees0),
        "fees1": str(read.fees1),
        "at_pool_price0": str(now[0]),
        "at_pool_price1": str(now[1]),
        **_say_unpriced(pool.token0, pool.token1, ratios),
        **({} if pool.hooks is None else _tell_hook(pool.hooks)),
    }
    pair = f"{here.name(pool.token0)}/{here.name(pool.token1)}"
    number, share = read.position_id.removeprefix(v4_reads.PREFIX), format_units(pool.fee, _PERCENT_DECIMALS)
    label = f"Uniswap {pool.version.upper()} {pair} {share}% position {number}"
    return Position(PositionRef(NAME, NFT, here.chain_id, read.position_id), label, legs, facts=facts)


def _tell_hook(hooks: PoolHooks) -> dict[str, object]:
    powers = [str(power) for power in hooks.powers]
    return {"hook": hooks.address, "hook_could": hooks.words, "hook_powers": powers, "hook_is_risky": hooks.is_risky}


def _make_share(
    here: _Here,
    pair: str,
    tokens: tuple[str, str],
    held: int,
    outcomes: Sequence[ReadOutcome],
    ratios: FeedRatios,
) -> Position:
    (supply,), (reserve0, reserve1, _), (k_last,) = (_answer(each, f"the pair {pair}") for each in outcomes)
    supply += v2_math.protocol_shares(supply, reserve0, reserve1, k_last)
    ratio = ratios.between(*tokens)
    now = (reserve0 * held // supply, reserve1 * held // supply)
    fair = reserves_at(ratio, reserve0, reserve1) if ratio else None
    legs = _make_legs(
        tokens,
        fair=(fair[0] * held // supply, fair[1] * held // supply) if fair else None,
        present=now,
        fees=(0, 0),
        ratios=ratios,
    )
    facts = {
        "version": "v2",
        "pool": pair,
        "token0": tokens[0],
        "token1": tokens[1],
        "shares": str(held),
        "at_pool_price0": str(now[0]),
        "at_pool_price1": str(now[1]),
        **_say_unpriced(*tokens, ratios),
    }
    label = f"Uniswap V2 {here.name(tokens[0])}/{here.name(tokens[1])} shares"
    ref = PositionRef(NAME, SHARE, here.chain_id, pair)
    # A gift to the pair grows what a share stands for as fees do: the root of the reserves' product.
    index = ShareIndex(pair, isqrt(reserve0 * reserve1) * _INDEX_SCALE // supply, held)
    return Position(ref, label, legs, claim_tokens=frozenset({pair}), facts=facts, share_index=index)


def _make_legs(
    tokens: tuple[str, str],
    *,
    fair: tuple[int, int] | None,
    present: tuple[int, int],
    fees: tuple[int, int],
    ratios: FeedRatios,
) -> tuple[Leg, ...]:
    """At the feeds' ratio; without one, nothing of a token with a price is taken from the pool's word, and the token
    without one is there so that no sum passes for complete.
    """
    if fair is not None:
        return tuple(Leg(token, amount + fee) for token, amount, fee in zip(tokens, fair, fees, strict=True))
    return tuple(
        Leg(token, fee if token in ratios.prices else max(1, amount + fee))
        for token, amount, fee in zip(tokens, present, fees, strict=True)
    )


def _say_unpriced(token0: str, token1: str, ratios: FeedRatios) -> dict[str, object]:
    missing = ratios.unpriced(token0, token1)
    return {"unpriced": missing} if missing else {}


@lru_cache(maxsize=64)
def _registered_pairs(factory: str, tokens: tuple[str, ...]) -> Mapping[str, tuple[str, str]]:
    pairs = [sort_tokens(*pair) for pair in combinations(tokens, 2)]
    return {v2_pair_address(factory, *pair): pair for pair in pairs}


def _confirm(
    place: UniswapDeployment, hinted: Iterable[str], named: Sequence[ReadOutcome]
) -> dict[str, tuple[str, str]]:
    """The hinted addresses at which the factory makes a pair of the tokens they name."""
    found = {}
    for index, pair in enumerate(hinted):
        token0, token1 = named[2 * index], named[2 * index + 1]
        if token0.ok and token1.ok:
            tokens = (checksum(token0.values[0]), checksum(token1.values[0]))
            if v2_pair_address(place.v2_factory, *tokens) == pair:
                found[pair] = tokens
    return found


def _read_shares(outcome: ReadOutcome, pair: str) -> int:
    """Shares of a pair; none where nobody made it yet. Raises PositionsUnreadable."""
    return 0 if outcome.is_absent else int(_answer(outcome, f"how many shares of {pair} there are")[0])


def _answer(outcome: ReadOutcome, what: str) -> AbiValues:
    if not outcome.ok:
        raise PositionsUnreadable(f"Uniswap does not tell {what}: {outcome.revert_reason}")
    return outcome.values
