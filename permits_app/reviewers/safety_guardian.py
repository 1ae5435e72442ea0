"""safety-guardian: a second pair of eyes that reads the bytes, not the tool's word for them.

It decodes every call itself, adds up what they take and bring, and vetoes unless that is exactly what the plan
promises, everything returns to the golem, the price is sane against on-chain feeds, and the market is calm enough for
the call to land. What it does not know it vetoes; when it fails it vetoes.
Seed: 001, "safety-guardian"; facts 1.2 (revert probability); decisions, "Tiers of approval" (ELEVATED).
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from permits_app.models.allowlist import AllowlistKind
from permits_app.models.spending import AllowlistMode
from permits_app.reviewers.decoding import Reading, UnknownCall, Venue, read_calls
from permits_app.reviewers.limits import judge_limits, value_spends
from permits_app.reviewers.pool_facts import find_pools
from permits_app.reviewers.revert_chance import judge_revert_chance, measure_revert_chance
from permits_app.reviewers.review import Review, ReviewVerdict
from permits_app.safety.figures import format_bps
from permits_app.safety.hook import HookCall
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.errors import GolemError
from tools_app.core.units import BPS, format_micro_usd, value_in_micro_usd
from tools_app.protocols.uniswap.addresses import Deployment, deployment_on
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import TokenFlow, TxPlan

logger = logging.getLogger(__name__)

REVIEWER: Final = "safety-guardian"
_POSITIONS: Final = (
    "function positions(uint256) view returns (uint96, address, address token0, address token1, uint24, int24, int24,"
    " uint128, uint256, uint256, uint128, uint128)"
)
_OWNER_OF: Final = "function ownerOf(uint256) view returns (address)"
_GET_POOL: Final = "function getPool(address,address,uint24) view returns (address)"
_SLOT0: Final = "function slot0() view returns (uint160 sqrtPriceX96, int24, uint16, uint16, uint16, uint8, bool)"
_Q192: Final = 2**192

Finding = str
"""A reason to veto, in words. Rules answer a list of them; an empty list is agreement."""


def review(call: HookCall) -> Review:
    """APPROVE, or VETO with every reason found. Never raises: a reviewer that cannot judge vetoes."""
    figures: dict[str, Any] = {}
    try:
        reasons, checks = _judge(call, figures)
    except UnknownCall as error:
        return _veto(f"the calls cannot be read: {error}", "calls decoded")
    except GolemError as error:
        return _veto(f"a fact could not be read: {error.detail}", "facts read")
    except Exception:
        # Whatever broke, the answer to "is this safe?" is no; the trace is in the log.
        logger.exception("the safety-guardian raised")
        return _veto("the reviewer failed and therefore vetoes", "reviewer ran")
    verdict = ReviewVerdict.VETO if reasons else ReviewVerdict.APPROVE
    return Review(REVIEWER, verdict, tuple(reasons), tuple(checks), figures=figures)


def _judge(call: HookCall, figures: dict[str, Any]) -> tuple[list[Finding], list[str]]:
    plan, chain, account = call.plan, call.chain, call.view.address
    if plan is None:
        return [], ["no transaction"]
    if chain is None or account is None:
        return ["there is no chain or no account to judge against"], ["chain and account present"]
    deployment = deployment_on(plan.chain_id)
    reading = read_calls(plan.calls, make_venue(chain=chain, deployment=deployment, account=account))
    payable = list_payable(call)
    tolerance = call.limits.max_slippage_bps + call.limits.max_price_impact_bps
    now = max(int(call.now.timestamp()), chain.block.timestamp)

    def judge_revert() -> list[Finding]:
        pools = find_pools(reading, chain, deployment)
        chance = measure_revert_chance(
            plan=plan, chain=chain, pools=pools, permit_ttl_seconds=call.golem.permit_ttl_seconds
        )
        figures.update(chance.as_figures())
        return judge_revert_chance(chance)

    rules: Sequence[tuple[str, Callable[[], list[Finding]]]] = (
        ("calls decoded", list),
        ("recipients", lambda: judge_recipients(reading, account=account, payable=payable)),
        ("spent equals the plan", lambda: judge_spends(reading, plan)),
        ("minimums equal the plan", lambda: judge_receives(reading, plan)),
        ("approvals", lambda: judge_approvals(reading, plan)),
        ("deadline", lambda: judge_deadlines(reading, plan, now=now)),
        ("within the limits", lambda: judge_limits(call, spent_micro_usd=value_spends(reading, chain))),
        ("positions are the golem's", lambda: judge_positions(reading, chain, deployment, account)),
        (
            f"worth what it costs, within {format_bps(tolerance)}",
            lambda: judge_price(plan, chain, most_lost_bps=tolerance),
        ),
        (
            f"pool prices, within {format_bps(tolerance)}",
            lambda: judge_pools(reading, chain, deployment, most_off_bps=tolerance),
        ),
        ("chance of a revert at most 5%", judge_revert),
    )
    reasons: list[Finding] = []
    checks: list[str] = []
    for words, rule in rules:
        reasons += rule()
        checks.append(words)
    return reasons, checks


def make_venue(*, chain: ChainReader, deployment: Deployment, account: str) -> Venue:
    """The contracts of the chain as the decoder needs them."""

    def tokens_of_position(position_id: int) -> tuple[str, str]:
        found = chain.call(deployment.v3_position_manager, _POSITIONS, position_id)
        return found[2], found[3]

    return Venue(
        account=account,
        wrapped_native=deployment.wrapped_native,
        v2_router=deployment.v2_router,
        v3_router=deployment.v3_router,
        v3_position_manager=deployment.v3_position_manager,
        tokens_of_position=tokens_of_position,
    )


def list_payable(call: HookCall) -> frozenset[str]:
    """Whom a plain payment may go to: whom the request names, in strict mode only if the owner registered them."""
    named = {str(call.params.get("recipient", ""))}
    if call.limits.allowlist_mode == AllowlistMode.STRICT:
        named &= {address for kind, address in call.allowlist if kind == AllowlistKind.RECIPIENT}
    return frozenset(named)


def judge_recipients(reading: Reading, *, account: str, payable: frozenset[str]) -> list[Finding]:
    """Everything is paid to the golem; a plain payment may go to one of `payable`."""
    findings = []
    for recipient in dict.fromkeys(reading.recipients):
        if recipient == account:
            continue
        if recipient not in reading.paid_plainly:
            findings.append(f"the proceeds would go to {recipient}, which is not the golem")
        elif recipient not in payable:
            findings.append(f"{recipient} would be paid, and the request does not name it or the owner not register it")
    return findings


def judge_spends(reading: Reading, plan: TxPlan) -> list[Finding]:
    """The calls take at most what the plan promises, token by token, and no other token."""
    promised = _sum_bounds(plan.spends)
    return [
        f"the calls may take {reading.spends.get(token, 0)} base units of {token},"
        f" and the plan says {promised.get(token, 0)}"
        for token in sorted({*reading.spends, *promised})
        if reading.spends.get(token, 0) != promised.get(token, 0)
    ]


def judge_receives(reading: Reading, plan: TxPlan) -> list[Finding]:
    """The calls demand at least what the plan promises; fees owed to a position come on top of what calldata bounds."""
    promised = _sum_bounds(plan.receives)
    findings = []
    for token in sorted({*reading.receives, *promised, *reading.open_minimums}):
        demanded, bound = reading.receives.get(token, 0), promised.get(token, 0)
        if demanded == bound or (token in reading.open_minimums and token in promised and demanded <= bound):
            continue
        findings.append(f"the calls demand {demanded} base units of {token}; the plan promises {bound}")
    return findings


def judge_approvals(reading: Reading, plan: TxPlan) -> list[Finding]:
    """Every approval goes to a contract this plan calls, and is for no more than the plan spends of that token."""
    promised = _sum_bounds(plan.spends)
    findings = []
    for token, spender, amount in reading.approvals:
        if not amount:
            continue
        if spender not in plan.contracts:
            findings.append(f"{spender} would be allowed to take {token}, and this plan never calls it")
        if amount > promised.get(token, 0):
            findings.append(
                f"{amount} base units of {token} would be allowed; the plan spends {promised.get(token, 0)}"
            )
    return findings


def judge_deadlines(reading: Reading, plan: TxPlan, *, now: int) -> list[Finding]:
    """Every deadline in the bytes is the plan's, and in the future. Unix seconds."""
    findings = []
    for deadline in dict.fromkeys(reading.deadlines):
        if deadline <= now:
            findings.append(f"the deadline passed {now - deadline} s ago")
        if deadline != plan.deadline:
            findings.append(f"the calls say deadline {deadline}, the plan {plan.deadline}")
    return findings


def judge_positions(reading: Reading, chain: ChainReader, deployment: Deployment, account: str) -> list[Finding]:
    """Every liquidity position touched belongs to the golem."""
    findings = []
    for position_id in dict.fromkeys(reading.position_ids):
        (owner,) = chain.call(deployment.v3_position_manager, _OWNER_OF, position_id)
        if owner != account:
            findings.append(f"position {position_id} belongs to {owner}")
    return findings


def judge_price(plan: TxPlan, chain: ChainReader, *, most_lost_bps: int) -> list[Finding]:
    """An exchange brings at least what it costs at feed prices, less what slippage and price impact may take.

    Deposits and payments bring nothing and are not an exchange. A side without a feed cannot be judged.
    """
    if not plan.spends or not plan.receives:
        return []
    try:
        spent = sum(_value(flow, chain) for flow in plan.spends)
        received = sum(_value(flow, chain) for flow in plan.receives)
    except (PriceUnavailable, PriceStale) as error:
        return [f"the exchange cannot be judged: {error.detail}"]
    if received * BPS >= spent * (BPS - most_lost_bps):
        return []
    lost = (spent - received) * BPS // spent
    return [f"{format_micro_usd(spent)} would bring only {format_micro_usd(received)}: {format_bps(lost)} are lost"]


def judge_pools(reading: Reading, chain: ChainReader, deployment: Deployment, *, most_off_bps: int) -> list[Finding]:
    """Every V3 pool in the bytes exists, and its price is near the feeds': a moved pool is how a deposit is robbed."""
    findings = []
    for token_a, token_b, fee in dict.fromkeys(reading.pools):
        (pool,) = chain.call(deployment.v3_factory, _GET_POOL, token_a, token_b, fee)
        if int(pool, 16) == 0:
            findings.append(f"there is no pool of {token_a} and {token_b} at fee {fee}")
            continue
        tokens = [chain.token(address) for address in sorted((token_a, token_b), key=lambda text: int(text, 16))]
        try:
            prices = [chain.price(token) for token in tokens]
        except (PriceUnavailable, PriceStale) as error:
            findings.append(f"the price of pool {pool} cannot be judged: {error.detail}")
            continue
        sqrt_price = chain.call(pool, _SLOT0)[0]
        # Both are USD of token1 that one base unit of token0 is worth, on a common denominator.
        (p0, p1), (t0, t1) = prices, tokens
        by_pool = sqrt_price * sqrt_price * p1.answer * 10 ** (t0.decimals + p0.decimals)
        by_feed = _Q192 * p0.answer * 10 ** (t1.decimals + p1.decimals)
        off_bps = abs(by_pool - by_feed) * BPS // by_feed
        if off_bps > most_off_bps:
            findings.append(f"pool {pool} is {format_bps(off_bps)} away from the feeds")
    return findings


def _value(flow: TokenFlow, chain: ChainReader) -> int:
    price = chain.price(flow.token)
    return value_in_micro_usd(
        raw=flow.bound, token_decimals=flow.token.decimals, price=price.answer, price_decimals=price.decimals
    )


def _sum_bounds(flows: Iterable[TokenFlow]) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for flow in flows:
        sums[flow.token.address] += flow.bound
    return sums


def _veto(reason: str, check: str) -> Review:
    return Review(REVIEWER, ReviewVerdict.VETO, (reason,), (check,))
