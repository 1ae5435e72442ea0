"""`testnet_setup_local`, `testnet_stop_local`, `testnet_time_travel`: private test chains, which hold nothing of worth.

A chain is named by its `chain_ref`; no tool answers the address of a node, because whoever has it can do anything
there.
"""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.core.errors import InvalidParams
from tools_app.subsystems.testnet.dev_chains import DevPool
from tools_app.subsystems.testnet.family import Versions, check_versions, find_chain, open_chains, testnet
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.params import (
    ChainRef,
    Count,
    Flag,
    Seconds,
    ShortText,
)
from tools_app.toolkit.plan import LocalEffect

MOCK = "mock"
MOST_FUNDED_ACCOUNTS = 20


@dataclass(frozen=True, slots=True)
class StartedChain:
    """What `testnet_setup_local` answers."""

    chain_ref: str
    chain_id: int
    block_number: int
    expires_at: int
    funded_addresses: tuple[str, ...]
    deployed_contracts: dict[str, str]
    tokens: dict[str, str]
    seeded_pools: tuple[DevPool, ...]


def preview_setup(
    ctx: WriteContext, mode: str, versions: list[str] | None, seed_liquidity: bool, funded_accounts: int
) -> LocalEffect:
    """What a new chain would hold. Raises InvalidParams."""
    _check_mode(mode)
    chosen = check_versions(versions)
    _check_accounts(funded_accounts)
    pools = "with seeded pools" if seed_liquidity else "without pools"
    return LocalEffect(
        f"Start a private test chain with Uniswap {' and '.join(chosen)} {pools} and {funded_accounts} funded accounts",
        {"mode": mode, "versions": list(chosen), "seed_liquidity": seed_liquidity, "funded_accounts": funded_accounts},
    )


@testnet.local_write(
    action_type="setup_testnet",
    budget=TickBudget.SLOW,
    preview=preview_setup,
    aliases=("setup_local_testnet",),
    snippet=(
        "setup_testnet: start a private chain with Uniswap, tokens and funded accounts, to try things where nothing has"
        " value; answers a chain_ref for the other testnet tools."
    ),
    guidelines=(
        "Stop a test chain when you are done; each golem may run only a few, and they end by themselves.",
        "Nothing on a test chain is worth anything, and nothing there proves what a live market will do.",
    ),
)
def testnet_setup_local(
    ctx: WriteContext,
    capability: Capability,
    mode: ShortText = MOCK,
    versions: Versions | None = None,
    seed_liquidity: Flag = True,
    funded_accounts: Count = 3,
) -> StartedChain:
    """Start a private test chain with Uniswap V2 and V3, tokens, pools and funded accounts.

    Use to rehearse. `mode` is `mock`: contracts deployed afresh; `versions` is any of v2 and v3, by default both.
    Does not fork a live chain, does not answer an address of the node, and does not touch the golem's own chain.
    """
    _check_mode(mode)
    ctx.step("Starting the chain")
    state = open_chains(ctx).start(
        golem_id=ctx.golem.id,
        versions=check_versions(versions),
        seed_liquidity=seed_liquidity,
        funded_accounts=_check_accounts(funded_accounts),
    )
    return StartedChain(
        chain_ref=state.chain_ref,
        chain_id=state.chain_id,
        block_number=state.block_number,
        expires_at=state.expires_at,
        funded_addresses=tuple(state.funded_addresses),
        deployed_contracts=dict(state.contracts),
        tokens=dict(state.tokens),
        seeded_pools=tuple(state.pools),
    )


@dataclass(frozen=True, slots=True)
class StoppedChain:
    """What `testnet_stop_local` answers."""

    stopped: bool
    chain_ref: str
    uptime_seconds: int


def preview_stop(ctx: WriteContext, chain_ref: str | None) -> LocalEffect:
    """Which chain would stop. Raises DevChainNotFound."""
    state = find_chain(ctx, chain_ref)
    return LocalEffect(f"Stop the test chain {state.chain_ref} and forget its data", {"chain_ref": state.chain_ref})


@testnet.local_write(
    action_type="stop_testnet",
    budget=TickBudget.FAST,
    preview=preview_stop,
    snippet=(
        "stop_testnet: end a private test chain that this golem started and forget everything on it; the latest one"
        " unless a chain_ref names another."
    ),
    guidelines=(
        "Write down what the rehearsal showed before you stop it: accounts, pools and blocks of that chain are gone "
        "with it.",
    ),
)
def testnet_stop_local(ctx: WriteContext, capability: Capability, chain_ref: ChainRef | None = None) -> StoppedChain:
    """Stop a private test chain that this golem started.

    Use when a rehearsal is over. Without `chain_ref` the latest running one stops.
    Does not stop chains of other golems, which are unknown here, nor the chain the golem trades on.
    """
    ctx.step("Stopping the chain")
    state = open_chains(ctx).stop(golem_id=ctx.golem.id, chain_ref=chain_ref)
    return StoppedChain(True, state.chain_ref, max(0, int(ctx.now.timestamp()) - state.started_at))


@dataclass(frozen=True, slots=True)
class MovedClock:
    """What `testnet_time_travel` answers; times are Unix seconds of the test chain."""

    chain_ref: str
    new_timestamp: int
    new_block_number: int
    advanced_seconds: int
    mined_blocks: int


def preview_travel(ctx: WriteContext, seconds: int, mine_blocks: int, chain_ref: str | None) -> LocalEffect:
    """How far the clock would move. Raises DevChainNotFound."""
    state = find_chain(ctx, chain_ref)
    return LocalEffect(
        f"Move the clock of {state.chain_ref} ahead by {seconds} s and mine {mine_blocks} blocks",
        {"chain_ref": state.chain_ref, "from_timestamp": state.block_timestamp, "seconds": seconds},
    )


@testnet.local_write(
    budget=TickBudget.FAST,
    preview=preview_travel,
    aliases=("time_travel",),
    snippet=(
        "time_travel: move the clock of a private test chain ahead and mine blocks, to see interest, deadlines and"
        " expiries come due."
    ),
    guidelines=(
        "Move ahead only as far as what you wait for: the clock never goes back, so trying it otherwise takes a "
        "fresh chain.",
    ),
)
def testnet_time_travel(
    ctx: WriteContext,
    capability: Capability,
    seconds: Seconds,
    mine_blocks: Count = 1,
    chain_ref: ChainRef | None = None,
) -> MovedClock:
    """Move the clock of a private test chain ahead and mine blocks.

    Use to see what time does: deadlines, expiries, interest. Without `chain_ref` the latest chain is meant.
    Does not move time back, and does not touch any other chain's clock.
    """
    chains = open_chains(ctx)
    before = chains.describe(golem_id=ctx.golem.id, chain_ref=chain_ref)
    ctx.step("Moving the clock")
    after = chains.travel(golem_id=ctx.golem.id, chain_ref=before.chain_ref, seconds=seconds, blocks=mine_blocks)
    return MovedClock(
        chain_ref=after.chain_ref,
        new_timestamp=after.block_timestamp,
        new_block_number=after.block_number,
        advanced_seconds=after.block_timestamp - before.block_timestamp,
        mined_blocks=after.block_number - before.block_number,
    )


def _check_mode(mode: str) -> None:
    if mode != MOCK:
        raise InvalidParams(
            f"mode {mode!r} does not exist here: this server has no node to fork from; use mode {MOCK!r}",
            fields={"mode": f"only {MOCK}"},
        )


def _check_accounts(funded_accounts: int) -> int:
    if funded_accounts > MOST_FUNDED_ACCOUNTS:
        raise InvalidParams(
            f"at most {MOST_FUNDED_ACCOUNTS} accounts are funded", fields={"funded_accounts": "too many"}
        )
    return funded_accounts
