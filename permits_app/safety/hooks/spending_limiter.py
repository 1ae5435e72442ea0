"""Hook 3: what an action may cost, how much worse than its quote it may end, and amounts in the wrong unit.

The definite answer on money is the reservation (`permits_app/limits/ledger.py`), which asks the same rule under a lock;
this hook gives it before anything is simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.conf import settings

from permits_app.errors import SlippageLimitExceeded
from permits_app.hook_rejection import Reject
from permits_app.limits.spend_rules import judge_spend
from permits_app.limits.trading_costs import CostsUsed, TradeCost, judge_costs, measure_trade
from permits_app.limits.usage import Usage
from permits_app.safety.amount_unit_check import judge_units, list_amounts
from permits_app.safety.format_rule_figures import format_bps
from permits_app.safety.hook import Allow, AllowModified, HookCall, HookStage, Verdict
from permits_app.safety.load_call_records import records_of
from permits_app.safety.risk_tier_of_call import returns_to_golem
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.units import format_micro_usd
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import LEAVING
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.views import FeedPrice, TokenMeta

LONGEST_DEADLINE_SECONDS = 3_600
"""What is sent may lie in the open no longer than this after its last wait: a price does not hold for a day."""

_SLIPPAGE = "slippage_bps"
_DEADLINE = "deadline"
NOTHING_USED = Usage(tick_micro_usd=0, session_micro_usd=0, day_micro_usd=0, writes_last_hour=0)


@dataclass(frozen=True, slots=True)
class SpendFacts:
    """What hook 3 reads: prices of the plan's tokens by address, None without a feed, and what is used up already;
    of a trade what it may cost, and what trades cost already.
    """

    prices: Mapping[str, FeedPrice | None]
    usage: Usage
    trade: TradeCost | None = None
    costs: CostsUsed = CostsUsed()


class SpendingLimiter:
    """Per transaction, heartbeat tick, session and rolling 24 h; slippage, price impact and what trades cost in a day;
    whole-unit slips.
    """

    name = "spending_limiter"

    def check(self, call: HookCall) -> Verdict:
        """Allow, AllowModified with what can be mended, or Reject with the first limit that does not hold."""
        return mend(call) or self.decide(call, load_facts(call))

    def decide(self, call: HookCall, facts: SpendFacts) -> Verdict:
        """The same answer from what was loaded before; reads nothing."""
        if call.plan is not None:
            refusal = (
                judge_slippage(plan=call.plan, most_bps=call.limits.max_slippage_bps)
                or judge_price_impact(plan=call.plan, most_bps=call.limits.max_price_impact_bps)
                or judge_units(
                    plan=call.plan,
                    params=call.params,
                    price_of=lambda token: facts.prices.get(token.address),
                    dust_micro_usd=settings.GOLEM_DUST_MICRO_USD,
                )
            )
            if refusal is not None:
                return refusal
        amount = call.value.total_micro_usd
        if amount == 0:
            return Allow(note="spends nothing")
        refused = judge_spend(
            limits=call.limits, usage=facts.usage, amount_micro_usd=amount, counts_per_day=counts_per_day(call)
        ) or judge_costs(limits=call.limits, used=facts.costs, trade=facts.trade, is_held=counts_per_day(call))
        return refused or Allow(note=f"spends at most {format_micro_usd(amount)} without gas")


def mend(call: HookCall) -> AllowModified | None:
    """The call with less slippage or an earlier deadline where it asks for more than may be; None where it does not.

    Only at a preview, and only what the caller named itself: it is planned, judged and simulated again with what the
    owner accepts, so that the permit is for those bytes.
    """
    if call.plan is None or call.stage is not HookStage.PREVIEW:
        return None
    ceilings = {_SLIPPAGE: call.limits.max_slippage_bps, _DEADLINE: LONGEST_DEADLINE_SECONDS + call.wait_seconds}
    mended = {
        name: most
        for name, most in ceilings.items()
        if isinstance(asked := call.params.get(name), int) and asked > most
    }
    # What the plan ends by is no word of its tool: a route may be held to less than was asked.
    if _SLIPPAGE in mended and (call.plan.slippage_bps or 0) <= call.limits.max_slippage_bps:
        del mended[_SLIPPAGE]
    if not mended:
        return None
    changes = ", ".join(f"{name} {most} for {call.params[name]}" for name, most in mended.items())
    return AllowModified(params={**call.params, **mended}, note=f"judged again with {changes}")


def load_facts(call: HookCall) -> SpendFacts:
    """Read what hook 3 judges: prices only of tokens an amount is given in, usage only of a call that spends."""
    price_of = _price_reader(call.chain)
    tokens = {token.address: token for _, _, token in list_amounts(call.plan, call.params)} if call.plan else {}
    usage = records_of(call).usage if call.value.total_micro_usd else NOTHING_USED
    prices = {address: price_of(token) for address, token in tokens.items()}
    trade = measure_trade(plan=call.plan, value=call.value, venue=call.tool.venue, chain=call.chain)
    if trade is None:
        return SpendFacts(prices, usage)
    if call.records is not None:
        call.records.trade = trade
    return SpendFacts(prices, usage, trade, records_of(call).costs)


def counts_per_day(call: HookCall) -> bool:
    """Whether a call uses up the rolling 24 h: not when it reduces a position and all of it returns to the golem.

    What does not is held to none of the limits of spending; its worst case is reserved all the same. Others' money
    counts whatever the action is for.
    """
    if call.plan is not None and call.plan.principals:
        return True
    return not (call.action_class in LEAVING and returns_to_golem(call))


def judge_slippage(*, plan: TxPlan, most_bps: int) -> Reject | None:
    """More slippage than the owner accepts."""
    if plan.slippage_bps is None or plan.slippage_bps <= most_bps:
        return None
    return _too_much("slippage", plan.slippage_bps, most_bps, f"slippage_bps of at most {most_bps}")


def judge_price_impact(*, plan: TxPlan, most_bps: int) -> Reject | None:
    """More price impact than the owner accepts."""
    if plan.price_impact_bps is None or plan.price_impact_bps <= most_bps:
        return None
    return _too_much("price_impact", plan.price_impact_bps, most_bps, "a smaller amount, or a deeper pool")


def _price_reader(chain: ChainReader | None) -> Callable[[TokenMeta], FeedPrice | None]:
    def price_of(token: TokenMeta) -> FeedPrice | None:
        if chain is None:
            return None
        try:
            return chain.price(token)
        except (PriceUnavailable, PriceStale):
            # What is spent was priced before this hook, or the call refused; a received token may have no feed.
            return None

    return price_of


def _too_much(word: str, observed_bps: int, most_bps: int, would_pass: str) -> Reject:
    return Reject(
        rule=f"spending_limiter.{word}",
        reason=f"{word.replace('_', ' ')} of {format_bps(observed_bps)}; the owner accepts {format_bps(most_bps)}",
        observed=format_bps(observed_bps),
        limit=format_bps(most_bps),
        would_pass=would_pass,
        error=SlippageLimitExceeded,
    )
