"""Private test chains: found from any process, seen by their golem only, and never left behind."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.process import ProcessIdentity, identify
from golem_project.embedded.world.dev_chain import DevChains
from golem_project.embedded.world.dev_pool import DevChainRefused, DevPoolWish
from golem_project.embedded.world.dev_registry import DevChainsExhausted, DevChainUnknown
from golem_project.embedded.world.rpc import JsonRpc

GOLEM = uuid.UUID(int=1)
OTHER = uuid.UUID(int=2)
SOMEBODY = "0x00000000000000000000000000000000000000Aa"
SLOT0 = "(uint160,int24,uint16,uint16,uint16,uint8,bool)"


@pytest.fixture
def chains(tmp_path: Path) -> Iterator[DevChains]:
    made = DevChains(tmp_path / "dev")
    yield made
    made.stop_all()


def node_of(registry: Path, chain_ref: str) -> ProcessIdentity:
    record = json.loads((registry / chain_ref / "record.json").read_text())
    return ProcessIdentity(**record["node"])


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_a_chain_comes_with_the_world_and_funded_accounts(chains: DevChains, tmp_path: Path) -> None:
    begun = time.time()
    state = chains.start(golem_id=GOLEM, funded_accounts=2)
    ready = time.time()
    assert state.chain_ref.startswith("dev-") and state.chain_id == 31337
    assert len(state.funded_addresses) == 2 and len(state.pools) == 10 and state.block_number > 200
    assert all(pool.liquidity > 0 for pool in state.pools)
    assert begun - 60 < state.block_timestamp <= ready + 1
    assert {"v2", "v3"} == {pool.version for pool in state.pools}
    assert "127.0.0.1" not in repr(state) and "http" not in repr(state)
    again = DevChains(tmp_path / "dev").describe(golem_id=GOLEM, chain_ref=state.chain_ref)
    assert again == state


def test_a_stopped_chain_is_gone_and_so_is_its_data(chains: DevChains, tmp_path: Path) -> None:
    state = chains.start(golem_id=GOLEM)
    node = node_of(tmp_path / "dev", state.chain_ref)
    assert chains.stop(golem_id=GOLEM).chain_ref == state.chain_ref
    assert wait_for(lambda: not node.is_alive())
    assert not (tmp_path / "dev" / state.chain_ref).exists()
    with pytest.raises(DevChainUnknown):
        chains.describe(golem_id=GOLEM, chain_ref=state.chain_ref)


def test_another_golems_chain_is_as_unknown_as_one_that_never_was(chains: DevChains) -> None:
    state = chains.start(golem_id=GOLEM)
    messages = []
    for chain_ref in (state.chain_ref, "dev-0000000000000000", "../dev"):
        with pytest.raises(DevChainUnknown) as caught:
            chains.stop(golem_id=OTHER, chain_ref=chain_ref)
        messages.append(str(caught.value).replace(chain_ref, "X"))
    assert len(set(messages)) == 1
    assert chains.list_chains(golem_id=OTHER) == ()
    assert chains.list_chains(golem_id=GOLEM) == (state.chain_ref,)


def test_the_latest_chain_is_meant_when_none_is_named(chains: DevChains) -> None:
    first = chains.start(golem_id=GOLEM, seed_liquidity=False)
    second = chains.start(golem_id=GOLEM, seed_liquidity=False)
    assert chains.describe(golem_id=GOLEM).chain_ref == second.chain_ref
    chains.stop(golem_id=GOLEM)
    assert chains.describe(golem_id=GOLEM).chain_ref == first.chain_ref


def test_a_golem_may_have_only_so_many(tmp_path: Path) -> None:
    chains = DevChains(tmp_path / "dev", most_per_golem=1, most_in_all=2)
    try:
        chains.start(golem_id=GOLEM, seed_liquidity=False)
        with pytest.raises(DevChainsExhausted, match="runs 1 test chains"):
            chains.start(golem_id=GOLEM)
        chains.start(golem_id=OTHER, seed_liquidity=False)
        with pytest.raises(DevChainsExhausted, match="on this machine"):
            chains.start(golem_id=uuid.UUID(int=3))
        assert len(chains.list_chains(golem_id=GOLEM)) == 1
    finally:
        assert chains.stop_all() == 2


def test_time_travels_and_blocks_follow(chains: DevChains) -> None:
    begun = time.time()
    before = chains.start(golem_id=GOLEM, seed_liquidity=False)
    after = chains.travel(golem_id=GOLEM, seconds=86_400, blocks=5)
    took = int(time.time() - begun) + 10
    assert after.block_number == before.block_number + 5
    assert 86_400 <= after.block_timestamp - before.block_timestamp <= 86_400 + took
    for seconds, blocks in ((-1, 1), (10**12, 1), (1, 0), (1, 10**9)):
        with pytest.raises(DevChainRefused):
            chains.travel(golem_id=GOLEM, seconds=seconds, blocks=blocks)


def test_funding_sets_coins_and_adds_tokens(chains: DevChains) -> None:
    state = chains.start(golem_id=GOLEM, seed_liquidity=False)
    for _ in range(2):
        account = chains.fund(
            golem_id=GOLEM, address=SOMEBODY, native_wei=7, tokens={"USDC": 5, state.tokens["WETH"].lower(): 10**24}
        )
    assert account.native_wei == 7
    assert {balance.symbol: balance.amount for balance in account.balances} == {"USDC": 10, "WETH": 2 * 10**24}
    for tokens in ({"DOGE": 1}, {"USDC": 0}, {"USDC": 2**200}):
        with pytest.raises(DevChainRefused):
            chains.fund(golem_id=GOLEM, address=SOMEBODY, native_wei=1, tokens=tokens)


def test_a_bare_chain_has_contracts_but_no_pool(chains: DevChains) -> None:
    state = chains.start(golem_id=GOLEM, seed_liquidity=False)
    assert state.pools == ()
    assert "uniswap_v3_factory" in state.contracts and "USDC" in state.tokens


def test_liquidity_of_one_version_only(chains: DevChains) -> None:
    state = chains.start(golem_id=GOLEM, versions=("v2",))
    assert len(state.pools) == 4 and {pool.version for pool in state.pools} == {"v2"}
    assert "uniswap_v2_router" in state.contracts and not any("v3" in key for key in state.contracts)
    with pytest.raises(DevChainRefused, match="versions"):
        chains.start(golem_id=GOLEM, versions=("v4",))


@pytest.mark.parametrize(
    ("token0", "token1", "price"), [("WETH", "USDC", "2500.5"), ("USDC", "WETH", "0.0004"), ("WBTC", "DAI", "61234.5")]
)
def test_a_pool_opens_at_the_price_as_named(
    chains: DevChains, tmp_path: Path, token0: str, token1: str, price: str
) -> None:
    state = chains.start(golem_id=GOLEM)
    wish = DevPoolWish("v3", token0, token1, 10_000, price, 100_000)
    pool = chains.open_pool(golem_id=GOLEM, wish=wish)
    assert pool.liquidity > 0 and pool.initial_tick is not None and pool.initial_sqrt_price_x96 is not None
    decimals = {"WETH": 18, "USDC": 6, "WBTC": 8, "DAI": 18}
    ratio = (pool.initial_sqrt_price_x96 / 2**96) ** 2
    if pool.token0 == state.tokens[token0]:
        named = ratio * 10 ** (decimals[token0] - decimals[token1])
    else:
        named = 1 / ratio * 10 ** (decimals[token0] - decimals[token1])
    assert named == pytest.approx(float(price), rel=1e-9)
    port = json.loads((tmp_path / "dev" / state.chain_ref / "record.json").read_text())["port"]
    node = JsonRpc(f"http://127.0.0.1:{port}")
    slot0 = node.read(pool.pool_address, "slot0()", returns=SLOT0)
    assert slot0[0] == pool.initial_sqrt_price_x96 and slot0[1] == pool.initial_tick
    node.close()
    assert chains.describe(golem_id=GOLEM).pools[-1] == pool


def test_a_range_is_meant_in_the_order_named(chains: DevChains) -> None:
    chains.start(golem_id=GOLEM, seed_liquidity=False)
    wish = DevPoolWish("v3", "DAI", "USDT", 500, "1", 50_000, tick_lower=-276_400, tick_upper=-276_300)
    pool = chains.open_pool(golem_id=GOLEM, wish=wish)
    assert pool.liquidity > 0
    turned = DevPoolWish("v3", "USDT", "DAI", 3000, "1", 50_000, tick_lower=276_300, tick_upper=276_360)
    assert chains.open_pool(golem_id=GOLEM, wish=turned).liquidity > 0


def test_a_v2_pool_opens_also_for_a_fee_token(chains: DevChains) -> None:
    chains.start(golem_id=GOLEM, seed_liquidity=False)
    pool = chains.open_pool(golem_id=GOLEM, wish=DevPoolWish("v2", "FEE", "USDC", 3000, "2", 10_000))
    assert (pool.version, pool.initial_tick, pool.fee_tier) == ("v2", None, 3000) and pool.liquidity > 0


@pytest.mark.parametrize(
    "change",
    [
        {"token1": "WETH"},
        {"token0": "DOGE"},
        {"fee_tier": 42},
        {"fee_tier": 500},
        {"initial_price": "0"},
        {"initial_price": "-1"},
        {"initial_price": "1e999999999"},
        {"initial_price": "1/3"},
        {"initial_price": "9" * 40},
        {"liquidity_usd": 0},
        {"liquidity_usd": 10**40},
        {"tick_lower": -60},
        {"tick_lower": 100, "tick_upper": 200},
        {"tick_lower": 200, "tick_upper": -200},
        {"version": "v2", "fee_tier": 500},
        {"version": "v2"},
        {"version": "v4"},
        {"token0": "FEE"},
    ],
)
def test_a_pool_that_cannot_be_is_refused_and_leaves_nothing(chains: DevChains, change: dict[str, object]) -> None:
    before = chains.start(golem_id=GOLEM)
    wish = dataclasses.replace(DevPoolWish("v3", "WETH", "USDC", 10_000, "3000", 1_000), **change)  # type: ignore[arg-type]
    if change == {"version": "v2"}:
        wish = dataclasses.replace(wish, fee_tier=3000)
    with pytest.raises(DevChainRefused, match="Fix:"):
        chains.open_pool(golem_id=GOLEM, wish=wish)
    after = chains.describe(golem_id=GOLEM)
    assert (after.block_number, after.pools) == (before.block_number, before.pools)


def test_a_chain_ends_when_it_is_too_old(tmp_path: Path) -> None:
    chains = DevChains(tmp_path / "dev", max_age_seconds=5)
    state = chains.start(golem_id=GOLEM, seed_liquidity=False)
    node = node_of(tmp_path / "dev", state.chain_ref)
    assert wait_for(lambda: not node.is_alive())
    assert wait_for(lambda: not (tmp_path / "dev" / state.chain_ref).exists())
    assert chains.list_chains(golem_id=GOLEM) == ()


def test_a_chain_ends_with_the_program_it_belongs_to_and_not_with_a_child_of_it(tmp_path: Path) -> None:
    """A worker and its children are one session: a recycled child leaves its chains, a killed worker does not."""
    script = f"""
import os, sys, uuid
from pathlib import Path
from golem_project.embedded.world.dev_chain import DevChains
if os.fork() == 0:
    state = DevChains(Path({str(tmp_path / "dev")!r})).start(golem_id=uuid.UUID(int=1), seed_liquidity=False)
    print(state.chain_ref, flush=True)
    os._exit(0)
os.wait()
print("child is gone", flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=CHECKOUT,
        start_new_session=True,
    ) as worker:
        assert worker.stdout is not None
        chain_ref = worker.stdout.readline().strip()
        assert worker.stdout.readline() == "child is gone\n"
        chains = DevChains(tmp_path / "dev")
        assert chains.describe(golem_id=GOLEM).chain_ref == chain_ref
        node = node_of(tmp_path / "dev", chain_ref)
        worker.kill()
        worker.wait()
    assert wait_for(lambda: not node.is_alive())
    assert wait_for(lambda: not (tmp_path / "dev" / chain_ref).exists())


def test_a_killed_keeper_takes_its_chain_along_and_the_rest_is_reaped(chains: DevChains, tmp_path: Path) -> None:
    state = chains.start(golem_id=GOLEM, seed_liquidity=False)
    node = node_of(tmp_path / "dev", state.chain_ref)
    fields = Path(f"/proc/{node.pid}/stat").read_text().rpartition(")")[2].split()
    keeper = int(fields[1])
    assert identify(keeper) is not None and keeper != os.getpid()
    os.kill(keeper, signal.SIGKILL)
    assert wait_for(lambda: not node.is_alive())
    assert chains.list_chains(golem_id=GOLEM) == ()
    assert chains.reap() == 1
    assert not (tmp_path / "dev" / state.chain_ref).exists()


def test_folders_and_records_are_for_their_owner_only(chains: DevChains, tmp_path: Path) -> None:
    state = chains.start(golem_id=GOLEM, seed_liquidity=False)
    folder = tmp_path / "dev" / state.chain_ref
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "record.json").stat().st_mode & 0o077 == 0
