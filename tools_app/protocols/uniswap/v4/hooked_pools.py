"""V4's pools with hooks: the newest that were opened, small swaps in them, and the ways out of who is in one."""

from __future__ import annotations

from typing import Final

from tools_app.chain.abi import decode_log, encode_call, event_topic
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.hook_text import TEXTS
from tools_app.protocols.uniswap.v4 import liquidity_plans as plans
from tools_app.protocols.uniswap.v4.addresses import V4Contracts, v4_on
from tools_app.protocols.uniswap.v4.keys import COIN, NO_HOOK, PoolKey
from tools_app.protocols.uniswap.v4.opened_pools import OPENED, read_opened_key
from tools_app.protocols.uniswap.v4.pools import key_of, pool_of
from tools_app.protocols.uniswap.v4.positions import HELD, INFO, NEXT, OWNER, read_ticks
from tools_app.protocols.uniswap.v4.quotes import list_steps, quote_call
from tools_app.standards import erc20, permit2
from tools_app.standards.concentrated import (
    FEE_DENOMINATOR,
    amount0_between,
    amount1_between,
    amounts_for_liquidity,
    sqrt_price_at_tick,
)
from tools_app.standards.permit2 import PERMIT2
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.hooked_pools import Holder, PoolsFound, SwapTried
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import NATIVE

MOVED: Final = (
    "event ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper,"
    " int256 liquidityDelta, bytes32 salt)"
)
_RANGES: Final = 5
"""So many ranges of blocks, as wide as a node gives logs for, are looked through backwards from the head."""
_HOLDERS: Final = 8
_SMALL: Final = 10_000
_FAR: Final = 2**40
_CHANGE: Final = "Change liquidity"


class V4HookedPools:
    """Asks the manager's logs, the quoter and the position manager."""

    texts = TEXTS

    def discover(self, reader: ChainReader, pair: tuple[str, str] | None, *, most: int) -> PoolsFound:
        """From the logs of pools that were opened."""
        v4, wrapped = _contracts(reader), deployment_on(reader.chain_id).wrapped_native
        since = _since(reader)
        queries: list[list[object]] = [[event_topic(OPENED)]]
        if pair is not None:
            ends = [pair]
            if wrapped in pair:
                ends.append((COIN, pair[0] if pair[1] == wrapped else pair[1]))
            words = [tuple(_word(each) for each in sorted(two, key=lambda one: int(one, 16))) for two in ends]
            queries = [[event_topic(OPENED), None, *two] for two in words]
        logs = [
            log
            for topics in queries
            for log in reader.logs(address=v4.manager, topics=topics, from_block=since, to_block=reader.block.number)
        ]
        found = []
        for log in sorted(logs, key=lambda each: (each.block_number, each.log_index), reverse=True):
            key = read_opened_key(log)
            if key is not None and key.hooks != NO_HOOK:
                found.append(pool_of(key, v4, wrapped))
        return PoolsFound(tuple(found[:most]), len(found), since)

    def try_swaps(self, reader: ChainReader, pool: Pool) -> tuple[SwapTried, ...]:
        """A ten-thousandth of what lies at the price, each way."""
        v4, wrapped = _contracts(reader), deployment_on(reader.chain_id).wrapped_native
        if not pool.liquidity:
            return ()
        tried, calls = [], []
        for token_in in (pool.token0, pool.token1):
            amount, out = _price_small(pool, token_in)
            steps = list_steps([(pool, token_in)], wrapped)
            if amount and out and steps:
                tried.append((token_in, amount, out))
                calls.append(quote_call(v4, steps, amount, is_exact_out=False))
        answers = reader.call_many(calls) if calls else []
        return tuple(
            SwapTried(
                token_in,
                pool.other(token_in),
                amount,
                out,
                int(answer.values[0]) if answer.ok else None,
                "" if answer.ok else str(answer.revert_reason),
            )
            for (token_in, amount, out), answer in zip(tried, answers, strict=True)
        )

    def find_holder(self, reader: ChainReader, pool: Pool) -> Holder | None:
        """Of the newest positions the first with liquidity at the price."""
        v4 = _contracts(reader)
        logs = reader.logs(
            address=v4.manager,
            topics=[event_topic(MOVED), pool.id, _word(v4.positions)],
            from_block=_since(reader),
            to_block=reader.block.number,
        )
        told = [decode_log(MOVED, log) for log in reversed(logs)]
        ids = list(dict.fromkeys(int.from_bytes(each["salt"], "big") for each in told if each))[:_HOLDERS]
        if not ids:
            return None
        asked = [ReadCall(v4.positions, each, (number,)) for number in ids for each in (OWNER, HELD, INFO)]
        answers = reader.call_many([*asked, ReadCall(v4.positions, NEXT)])
        next_id = int(answers[-1].values[0]) if answers[-1].ok else 0
        for place, number in enumerate(ids):
            owner, held, info = answers[3 * place : 3 * place + 3]
            if not (owner.ok and held.ok and info.ok and held.values[0]):
                continue
            key, packed = info.values
            if PoolKey(*key).pool_id == pool.id:
                ticks = read_ticks(packed)
                return _make_holder(v4, pool, owner.values[0], number, int(held.values[0]), ticks, next_id)
        return None


def _make_holder(
    v4: V4Contracts, pool: Pool, owner: str, number: int, liquidity: int, ticks: tuple[int, int], next_id: int
) -> Holder:
    key, turned = key_of(pool), pool.token1 != key_of(pool).currency1 and key_of(pool).currency0 == COIN
    # In V4's own order: of a pool that is told the other way round the price is too.
    price = (1 << 192) // pool.sqrt_price if turned else pool.sqrt_price
    edges = (sqrt_price_at_tick(ticks[0]), sqrt_price_at_tick(ticks[1]))
    amounts = amounts_for_liquidity(price, *edges, liquidity, round_up=False)
    # Of what comes out something may be kept: half of it is there for a way in.
    less = liquidity // 2
    enters = amounts_for_liquidity(price, *edges, less, round_up=True)
    most = (enters[0] + 2, enters[1] + 2)
    currencies = (key.currency0, key.currency1)
    approvals: list[Call] = []
    for currency, amount in zip(currencies, most, strict=True):
        if currency != COIN and amount:
            approve = encode_call(erc20.APPROVE, PERMIT2, amount)
            through = encode_call(permit2.APPROVE, currency, v4.positions, amount, _FAR)
            approvals += [Call(currency, approve, 0, "Approve"), Call(PERMIT2, through, 0, "Approve through Permit2")]
    enter = plans.open_range(
        manager=v4.positions,
        key=key,
        ticks=ticks,
        liquidity=less,
        most=most,
        recipient=owner,
        deadline=_FAR,
        label=_CHANGE,
    )
    return Holder(
        account=owner,
        position_id=str(number),
        tokens=tuple(NATIVE if each == COIN else each for each in currencies),  # type: ignore[arg-type]
        amounts=amounts,
        enters=enters,
        out=(_leave(v4, plans.Held(number, key), liquidity, owner),),
        back_in=(*approvals, enter),
        out_again=(_leave(v4, plans.Held(next_id, key), less, owner),),
    )


def _leave(v4: V4Contracts, held: plans.Held, liquidity: int, owner: str) -> Call:
    return plans.shrink(
        manager=v4.positions,
        held=held,
        liquidity=liquidity,
        least=(0, 0),
        recipient=owner,
        deadline=_FAR,
        label=_CHANGE,
    )


def _price_small(pool: Pool, token_in: str) -> tuple[int, int]:
    """A small amount and what the liquidity at the price gives for it after the pool's fee, exactly."""
    price, liquidity, one = pool.sqrt_price, pool.liquidity, 1 << 96
    if token_in == pool.token0:
        amount = liquidity * one // price // _SMALL
        paid = amount * (FEE_DENOMINATOR - pool.fee) // FEE_DENOMINATOR
        after = liquidity * one * price // (liquidity * one + paid * price)
        return amount, amount1_between(after, price, liquidity, round_up=False)
    amount = liquidity * price // one // _SMALL
    paid = amount * (FEE_DENOMINATOR - pool.fee) // FEE_DENOMINATOR
    return amount, amount0_between(price, price + paid * one // liquidity, liquidity, round_up=False)


def _contracts(reader: ChainReader) -> V4Contracts:
    found = v4_on(reader.chain_id)
    if found is None:
        # Served chains are those of Uniswap, and on each of them V4 is known.
        deployment_on(reader.chain_id)
        raise AssertionError("a chain with Uniswap has V4's addresses")
    return found


def _since(reader: ChainReader) -> int:
    return max(0, reader.block.number - KNOWN_NETWORKS[reader.chain_id].max_log_range * _RANGES + 1)


def _word(address: str) -> str:
    return "0x" + address[2:].lower().rjust(64, "0")
