"""Transfers over Across' real pools on two chains: sent under a permit, paid out by relayers, or by nobody."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archetypes_app.models import Golem
from golem_project.embedded.world.accounts import derive_account
from golem_project.embedded.world.protocols import find_protocol_worlds
from permits_app.approvals.approval_statement import describe_permit
from permits_app.models import PendingRequest
from tests.evm.world import CHAIN_ID
from tests.permits_app.tools.test_wallet import read
from tests.second_chain import SECOND_ID
from tests.tools_app.factories import make_context
from tests.tools_app.protocols.across.sending import LEAST, SENT, USDC, Across, in_a_thread, pay_in, view
from tests.tools_app.protocols.across.sending import across as across
from tools_app.chain.abi import encode_call
from tools_app.core.errors import GolemError
from tools_app.protocols.across.addresses import CHAINS as CHAINS_SERVED
from tools_app.protocols.across.addresses import LOCAL_CHAIN_IDS, pool_on
from tools_app.protocols.across.effects import SpokePoolEffects
from tools_app.protocols.across.math import fee_bps, least_after, quantile
from tools_app.protocols.across.positions import TransferPositions
from tools_app.protocols.across.reads import Lately, PaidOut
from tools_app.protocols.across.transfers import DEPOSIT, NOBODY, Transfer, to_word
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call

pytestmark = pytest.mark.protocols("across")


def refused(call: Any) -> GolemError:
    with pytest.raises(GolemError) as caught:
        call()
    return caught.value


def test_what_is_sent_is_followed_until_a_relayer_paid_it_out_and_counts_once_meanwhile(across: Across) -> None:
    start = across.worth()
    assert start is not None
    permit = across.preview()
    told = describe_permit(across.live.permit(permit["permit_id"]))
    [promise] = [each for each in told["bounds"]["promises"] if "(31338)" in each]
    assert promise.startswith("at least 4995 USDC arrives"), promise
    row = across.send()
    assert (row.chain_id, row.expects_chain_id, row.state) == (CHAIN_ID, SECOND_ID, "REQUESTED")
    assert row.amounts[0]["raw"] == str(LEAST)
    way = across.worth(timedelta(minutes=11))
    assert way is not None and start - 6 * USDC < way < start
    across.pay_out_of(row)
    across.look(timedelta(minutes=12))
    across.worlds[1].rpc.call("evm_mine")
    across.look(timedelta(minutes=13))
    row.refresh_from_db()
    assert row.state == "DONE"
    assert across.worth(timedelta(minutes=22)) == way
    assert across.worlds[1].rpc.balance_of(across.worlds[1].tokens["USDC"].address, row.golem.address) >= LEAST


def test_what_nobody_pays_out_is_told_counted_no_more_and_nothing_follows_it_over_the_bridge(across: Across) -> None:
    start = across.worth()
    row = across.send(deadline=600)
    across.worlds[1].rpc.call("evm_increaseTime", 700)
    across.worlds[1].rpc.call("evm_mine")
    across.look(timedelta(minutes=12))
    row.refresh_from_db()
    assert row.state == "STUCK" and "gives it back on chain 31337" in row.last_error
    left = across.worth(timedelta(minutes=13))
    assert start is not None and left is not None and start - left >= SENT
    assert (
        read(across.live, "bridge_get_status", bridge="across", bridge_id=number(row), source_chain=CHAIN_ID)["status"]
        == "failed"
    )
    assert "ISSUER_OR_BRIDGE" in refused(across.preview).code or "across" in refused(across.preview).detail.lower()


def number(row: Any) -> str:
    return str(Transfer.parse(row.ref.split("/", 3)[3]).number)


def test_a_payment_to_somebody_else_ends_no_transfer_of_the_golem(across: Across) -> None:
    row = across.send()
    transfer, thief = Transfer.parse(row.ref.split("/", 3)[3]), across.relayer.address
    in_a_thread(lambda: across.pay_out(transfer, str(across.live.golem.address), to=thief))
    across.look()
    across.worlds[1].rpc.call("evm_mine")
    across.look(timedelta(minutes=1))
    row.refresh_from_db()
    assert row.state == "REQUESTED"


def test_its_status_is_told_with_both_transactions(across: Across) -> None:
    row = across.send()
    asked = {"bridge": "across", "bridge_id": number(row), "source_chain": CHAIN_ID}
    before = read(across.live, "bridge_get_status", **asked)
    assert (before["status"], before["tx_hash_dest"], before["destination_chain"]) == ("pending", None, SECOND_ID)
    assert before["amount"] == str(SENT) and before["arrives"] == str(LEAST) and before["eta"]
    across.pay_out_of(row)
    after = read(across.live, "bridge_get_status", **asked)
    receipt = across.worlds[1].rpc.call("eth_getTransactionReceipt", after["tx_hash_dest"])
    assert after["status"] == "completed" and receipt["status"] == "0x1"
    sent = across.worlds[0].rpc.call("eth_getTransactionReceipt", after["tx_hash_source"])
    assert sent["from"].lower() == str(across.live.golem.address).lower()
    missing = refused(lambda: read(across.live, "bridge_get_status", **{**asked, "bridge_id": "999"}))
    assert missing.code == "TRANSFER_NOT_FOUND"


def test_cost_and_time_are_those_of_the_last_transfers_and_none_where_too_few_were_seen(across: Across) -> None:
    across.others_send(4)
    few = read(across.live, "bridge_get_quote", **WAY, amount=str(SENT))
    assert few["amount_out"] is None and "fewer than 3" in few["why_null"]
    assert refused(lambda: across.preview(max_fee_bps=None)).code == "BRIDGE_FEE_UNKNOWN"
    across.others_send(2, 8, 40, seconds=90)
    quote = read(across.live, "bridge_get_quote", **WAY, amount=str(SENT))
    # Of 2, 4, 8 and 40 basis points three of four are 8 or less.
    assert (quote["fee_bps"], quote["transfers_seen"]) == (8, 4)
    assert quote["amount_out"] == str(SENT - SENT * 8 // 10_000)
    assert float(quote["total_fee_usd"]) == pytest.approx(4, rel=0.01)
    # A fifth more than was seen, so that a relayer takes it also when gas rises.
    permit = across.live.permit(across.preview(max_fee_bps=None)["permit_id"])
    assert permit.bounds["details"]["max_fee_bps"] == 10


def test_times_and_sizes_are_those_of_the_last_transfers(across: Across) -> None:
    across.others_send(4, 2, 8, 40, seconds=90)
    asked = {"bridge": "across", "source_chain": CHAIN_ID, "dest_chain": SECOND_ID}
    times = read(across.live, "bridge_estimate_time", **asked)
    assert times["transfers_seen"] == 4 and 60 <= times["p50_time"] <= times["p90_time"] <= 120
    limits = read(across.live, "bridge_get_limits", **WAY)
    assert limits["largest_seen"] == str(1_000 * USDC) and limits["max_amount"] is None


def test_bridges_of_which_nothing_is_known_have_no_rank(across: Across) -> None:
    across.others_send(4, 2, 8, seconds=90)
    ranked = read(across.live, "bridge_compare", token="USDC", amount=str(SENT), **{k: WAY[k] for k in CHAINS})
    assert [each["rank"] for each in ranked["routes"]] == [1, None, None]
    assert ranked["recommendation"]["bridge"] == "across"


WAY: dict[str, Any] = {"bridge": "across", "token": "USDC", "source_chain": CHAIN_ID, "dest_chain": SECOND_ID}
CHAINS = ("source_chain", "dest_chain")


@pytest.mark.parametrize(("where", "pause"), [(0, "pauseDeposits(bool)"), (1, "pauseFills(bool)")])
def test_a_paused_pool_on_either_chain_refuses_before_anything_is_signed(
    across: Across, where: int, pause: str
) -> None:
    world = across.worlds[where]
    owner = derive_account("across deployer")
    world.rpc.call("anvil_setBalance", owner.address, hex(10**18))
    world.transact(owner, pool_on(CHAIN_ID), pause, True)
    error = refused(across.preview)
    assert error.code == "BRIDGE_PAUSED" and error.data["chain_id"] == (CHAIN_ID, SECOND_ID)[where]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"token": "WETH"}, "TOKEN_NOT_BRIDGED"),
        ({"token": "ETH"}, "TOKEN_NOT_BRIDGED"),
        ({"dest_chain": CHAIN_ID}, "TOKEN_NOT_BRIDGED"),
        ({"dest_chain": 999_999}, "CHAIN_NOT_SUPPORTED"),
        ({"bridge": "hop"}, "BRIDGE_NOT_SERVED"),
        ({"amount": str(10**15)}, "INSUFFICIENT_BALANCE"),
        ({"max_fee_bps": 1_000}, "POLICY_REJECTED"),
    ],
)
def test_what_would_not_arrive_or_cost_too_much_is_refused(across: Across, changes: dict[str, Any], code: str) -> None:
    assert refused(lambda: across.preview(**changes)).code == code


def test_nothing_is_sent_from_or_to_a_chain_that_its_owner_did_not_allow(across: Across) -> None:
    Golem.objects.filter(pk=across.live.golem.pk).update(other_chain_ids=[])
    across.live.golem.refresh_from_db()
    assert refused(across.preview).code == "CHAIN_NOT_ALLOWED"
    back = refused(lambda: across.preview(source_chain=SECOND_ID, dest_chain=CHAIN_ID))
    assert back.code == "CHAIN_NOT_ALLOWED"


def test_an_intent_is_the_same_transfer_under_the_name_that_fillers_give_it(across: Across) -> None:
    row = across.send(
        **{"action_type": "cross_chain_intent", "token": None, "dest_chain": None, "bridge": None},
        **{"token_in": "USDC", "token_out": "USDC", "destination_chain": SECOND_ID},
    )
    told = row.permit.result["data"]
    assert row.permit.tool_name == "uniswap_submit_cross_chain_intent"
    transfer = Transfer.parse(row.ref.split("/", 3)[3])
    whose = to_word(str(across.live.golem.address))
    relay = (
        *(whose, whose, NOBODY, to_word(transfer.token), to_word(transfer.arrives)),
        *(transfer.amount, transfer.least, CHAIN_ID, transfer.number, transfer.until, 0, b""),
    )
    kinds = "(bytes32,bytes32,bytes32,bytes32,bytes32,uint256,uint256,uint256,uint256,uint32,uint32,bytes)"
    (by_contract,) = across.worlds[1].rpc.read(
        pool_on(SECOND_ID), f"getV3RelayHash({kinds})", relay, returns="(bytes32)"
    )
    assert told["intent_id"] == "0x" + bytes(by_contract).hex()
    assert told["filler_bids"] is None and told["estimated_output"] == "4995 USDC"
    across.pay_out_of(row)
    across.look()
    across.worlds[1].rpc.call("evm_mine")
    across.look(timedelta(minutes=1))
    row.refresh_from_db()
    assert row.state == "DONE"


def test_an_intent_for_another_token_is_refused(across: Across) -> None:
    error = refused(
        lambda: across.preview(
            **{"action_type": "cross_chain_intent", "token": None, "dest_chain": None, "bridge": None},
            **{"token_in": "USDC", "token_out": "DAI", "destination_chain": SECOND_ID},
        )
    )
    assert error.code == "TOKEN_NOT_BRIDGED" and "USDC" in error.detail


def deposit(account: str, sent: str, now: int, **other: Any) -> Call:
    words = {
        **{"depositor": to_word(account), "recipient": to_word(account), "token": to_word(sent)},
        **{"arrives": to_word(sent), "amount": SENT, "least": LEAST, "chain": SECOND_ID, "relayer": NOBODY},
        **{"quoted": now, "until": now + 7_200, "alone": 0, "message": b"", **other},
    }
    return Call(pool_on(CHAIN_ID), encode_call(DEPOSIT, *words.values()), 0, "")


@pytest.mark.parametrize(
    "other",
    [
        {"depositor": to_word("0x" + "52" * 20)},
        {"relayer": to_word("0x" + "52" * 20), "alone": 600},
        {"alone": 1},
        {"message": b"call me"},
        {"quoted": 5},
        {"recipient": b"\x01" * 32},
        {"token": b"\x01" * 32},
    ],
    ids=lambda other: "-".join(other),
)
def test_the_guardian_reads_no_deposit_that_others_could_keep_or_that_calls_somebody(
    across: Across, other: dict[str, Any]
) -> None:
    reader, me = make_context(across.worlds[0]).chain(), str(across.live.golem.address)
    usdc, into = across.worlds[0].tokens["USDC"].address, Effects()
    plain = deposit(me, usdc, reader.block.timestamp)
    SpokePoolEffects().read(plain, earlier=(), account=me, chain=reader, into=into)
    assert into.spends == {usdc: SENT} and into.arrivals[0].raw == LEAST and into.recipients == [me]
    with pytest.raises(UnknownCall):
        SpokePoolEffects().read(
            deposit(me, usdc, reader.block.timestamp, **other), earlier=(), account=me, chain=reader, into=Effects()
        )
    with pytest.raises(UnknownCall):
        wrapped = across.worlds[0].tokens["WETH"].address
        SpokePoolEffects().read(
            deposit(me, wrapped, reader.block.timestamp), earlier=(), account=me, chain=reader, into=Effects()
        )


@pytest.mark.parametrize(("age", "is_read"), [(0, True), (3_600, True), (3_601, False), (-1, False)])
def test_a_quote_of_an_hour_ago_is_read_and_an_older_one_is_not(across: Across, age: int, is_read: bool) -> None:
    reader, me, into = make_context(across.worlds[0]).chain(), str(across.live.golem.address), Effects()
    call = deposit(me, across.worlds[0].tokens["USDC"].address, reader.block.timestamp - age)
    with nullcontext() if is_read else pytest.raises(UnknownCall):
        SpokePoolEffects().read(call, earlier=(), account=me, chain=reader, into=into)
    assert bool(into.arrivals) is is_read


@pytest.mark.parametrize(("fees", "told"), [((5, 7), None), ((5, 7, 9), 9), ((7, 9, 5, 100), 9)])
def test_three_transfers_tell_a_fee_and_two_do_not(fees: tuple[int, ...], told: int | None) -> None:
    paid = tuple(PaidOut(at, 10_000, 10_000 - fee, at) for at, fee in enumerate(fees))
    assert Lately(paid).fee_bps == told


def test_no_log_of_another_contract_and_no_deposit_for_somebody_else_begins_a_transfer_of_the_golem(
    across: Across,
) -> None:
    world, me = across.worlds[0], str(across.live.golem.address)
    usdc, stranger = world.tokens["USDC"].address, world.new_account(10**18, {"USDC": SENT})
    transfer = pay_in(world, stranger, usdc, USDC, USDC, depositor=to_word(me), recipient=to_word(me))
    logs = [
        view(each)
        for each in world.rpc.call(
            "eth_getLogs", {"address": pool_on(CHAIN_ID), "fromBlock": "0x0", "toBlock": "latest"}
        )
    ]
    born = TransferPositions().born
    assert born(logs, me, CHAIN_ID) == (transfer.ref(SECOND_ID),)
    assert born([replace(each, address=usdc) for each in logs], me, CHAIN_ID) == ()
    assert born(logs, stranger.address, CHAIN_ID) == ()
    pay_in(world, stranger, usdc, USDC, USDC, recipient=to_word(me), message=b"call")
    assert PendingRequest.objects.count() == 0


def test_a_transfer_is_sent_back_from_the_other_chain(across: Across) -> None:
    second = across.worlds[1]
    second.fund(str(across.live.golem.address), 10**18, {"USDC": 10_000 * USDC})
    before = second.rpc.balance_of(second.tokens["USDC"].address, across.live.golem.address)
    row = across.send(source_chain=SECOND_ID, dest_chain=CHAIN_ID)
    assert (row.chain_id, row.expects_chain_id, row.state) == (SECOND_ID, CHAIN_ID, "REQUESTED")
    assert before - second.rpc.balance_of(second.tokens["USDC"].address, across.live.golem.address) == SENT


def test_its_addresses_are_those_of_the_packages_list() -> None:
    listed = find_protocol_worlds()["across"].fetch().artifact("across", "dist/broadcast/deployed-addresses.json")
    for chain_id in CHAINS_SERVED - LOCAL_CHAIN_IDS:
        assert listed["chains"][str(chain_id)]["contracts"]["SpokePool"]["address"] == pool_on(chain_id)


@given(st.lists(st.integers(0, 10**6), min_size=1), st.integers(1, 100))
def test_a_share_of_figures_is_the_least_that_so_many_do_not_exceed(values: list[int], percent: int) -> None:
    found = quantile(values, percent)
    assert found in values
    assert sum(each <= found for each in values) * 100 >= percent * len(values)
    assert sum(each < found for each in values) * 100 < percent * len(values)


@given(st.integers(1, 10**30), st.integers(0, 10_000))
def test_a_fee_read_back_from_what_arrives_is_the_one_that_was_asked(amount: int, bps: int) -> None:
    arrived = least_after(amount, bps)
    assert fee_bps(amount, arrived) <= bps
    assert amount * bps // 10_000 == amount - arrived
