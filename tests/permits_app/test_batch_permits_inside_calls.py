"""A permit of Permit2 of several tokens that the golem's key signs once, inside the call that uses it: for both tokens
of a V4 position, and for swaps of several tokens. Bound to the plan, used up or taken back, refused word by word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_account import Account

from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.permits.plan_store import decode_plan
from permits_app.previews.signed_permits import sign_inside
from permits_app.reviewers.safety_guardian import review
from permits_app.safety.hook import Allow, HookCall
from permits_app.safety.hooks.simulator import Simulator
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import live_call, swap_call
from tests.tools_app.protocols.uniswap.v4_hooks import contracts
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.protocols.uniswap.cases import CASES
from tools_app.protocols.uniswap.v4.position_permits import BATCH, MULTICALL, split_permit
from tools_app.standards.calldata import read_exactly
from tools_app.standards.permit2 import PERMIT2
from tools_app.standards.permit2_in_calldata import read_inner, type_permit
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.permit2_in_call import InnerPermit, PermitDetails
from tools_app.toolkit.plan import TxPlan

pytestmark = pytest.mark.protocols("uniswap_v4")

USD, ETH = 10**6, 10**18
PARAMS = {each.id: dict(each.params) for each in CASES}
ADD = {**PARAMS["uniswap_lp_add_v4"], "amount0": str(1_000 * ETH)}
ADD_COIN = PARAMS["uniswap_lp_add_v4_coin"]
_ASKED = {"action_type": "add_liquidity", "venue": "uniswap", "token_in": None, "token_out": None, "amount": None}
_ALLOWANCE = "allowance(address,address,address)"
_PERMIT = "function permit(address,((address,uint160,uint48,uint48)[],address,uint256),bytes)"


def left(world: World, account: str, symbol: str, spender: str) -> tuple[int, int]:
    """What a contract may still take through Permit2, and the next nonce."""
    token = world.tokens[symbol].address
    amount, _, nonce = world.rpc.read(PERMIT2, _ALLOWANCE, account, token, spender, returns="(uint160,uint48,uint48)")
    return int(amount), int(nonce)


def both_left(live: LiveGolem) -> tuple[tuple[int, int], ...]:
    return tuple(left(live.world, live.golem.address, each, contracts().positions) for each in ("DAI", "USDC"))


def preview(live: LiveGolem, params: dict[str, Any]) -> dict[str, Any]:
    return live.preview(**_ASKED, **params)


def plan_of(live: LiveGolem, permit: dict[str, Any]) -> TxPlan:
    return decode_plan(live.permit(permit["permit_id"]))


def inner_of(plan: TxPlan) -> InnerPermit:
    (permit,) = (each for call in plan.calls for each in read_inner(CHAIN_ID, call))
    return permit


def hand_in(world: World, account: str, permit: InnerPermit) -> None:
    """Somebody else hands in what the golem signed."""
    details = [(each.token, each.amount, each.until, each.nonce) for each in permit.gives]
    data = encode_call(_PERMIT, account, (details, permit.spender, permit.ends_at), permit.signature)
    assert world.send(world.new_account(ETH), PERMIT2, "0x" + data.hex())["status"] == "0x1"


def test_both_tokens_of_a_v4_position_are_paid_by_one_signature_inside_the_call_that_opens_it(
    live_golem: LiveGolem, local_chain: World
) -> None:
    permit = preview(live_golem, ADD)
    plan = plan_of(live_golem, permit)
    signed, positions = inner_of(plan), contracts().positions
    dai, usdc = (local_chain.tokens[each].address for each in ("DAI", "USDC"))
    most = {each.token.address: each.bound for each in plan.spends}
    assert signed.is_batch and signed.spender == positions and signed.ends_at == plan.deadline
    assert set(signed.gives) == {PermitDetails(each, most[each], signed.ends_at, 0) for each in (dai, usdc)}
    assert [call.to for call in plan.calls[:3]] == [*(each.token for each in signed.gives), positions]
    assert all(not calldata_gives(call.data) for call in plan.calls if call.to == PERMIT2), "rights are only taken back"
    declared = {(each.token.address, each.granted, each.left) for each in plan.allowances if each.through == PERMIT2}
    assert declared == {(dai, most[dai], 0), (usdc, most[usdc], 0)}
    assert live_golem.commit(permit["permit_id"])["status"] == "COMMITTED"
    row = live_golem.permit(permit["permit_id"])
    assert row.outcomes.get().is_verified
    hashes = row.transactions.order_by("nonce").values_list("tx_hash", flat=True)
    sent = [local_chain.rpc.call("eth_getTransactionByHash", each)["input"] for each in hashes]
    assert sent == ["0x" + call.data.hex() for call in plan.calls]
    assert both_left(live_golem) == ((0, 1), (0, 1)), "used up or taken back, and both nonces with it"


def calldata_gives(data: bytes) -> bool:
    """Whether a call of Permit2 gives a right, and does not take one back."""
    return data[:4] == encode_call("function approve(address,address,uint160,uint48)", PERMIT2, PERMIT2, 0, 0)[:4]


def test_a_position_of_the_coin_and_a_token_is_paid_by_a_permit_of_one(
    live_golem: LiveGolem, local_chain: World
) -> None:
    permit = preview(live_golem, ADD_COIN)
    signed = inner_of(plan_of(live_golem, permit))
    assert not signed.is_batch and [each.token for each in signed.gives] == [local_chain.tokens["USDC"].address]
    assert live_golem.commit(permit["permit_id"])["status"] == "COMMITTED"
    assert live_golem.permit(permit["permit_id"]).outcomes.get().is_verified
    assert left(local_chain, live_golem.golem.address, "USDC", contracts().positions) == (0, 1)


def test_a_plan_of_several_changes_signs_for_all_of_them_inside_the_first(
    live_golem: LiveGolem, local_chain: World
) -> None:
    opened = preview(live_golem, ADD_COIN)
    live_golem.commit(opened["permit_id"])
    position_id = live_golem.permit(opened["permit_id"]).result["data"]["position_id"]
    asked = {"position_id": position_id, "new_price_lower": "2850", "new_price_upper": "3142"}
    permit = live_golem.preview(**{**_ASKED, "action_type": "rebalance_position"}, **asked)
    plan = plan_of(live_golem, permit)
    changes = [call for call in plan.calls if call.to == contracts().positions]
    assert [len(read_inner(CHAIN_ID, call)) for call in changes] == [1, 0]
    assert live_golem.commit(permit["permit_id"])["status"] == "COMMITTED"
    assert live_golem.permit(permit["permit_id"]).outcomes.get().is_verified
    assert left(local_chain, live_golem.golem.address, "USDC", contracts().positions) == (0, 2)


def test_a_stranger_who_hands_the_batch_in_first_stops_nothing_and_gets_nothing(
    live_golem: LiveGolem, local_chain: World
) -> None:
    permit = preview(live_golem, ADD)
    signed = inner_of(plan_of(live_golem, permit))
    hand_in(local_chain, live_golem.golem.address, signed)
    given = {each.token: each.amount for each in signed.gives}
    assert both_left(live_golem) == tuple((given[local_chain.tokens[each].address], 1) for each in ("DAI", "USDC"))
    assert live_golem.commit(permit["permit_id"])["status"] == "COMMITTED"
    assert live_golem.permit(permit["permit_id"]).outcomes.get().is_verified
    assert both_left(live_golem) == ((0, 1), (0, 1))


def test_a_halt_takes_back_both_rights_of_a_batch_that_a_stranger_handed_in(
    live_golem: LiveGolem, local_chain: World
) -> None:
    hand_in(local_chain, live_golem.golem.address, inner_of(plan_of(live_golem, preview(live_golem, ADD))))
    assert all(amount for amount, _ in both_left(live_golem))
    told = halt_golem(golem=live_golem.golem, reason="its owner stops it", actor="user:owner", now=clock.now())
    carry_out_halt(golem_id=live_golem.golem.pk, epoch=told["epoch"], now=clock.now())
    assert [amount for amount, _ in both_left(live_golem)] == [0, 0]


def test_beside_an_open_permit_of_one_of_its_tokens_the_rights_are_given_by_calls(live_golem: LiveGolem) -> None:
    first = preview(live_golem, ADD_COIN)
    second = preview(live_golem, ADD)
    assert not inner_of(plan_of(live_golem, first)).is_batch
    calls = plan_of(live_golem, second).calls
    assert sum(calldata_gives(call.data) for call in calls if call.to == PERMIT2) == 2, "one nonce is signed for once"
    for permit in (first, second):
        assert live_golem.commit(permit["permit_id"])["status"] == "COMMITTED"


@pytest.fixture
def unsigned(live_golem: LiveGolem) -> HookCall:
    return live_call(live_golem, "uniswap_lp_add_liquidity", ADD)


def bundle(call: HookCall) -> tuple[int, bytes, bytes]:
    """Which call of a plan is the bundle, its permit and the change of a position after it."""
    assert call.plan is not None
    (place,) = (at for at, each in enumerate(call.plan.calls) if each.to == contracts().positions)
    (steps,) = read_exactly(call.plan.calls[place].data, MULTICALL)
    return place, steps[0], steps[1]


def with_steps(call: HookCall, place: int, *steps: bytes) -> HookCall:
    """The call with other steps in its bundle."""
    assert call.plan is not None
    calls = list(call.plan.calls)
    calls[place] = replace(calls[place], data=encode_call(MULTICALL, list(steps)))
    return replace(call, plan=replace(call.plan, calls=tuple(calls)))


def list_changed_words(permit: bytes) -> Iterator[tuple[int, bytes]]:
    """The permit with each of its words changed once."""
    for start in range(4, len(permit), 32):
        value = int.from_bytes(permit[start : start + 32], "big")
        changed = (value ^ 1 if value < 2 else value + 8) % 2**256
        yield start // 32, permit[:start] + changed.to_bytes(32, "big") + permit[start + 32 :]


def test_each_word_of_the_batch_that_is_changed_is_refused_by_the_guardian(unsigned: HookCall) -> None:
    signed = sign_inside(unsigned)
    place, permit, then = bundle(signed)
    assert review(signed).is_approved, review(signed).reasons
    changed = list(list_changed_words(permit))
    # Whose it is, three places, spender and end, how many and two of four words, how long the signature and 65 bytes.
    assert len(changed) == 19
    let_through = [word for word, data in changed if review(with_steps(signed, place, data, then)).is_approved]
    assert let_through == []


def test_a_bundle_of_anything_but_one_permit_and_one_change_is_refused(unsigned: HookCall) -> None:
    signed = sign_inside(unsigned)
    place, permit, then = bundle(signed)
    for steps in ((permit, permit, then), (permit, then, then), (then, permit), (then, then), (permit,), (then,), ()):
        told = review(with_steps(signed, place, *steps))
        assert not told.is_approved, steps
    with pytest.raises(UnknownCall):
        split_permit(encode_call(MULTICALL, [then, permit]))


KEY = Account.create()
WRONG: dict[str, tuple[Callable[[InnerPermit], InnerPermit], str]] = {
    "spender": (lambda own: replace(own, spender="0x" + "66" * 20), "a permit inside a call"),
    "amount": (lambda own: change_last(own, amount=own.gives[1].amount + 1), "would be allowed"),
    "end": (lambda own: change_last(own, until=own.ends_at + 1), "for another time"),
    "late": (lambda own: replace(own, ends_at=own.ends_at + 60), "for another time"),
    "nonce": (lambda own: change_last(own, nonce=1), "another nonce"),
    "token": (lambda own: change_last(own, token="0x" + "77" * 20), "would be allowed"),
    "twice": (lambda own: replace(own, gives=(own.gives[0], own.gives[0])), "a token twice"),
    "nothing": (lambda own: change_last(own, amount=0), "gives nothing"),
    "signer": (lambda own: replace(own, signature=b"\x01" * 65), "signed by somebody else"),
}
"""How a batch may be another than the plan's, and what is said of it."""


def change_last(own: InnerPermit, **changes: Any) -> InnerPermit:
    return replace(own, gives=(own.gives[0], replace(own.gives[1], **changes)))


def judge(signed: HookCall, permit: InnerPermit, *, owner: str = KEY.address) -> tuple[str, ...]:
    """What the guardian has against the bundle with another permit, where a key that signs anything is the golem's; but
    that the position is not opened for that key.
    """
    place, _, then = bundle(signed)
    typed = type_permit(permit, chain_id=CHAIN_ID)
    own = bytes(KEY.sign_typed_data(full_message=typed.as_document()).signature)
    words = [(each.token, each.amount, each.until, each.nonce) for each in permit.gives]
    data = encode_call(BATCH, owner, (words, permit.spender, permit.ends_at), permit.signature or own)
    call = replace(signed, view=replace(signed.view, address=KEY.address))
    found = review(with_steps(call, place, data, then)).reasons
    return tuple(each for each in found if not each.startswith("the proceeds would go to"))


@pytest.mark.parametrize("what", WRONG)
def test_a_batch_that_says_something_else_is_refused_though_it_is_well_signed(unsigned: HookCall, what: str) -> None:
    signed = sign_inside(unsigned)
    assert signed.plan is not None
    own = replace(inner_of(signed.plan), signature=b"")
    assert judge(signed, own) == ()
    change, said = WRONG[what]
    assert said in " ".join(judge(signed, change(own)))


def test_a_batch_that_is_said_to_be_of_somebody_else_is_refused(unsigned: HookCall) -> None:
    signed = sign_inside(unsigned)
    assert signed.plan is not None
    own = replace(inner_of(signed.plan), signature=b"")
    assert "said to be of" in " ".join(judge(signed, own, owner="0x" + "66" * 20))


def test_swaps_of_several_tokens_through_the_router_are_paid_by_one_signature(
    live_golem: LiveGolem, local_chain: World
) -> None:
    """No tool plans several swaps; whoever composes their plans into one signs once for all of them."""
    usdc = swap_call(live_golem, token_in="USDC", token_out="DAI", amount=str(100 * USD), route="v4:100")
    dai = swap_call(live_golem, token_in="DAI", token_out="USDC", amount=str(50 * ETH), route="v4:100")
    one, two = usdc.plan, dai.plan
    assert one is not None and two is not None
    router = contracts().router
    plan = replace(
        one,
        calls=(*one.calls, *(replace(each, data=until(each.data, one, two)) for each in two.calls)),
        spends=(*one.spends, *two.spends),
        receives=(*one.receives, *two.receives),
        allowances=(*one.allowances, *two.allowances),
    )
    signed = sign_inside(replace(usdc, plan=plan))
    assert signed.plan is not None
    permit = inner_of(signed.plan)
    assert permit.is_batch and len(permit.gives) == 2 and permit.spender == router
    assert len(signed.plan.calls) == len(plan.calls) - 2
    assert review(signed).is_approved, review(signed).reasons
    assert isinstance(Simulator().check(signed), Allow)
    assert [left(local_chain, live_golem.golem.address, each, router)[0] for each in ("USDC", "DAI")] == [0, 0]


def until(data: bytes, one: TxPlan, two: TxPlan) -> bytes:
    """Call data of one plan that ends when the other does."""
    assert one.deadline is not None and two.deadline is not None
    return data.replace(encode(["uint256"], [two.deadline]), encode(["uint256"], [one.deadline]))
