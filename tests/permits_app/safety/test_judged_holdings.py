"""Hook 1 over holdings as they were read: what is missing, how many assets, the gate, who is in a position."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from permits_app.hook_rejection import Reject
from permits_app.limits.valuation import PlanValue, ValuePart
from permits_app.models import AllowlistEntry, PolicyCage
from permits_app.models.allowlist import AllowlistKind
from permits_app.models.spending import AllowlistMode
from permits_app.policy_cage.contract import RuleKind, key_address
from permits_app.policy_cage.suggested_rules import suggest_rules
from permits_app.safety.assets import Portfolio
from permits_app.safety.drawdown import Fall
from permits_app.safety.hook import Allow, HookCall
from permits_app.safety.hooks.policy_cage import (
    CageReads,
    CageRows,
    PolicyCageHook,
    enters_position,
    judge_holdings,
    judge_rows,
    load_holdings,
)
from permits_app.safety.phase_rules import judge_halt
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import ACCOUNT, NOW, OTHER, SWAP_TOOL, USDC, WETH, plain_call, swap_call
from tools_app.chain.feeds import PriceStale
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.runner import open_reader
from tools_app.toolkit.enums import ActionClass, Category
from tools_app.toolkit.plan import TokenFlow, TxPlan
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import FeedPrice

HOOK = PolicyCageHook()
DOLLAR = FeedPrice("0xfeed", 10**8, 8, 1, 0, 0)
HALF = Portfolio({"u": 100, "w": 100}, {"u": 100, "w": 100}, {"u": "USDC", "w": "WETH"}, base_asset="u")
SPENDING = TxPlan(chain_id=31337, calls=(), spends=(TokenFlow(USDC, 1, 1),), receives=(TokenFlow(WETH, 1, 1),))


def judged(portfolio: Portfolio | None, rows: CageRows | None = None, **changes: Any) -> Reject | None:
    """Without an allowlist; `changes` are columns of the cage, or `value`."""
    call = plain_call(SPENDING, value=changes.pop("value", PlanValue()))
    call.limits.allowlist_mode = AllowlistMode.OFF
    for column, value in {"max_concentration_bps": 10_000, "max_position_bps": 10_000, **changes}.items():
        setattr(call.cage, column, value)
    return judge_holdings(call, rows or CageRows(), CageReads(is_known=True, portfolio=portfolio))


def test_without_prices_or_balances_nothing_passes_and_the_refusal_says_what_is_missing() -> None:
    call = plain_call(SPENDING)
    call.limits.allowlist_mode = AllowlistMode.OFF
    stale = PriceStale("the feed of WETH is an hour old", token=WETH.address)
    missing = judge_holdings(call, CageRows(), CageReads(is_known=True, price_missing=stale))
    assert missing is not None
    assert (missing.rule, missing.error, missing.observed) == ("policy_cage.price_missing", PriceStale, stale.code)
    assert "the feed of WETH is an hour old" in missing.reason
    assert missing.data["token"] == WETH.address
    # A price that is missing refuses, whatever was measured besides.
    assert judge_holdings(call, CageRows(), CageReads(True, None, HALF, stale)) == missing
    unread = judge_holdings(call, CageRows(), CageReads(is_known=True))
    assert unread is not None
    assert (unread.rule, unread.error, unread.observed) == ("policy_cage.price_missing", None, "no balances")
    assert unread.reason.endswith("no balances")


@pytest.mark.parametrize(("most", "passes"), [(3, True), (2, True), (1, False)])
def test_where_no_list_counts_assets_those_that_are_held_do(most: int, passes: bool) -> None:
    refusal = judged(replace(HALF, after={"u": 100, "w": 1, "d": 0}), max_assets=most)
    assert (refusal is None) is passes
    if refusal is not None:
        assert (refusal.rule, refusal.observed) == ("policy_cage.max_assets", "2 assets")


def test_a_list_of_approved_assets_counts_itself_and_not_what_is_held() -> None:
    call = plain_call(SPENDING, allowlist=frozenset({("TOKEN", WETH.address)}))
    call.cage.max_assets = 1
    call.cage.max_concentration_bps = call.cage.max_position_bps = 10_000
    assert judge_holdings(call, CageRows(), CageReads(is_known=True, portfolio=HALF)) is None


@pytest.mark.parametrize(("assets", "passes"), [(3, True), (4, False)])
def test_tokens_that_stand_for_positions_take_no_room_of_approved_assets(assets: int, passes: bool) -> None:
    claims = SHELF.claims_on(31337)
    assert len(claims) > 3
    listed = {WETH.address, *(f"0x{index:040x}" for index in range(1, assets)), *claims}
    call = plain_call(SPENDING, allowlist=frozenset(("TOKEN", each) for each in listed))
    call.cage.max_assets = 3
    call.cage.max_concentration_bps = call.cage.max_position_bps = 10_000
    refusal = judge_holdings(call, CageRows(), CageReads(is_known=True, portfolio=HALF))
    assert (refusal is None) is passes
    assert refusal is None or (refusal.rule, refusal.observed) == ("policy_cage.max_assets", "4 assets")


def test_a_listed_token_without_a_feed_pushes_no_other_out_of_the_rules_of_a_new_cage(live_golem: LiveGolem) -> None:
    golem, asset = live_golem.golem, str(live_golem.world.tokens["DAI"].address)
    AllowlistEntry.objects.filter(golem=golem).delete()
    for address in (f"0x{1:040x}", asset):
        AllowlistEntry.objects.create(golem=golem, chain_id=31337, kind=AllowlistKind.TOKEN, address=address)
    PolicyCage.objects.filter(golem=golem).delete()
    PolicyCage.objects.create(golem=golem, max_assets=1)
    chain = open_reader(31337, now=clock.now(), deadline=Deadline.after_ms(10_000))
    rules = suggest_rules(golem=golem, chain=chain, high_water_mark_micro_usd=10**6, guardian=None, valuers={})
    assert asset in {key_address(rule.key) for rule in rules if rule.kind is RuleKind.ASSET}


@pytest.mark.parametrize(
    ("position", "spend", "rule"), [(0, 0, None), (50, 0, None), (51, 0, "size"), (0, 50, None), (0, 51, "size")]
)
def test_the_gate_sizes_the_position_or_else_what_is_spent(position: int, spend: int, rule: str | None) -> None:
    rows = CageRows(predictions=[True] * 50)
    portfolio, worth = (
        replace(HALF, position_after=position),
        PlanValue((ValuePart("spend", USDC, spend, DOLLAR, spend),)),
    )
    refusal = judged(portfolio, rows, is_action_gate_on=True, value=worth)
    assert (refusal.rule if refusal else None) == (f"policy_cage.action_gate_{rule}" if rule else None)
    assert judged(portfolio, rows, value=worth) is None


@pytest.mark.parametrize(("rows", "passes"), [(CageRows(), True), (CageRows(is_conservative=True), False)])
def test_rows_that_say_nothing_hold_to_no_conservative_profile(rows: CageRows, passes: bool) -> None:
    two_pools = TxPlan(chain_id=31337, calls=(), details={"route": [{}, {}]})
    assert (judge_rows(plain_call(two_pools), rows) is None) is passes


def test_the_fall_that_was_just_measured_counts_before_the_one_of_the_rows() -> None:
    call = plain_call(SPENDING)
    call.limits.allowlist_mode = AllowlistMode.OFF
    call.cage.max_concentration_bps = 10_000
    fallen, well = CageRows(fall=Fall(NOW, 1_400)), CageRows()
    holdings = CageReads(is_known=True, portfolio=HALF)
    assert judge_holdings(call, fallen, holdings) is not None
    assert judge_holdings(call, fallen, replace(holdings, fall=Fall())) is None
    assert judge_holdings(call, well, replace(holdings, fall=Fall(NOW, 1_400))) is not None


@pytest.mark.parametrize(
    ("category", "recipients", "spends", "enters"),
    [
        (Category.LP, (ACCOUNT,), True, True),
        (Category.LP, (), True, True),
        (Category.LP, (ACCOUNT,), False, False),
        (Category.LP, (OTHER,), True, False),
        (Category.LP, (ACCOUNT, OTHER), True, False),
        (Category.TRADING, (ACCOUNT,), True, False),
        (Category.WALLET, (ACCOUNT,), True, False),
    ],
)
def test_a_position_is_entered_by_what_keeps_its_spend_for_the_golem(
    category: Category, recipients: tuple[str, ...], spends: bool, enters: bool
) -> None:
    plan = TxPlan(31337, (), spends=(TokenFlow(USDC, 1, 1),) if spends else (), recipients=recipients)
    assert enters_position(plain_call(plan, tool=replace(SWAP_TOOL, category=category))) is enters
    assert enters_position(plain_call(None, tool=replace(SWAP_TOOL, category=category))) is False


@pytest.mark.parametrize(("reason", "observed"), [("owner said stop", "owner said stop"), ("", "halted")])
def test_a_halt_is_told_with_its_reason(reason: str, observed: str) -> None:
    refusal = judge_halt(is_halted=True, reason=reason)
    assert refusal is not None
    assert refusal.observed == observed
    assert judge_halt(is_halted=False, reason=reason) is None


# ---- on the local chain --------------------------------------------------------------------------------------------


class WithoutPrice:
    """A real reader whose feeds are all too old."""

    def __init__(self, chain: Any) -> None:
        self._chain = chain

    def price(self, token: Any) -> Any:
        raise PriceStale(f"the feed of {token.symbol} is too old")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chain, name)


@pytest.fixture
def call(live_golem: LiveGolem) -> HookCall:
    return swap_call(live_golem)


def test_a_moved_token_without_a_fresh_price_is_refused_by_the_hook(call: HookCall) -> None:
    old: Any = WithoutPrice(call.chain)
    verdict = HOOK.check(replace(call, chain=old))
    assert isinstance(verdict, Reject)
    assert (verdict.rule, verdict.error) == ("policy_cage.price_missing", PriceStale)


@pytest.mark.parametrize("action_class", list(ActionClass))
def test_what_raises_or_shifts_holdings_is_measured_and_leaving_is_not(
    call: HookCall, action_class: ActionClass
) -> None:
    measured = {ActionClass.NEW_POSITION, ActionClass.INCREASE_POSITION, ActionClass.REBALANCE}
    call.cage.max_concentration_bps = 1
    changed = replace(call, action_class=action_class)
    verdicts = HOOK.check(changed), HOOK.decide(changed, CageRows(), load_holdings(call))
    for verdict in verdicts:
        if action_class in measured:
            assert isinstance(verdict, Reject)
            assert verdict.rule == "policy_cage.max_concentration"
        else:
            assert isinstance(verdict, Allow)


def test_without_a_chain_or_an_account_nothing_is_known(call: HookCall) -> None:
    assert load_holdings(call).is_known
    assert not load_holdings(replace(call, chain=None)).is_known
    assert not load_holdings(replace(call, view=replace(call.view, address=None))).is_known
    assert not load_holdings(replace(call, plan=None)).is_known
