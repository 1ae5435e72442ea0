"""From every state a golem can come into it gets back into its base asset: no limit, list or phase holds it inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archetypes_app.actions.change_phase import worsen_phase
from archetypes_app.models import Golem, ToolProfile
from permits_app.errors import PolicyRejected, TokenNotAllowed
from permits_app.hook_rejection import Reject
from permits_app.limits.usage import Usage
from permits_app.models import ActionPermit, AllowlistEntry, HighWaterMark, PolicyCage, SpendEntry, SpendingLimits
from permits_app.models.spending import AllowlistMode
from permits_app.safety import hook_chain
from permits_app.safety.drawdown import Fall
from permits_app.safety.hook import HookCall
from permits_app.safety.hook_chain import LoadedRules
from permits_app.safety.hooks.policy_cage import CageRows
from permits_app.safety.hooks.rate_limiter import RateFacts
from permits_app.safety.hooks.spending_limiter import SpendFacts
from permits_app.safety.loop_and_breaker_rules import Breaker, BreakerState
from tests.factories.golems import make_golem
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import NOW, swap_call
from tools_app.core import clock
from tools_app.toolkit.enums import ActionClass, Phase


def nothing_left_of_any_limit(live: LiveGolem) -> None:
    columns = ("per_transaction_micro_usd", "per_tick_micro_usd", "per_session_micro_usd", "per_day_micro_usd")
    limits = dict.fromkeys(columns, 0)
    SpendingLimits.objects.filter(golem=live.golem).update(**limits, writes_per_hour=0)


def everything_taken_off_the_list(live: LiveGolem) -> None:
    AllowlistEntry.objects.filter(golem=live.golem).delete()


def a_fall_on_record(live: LiveGolem) -> None:
    HighWaterMark.objects.update_or_create(
        golem=live.golem,
        defaults={
            "value_micro_usd": 10**12,
            "reached_at": clock.now(),
            "violated_at": clock.now(),
            "violated_bps": 9_000,
        },
    )


def a_cage_without_room(live: LiveGolem) -> None:
    PolicyCage.objects.filter(golem=live.golem).update(
        max_position_bps=500, max_concentration_bps=500, max_assets=1, is_action_gate_on=True
    )


def a_conservative_profile(live: LiveGolem) -> None:
    live.golem.profiles.add(*ToolProfile.objects.filter(is_conservative=True)[:1])


def nothing(live: LiveGolem) -> None:
    """Left as it is."""


ONE_BY_ONE: tuple[Callable[[LiveGolem], None], ...] = (
    nothing,
    nothing_left_of_any_limit,
    everything_taken_off_the_list,
    a_fall_on_record,
    a_cage_without_room,
    a_conservative_profile,
)


def _everything_at_once(live: LiveGolem) -> None:
    for restrict in ONE_BY_ONE:
        restrict(live)


def _worsen(live: LiveGolem, phase: Phase) -> None:
    if phase is not Phase.THRIVING:
        worsen_phase(golem=live.golem, to=phase, reason="a test", actor="system:test", now=clock.now())
    live.golem.refresh_from_db()


def _come_into_other_assets(live: LiveGolem) -> str:
    """A golem that holds WETH and DAI besides its base asset, each by its own trade, and a position of both kinds."""
    for token in ("WETH", "DAI"):
        live.commit(live.preview(token_out=token)["permit_id"])
    opening = live.preview(
        action_type="add_liquidity",
        token_in=None,
        token_out=None,
        amount=None,
        token0="WETH",
        token1="USDC",
        price_lower="1",
        price_upper="100000",
        amount1="500000000",
    )
    assert live.commit(opening["permit_id"])["status"] == "COMMITTED"
    manager = live.world.contracts["uniswap_v3_position_manager"]
    owned = live.world.rpc.read(
        manager, "tokenOfOwnerByIndex(address,uint256)", live.golem.address, 0, returns="(uint256)"
    )
    return str(owned[0] if isinstance(owned, list | tuple) else owned)


def _get_out(live: LiveGolem, position: str) -> None:
    def do(**wish: Any) -> None:
        permit = live.preview(**{"token_in": None, "token_out": None, "amount": None, **wish})
        assert live.commit(permit["permit_id"])["status"] == "COMMITTED", wish

    do(action_type="remove_liquidity", position_id=position, percent_to_remove=100)
    # In parts too: what is too large for one trade is left in several.
    do(token_in="WETH", token_out="USDC", amount=str(live.balance("WETH") // 2))
    for token in ("WETH", "DAI"):
        do(token_in=token, token_out="USDC", amount=str(live.balance(token)))


@pytest.mark.parametrize("phase", list(Phase))
def test_a_golem_gets_into_its_base_asset_from_the_worst_state_of_every_phase(
    live_golem: LiveGolem, phase: Phase
) -> None:
    position = _come_into_other_assets(live_golem)
    _everything_at_once(live_golem)
    _worsen(live_golem, phase)
    with pytest.raises(PolicyRejected):
        live_golem.preview()
    _get_out(live_golem, position)
    assert (live_golem.balance("WETH"), live_golem.balance("DAI")) == (0, 0)
    assert live_golem.balance("USDC") > 20_000 * 10**6


@pytest.mark.parametrize("restrict", ONE_BY_ONE)
def test_a_dying_golem_gets_out_whatever_single_rule_stands_in_its_way(
    live_golem: LiveGolem, restrict: Callable[[LiveGolem], None]
) -> None:
    position = _come_into_other_assets(live_golem)
    restrict(live_golem)
    _worsen(live_golem, Phase.TERMINAL)
    _get_out(live_golem, position)
    assert (live_golem.balance("WETH"), live_golem.balance("DAI")) == (0, 0)


def test_what_leaving_could_lose_is_reserved_all_the_same(live_golem: LiveGolem) -> None:
    nothing_left_of_any_limit(live_golem)
    permit = live_golem.preview(token_in="WETH", token_out="USDC", amount=str(10**18))
    entry = SpendEntry.objects.get(permit_id=permit["permit_id"])
    assert entry.reserved_micro_usd > 0 and not entry.counts_per_day
    assert ActionPermit.objects.get(pk=permit["permit_id"]).action_class == ActionClass.DECREASE_POSITION


def test_a_token_that_a_stranger_sent_is_not_on_the_list_for_leaving(live_golem: LiveGolem) -> None:
    AllowlistEntry.objects.filter(golem=live_golem.golem, address=live_golem.world.tokens["DAI"].address).delete()
    with pytest.raises(TokenNotAllowed):
        live_golem.preview(token_in="DAI", token_out="USDC", amount=str(live_golem.balance("DAI")))


def test_what_was_touched_before_fifty_other_trades_is_left_under_a_shorter_list_all_the_same(
    live_golem: LiveGolem,
) -> None:
    bought, other = (live_golem.preview(token_out=token)["permit_id"] for token in ("WETH", "DAI"))
    for permit_id in (bought, other):
        assert live_golem.commit(permit_id)["status"] == "COMMITTED"
    latest = live_golem.permit(other)
    columns = {field.attname: getattr(latest, field.attname) for field in ActionPermit._meta.concrete_fields}
    ActionPermit.objects.bulk_create(ActionPermit(**{**columns, "id": uuid4()}) for _ in range(60))
    ActionPermit.objects.filter(pk=bought).update(created_at=latest.created_at - timedelta(days=1))
    everything_taken_off_the_list(live_golem)
    permit = live_golem.preview(token_in="WETH", token_out="USDC", amount=str(live_golem.balance("WETH")))
    assert live_golem.commit(permit["permit_id"])["status"] == "COMMITTED"
    assert live_golem.balance("WETH") == 0


@pytest.mark.parametrize("change", [{"status": "REVERTED"}, {"chain_id": 1}, {"is_local": True}])
def test_what_no_verified_transaction_of_the_plans_chain_touched_is_not_on_the_list_for_leaving(
    live_golem: LiveGolem, change: dict[str, Any]
) -> None:
    permit_id = live_golem.preview(token_out="DAI")["permit_id"]
    live_golem.commit(permit_id)
    AllowlistEntry.objects.filter(golem=live_golem.golem, address=live_golem.world.tokens["DAI"].address).delete()
    leaving = {"token_in": "DAI", "token_out": "USDC", "amount": str(live_golem.balance("DAI"))}
    assert live_golem.preview(**leaving)["permit_id"]
    ActionPermit.objects.filter(pk=permit_id).update(**change)
    with pytest.raises(TokenNotAllowed):
        live_golem.preview(**leaving)


def test_a_token_that_another_golem_traded_is_not_on_the_list_for_leaving(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview(token_out="DAI")["permit_id"]
    live_golem.commit(permit_id)
    ActionPermit.objects.filter(pk=permit_id).update(golem=make_golem(owner=live_golem.golem.owner))
    AllowlistEntry.objects.filter(golem=live_golem.golem, address=live_golem.world.tokens["DAI"].address).delete()
    with pytest.raises(TokenNotAllowed):
        live_golem.preview(token_in="DAI", token_out="USDC", amount=str(live_golem.balance("DAI")))


def test_a_list_that_was_shortened_opens_nothing(live_golem: LiveGolem) -> None:
    live_golem.commit(live_golem.preview(token_out="DAI")["permit_id"])
    AllowlistEntry.objects.filter(golem=live_golem.golem, address=live_golem.world.tokens["DAI"].address).delete()
    with pytest.raises(TokenNotAllowed):
        live_golem.preview(token_out="DAI", amount="400000000")


_MONEY = st.integers(0, 10**13)
_STAYS = frozenset({"policy_cage.halted", "spending_limiter.slippage", "spending_limiter.price_impact"})


@pytest.fixture
def leaving(live_golem: LiveGolem) -> HookCall:
    live_golem.commit(live_golem.preview(token_out="DAI")["permit_id"])
    return swap_call(live_golem, token_in="WETH", token_out="USDC", amount=str(10**17))


def test_no_combination_of_limits_phase_and_past_refuses_to_leave(leaving: HookCall) -> None:
    @settings(max_examples=300, deadline=None)
    @given(
        phase=st.sampled_from(Phase),
        action_class=st.sampled_from([ActionClass.DECREASE_POSITION, ActionClass.CLOSE_POSITION]),
        used=st.tuples(_MONEY, _MONEY, _MONEY),
        ceilings=st.tuples(_MONEY, _MONEY, _MONEY, _MONEY),
        writes=st.integers(0, 19),
        violated=st.booleans(),
        paused=st.booleans(),
        is_conservative=st.booleans(),
        breaker=st.sampled_from(BreakerState),
        mode=st.sampled_from([AllowlistMode.STRICT, AllowlistMode.WARN]),
    )
    def judge(
        phase: Phase,
        action_class: ActionClass,
        used: tuple[int, int, int],
        ceilings: tuple[int, int, int, int],
        writes: int,
        violated: bool,
        paused: bool,
        is_conservative: bool,
        breaker: BreakerState,
        mode: AllowlistMode,
    ) -> None:
        per_transaction, per_tick, per_session, per_day = ceilings
        golem = Golem(pk=leaving.golem.pk, phase=phase.value, address=leaving.golem.address)
        limits = SpendingLimits(
            golem=golem,
            per_transaction_micro_usd=per_transaction,
            per_tick_micro_usd=per_tick,
            per_session_micro_usd=per_session,
            per_day_micro_usd=per_day,
            writes_per_hour=0,
            allowlist_mode=mode,
        )
        call = replace(leaving, golem=golem, action_class=action_class, limits=limits, cage=PolicyCage(golem=golem))
        tick, session, day = used
        usage = Usage(tick_micro_usd=tick, session_micro_usd=session, day_micro_usd=day, writes_last_hour=writes)
        fall = Fall(NOW if violated else None, 9_000 if violated else 0, NOW if paused else None)
        verdict = hook_chain.decide(
            call,
            LoadedRules(
                rows=CageRows(fall=fall, is_conservative=is_conservative),
                holdings=None,
                spend=SpendFacts(prices={}, usage=usage),
                rate=RateFacts(usage=usage, cap=0, is_venue_tried=True, breaker=Breaker(breaker)),
            ),
        )
        assert not isinstance(verdict, Reject) or verdict.rule in _STAYS, verdict

    judge()
