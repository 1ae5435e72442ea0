"""Everything a plan touches against the golem's list: kinds, modes, and plans the tools really build."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from permits_app.errors import AddressNotAllowed, TokenNotAllowed
from permits_app.hook_rejection import Reject
from permits_app.models import AllowlistEntry, SpendingLimits
from permits_app.models.spending import AllowlistMode
from permits_app.safety.hook import Allow
from permits_app.safety.hooks.allowlist_guard import AllowlistGuard, find_unlisted
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import ACCOUNT, OTHER, ROUTER, USDC, WETH, plain_call, swap_call
from tools_app.chain.abi import encode_call
from tools_app.standards import erc20
from tools_app.toolkit.plan import AllowanceLeft, Call, TokenFlow, TxPlan
from tools_app.toolkit.positions import PositionChange, PositionRef
from tools_app.toolkit.views import NATIVE, TokenMeta

HOOK = AllowlistGuard()
COIN = TokenMeta(31337, NATIVE, "ETH", 18, "Ether", True)
SWAP = Call(ROUTER, b"\x04\xe4\x5a\xaf" + bytes(32), 0, "Swap")
LISTED = frozenset({("TOKEN", USDC.address), ("TOKEN", WETH.address), ("CONTRACT", ROUTER), ("RECIPIENT", OTHER)})


def plan(*calls: Call, **changes: Any) -> TxPlan:
    facts: dict[str, Any] = {
        "spends": (TokenFlow(USDC, 5, 5),),
        "receives": (TokenFlow(WETH, 5, 4),),
        "recipients": (ACCOUNT,),
        **changes,
    }
    return TxPlan(chain_id=31337, calls=calls, **facts)


def unlisted(of: TxPlan, allowlist: frozenset[tuple[str, str]] = LISTED) -> list[tuple[str, str]]:
    found = find_unlisted(plan=of, account=ACCOUNT, allowlist=allowlist, wrapped_native=WETH.address)
    return [(str(touch.kind), touch.address) for touch in found]


def test_a_swap_of_listed_things_touches_nothing_else() -> None:
    approve = erc20.approve_exact(token=USDC, spender=ROUTER, amount=5)
    assert unlisted(plan(approve, SWAP, allowances=(AllowanceLeft(USDC, ROUTER, 5, 0),))) == []


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        (("TOKEN", USDC.address), [("TOKEN", USDC.address)]),
        (("TOKEN", WETH.address), [("TOKEN", WETH.address)]),
        (("CONTRACT", ROUTER), [("SPENDER", ROUTER), ("CONTRACT", ROUTER)]),
    ],
)
def test_each_thing_taken_off_the_list_is_found(missing: tuple[str, str], expected: list[tuple[str, str]]) -> None:
    approve = erc20.approve_exact(token=USDC, spender=ROUTER, amount=5)
    assert unlisted(plan(approve, SWAP), LISTED - {missing}) == expected


def test_a_spender_may_be_listed_as_spender_or_as_contract_but_a_contract_only_as_contract() -> None:
    approve = erc20.approve_exact(token=USDC, spender=OTHER, amount=5)
    assert unlisted(plan(approve)) == [("SPENDER", OTHER)]
    assert unlisted(plan(approve), LISTED | {("SPENDER", OTHER)}) == []
    assert unlisted(plan(approve), LISTED | {("CONTRACT", OTHER)}) == []
    assert unlisted(plan(Call(OTHER, b"1234", 0, "call")), LISTED | {("SPENDER", OTHER)}) == [("CONTRACT", OTHER)]


def test_an_approval_hidden_from_the_plans_allowances_is_read_from_the_bytes() -> None:
    hidden = Call(USDC.address, encode_call("function increaseAllowance(address,uint256)", OTHER, 7), 0, "innocent")
    assert unlisted(plan(hidden)) == [("SPENDER", OTHER)]


@pytest.mark.parametrize(
    ("granted", "left", "expected"), [(0, 0, []), (1, 0, [("SPENDER", OTHER)]), (0, 1, [("SPENDER", OTHER)])]
)
def test_an_allowance_that_gives_something_needs_a_listed_spender(
    granted: int, left: int, expected: list[tuple[str, str]]
) -> None:
    assert unlisted(plan(SWAP, allowances=(AllowanceLeft(USDC, OTHER, granted, left),))) == expected


@pytest.mark.parametrize(("symbol", "called"), [("USDC", "USDC"), ("", USDC.address)])
def test_a_token_is_told_by_its_symbol_or_else_by_its_address(symbol: str, called: str) -> None:
    token = replace(USDC, symbol=symbol)
    found = find_unlisted(
        plan=plan(spends=(TokenFlow(token, 5, 5),), allowances=(AllowanceLeft(token, OTHER, 5, 0),)),
        account=ACCOUNT,
        allowlist=LISTED - {("TOKEN", USDC.address)},
        wrapped_native=None,
    )
    assert [touch.words for touch in found] == [called, f"spender of {called}"]


def test_taking_an_allowance_back_needs_no_listed_spender() -> None:
    assert unlisted(plan(erc20.revoke(token=USDC, spender=OTHER))) == []


def test_a_token_called_in_any_other_way_must_be_a_listed_contract() -> None:
    odd = Call(USDC.address, encode_call("function transferFrom(address,address,uint256)", ACCOUNT, OTHER, 7), 0, "x")
    padded = Call(USDC.address, erc20.transfer(token=USDC, recipient=OTHER, amount=7).data + b"\0", 0, "x")
    assert unlisted(plan(odd)) == [("CONTRACT", USDC.address)]
    assert unlisted(plan(padded)) == [("CONTRACT", USDC.address)]


@pytest.mark.parametrize("token", [USDC, COIN])
def test_whoever_is_paid_must_be_registered_whatever_the_plan_says(token: TokenMeta) -> None:
    stranger = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"
    silent = {"recipients": (), "receives": (), "spends": (TokenFlow(token, 7, 7),)}
    assert unlisted(plan(erc20.transfer(token=token, recipient=OTHER, amount=7), **silent)) == []
    paying = plan(erc20.transfer(token=token, recipient=stranger, amount=7), **silent)
    assert unlisted(paying) == [("RECIPIENT", stranger)]


def test_the_coin_is_listed_with_its_wrapped_form() -> None:
    paid_in_coin = plan(SWAP, spends=(TokenFlow(COIN, 5, 5),))
    assert unlisted(paid_in_coin) == []
    assert unlisted(paid_in_coin, LISTED - {("TOKEN", WETH.address)}) == [("TOKEN", NATIVE), ("TOKEN", WETH.address)]


def test_the_three_modes() -> None:
    call = plain_call(plan(SWAP), allowlist=LISTED - {("CONTRACT", ROUTER)})
    strict = HOOK.check(call)
    assert isinstance(strict, Reject)
    assert (strict.rule, strict.error) == ("allowlist_guard.contract", AddressNotAllowed)
    assert strict.data["not_listed"] == [{"kind": "CONTRACT", "address": ROUTER}]
    assert strict.would_pass == "only what is listed, or after the owner lists it"
    call.limits.allowlist_mode = AllowlistMode.WARN
    warned = HOOK.check(call)
    assert isinstance(warned, Allow)
    assert f"contract {ROUTER}" in warned.note
    call.limits.allowlist_mode = AllowlistMode.OFF
    assert HOOK.check(call) == Allow(note="the allowlist is off")


@pytest.mark.parametrize("mode", [AllowlistMode.STRICT, AllowlistMode.WARN])
def test_ten_of_many_unlisted_things_are_named(mode: str) -> None:
    strangers = [f"0x{number:040x}" for number in range(1, 13)]
    call = plain_call(plan(*(Call(address, b"1234", 0, "x") for address in strangers)), allowlist=LISTED)
    call.limits.allowlist_mode = mode
    verdict = HOOK.check(call)
    told = verdict.reason if isinstance(verdict, Reject) else verdict.note
    assert [address for address in strangers if f"contract {address}" in told] == strangers[:10]
    if isinstance(verdict, Reject):
        assert [entry["address"] for entry in verdict.data["not_listed"]] == strangers


def test_a_token_has_the_seeds_code() -> None:
    verdict = HOOK.check(plain_call(plan(SWAP), allowlist=LISTED - {("TOKEN", USDC.address)}))
    assert isinstance(verdict, Reject)
    assert verdict.error is TokenNotAllowed
    assert TokenNotAllowed.code == "SAFETY_TOKEN_NOT_ALLOWED"


def test_a_local_write_touches_nothing() -> None:
    assert HOOK.check(plain_call(None)) == Allow(note="no transaction")


# ---- on the local chain --------------------------------------------------------------------------------------------


def test_a_real_swap_passes_strict_and_fails_without_its_router(live_golem: LiveGolem) -> None:
    assert isinstance(HOOK.check(swap_call(live_golem)), Allow)
    AllowlistEntry.objects.filter(golem=live_golem.golem, address=ROUTER).delete()
    verdict = HOOK.check(swap_call(live_golem))
    assert isinstance(verdict, Reject)
    assert {entry["kind"] for entry in verdict.data["not_listed"]} == {"SPENDER", "CONTRACT"}


def test_lists_of_other_chains_do_not_count(live_golem: LiveGolem) -> None:
    AllowlistEntry.objects.filter(golem=live_golem.golem).update(chain_id=1)
    SpendingLimits.objects.filter(golem=live_golem.golem).update(allowlist_mode=AllowlistMode.STRICT)
    assert isinstance(HOOK.check(swap_call(live_golem)), Reject)


def test_shares_that_name_a_position_may_be_approved_to_its_venue_and_not_sent_anywhere() -> None:
    share = replace(USDC, address=OTHER, symbol="PAIR")
    held = PositionChange("pairs", "pair", WETH.address, -5, -5, PositionRef("pairs", "pair", 31337, OTHER))
    approve = erc20.approve_exact(token=share, spender=ROUTER, amount=5)
    send = erc20.transfer(token=share, recipient=ACCOUNT, amount=5)
    assert unlisted(plan(approve, SWAP, spends=(), changes=(held,))) == []
    assert unlisted(plan(send, SWAP, spends=(), changes=(held,))) == [("TOKEN", OTHER)]
