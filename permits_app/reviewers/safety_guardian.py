"""safety-guardian: a second pair of eyes that reads the bytes, not the tool's word for them.

Every call is read from its bytes by the protocol whose contract it is. The guardian adds up what they take, bring and
change and vetoes unless that is exactly what the plan promises, everything returns to the golem, the price is sane
against on-chain feeds, and the market is calm enough for the call to land. What nobody knows it vetoes; when it fails
it vetoes.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from permits_app.models.allowlist import AllowlistKind
from permits_app.models.spending import AllowlistMode
from permits_app.reviewers.entry_facts import note_pools
from permits_app.reviewers.guardian_limits import judge_limits, value_spends
from permits_app.reviewers.pool_facts import find_markets, find_pools
from permits_app.reviewers.revert_chance import judge_revert_chance, measure_revert_chance
from permits_app.reviewers.review import Review, ReviewVerdict
from permits_app.safety.decoding import read_calls, read_promise
from permits_app.safety.format_rule_figures import format_bps
from permits_app.safety.hook import HookCall
from permits_app.safety.position_rules import DUST
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.errors import GolemError
from tools_app.core.units import BPS, format_micro_usd, value_in_micro_usd
from tools_app.portfolio.markets import markets_on
from tools_app.standards.loan_callback import list_contracts
from tools_app.standards.permit2_in_calldata import list_keepers
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import TokenFlow, TxPlan
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.protocol import SHELF

logger = logging.getLogger(__name__)

REVIEWER: Final = "safety-guardian"

Finding = str
"""A reason to veto, in words. Rules answer a list of them; an empty list is agreement."""


def review(call: HookCall) -> Review:
    """APPROVE, or VETO with every reason found. Never raises: a reviewer that cannot judge vetoes."""
    figures: dict[str, object] = {}
    warnings: list[str] = []
    try:
        reasons, checks = _judge(call, figures, warnings)
    except UnknownCall as error:
        return _veto(f"the calls cannot be read: {error}", "calls decoded")
    except GolemError as error:
        return _veto(f"a fact could not be read: {error.detail}", "facts read")
    except Exception:
        # Whatever broke, the answer to "is this safe?" is no; the trace is in the log.
        logger.exception("the safety-guardian raised")
        return _veto("the reviewer failed and therefore vetoes", "reviewer ran")
    verdict = ReviewVerdict.VETO if reasons else ReviewVerdict.APPROVE
    return Review(REVIEWER, verdict, tuple(reasons), tuple(checks), tuple(warnings), figures)


def _judge(call: HookCall, figures: dict[str, object], warnings: list[str]) -> tuple[list[Finding], list[str]]:
    plan, chain, account = call.plan, call.chain, call.view.address
    if plan is None:
        return [], ["no transaction"]
    if chain is None or account is None:
        return ["there is no chain or no account to judge against"], ["chain and account present"]
    if plan.chain_id != chain.chain_id:
        return [f"a plan for chain {plan.chain_id} could not be read on chain {chain.chain_id}"], ["chain of the plan"]
    effects = read_calls(plan.calls, account=account, chain=chain)
    if plan.promise is not None:
        read_promise(plan.promise, account=account, chain=chain, into=effects)
    payable = list_payable(call)
    tolerance = call.limits.max_slippage_bps + call.limits.max_price_impact_bps
    now = max(int(call.now.timestamp()), chain.block.timestamp)

    def judge_revert() -> list[Finding]:
        pools = find_pools(effects, chain)
        chance = measure_revert_chance(
            plan=plan, chain=chain, pools=pools, permit_ttl_seconds=call.golem.permit_ttl_seconds
        )
        figures.update(chance.as_figures())
        is_trade = bool(plan.spends and plan.receives)
        warnings.extend(note_pools(pools, chain, figures, traded=value_spends(effects, chain) if is_trade else None))
        return judge_revert_chance(chance)

    rules: Sequence[tuple[str, Callable[[], list[Finding]]]] = (
        ("calls decoded", list),
        ("recipients", lambda: judge_recipients(effects, account=account, payable=payable)),
        ("spent equals the plan", lambda: judge_spends(effects, plan)),
        ("minimums equal the plan", lambda: judge_receives(effects, plan)),
        ("others' money as the plan says", lambda: judge_principals(effects, plan)),
        ("approvals", lambda: judge_approvals(effects, plan)),
        ("rights", lambda: judge_rights(effects, plan)),
        ("positions change as the plan says", lambda: judge_changes(effects, plan)),
        ("writes down what the plan says", lambda: judge_statements(effects, plan)),
        ("arrives where the plan says", lambda: judge_arrivals(effects, plan, account=account)),
        ("deadline", lambda: judge_deadlines(effects, plan, now=now)),
        ("within the limits", lambda: judge_limits(call, spent_micro_usd=value_spends(effects, chain))),
        (
            f"worth what it costs, within {format_bps(tolerance)}",
            lambda: judge_price(plan, chain, most_lost_bps=tolerance, pays=effects.only_pays),
        ),
        (
            f"pool prices, within {format_bps(tolerance)}",
            lambda: judge_pools(effects, chain, most_off_bps=tolerance),
        ),
        ("chance of a revert at most 5%", judge_revert),
    )
    reasons: list[Finding] = []
    checks: list[str] = []
    for words, rule in rules:
        reasons += rule()
        checks.append(words)
    return reasons, checks


def list_payable(call: HookCall) -> frozenset[str]:
    """Whom a plain payment may go to: whom the request names, in strict mode only if the owner registered them."""
    named = {str(call.params.get("recipient", ""))}
    if call.limits.allowlist_mode == AllowlistMode.STRICT:
        named &= {address for kind, address in call.allowlist if kind == AllowlistKind.RECIPIENT}
    return frozenset(named)


def judge_recipients(effects: Effects, *, account: str, payable: frozenset[str]) -> list[Finding]:
    """Everything is paid to the golem; a plain payment may go to one of `payable`."""
    findings = []
    for recipient in dict.fromkeys(effects.recipients):
        if recipient == account:
            continue
        if recipient not in effects.paid_plainly:
            findings.append(f"the proceeds would go to {recipient}, which is not the golem")
        elif recipient not in payable:
            findings.append(f"{recipient} would be paid, and the request does not name it or the owner not register it")
    return findings


def judge_spends(effects: Effects, plan: TxPlan) -> list[Finding]:
    """The calls take at most what the plan promises, token by token, and no other token.

    What calls of the same plan bring of a token first, at the least, others of it may take again: a loop borrows, swaps
    and supplies, and the account gives only what is missing.
    """
    taken = _net(effects.spends, effects.receives)
    promised = _net(_sum_bounds(plan.spends), _sum_bounds(plan.receives))
    return [
        f"the calls may take {taken[token]} base units of {token}, and the plan says {promised[token]}"
        for token in sorted({*taken, *promised})
        if taken[token] != promised[token]
    ]


def judge_receives(effects: Effects, plan: TxPlan) -> list[Finding]:
    """The calls demand at least what the plan promises; fees owed to a position come on top of what calldata bounds."""
    demanded = _net(effects.receives, effects.spends)
    promised = _net(_sum_bounds(plan.receives), _sum_bounds(plan.spends))
    findings = []
    for token in sorted({*demanded, *promised, *effects.open_minimums}):
        least, bound = demanded[token], promised[token]
        # Of a call for all there is, what it brings is told by what is there now.
        is_open = token in effects.open_minimums and token in promised
        if least == bound or (is_open and least <= bound + 2 * DUST):
            continue
        findings.append(f"the calls demand {least} base units of {token}; the plan promises {bound}")
    return findings


def judge_principals(effects: Effects, plan: TxPlan) -> list[Finding]:
    """The calls move of others' money what the plan says, under the rights it names, and no more."""
    moved: dict[tuple[str, str, str], int] = defaultdict(int)
    for read in effects.principals:
        moved[read.reference, read.principal, read.token] += read.most
    promised: dict[tuple[str, str, str], int] = defaultdict(int)
    for flow in plan.principals:
        promised[flow.reference, flow.principal, flow.token.address] += flow.most
    return [
        f"the calls may move {moved[key]} base units of {key[2]} that belong to {key[1]}; the plan says {promised[key]}"
        for key in sorted({*moved, *promised})
        if moved[key] != promised[key]
    ]


def judge_approvals(effects: Effects, plan: TxPlan) -> list[Finding]:
    """Every approval goes to a contract this plan calls, and is for no more than the plan spends of that token and what
    a call lends and takes back within it. What stays with a contract that takes nothing but what the account signed, as
    Permit2 does, and is said to stay, is for orders to be signed.

    A token that stands for a position is no spend: of it, no more than the plan says it grants and uses up. Of a token
    that the plan brings and takes again, no more than its calls take. What is taken back is what the plan gave.
    """
    promised = dict(_sum_bounds(plan.spends))
    for token, taken in effects.spends.items():
        if effects.receives.get(token):
            promised[token] = max(promised.get(token, 0), taken)
    for each in plan.allowances:
        stands_for = each.token.address in plan.claims
        if not each.left and (stands_for or SHELF.of_contract(plan.chain_id, each.token.address) is not None):
            promised[each.token.address] = max(promised.get(each.token.address, 0), each.granted)
    findings, called = [], list_contracts(plan)
    # Each signature of the account is judged by itself.
    takers = {address for address, each in SHELF.contracts_on(plan.chain_id) if each.takes_signed}
    kept = {
        (each.token.address, each.spender, each.granted)
        for each in plan.allowances
        if each.spender in takers and each.left == each.granted
    }
    given = {(each.token.address, each.spender) for each in plan.allowances}
    for token, spender, amount in effects.approvals:
        if not amount:
            if (token, spender) not in given:
                findings.append(f"{token} is asked to take an allowance of {spender} back that this plan does not give")
            continue
        if (token, spender, amount) in kept:
            continue
        if spender not in called and (token, spender) not in list_keepers(plan):
            findings.append(f"{spender} would be allowed to take {token}, and this plan never calls it")
        if amount > promised.get(token, 0) + effects.lent.get(token, 0):
            findings.append(
                f"{amount} base units of {token} would be allowed; the plan spends {promised.get(token, 0)}"
            )
    return findings


def judge_deadlines(effects: Effects, plan: TxPlan, *, now: int) -> list[Finding]:
    """Every deadline in the bytes is the plan's, and in the future. Unix seconds."""
    findings = []
    for deadline in dict.fromkeys(effects.deadlines):
        if deadline <= now:
            findings.append(f"the deadline passed {now - deadline} s ago")
        if deadline != plan.deadline:
            findings.append(f"the calls say deadline {deadline}, the plan {plan.deadline}")
    return findings


def judge_changes(effects: Effects, plan: TxPlan) -> list[Finding]:
    """The calls change the positions the plan speaks of and no other; where calldata says how far, exactly so far.

    Shares and amounts are not of one size: what rounding between them takes is nobody's mistake.
    """
    read: dict[tuple[str, str, str, str], int] = defaultdict(int)
    rounding: dict[tuple[str, str, str, str], int] = defaultdict(int)
    inexact: set[tuple[str, str, str, str]] = set()
    for change in effects.changes:
        key = (change.protocol, change.kind, _name(change.ref), change.token)
        read[key] += change.raw
        rounding[key] += change.rounding
        if not change.is_exact:
            inexact.add(key)
    promised: dict[tuple[str, str, str, str], int] = defaultdict(int)
    for each in plan.changes:
        promised[each.protocol, each.kind, _name(each.ref), each.token] += each.expected
    findings = []
    for key in sorted({*read, *promised}):
        where = f"{key[2] or f'a new {key[1]} of {key[0]}'} in {key[3]}"
        if key not in promised:
            findings.append(f"the calls change {where}, and the plan does not say so")
        elif key not in read:
            findings.append(f"the plan says that {where} changes, and the calls do not touch it")
        elif key not in inexact and abs(read[key] - promised[key]) > DUST + rounding[key]:
            findings.append(f"the calls change {where} by {read[key]} base units; the plan says {promised[key]}")
    return findings


def judge_statements(effects: Effects, plan: TxPlan) -> list[Finding]:
    """The calls write down word for word what the plan says, and hand over the items it names and no other."""
    found = [
        *(("writes", each) for each in (Counter(effects.statements) - Counter(plan.statements)).elements()),
        *(("does not write", each) for each in (Counter(plan.statements) - Counter(effects.statements)).elements()),
    ]
    findings = [f"{each.key} of {each.subject} at {each.contract} is not what the plan {verb}" for verb, each in found]
    if Counter((*effects.items, *effects.amounts)) != Counter((*plan.items, *plan.amounts)):
        findings.append("the items and amounts handed over are not those that the plan names")
    return findings


def judge_arrivals(effects: Effects, plan: TxPlan, *, account: str) -> list[Finding]:
    """The calls have arrive on other chains what the plan says, token, amount and time, and it is paid to the golem."""
    findings = [
        f"{each.raw} base units of {each.token} would arrive on chain {each.chain_id} at {each.recipient},"
        " which is not the golem"
        for each in effects.arrivals
        if each.recipient != account
    ]
    if Counter(effects.arrivals) != Counter(plan.arrivals):
        findings.append("what arrives on another chain is not what the plan says")
    return findings


def judge_rights(effects: Effects, plan: TxPlan) -> list[Finding]:
    """No right but an allowance is left, unless the plan says to whom; what a later call takes back is not left."""
    named = {left.spender for left in plan.allowances}
    in_the_end = {(right.contract, right.taker, right.token): right.amount for right in effects.rights}
    return [
        f"{taker} would get a right over {token or 'what the golem has'} at {contract}"
        for (contract, taker, token), amount in in_the_end.items()
        if amount and taker not in named
    ]


def judge_price(plan: TxPlan, chain: ChainReader, *, most_lost_bps: int, pays: bool = False) -> list[Finding]:
    """An exchange brings at least what it costs at feed prices, less what slippage and price impact may take.

    Deposits and payments bring nothing and are not an exchange; a promise always is one, unless its reader says that it
    `pays` and does no more. What goes into a position, or repays a debt, is not lost, and what comes out of one or is
    borrowed was not bought. A side without a feed cannot be judged. What never counts is bought and sold at no price of
    ours, but in a promise, which no run measures: there its protocol's oracle prices it.
    """
    if (plan.promise is None or pays) and (not plan.spends or not plan.receives):
        return []
    try:
        spent = sum(_value(flow.token.address, flow.bound, chain) for flow in plan.spends)
        received = sum(_value(flow.token.address, flow.bound, chain) for flow in plan.receives)
        counted = [change for change in plan.changes if change.counts or plan.promise is not None]
        spent += sum(_value(change.token, -change.expected, chain) for change in counted if change.expected < 0)
        received += sum(_value(change.token, change.expected, chain) for change in counted if change.expected > 0)
    except (PriceUnavailable, PriceStale) as error:
        return [f"the exchange cannot be judged: {error.detail}"]
    if received * BPS >= spent * (BPS - most_lost_bps):
        return []
    lost = (spent - received) * BPS // spent
    return [f"{format_micro_usd(spent)} would bring only {format_micro_usd(received)}: {format_bps(lost)} are lost"]


def judge_pools(effects: Effects, chain: ChainReader, *, most_off_bps: int) -> list[Finding]:
    """Every pool the bytes chose exists, and its price is near the feeds': a moved pool is how a deposit is robbed."""
    findings = []
    # Where a pair has one pool the calls choose none; what they pay for it is judged by the price of the exchange.
    chosen = [(read, pool) for read, pool in find_markets(effects, chain) if read.fee is not None or read.pool]
    for read, pool in chosen:
        if pool is None:
            which = f"fee {read.fee}" if read.pool is None else read.pool.text
            findings.append(f"there is no pool of {read.sold} and {read.bought} at {which}")
    pools = [pool for _, pool in chosen if pool is not None]
    states = {pool.id: pool for pool in markets_on(chain.chain_id).states(chain, pools)} if pools else {}
    for address in dict.fromkeys(pool.id for pool in pools):
        found = states.get(address)
        if found is None or not found.is_usable:
            findings.append(f"pool {address} tells no price")
            continue
        tokens = [chain.token(each) for each in (found.token0, found.token1)]
        try:
            prices = [chain.price(token) for token in tokens]
        except (PriceUnavailable, PriceStale) as error:
            findings.append(f"the price of pool {address} cannot be judged: {error.detail}")
            continue
        # Both are USD of token1 that one base unit of token0 is worth, on a common denominator.
        (p0, p1), (t0, t1) = prices, tokens
        by_pool = found.spot.numerator * p1.answer * 10 ** (t0.decimals + p0.decimals)
        by_feed = found.spot.denominator * p0.answer * 10 ** (t1.decimals + p1.decimals)
        off_bps = abs(by_pool - by_feed) * BPS // by_feed
        if off_bps > most_off_bps:
            findings.append(f"pool {address} is {format_bps(off_bps)} away from the feeds")
    return findings


def _name(ref: PositionRef | None) -> str:
    return str(ref) if ref is not None else ""


def _value(address: str, raw: int, chain: ChainReader) -> int:
    token = chain.token(address)
    price = chain.price(token)
    return value_in_micro_usd(raw=raw, token_decimals=token.decimals, price=price.answer, price_decimals=price.decimals)


def _net(moved: Mapping[str, int], back: Mapping[str, int]) -> dict[str, int]:
    """What of `moved` is more than comes `back`, by token; nothing for a token of which it is not."""
    net = {token: raw - back.get(token, 0) for token, raw in moved.items()}
    return defaultdict(int, {token: raw for token, raw in net.items() if raw > 0})


def _sum_bounds(flows: Iterable[TokenFlow]) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for flow in flows:
        sums[flow.token.address] += flow.bound
    return sums


def _veto(reason: str, check: str) -> Review:
    return Review(REVIEWER, ReviewVerdict.VETO, (reason,), (check,))
