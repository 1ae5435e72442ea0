"""An account that holds nothing costs one question a protocol, and no saving changes what is told of one that does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.evm.world import CHAIN_ID, World
from tests.live_golem import LiveGolem
from tests.permits_app.test_shelf_costs import WORLDS, hold_at_five
from tests.tools_app.factories import make_context
from tools_app.chain.networks import MULTICALL3
from tools_app.portfolio.read_all_positions import HeldAt, list_known, read_positions
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.positions import Position, PositionsUnreadable, drive
from tools_app.toolkit.prefetch_memory import RECALLED
from tools_app.toolkit.protocol import SHELF

NOBODY = "0x" + "12" * 20
BY_RECEIPTS = ("across",)
"""What an account has there is known from its own receipts alone: without any nothing is asked."""
REVERTS = "0x5f5ffd"
pytestmark = pytest.mark.protocols(*WORLDS)


def count_questions(world: World, account: str) -> dict[str, int]:
    """How much each protocol asks of an account, as read the second time."""
    reader = make_context(world, address=account).chain()
    read_positions(chain=reader, account=account)
    found: dict[str, int] = {}
    for protocol in list_known(CHAIN_ID):
        asked: list[ReadCall] = []

        def call_many(calls: Sequence[ReadCall], asked: list[ReadCall] = asked) -> Sequence[ReadOutcome]:
            asked.extend(calls)
            return reader.call_many(calls)

        drive(HeldAt(CHAIN_ID, account, (protocol,)).ask_each(), call_many)
        found[protocol.name] = len(asked)
    return found


def read(world: World, account: str) -> tuple[Position, ...]:
    return read_positions(chain=make_context(world, address=account).chain(), account=account)


def pool_of(name: str) -> str:
    protocol = SHELF.get(name)
    assert protocol is not None
    address = protocol.address(CHAIN_ID, protocol.entry)
    assert address is not None
    return address


def test_an_account_that_holds_nothing_costs_one_question_a_protocol(local_chain: World) -> None:
    found = count_questions(local_chain, NOBODY)
    assert found == dict.fromkeys((each.name for each in list_known(CHAIN_ID)), 1) | dict.fromkeys(BY_RECEIPTS, 0)
    assert len(found) > len(WORLDS)


def test_a_chain_without_an_aggregator_tells_the_same_positions(live_golem: LiveGolem) -> None:
    hold_at_five(live_golem)
    world, account = live_golem.world, live_golem.golem.address
    told = read(world, account)
    assert len({each.ref.protocol for each in told}) == 5
    world.rpc.call("anvil_setCode", MULTICALL3, "0x")
    # Maker and Morpho ask the aggregator what time it is, as they did before.
    there = ("aave_v3", "spark", "erc4626")
    reader = make_context(world, address=account).chain()
    alone = HeldAt(CHAIN_ID, account, tuple(each for each in list_known(CHAIN_ID) if each.name in there))
    found = [each for _, some in drive(alone.ask_each(), reader.call_many) if isinstance(some, tuple) for each in some]
    assert found == [each for each in told if each.ref.protocol in there]


def test_a_reserve_that_was_listed_since_the_last_reading_is_read_too(live_golem: LiveGolem) -> None:
    hold_at_five(live_golem)
    world, account, pool = live_golem.world, live_golem.golem.address, pool_of("aave_v3")
    told = read(world, account)
    RECALLED.put(CHAIN_ID, pool, RECALLED.get(CHAIN_ID, pool)[:1])
    assert read(world, account) == told
    RECALLED.put(CHAIN_ID, pool, tuple(reversed(RECALLED.get(CHAIN_ID, pool))))
    assert read(world, account) == told


def test_a_protocol_that_is_there_and_does_not_tell_is_never_taken_for_absent(live_golem: LiveGolem) -> None:
    hold_at_five(live_golem)
    world, account, pool = live_golem.world, live_golem.golem.address, pool_of("aave_v3")
    told = read(world, account)
    world.rpc.call("anvil_setCode", pool, REVERTS)
    with pytest.raises(PositionsUnreadable, match="aave_v3"):
        read(world, account)
    world.rpc.call("anvil_setCode", pool, "0x")
    assert read(world, account) == tuple(each for each in told if each.ref.protocol != "aave_v3")
