"""`hook_discover` and `hook_evaluate`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tools_app.chain.chains import get_deployment
from tools_app.core.clock import Deadline
from tools_app.core.ratio import shortfall_bps
from tools_app.simulation.engine import SimulationTimeout, SimulationUnavailable
from tools_app.subsystems.hook.family import hook, hooked_on
from tools_app.subsystems.hook.pool_exit_trial import WaysTried, WayTried, not_tried, try_ways
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.hooked_pools import SwapTried
from tools_app.toolkit.markets import Pool, pool_asset
from tools_app.toolkit.params import PoolName, Token
from tools_app.toolkit.pool_hooks import HookPower, PoolHooks

MOST_POOLS: Final = 10
TOLERATED_BPS: Final = 10
"""So much less than the price alone says is rounding and the spread of two ticks; more is taken by somebody."""
_PROXY_SLOT: Final = 0x360894A13BA1A3210667C828492DB98DCA3E2076CC3735A920A3CA505D382BBC
_CANNOT_KNOW: Final = (
    "A hook can tell this trial from a signed transaction, and its code may read what changes later. A preview"
    " simulates the very bytes with the gas they are signed with, and holds what arrives to the permit."
)


class Danger(StrEnum):
    """What is to be thought of a hook after it was tried."""

    NO_HOOK = "NO_HOOK"
    """Nobody's code runs in the pool."""
    LOW = "LOW"
    """By its address it can stop somebody and take nothing."""
    HIGH = "HIGH"
    """It could take amounts, change the fee or stop exits, and did not when it was tried."""
    TAKES = "TAKES"
    """It took something, or kept somebody in or out, when it was tried."""


@dataclass(frozen=True, slots=True)
class HookedPool:
    """A pool with a hook. `powers` are what the hook could do, by what nobody can change; `fee_tier` in hundredths of a
    basis point, null where the hook sets it.
    """

    pool: str
    token0: str
    token1: str
    fee_tier: int | None
    hook: str
    powers: tuple[HookPower, ...]
    could: str
    needs_owners: bool


@dataclass(frozen=True, slots=True)
class HooksFound:
    """The newest pools with hooks that were opened since `since_block`; of `total` those beyond the list are older."""

    pools: tuple[HookedPool, ...]
    total: int
    since_block: int


@dataclass(frozen=True, slots=True)
class HookSwap:
    """A small swap in base units: by price and fee alone, and with the hook; null where it reverts, for `reason`."""

    token_in: str
    token_out: str
    amount_in: str
    amount_out_without_hook: str
    amount_out_with_hook: str | None
    taken_bps: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class HookEvaluation:
    """What `hook_evaluate` answers. `danger`: NO_HOOK, LOW (can take nothing by its address), HIGH (could and did not),
    TAKES (did, or keeps somebody in or out). `may_be_replaced` is whether its code is a proxy's.
    """

    pool: str
    hook: str | None
    powers: tuple[HookPower, ...]
    could: str
    danger: Danger
    has_code: bool
    may_be_replaced: bool
    swaps: tuple[HookSwap, ...]
    leaving: WayTried
    entering: WayTried
    leaving_again: WayTried
    position_tried: str | None
    findings: tuple[str, ...]
    cannot_know: str


@hook.read(
    query="hooks",
    snippet=(
        "hooks: the newest pools that run a hook, of any pair or of one, each with what the hook could do to whoever"
        " uses the pool, by what nobody can change."
    ),
    guidelines=("Evaluate a pool's hook before asking the owners to list it; a swap takes such a pool by its id.",),
)
def hook_discover(ctx: ReadContext, token_a: Token | None = None, token_b: Token | None = None) -> HooksFound:
    """List the newest pools with hooks, and what each hook could do.

    Use to see whether a pair has pools with other rules than the usual ones. Give both tokens for one pair, or none.
    Does not judge what a hook does, and does not find pools that were opened before the first block it names.
    """
    reader = ctx.begin("Searching logs")
    hooked, _ = hooked_on(reader.chain_id)
    pair = None
    if token_a is not None and token_b is not None:
        wrapped = get_deployment(reader.chain_id).wrapped_native
        one, two = (pool_asset(wrapped, reader.token(each)) for each in (token_a, token_b))
        pair = (one, two)
    found = hooked.discover(reader, pair, most=MOST_POOLS)
    rows = tuple(_describe(pool, pool.hooks) for pool in found.pools if pool.hooks is not None)
    return HooksFound(rows, found.total, found.since_block)


@hook.read(
    query="hook_safety",
    budget=TickBudget.SLOW,
    aliases=("scan_hook_safety",),
    snippet=(
        "hook_safety: what a pool's hook could do and what it does when swaps, ways in and ways out are tried in a"
        " simulation, beside the same without the hook."
    ),
    guidelines=("Never ask owners to list a hook whose danger is TAKES, or that keeps somebody from leaving.",),
)
def hook_evaluate(ctx: ReadContext, pool: PoolName) -> HookEvaluation:
    """Judge the hook of a pool by its address and by what it does when it is tried, before anybody enters.

    Use before a swap or a deposit in a pool with a hook. Small swaps run with the hook and are worked out without it;
    somebody who is in the pool gets out, in again and out again in a simulation.
    Does not send anything, and does not know what the hook does tomorrow.
    """
    reader = ctx.begin("Reading the pool")
    hooked, markets = hooked_on(reader.chain_id)
    found = markets.read(reader, pool)
    ctx.step("Trying swaps")
    swaps = tuple(map(_report_swap, hooked.try_swaps(reader, found)))
    ctx.step("Trying the ways out")
    holder = hooked.find_holder(reader, found)
    ways = not_tried("nobody was found who is in the pool")
    if holder is not None:
        try:
            ways = try_ways(reader, holder, deadline=Deadline.after_ms(max(1.0, ctx.deadline.remaining_ms())))
        except (SimulationUnavailable, SimulationTimeout) as error:
            ways = not_tried(f"{error.code}: nothing could be simulated")
    findings = tuple(list_findings(swaps, ways))
    return HookEvaluation(
        pool=found.id,
        hook=found.hooks.address if found.hooks is not None else None,
        powers=found.hooks.powers if found.hooks is not None else (),
        could=found.hooks.words if found.hooks is not None else "nothing: no hook runs there",
        danger=_rate(found.hooks, findings),
        has_code=found.hooks is not None and bool(reader.code(found.hooks.address)),
        may_be_replaced=found.hooks is not None and bool(reader.slot(found.hooks.address, _PROXY_SLOT)),
        swaps=swaps,
        leaving=ways.leaving,
        entering=ways.entering,
        leaving_again=ways.leaving_again,
        position_tried=holder.position_id if holder is not None else None,
        findings=findings,
        cannot_know=_CANNOT_KNOW,
    )


def _describe(pool: Pool, found: PoolHooks) -> HookedPool:
    fee = None if HookPower.FEES in found.powers else pool.fee
    return HookedPool(
        pool.id, pool.token0, pool.token1, fee, found.address, found.powers, found.words, needs_owners=found.is_risky
    )


def _report_swap(tried: SwapTried) -> HookSwap:
    is_run = tried.with_hook is not None
    return HookSwap(
        token_in=tried.token_in,
        token_out=tried.token_out,
        amount_in=str(tried.amount_in),
        amount_out_without_hook=str(tried.without_hook),
        amount_out_with_hook=str(tried.with_hook) if is_run else None,
        taken_bps=shortfall_bps(ideal=tried.without_hook, actual=tried.with_hook or 0) if is_run else None,
        reason=None if is_run else tried.reason or "it reverts",
    )


def list_findings(swaps: tuple[HookSwap, ...], ways: WaysTried) -> list[str]:
    """What somebody lost, or could not do."""
    found = []
    for swap in swaps:
        if swap.taken_bps is None:
            found.append(f"a swap of {swap.token_in} reverts: {swap.reason}")
        elif swap.taken_bps > TOLERATED_BPS:
            found.append(
                f"a swap of {swap.token_in} brings {swap.taken_bps} bps less than the pool's price and fee say"
            )
    told = (("leaving", ways.leaving), ("entering", ways.entering), ("leaving again", ways.leaving_again))
    for words, way in told:
        if way.succeeds is False:
            found.append(f"{words} the pool reverts: {way.reason}")
        elif way.taken_bps is not None and way.taken_bps > TOLERATED_BPS:
            found.append(f"{words} the pool costs {way.taken_bps} bps of what the price says")
    return found


def _rate(found: PoolHooks | None, findings: tuple[str, ...]) -> Danger:
    if found is None:
        return Danger.NO_HOOK
    if findings:
        return Danger.TAKES
    return Danger.HIGH if found.is_risky else Danger.LOW
