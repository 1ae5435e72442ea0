"""A permit of Permit2 that the golem's key signs inside the call that uses it: bound to the plan, used up or taken
back, refused word by word, and left out where no signature can be made.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_account import Account

from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.custody.sign_permit2 import MOST_SECONDS, sign_inner
from permits_app.custody.signing_route import Carrier, SigningRoute
from permits_app.errors import SignerUnavailable
from permits_app.hook_rejection import Reject
from permits_app.permits.plan_store import decode_plan
from permits_app.previews.signed_permits import sign_inside
from permits_app.reviewers.safety_guardian import review
from permits_app.safety.hook import HookCall
from permits_app.safety.hooks.simulator import Simulator
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import USDC, WETH, swap_call
from tests.tools_app.protocols.uniswap.v4_hooks import contracts
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.protocols.uniswap.router_permits import EXECUTE, SINGLE_TYPES
from tools_app.standards.calldata import read_exactly
from tools_app.standards.permit2 import PERMIT2
from tools_app.standards.permit2_in_calldata import read_inner, type_permit
from tools_app.toolkit.permit2_in_call import InnerPermit, PermitDetails
from tools_app.toolkit.plan import Call, TxPlan

pytestmark = pytest.mark.protocols("uniswap_v4")

USD = 10**6
SWAP = {"token_in": "USDC", "token_out": "DAI", "amount": str(100 * USD), "route": "v4:100"}
_ALLOWANCE = "allowance(address,address,address)"
_PERMIT = "function permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)"


def left(world: World, account: str, symbol: str = "USDC") -> tuple[int, int]:
    """What the router may still take through Permit2, and the next nonce."""
    token = world.tokens[symbol].address
    amount, _, nonce = world.rpc.read(
        PERMIT2, _ALLOWANCE, account, token, contracts().router, returns="(uint160,uint48,uint48)"
    )
    return int(amount), int(nonce)


def plan_of(live: LiveGolem, permit: dict[str, Any]) -> TxPlan:
    return decode_plan(live.permit(permit["permit_id"]))


def inner_of(plan: TxPlan) -> InnerPermit:
    (permit,) = (each for call in plan.calls for each in read_inner(CHAIN_ID, call))
    return permit


def hand_in(world: World, account: str, permit: InnerPermit) -> None:
    """Somebody else hands in what the golem signed."""
    (given,) = permit.gives
    details = (given.token, given.amount, given.until, given.nonce)
    data = encode_call(_PERMIT, account, (details, permit.spender, permit.ends_at), permit.signature)
    receipt = world.send(world.new_account(10**18), PERMIT2, "0x" + data.hex())
    assert receipt["status"] == "0x1"


def test_a_swap_that_is_paid_through_permit2_signs_its_right_inside_the_call_that_uses_it(
    live_golem: LiveGolem, local_chain: World
) -> None:
    account = live_golem.golem.address
    permit = live_golem.preview(**SWAP)
    plan = plan_of(live_golem, permit)
    signed = inner_of(plan)
    assert [call.to for call in plan.calls] == [local_chain.tokens["USDC"].address, contracts().router]
    assert signed.spender == contracts().router and signed.ends_at == plan.deadline
    assert signed.gives == (PermitDetails(local_chain.tokens["USDC"].address, 100 * USD, signed.ends_at, 0),)
    assert [(each.spender, each.left, each.through) for each in plan.allowances][-1] == (signed.spender, 0, PERMIT2)
    done = live_golem.commit(permit["permit_id"])
    assert done["status"] == "COMMITTED"
    row = live_golem.permit(permit["permit_id"])
    assert row.outcomes.get().is_verified
    hashes = row.transactions.order_by("nonce").values_list("tx_hash", flat=True)
    sent = [local_chain.rpc.call("eth_getTransactionByHash", each)["input"] for each in hashes]
    assert sent == ["0x" + call.data.hex() for call in plan.calls]
    assert left(local_chain, account) == (0, 1), "used up, and its nonce with it"


def test_what_an_exact_output_leaves_of_a_signed_right_is_taken_back(live_golem: LiveGolem, local_chain: World) -> None:
    permit = live_golem.preview(**{**SWAP, "amount": str(90 * 10**18), "exact_output": True, "slippage_bps": 100})
    assert inner_of(plan_of(live_golem, permit)).gives[0].amount > 90 * USD
    assert live_golem.commit(permit["permit_id"])["status"] == "COMMITTED"
    assert left(local_chain, live_golem.golem.address) == (0, 1)


def test_a_stranger_who_hands_the_permit_in_first_stops_nothing_and_gets_nothing(
    live_golem: LiveGolem, local_chain: World
) -> None:
    account = live_golem.golem.address
    permit = live_golem.preview(**SWAP)
    hand_in(local_chain, account, inner_of(plan_of(live_golem, permit)))
    assert left(local_chain, account) == (100 * USD, 1)
    assert live_golem.commit(permit["permit_id"])["status"] == "COMMITTED"
    assert live_golem.permit(permit["permit_id"]).outcomes.get().is_verified
    assert left(local_chain, account) == (0, 1)


def test_a_halt_takes_back_what_a_stranger_handed_in_of_a_permit_that_was_never_sent(
    live_golem: LiveGolem, local_chain: World
) -> None:
    account = live_golem.golem.address
    hand_in(local_chain, account, inner_of(plan_of(live_golem, live_golem.preview(**SWAP))))
    assert left(local_chain, account)[0] == 100 * USD
    told = halt_golem(golem=live_golem.golem, reason="its owner stops it", actor="user:owner", now=clock.now())
    carry_out_halt(golem_id=live_golem.golem.pk, epoch=told["epoch"], now=clock.now())
    assert left(local_chain, account)[0] == 0


def test_beside_an_open_permit_the_right_is_given_by_a_call_and_both_are_carried_out(
    live_golem: LiveGolem, local_chain: World
) -> None:
    first = live_golem.preview(**SWAP)
    second = live_golem.preview(**{**SWAP, "amount": str(50 * USD)})
    assert inner_of(plan_of(live_golem, first)).gives[0].nonce == 0
    assert PERMIT2 in [call.to for call in plan_of(live_golem, second).calls], "one nonce is signed for once"
    for permit in (first, second):
        assert live_golem.commit(permit["permit_id"])["status"] == "COMMITTED"
    assert left(local_chain, live_golem.golem.address) == (0, 1)


@pytest.fixture
def unsigned(live_golem: LiveGolem) -> HookCall:
    return swap_call(live_golem, **SWAP)


@pytest.mark.parametrize("how", ["safe", "operation", "waits", "for long", "no key"])
def test_where_no_signature_can_be_made_the_right_is_given_by_a_call(
    live_golem: LiveGolem, unsigned: HookCall, how: str
) -> None:
    account, key = live_golem.golem.address, "0x" + "77" * 20
    assert unsigned.plan is not None and unsigned.plan.deadline is not None
    changed = {
        "safe": replace(unsigned, route=SigningRoute(account, key, Carrier.SAFE)),
        "operation": replace(unsigned, route=SigningRoute(account, account, Carrier.OPERATION)),
        "waits": replace(unsigned, wait_seconds=600),
        "for long": swap_call(live_golem, **SWAP, deadline=2 * MOST_SECONDS),
        "no key": replace(unsigned, route=SigningRoute(account, key)),
    }[how]
    assert sign_inside(changed) == changed
    assert changed.plan is not None and PERMIT2 in [call.to for call in changed.plan.calls]
    assert sign_inside(unsigned) != unsigned


def test_what_a_hook_refuses_is_not_signed(live_golem: LiveGolem, unsigned: HookCall) -> None:
    limits = copy(unsigned.limits)
    limits.per_transaction_micro_usd = 1
    refused = replace(unsigned, limits=limits)
    assert sign_inside(refused) == refused


def list_changed_words(call: Call) -> Iterator[tuple[int, Call]]:
    """The call with each word of its permit changed once."""
    commands, inputs, deadline = read_exactly(call.data, EXECUTE)
    permit = inputs[0]
    for start in range(0, len(permit), 32):
        value = int.from_bytes(permit[start : start + 32], "big")
        changed = (value ^ 1 if value < 2 else value + 8) % 2**256
        words = permit[:start] + changed.to_bytes(32, "big") + permit[start + 32 :]
        yield start // 32, replace(call, data=encode_call(EXECUTE, commands, [words, *inputs[1:]], deadline))


def test_each_word_of_the_permit_that_is_changed_is_refused_by_the_guardian(
    live_golem: LiveGolem, unsigned: HookCall
) -> None:
    signed = sign_inside(unsigned)
    assert signed.plan is not None
    assert review(signed).is_approved, review(signed).reasons
    *before, last = signed.plan.calls
    changed = [(word, replace(signed.plan, calls=(*before, call))) for word, call in list_changed_words(last)]
    # Six words of the permit, where the signature is and how long, and 65 bytes in three words.
    assert len(changed) == 11
    let_through = [word for word, plan in changed if review(replace(signed, plan=plan)).is_approved]
    assert let_through == []


KEY = Account.create()


@pytest.mark.parametrize("what", ["spender", "amount", "end", "nonce", "signer", "batch", "twice", "late"])
def test_a_permit_that_is_for_somebody_else_or_says_another_amount_end_or_nonce_is_refused_though_it_is_well_signed(
    live_golem: LiveGolem, unsigned: HookCall, what: str
) -> None:
    """A key that signs anything stands in for the golem's: the words alone are judged."""
    call = replace(unsigned, view=replace(unsigned.view, address=KEY.address))
    signed = sign_inside(unsigned)
    assert signed.plan is not None
    own = inner_of(signed.plan)
    (given,) = own.gives
    other = {
        "spender": replace(own, spender="0x" + "66" * 20),
        "amount": replace(own, gives=(replace(given, amount=given.amount + 1),)),
        "end": replace(own, gives=(replace(given, until=given.until + 1),), ends_at=own.ends_at + 1),
        "nonce": replace(own, gives=(replace(given, nonce=1),)),
        "signer": own,
        "batch": replace(own, is_batch=True, gives=(given, replace(given, token=WETH.address))),
        "twice": own,
        "late": replace(own, ends_at=own.ends_at + 60),
    }[what]
    typed = type_permit(other, chain_id=CHAIN_ID)
    signature = bytes(KEY.sign_typed_data(full_message=typed.as_document()).signature)
    if what == "signer":
        signature = own.signature
    commands, inputs, deadline = read_exactly(signed.plan.calls[-1].data, EXECUTE)
    words = [(each.token, each.amount, each.until, each.nonce) for each in other.gives]
    body = (words if other.is_batch else words[0], other.spender, other.ends_at)
    types = ["((address,uint160,uint48,uint48)[],address,uint256)", "bytes"] if other.is_batch else list(SINGLE_TYPES)
    packed = encode(types, [body, signature])
    code = bytes([0x83 if other.is_batch else 0x8A])
    times = 2 if what == "twice" else 1
    data = encode_call(EXECUTE, code * times + commands[1:], [packed] * times + list(inputs[1:]), deadline)
    plan = replace(signed.plan, calls=(*signed.plan.calls[:-1], replace(signed.plan.calls[-1], data=data)))
    told = review(replace(call, plan=plan))
    assert not told.is_approved
    said = {
        "spender": "a permit inside a call",
        "amount": "would be allowed",
        "end": "the calls say deadline",
        "nonce": "another nonce",
        "signer": "signed by somebody else",
        "batch": "would be allowed",
        "twice": "handed a permit twice",
        "late": "for another time",
    }[what]
    assert said in " ".join(told.reasons), told.reasons


def test_a_permit_inside_that_the_plan_does_not_say_is_refused_by_what_permit2_tells(unsigned: HookCall) -> None:
    signed = sign_inside(unsigned)
    assert signed.plan is not None
    silent = tuple(each for each in signed.plan.allowances if not each.through)
    refused = Simulator().check(replace(signed, plan=replace(signed.plan, allowances=silent)))
    assert isinstance(refused, Reject) and refused.rule == "simulator.unexpected_approval"
    less = tuple(replace(each, granted=each.granted - 1) if each.through else each for each in signed.plan.allowances)
    refused = Simulator().check(replace(signed, plan=replace(signed.plan, allowances=less)))
    assert isinstance(refused, Reject) and refused.rule == "simulator.unexpected_approval"


def test_a_signed_right_that_is_left_is_refused_by_what_permit2_answers(unsigned: HookCall) -> None:
    signed = sign_inside(replace_amounts(unsigned))
    assert signed.plan is not None and inner_of(signed.plan).gives[0].amount == 101 * USD
    refused = Simulator().check(signed)
    assert isinstance(refused, Reject) and refused.rule == "simulator.right_left", refused


def replace_amounts(call: HookCall) -> HookCall:
    """A plan that gives a million more than its call takes."""
    plan = call.plan
    assert plan is not None
    approve = "function approve(address,address,uint160,uint48)"
    calls = []
    for each in plan.calls:
        if each.to == PERMIT2:
            token, spender, _, until = read_exactly(each.data, approve)
            each = replace(each, data=encode_call(approve, token, spender, 101 * USD, until))
        calls.append(each)
    given = tuple(replace(each, granted=101 * USD) if each.through else each for each in plan.allowances)
    return replace(call, plan=replace(plan, calls=tuple(calls), allowances=given))


def test_the_key_signs_no_other_right_before_there_is_a_permit(live_golem: LiveGolem, local_chain: World) -> None:
    account, now = live_golem.golem.address, local_chain.timestamp()
    given = PermitDetails(USDC.address, USD, now + 300, 0)
    fit = InnerPermit((given,), contracts().router, now + 300)
    two = (given, replace(given, token=WETH.address))
    for permit in (fit, replace(fit, spender=contracts().positions), replace(fit, gives=two, is_batch=True)):
        assert len(sign_inner(permit, address=account, chain_id=CHAIN_ID, at=now).signature) == 65
    for unfit in (
        replace(fit, spender="0x" + "66" * 20),
        replace(fit, spender=contracts().manager),
        replace(fit, gives=()),
        replace(fit, gives=(), is_batch=True),
        replace(fit, is_batch=True),
        replace(fit, gives=two),
        replace(fit, gives=(given, given), is_batch=True),
        replace(fit, gives=(given, replace(two[1], until=now + 301)), is_batch=True),
        replace(fit, gives=(replace(given, until=now + 301),)),
        replace(fit, gives=(replace(given, until=now),), ends_at=now),
        replace(fit, gives=(replace(given, until=now + MOST_SECONDS + 1),), ends_at=now + MOST_SECONDS + 1),
    ):
        with pytest.raises(SignerUnavailable):
            sign_inner(unfit, address=account, chain_id=CHAIN_ID, at=now)
