"""Pools that were met before are read without asking their factory; what is remembered never makes a pool up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from golem_project.embedded.world.artifacts import fetch_artifacts
from tests.evm.world import World
from tests.permits_app.execution.chain_tricks import mine
from tests.tools_app.factories import make_context
from tools_app.protocols.uniswap import event_and_error_names, pools
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.pools import (
    FEE,
    GET_PAIR,
    GET_POOL,
    TOKEN0,
    TOKEN1,
    ZERO_ADDRESS,
    find_pools,
    recognize_pools,
)
from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.views import BlockRef


@pytest.fixture(autouse=True)
def nothing_met() -> Iterator[None]:
    kept = dict(pools._MET)
    pools._MET.clear()
    pools._ABSENT.clear()
    yield
    pools._MET.clear()
    pools._ABSENT.clear()
    pools._MET.update(kept)


class Watched:
    """A reader that counts its batches and the questions to factories in them."""

    def __init__(self, reader: ChainReader) -> None:
        self._reader = reader
        self.batches: list[int] = []

    @property
    def block(self) -> BlockRef:
        return self._reader.block

    def call_many(self, calls: list[ReadCall]) -> list[ReadOutcome]:
        self.batches.append(sum(call.signature in (GET_PAIR, GET_POOL) for call in calls))
        return self._reader.call_many(calls)


def find(chain: World) -> tuple[list[pools.Pool], list[int]]:
    reader = make_context(chain, address=chain.actors.traders[0].address).chain(31337)
    watched = Watched(reader)
    tokens = [chain.tokens[symbol].address for symbol in ("USDC", "WETH", "DAI")]
    pairs = [(tokens[0], tokens[1]), (tokens[1], tokens[2]), (tokens[2], tokens[0])]
    return find_pools(watched, deployment_on(31337), pairs), watched.batches  # type: ignore[arg-type]


def test_the_second_look_is_one_batch_and_finds_the_same_pools(chain: World) -> None:
    first, asked_first = find(chain)
    second, asked_second = find(chain)

    assert first == second
    assert len(first) > 2
    assert asked_first == [15, 0]
    assert asked_second == [0]


def test_what_a_factory_did_not_have_is_asked_for_again_in_the_next_block(chain: World) -> None:
    first, _ = find(chain)
    mine(chain)
    second, asked = find(chain)

    assert second == first
    assert asked == [15 - len(first)]


def test_a_pool_that_is_not_there_any_more_is_left_out(chain: World) -> None:
    found, _ = find(chain)
    place, address = next(iter(pools._MET.items()))
    pools._MET[place] = "0x00000000000000000000000000000000DeaDBeef"
    left, _ = find(chain)

    assert [pool.id for pool in left] == [pool.id for pool in found if pool.id != address]


def test_what_is_remembered_is_bounded(chain: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "_MOST_REMEMBERED", 2)
    found, _ = find(chain)

    assert max(len(pools._MET), len(pools._ABSENT)) <= 2
    assert len(found) > 2


def test_pools_are_recognized_among_other_contracts_in_two_round_trips(chain: World) -> None:
    found, _ = find(chain)
    context = make_context(chain, address=chain.actors.traders[0].address)
    watched = Watched(context.chain(31337))
    others = [chain.tokens["USDC"].address, chain.actors.traders[0].address]
    recognized = recognize_pools(watched, deployment_on(31337), [*others, *(pool.id for pool in found)])  # type: ignore[arg-type]

    assert watched.batches == [0, len(found)]
    assert {(p.version, p.id, p.token0, p.token1, p.fee) for p in recognized.values()} == {
        (p.version, p.id, p.token0, p.token1, p.fee) for p in found
    }


class Impostor:
    """Everything says that it is a pool, and no factory knows it."""

    def call_many(self, calls: list[ReadCall]) -> list[ReadOutcome]:
        says = {TOKEN0: "0x" + "11" * 20, TOKEN1: "0x" + "22" * 20, FEE: 500, GET_POOL: ZERO_ADDRESS}
        return [ReadOutcome(ok=True, values=(says[call.signature],)) for call in calls]


def test_what_no_factory_names_is_no_pool() -> None:
    assert recognize_pools(Impostor(), deployment_on(1), ["0x" + "33" * 20]) == {}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("package", "file"),
    [
        ("uniswap_v2_core", "build/UniswapV2Pair.json"),
        ("uniswap_v3_core", "artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json"),
    ],
)
def test_whatever_moves_tokens_out_of_a_pool_or_into_it_has_a_name_in_a_trace(package: str, file: str) -> None:
    """As the makers' own package lists what a pool can be asked for; owners of factories are not ours to name."""
    told = {each["name"]: each for each in fetch_artifacts()._read(package, file)["abi"] if each["type"] == "function"}
    named = {text.removeprefix("function ").partition("(")[0] for text in event_and_error_names.INNER_CALLS}
    moving = {"swap", "mint", "burn", "collect", "skim", "sync"} & told.keys()
    assert moving <= named and {"swap", "mint", "burn"} <= moving
    reads = {"slot0", "positions", "getReserves"} & told.keys()
    assert reads and reads <= named
