"""Restaked ether at three issuers and back: queues, fees, slashes, pauses, strangers, markets, and what is told."""

from __future__ import annotations

import pytest

from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import make_context, report_of
from tests.tools_app.protocols.liquid_restaking.issuers import (
    DAY,
    ETH,
    NOBODY,
    answer,
    as_admin,
    at,
    of_kind,
    pass_time,
    pay_all,
    refused,
)
from tests.tools_app.protocols.measured import Golem
from tools_app.apps import load_registry
from tools_app.chain.abi import encode_call
from tools_app.protocols.liquid_restaking import renzo
from tools_app.protocols.liquid_restaking.addresses import COIN, contracts_on, deployments
from tools_app.protocols.liquid_restaking.etherfi import NEWEST, list_newest
from tools_app.protocols.liquid_restaking.issuer_reads import MOST_REQUESTS
from tools_app.protocols.liquid_restaking.positions import DUST_WEI, request_ref
from tools_app.protocols.liquid_restaking.protocol import PROTOCOL
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import REQUEST_KIND, WHEN_REPAID, Act, ExitStep, Position, Stuck, Wait
from tools_app.toolkit.views import NATIVE

pytestmark = [pytest.mark.protocols("liquid_restaking"), pytest.mark.django_db]
TEN = str(10 * ETH)
ISSUERS = ("etherfi", "kelp", "renzo")


@pytest.fixture
def golem(chain: World) -> Golem:
    load_registry()
    return Golem(chain, PROTOCOL, chain.new_account(40 * ETH))


def step(golem: Golem, position: Position) -> ExitStep | None:
    assert PROTOCOL.exits is not None
    return PROTOCOL.exits.next_step(position, {}, golem.chain.timestamp())


def ask_back(golem: Golem, issuer: str, amount: str = "max") -> str:
    outcome = golem.act("lrt_withdraw", protocol=issuer, amount=amount, mode="queue")
    return str(report_of("lrt_withdraw", outcome)["request_id"])


def test_the_world_and_the_product_agree_on_the_addresses(chain: World) -> None:
    assert chain.protocols["liquid_restaking"] == deployments(CHAIN_ID)
    assert PROTOCOL.is_simulated(CHAIN_ID) and not PROTOCOL.is_simulated(1)


@pytest.mark.parametrize("issuer", ISSUERS)
def test_what_is_restaked_is_asked_back_followed_and_claimed_at_full_worth(golem: Golem, issuer: str) -> None:
    golem.act("lrt_deposit", protocol=issuer, amount=TEN)
    stake = of_kind(golem, "stake")
    assert abs(stake.raw_of(NATIVE) - 10 * ETH) < 10
    asked = step(golem, stake)
    assert isinstance(asked, Act) and asked.tool == "lrt_withdraw" and asked.params["mode"] == "queue"
    request = ask_back(golem, issuer)
    waiting = of_kind(golem, REQUEST_KIND)
    assert waiting.ref.id == request and abs(waiting.raw_of(NATIVE) - 10 * ETH) < 20
    assert isinstance(step(golem, waiting), Wait)
    assert refused(golem, "lrt_claim_withdrawal", request_id=request).code == "RESTAKING_REQUEST_WAITS"
    pay_all(golem.chain)
    claim = step(golem, of_kind(golem, REQUEST_KIND, request))
    assert isinstance(claim, Act) and claim.tool == "lrt_claim_withdrawal"
    came = golem.act(claim.tool, request_id=request).deltas[NATIVE]
    assert abs(came - 10 * ETH) < 20
    assert [each for each in golem.positions() if step(golem, each) is not None] == []


@pytest.mark.parametrize("issuer", ISSUERS)
def test_the_receipt_of_a_request_names_it_so_that_it_is_followed(golem: Golem, issuer: str) -> None:
    golem.act("lrt_deposit", protocol=issuer, amount=TEN)
    outcome = golem.act("lrt_withdraw", protocol=issuer, amount=str(4 * ETH), mode="queue")
    logs = [log for receipt in outcome.receipts for log in receipt.logs]
    assert PROTOCOL.positions is not None
    (born,) = PROTOCOL.positions.born(logs, golem.address, CHAIN_ID)
    assert born.id == report_of("lrt_withdraw", outcome)["request_id"]
    assert PROTOCOL.positions.born(logs, "0x" + "66" * 20, CHAIN_ID) == ()


def test_an_exit_at_once_pays_less_by_its_fee_and_says_so(golem: Golem) -> None:
    golem.act("lrt_deposit", protocol="etherfi", amount=TEN)
    left = golem.act("lrt_withdraw", protocol="etherfi", amount="max")
    told = report_of("lrt_withdraw", left)
    assert (told["way"], told["fee_bps"], told["request_id"]) == ("redeemed", 30, None)
    assert abs(left.deltas[NATIVE] - 10 * ETH * 9_970 // 10_000) < 100
    assert golem.positions() == ()


def test_an_exit_that_has_become_dear_or_is_beyond_what_is_paid_now_waits_in_the_queue(golem: Golem) -> None:
    golem.act("lrt_deposit", protocol="etherfi", amount=TEN)
    ways = []
    for capacity, fee in ((500 * ETH, 50), (500 * ETH, 51), (5 * ETH, 0)):
        as_admin(golem.chain, "etherfi_redemption", "configure(uint256,uint16,bool)", capacity, fee, False)
        ways.append(golem.plan("lrt_withdraw", protocol="etherfi", amount="max").details["way"])
    assert ways == ["redeemed", "queued", "queued"]
    error = refused(golem, "lrt_withdraw", protocol="etherfi", amount="max", mode="instant")
    assert error.code == "RESTAKING_NOT_PAID_AT_ONCE" and error.data["at_once"] == str(5 * ETH)
    # A sale says that it is one, and what it would bring.
    assert "swap" in str(error) and int(error.data["market_eth"]) in range(98 * ETH // 10, 10 * ETH)


def test_kelp_pays_at_once_where_it_has_opened_that_and_for_its_fee(golem: Golem) -> None:
    golem.act("lrt_deposit", protocol="kelp", amount=TEN)
    as_admin(golem.chain, "kelp_withdrawals", "configure(bool,bool,uint256)", False, True, 20)
    left = golem.act("lrt_withdraw", protocol="kelp", amount="max", mode="instant")
    assert abs(left.deltas[NATIVE] - 10 * ETH * 9_980 // 10_000) < 100


@pytest.mark.parametrize("issuer", ISSUERS)
def test_a_slash_while_a_request_waits_makes_less_of_it_and_a_gain_does_not_make_more(
    golem: Golem, issuer: str
) -> None:
    chain = golem.chain
    golem.act("lrt_deposit", protocol=issuer, amount=TEN)
    request = ask_back(golem, issuer)
    before = of_kind(golem, REQUEST_KIND, request).raw_of(NATIVE)

    def move(percent: int, *, sum_of_moves: int) -> None:
        if issuer == "etherfi":
            as_admin(chain, "etherfi_pool", "rebase(int128)", 3_250 * ETH * percent // 100)
        elif issuer == "kelp":
            as_admin(chain, "kelp_oracle", "setPrice(uint256)", 106 * ETH // 100 * (100 + sum_of_moves) // 100)
        else:
            as_admin(chain, "renzo_manager", "earn(int256)", 3_220 * ETH * percent // 100)

    move(5, sum_of_moves=5)
    assert abs(of_kind(golem, REQUEST_KIND, request).raw_of(NATIVE) - before) < 5
    move(-20, sum_of_moves=-15)
    less = of_kind(golem, REQUEST_KIND, request).raw_of(NATIVE)
    assert before * 80 // 100 < less < before * 90 // 100
    pay_all(chain)
    came = golem.act("lrt_claim_withdrawal", request_id=request).deltas[NATIVE]
    assert abs(came - less) < 1_000


def test_a_request_that_renzo_cannot_fill_waits_beyond_its_cooldown(golem: Golem) -> None:
    golem.act("lrt_deposit", protocol="renzo", amount=TEN)
    as_admin(golem.chain, "renzo_queue", "stake(uint256)", 1_005 * ETH)
    request = ask_back(golem, "renzo")
    waiting = of_kind(golem, REQUEST_KIND, request)
    assert waiting.legs[0].free_at == golem.chain.timestamp() + 3 * DAY
    pass_time(golem.chain, 4 * DAY)
    short = of_kind(golem, REQUEST_KIND, request)
    assert short.legs[0].free_at == WHEN_REPAID
    told = step(golem, short)
    assert isinstance(told, Wait) and told.until is None
    assert refused(golem, "lrt_claim_withdrawal", request_id=request).data["resets_at"] is None
    pay_all(golem.chain)
    golem.act("lrt_claim_withdrawal", request_id=request)


def test_claims_of_one_request_after_another_find_the_place_that_moved(golem: Golem) -> None:
    golem.act("lrt_deposit", protocol="renzo", amount=TEN)
    first, second, third = (ask_back(golem, "renzo", str(amount * ETH)) for amount in (1, 2, 3))
    pay_all(golem.chain)
    for request, tokens in ((first, 1), (third, 3), (second, 2)):
        came = golem.act("lrt_claim_withdrawal", request_id=request).deltas[NATIVE]
        assert abs(came - tokens * 107 * ETH // 100) < 100


def test_a_claim_that_a_stranger_made_for_the_golem_has_arrived_and_is_not_lost(golem: Golem) -> None:
    golem.act("lrt_deposit", protocol="renzo", amount=TEN)
    request = ask_back(golem, "renzo")
    pay_all(golem.chain)
    stranger = golem.chain.new_account(ETH)
    golem.chain.transact(stranger, at("renzo_queue"), "claim(uint256,address)", 0, golem.address)
    arrived = of_kind(golem, REQUEST_KIND, request)
    assert arrived.is_settled and arrived.legs == () and step(golem, arrived) is None
    assert refused(golem, "lrt_claim_withdrawal", request_id=request).code == "RESTAKING_REQUEST_UNKNOWN"


def test_requests_at_kelp_leave_oldest_first_and_the_refusal_names_it(golem: Golem) -> None:
    golem.act("lrt_deposit", protocol="kelp", amount=TEN)
    first, second = (ask_back(golem, "kelp", str(amount * ETH)) for amount in (1, 2))
    pay_all(golem.chain)
    error = refused(golem, "lrt_claim_withdrawal", request_id=second)
    assert error.data["request_ids"] == [first]
    for request in (first, second):
        golem.act("lrt_claim_withdrawal", request_id=request)


def test_what_a_stranger_asks_for_in_the_golems_name_is_no_trouble_and_somebody_elses_is_not_claimed(
    golem: Golem,
) -> None:
    chain = golem.chain
    golem.act("lrt_deposit", protocol="etherfi", amount=TEN)
    mine = ask_back(golem, "etherfi")
    stranger = chain.new_account(60 * ETH)
    chain.transact(stranger, at("etherfi_pool"), "deposit(address)", NOBODY, value=40 * ETH)
    chain.transact(stranger, at("eeth"), "approve(address,uint256)", at("etherfi_pool"), 40 * ETH)
    for number in range(40):
        to = golem.address if number % 2 else stranger.address
        chain.transact(stranger, at("etherfi_pool"), "requestWithdraw(address,uint256)", to, ETH // 10)
    (own,) = (each for each in golem.positions([request_ref(CHAIN_ID, mine)]) if each.ref.id == mine)
    assert abs(own.raw_of(NATIVE) - 10 * ETH) < 20
    pay_all(chain)
    golem.act("lrt_claim_withdrawal", request_id=mine)
    # The second request is the stranger's own.
    assert refused(golem, "lrt_claim_withdrawal", request_id="etherfi-2").code == "RESTAKING_REQUEST_UNKNOWN"


def test_a_request_that_ether_fi_struck_is_told_as_stuck(golem: Golem) -> None:
    golem.act("lrt_deposit", protocol="etherfi", amount=TEN)
    request = ask_back(golem, "etherfi")
    as_admin(golem.chain, "etherfi_requests", "invalidateRequest(uint256)", int(request.split("-")[1]))
    found = of_kind(golem, REQUEST_KIND, request)
    assert isinstance(step(golem, found), Stuck) and [each.reason for each in found.locked] == ["paused"]
    assert refused(golem, "lrt_claim_withdrawal", request_id=request).code == "RESTAKING_REQUEST_WAITS"


PAUSES = {
    "etherfi": ("etherfi_pool", "setPaused(bool)", (True,)),
    "kelp": ("kelp_withdrawals", "configure(bool,bool,uint256)", (True, False, 0)),
    "renzo": ("renzo_queue", "configure(bool,bool,bool,uint256)", (True, False, False, 0)),
}


@pytest.mark.parametrize("issuer", ISSUERS)
def test_an_issuer_that_pauses_is_waited_for_told_as_locked_and_entered_by_nobody(golem: Golem, issuer: str) -> None:
    golem.act("lrt_deposit", protocol=issuer, amount=TEN)
    request = ask_back(golem, issuer, str(2 * ETH))
    pay_all(golem.chain)
    key, signature, args = PAUSES[issuer]
    as_admin(golem.chain, key, signature, *args)
    for kind, reason in (("stake", "queue"), (REQUEST_KIND, "paused")):
        found = of_kind(golem, kind, request)
        told = step(golem, found)
        assert isinstance(told, Wait) and told.until is None
        assert [each.reason for each in found.locked] == [reason]
    assert refused(golem, "lrt_withdraw", protocol=issuer, amount="max", mode="queue").code == "MARKET_CLOSED"
    assert refused(golem, "lrt_claim_withdrawal", request_id=request).code == "MARKET_CLOSED"
    assert refused(golem, "lrt_deposit", protocol=issuer, amount=TEN).code == "DEPEG_RISK_HIGH"


def test_deposits_that_renzo_s_risk_oracle_pauses_are_refused_and_what_is_there_leaves_as_before(golem: Golem) -> None:
    golem.act("lrt_deposit", protocol="renzo", amount=TEN)
    as_admin(golem.chain, "renzo_queue", "pauseDeposits(bool)", True)
    assert refused(golem, "lrt_deposit", protocol="renzo", amount=TEN).code == "DEPEG_RISK_HIGH"
    assert of_kind(golem, "stake").locked == ()
    golem.act("lrt_withdraw", protocol="renzo", amount="max", mode="queue")


@pytest.mark.parametrize(
    ("queue", "risk", "in_paused", "out_paused"),
    [
        ("renzo_queue", "renzo_risk", False, False),
        ("renzo_queue", "weeth", True, False),
        ("weeth", "renzo_risk", True, True),
    ],
)
def test_a_queue_or_a_risk_oracle_that_renzo_replaced_is_entered_by_nobody(
    queue: str, risk: str, in_paused: bool, out_paused: bool
) -> None:
    known, contracts = deployments(1) or {}, contracts_on(1)
    assert contracts is not None
    calls = renzo.standing_calls(contracts)
    told = {
        renzo.QUEUE: (known[queue],),
        renzo.RISK: (known[risk],),
        renzo.SUPPLY: (100 * ETH,),
        renzo.TVL: ((), (), 107 * ETH),
        renzo.LINE: (0, 0),
    }
    values: list[tuple[object, ...]] = [told.get(each.signature, (0,)) for each in calls]
    found = renzo.parse_standing(values, contracts)
    assert (found.rate, found.is_in_paused, found.is_out_paused) == (107 * ETH // 100, in_paused, out_paused)


def test_a_report_that_lowers_the_rate_between_plan_and_call_refuses_the_plan(golem: Golem) -> None:
    golem.act("lrt_deposit", protocol="renzo", amount=TEN)
    plan = golem.plan("lrt_withdraw", protocol="renzo", amount="max", mode="queue")
    as_admin(golem.chain, "renzo_manager", "earn(int256)", -100 * ETH)
    with pytest.raises(AssertionError):
        golem.check_measured(plan)
    golem.act("lrt_withdraw", protocol="renzo", amount="max", mode="queue")


def test_a_deposit_for_which_less_is_given_between_plan_and_call_is_refused(golem: Golem) -> None:
    plan = golem.plan("lrt_deposit", protocol="kelp", amount=TEN)
    as_admin(golem.chain, "kelp_oracle", "setPrice(uint256)", 106 * ETH // 100 * 102 // 100)
    # Kelp itself holds the deposit to the least that the plan names.
    assert not golem.simulate(plan).succeeded


def test_dust_that_a_stranger_sends_is_nothing_to_leave(golem: Golem) -> None:
    stranger = golem.chain.new_account(ETH)
    golem.chain.transact(stranger, at("renzo_manager"), "depositETH(uint256)", 0, value=DUST_WEI)
    dust = golem.chain.rpc.balance_of(at("ezeth"), stranger.address)
    golem.chain.transact(stranger, at("ezeth"), "transfer(address,uint256)", golem.address, dust)
    found = of_kind(golem, "stake")
    assert 0 < found.raw_of(NATIVE) < DUST_WEI and step(golem, found) is None


def test_amounts_that_an_issuer_does_not_take_are_refused_with_the_figure(golem: Golem) -> None:
    small = refused(golem, "lrt_deposit", protocol="kelp", amount="99")
    assert small.code == "RESTAKING_AMOUNT_REFUSED" and small.data["least"] == str(ETH // 10_000)
    as_admin(golem.chain, "kelp_pool", "configure(bool,uint256)", False, 1_005 * ETH)
    much = refused(golem, "lrt_deposit", protocol="kelp", amount=TEN)
    assert much.data["most"] == str(5 * ETH)
    as_admin(golem.chain, "renzo_manager", "configure(bool,uint256)", False, 3_215 * ETH)
    assert refused(golem, "lrt_deposit", protocol="renzo", amount=TEN).data["most"] == str(5 * ETH)
    golem.act("lrt_deposit", protocol="renzo", amount=str(5 * ETH))
    assert refused(golem, "lrt_deposit", protocol="etherfi", amount=TEN, input_token="WETH").data["takes"] == "ETH"


def test_a_chain_and_an_issuer_that_are_not_known_are_refused_before_anything_is_read(golem: Golem) -> None:
    error = refused(golem, "lrt_deposit", protocol="kelp", amount=TEN, chain_id=8453)
    assert error.code == "CHAIN_NOT_SUPPORTED"
    assert {"weeth", "rseth", "ezeth"} <= set(deployments(1) or {}) and deployments(8453) is None


def test_foreign_bytes_are_a_veto(golem: Golem) -> None:
    golem.act("lrt_deposit", protocol="kelp", amount=TEN)
    reader = make_context(golem.chain, address=golem.address).chain()
    other = "0x" + "66" * 20
    for key, data, value in (
        ("etherfi_adapter", encode_call("function depositETHForWeETH(address)", other), ETH),
        ("etherfi_adapter", encode_call("function depositETHForWeETH(address)", NOBODY), 0),
        ("etherfi_pool", encode_call("function requestWithdraw(address,uint256)", other, ETH), 0),
        ("etherfi_redemption", encode_call("function redeemWeEth(uint256,address,address)", ETH, other, COIN), 0),
        (
            "etherfi_redemption",
            encode_call("function redeemWeEth(uint256,address,address)", ETH, golem.address, at("eeth")),
            0,
        ),
        ("kelp_pool", encode_call("function depositETH(uint256,string)", 0, ""), ETH),
        ("kelp_pool", encode_call("function depositETH(uint256,string)", 9 * ETH // 10, "me"), ETH),
        ("kelp_withdrawals", encode_call("function initiateWithdrawal(address,uint256,string)", other, ETH, ""), 0),
        ("kelp_withdrawals", encode_call("function initiateWithdrawal(address,uint256,string)", COIN, ETH, "me"), 0),
        ("kelp_withdrawals", encode_call("function initiateWithdrawal(address,uint256,string)", COIN, ETH, ""), 1),
        ("renzo_manager", encode_call("function depositETH(uint256)", 7), ETH),
        ("renzo_queue", encode_call("function withdraw(uint256,address)", ETH, other), 0),
        ("renzo_queue", encode_call("function claim(uint256,address)", 0, other), 0),
        ("rseth", encode_call("function transfer(address,uint256)", other, 5), 0),
        ("weeth", encode_call("function wrap(uint256)", 5), 0),
    ):
        with pytest.raises(UnknownCall):
            assert PROTOCOL.effects is not None
            call = Call(at(key), data, value, "")
            PROTOCOL.effects.read(call, earlier=(), account=golem.address, chain=reader, into=Effects())


def test_a_promise_leaves_half_a_percent_of_room_and_no_more(golem: Golem) -> None:
    golem.act("lrt_deposit", protocol="kelp", amount=TEN)
    for tool, params in (
        ("lrt_deposit", {"protocol": "renzo", "amount": TEN}),
        ("lrt_withdraw", {"protocol": "kelp", "amount": "max", "mode": "queue"}),
    ):
        for change in golem.plan(tool, **params).changes:
            assert 0 < change.expected - change.bound - abs(change.expected) * 50 // 10_000 <= 8


def test_fifty_requests_are_read_and_that_there_are_more_is_said(golem: Golem) -> None:
    golem.act("lrt_deposit", protocol="kelp", amount=TEN)
    chain = golem.chain
    chain.transact(golem.account, at("rseth"), "approve(address,uint256)", at("kelp_withdrawals"), 2**255)
    ask = "initiateWithdrawal(address,uint256,string)"
    for _ in range(MOST_REQUESTS):
        chain.transact(golem.account, at("kelp_withdrawals"), ask, COIN, ETH // 100, "")
    whole = golem.positions()
    assert len(whole) == MOST_REQUESTS + 1 and all(each.is_whole for each in whole)
    chain.transact(golem.account, at("kelp_withdrawals"), ask, COIN, ETH // 100, "")
    newest = request_ref(CHAIN_ID, f"kelp-{MOST_REQUESTS}")
    (beyond,) = (each for each in golem.positions([newest]) if not each.is_whole)
    assert isinstance(step(golem, beyond), Stuck)
    # What is not read is not taken for paid.
    assert not any(each.is_settled for each in golem.positions([newest]))
    assert answer(golem, "lrt_get_position")["has_more_requests"] is True


def test_the_newest_requests_that_are_looked_at_begin_where_they_did_after_one_more() -> None:
    assert list(list_newest(1)) == [] and list(list_newest(3)) == [1, 2]
    starts = [list_newest(number).start for number in range(2 * NEWEST, 6 * NEWEST)]
    assert sum(1 for one, two in zip(starts, starts[1:], strict=False) if one != two) == 3
    assert all(NEWEST <= len(list_newest(number)) < 2 * NEWEST for number in range(2 * NEWEST, 6 * NEWEST))
