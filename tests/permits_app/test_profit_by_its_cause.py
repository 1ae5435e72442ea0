"""Profit and loss stand under what caused them: prices, gas, and what positions earned."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import override_settings

from permits_app.actions.value_golem import value_golem
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models import NavSnapshot, OutboundTransaction
from permits_app.models.transaction import IN_A_BLOCK, PayloadPurpose
from permits_app.performance.profit_days import read_worth
from tests.golem_project.heartbeat.loans import set_price
from tests.live_golem import LiveGolem
from tests.permits_app.execution.chain_tricks import mining_paused
from tests.permits_app.execution.test_lost_sequences import work_for_a_moment
from tools_app.core import clock

pytestmark = pytest.mark.django_db(transaction=True)

CENT = 10_000
LATER = timedelta(seconds=91)


def value(live: LiveGolem, *, after: timedelta = timedelta()) -> None:
    live.golem.refresh_from_db()
    assert value_golem(golem=live.golem, now=clock.now() + after) is not None


def test_what_a_bought_token_gained_is_price_and_no_interest(live_golem: LiveGolem) -> None:
    value(live_golem)
    permit = live_golem.preview(amount="900000000")
    live_golem.commit(permit["permit_id"])
    bought = live_golem.balance("WETH")
    value(live_golem, after=timedelta(seconds=20))
    assert NavSnapshot.objects.filter(golem=live_golem.golem).count() == 2, "one soon after the outcome"
    set_price(live_golem, 3_300)
    value(live_golem, after=timedelta(minutes=11))
    now = clock.now() + timedelta(minutes=11)
    worth = read_worth(golem_id=live_golem.golem.pk, now=now)
    assert worth is not None
    parts = worth.parts
    assert parts.fees_and_interest == 0, parts
    assert parts.price >= 300 * bought // 10**12, "ten per cent on what it bought"
    assert abs(parts.moved) < CENT and parts.gas < 0
    first = NavSnapshot.objects.filter(golem=live_golem.golem).earliest("at").value_micro_usd
    assert parts.profit + parts.moved == worth.value - first


def test_gas_of_what_only_used_a_nonce_up_is_gas_and_nothing_paid_in_or_out(live_golem: LiveGolem) -> None:
    value(live_golem)
    permit_id = str(live_golem.preview(amount="500000000")["permit_id"])
    with mining_paused(live_golem.world):
        live_golem.start(permit_id)
        work_for_a_moment(live_golem, permit_id)
        with override_settings(GOLEM_FEE_RAISE_BPS=100_000):
            assert reconcile_transactions(now=clock.now() + LATER)["cancelled"]
    for _ in range(3):
        work_for_a_moment(live_golem, permit_id)
        reconcile_transactions(now=clock.now())
    filled = OutboundTransaction.objects.filter(purpose=PayloadPurpose.FILL, state__in=IN_A_BLOCK)
    paid = sum(int(row.fee_wei) for row in filled)
    assert paid > 0
    value(live_golem, after=timedelta(minutes=11))
    worth = read_worth(golem_id=live_golem.golem.pk, now=clock.now() + timedelta(minutes=11))
    assert worth is not None
    assert (worth.parts.moved, worth.parts.fees_and_interest, worth.parts.price) == (0, 0, 0)
    assert abs(worth.parts.gas + paid * 3_000 // 10**12) <= 1, "at 3,000 dollars a coin, in millionths"
    assert worth.parts.profit == worth.parts.gas
