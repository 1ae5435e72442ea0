"""What a halted golem may sign, where its positions cannot even lie."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models import Golem
from permits_app.execution.halt_signing_rule import is_halts_own
from permits_app.models import ActionPermit, HaltSetting
from tests.catalogue.shelf import load_beside
from tests.factories.golems import make_golem, make_owner
from tools_app.chain.abi import encode_call
from tools_app.protocols.uniswap.v3.plans import DECREASE
from tools_app.toolkit.case import OnlyComes
from tools_app.toolkit.protocol import SHELF

_ONLY_COMES = {protocol for protocol, each in load_beside() if isinstance(each, OnlyComes)}

pytestmark = pytest.mark.django_db
ACCOUNT, TOKEN = "0x" + "11" * 20, "0x" + "22" * 20


def judged(data: bytes, *, chain_id: int) -> bool:
    call = {"to": TOKEN, "data": "0x" + data.hex(), "value": "0", "gas_limit": "100000", "label": ""}
    permit = ActionPermit(chain_id=chain_id, signer=ACCOUNT, calls=[call], halt_epoch=1)
    return is_halts_own(permit, Golem(halt_epoch=1))


@pytest.mark.parametrize("chain_id", [1, 31337, 999_999_999])
def test_a_revocation_is_the_halts_own_on_every_chain(chain_id: int) -> None:
    assert judged(encode_call("function approve(address,uint256)", ACCOUNT, 0), chain_id=chain_id)
    assert not judged(encode_call("function approve(address,uint256)", ACCOUNT, 1), chain_id=chain_id)


@pytest.mark.parametrize("chain_id", [1, 31337, 999_999_999])
def test_a_withdrawal_from_what_is_no_position_manager_is_not_signed(chain_id: int) -> None:
    assert not judged(encode_call(DECREASE, (7, 10, 0, 0, 2**40)), chain_id=chain_id)


LENDER = "aave_v3"
REPAY, WITHDRAW = "function repay(address,uint256,uint256,address)", "function withdraw(address,uint256,address)"
SUPPLY = "function supply(address,uint256,address,uint16)"
APPROVE = "function approve(address,uint256)"


def judged_batch(*calls: tuple[str, bytes]) -> bool:
    rows = [
        {"to": to, "data": "0x" + data.hex(), "value": "0", "gas_limit": "100000", "label": ""} for to, data in calls
    ]
    permit = ActionPermit(chain_id=31337, signer=ACCOUNT, calls=rows, halt_epoch=1)
    return is_halts_own(permit, Golem(halt_epoch=1))


def test_a_debt_may_be_repaid_and_collateral_taken_out_under_a_halt_for_the_golem_alone() -> None:
    lender = SHELF.get(LENDER)
    assert lender is not None
    pool = lender.address(31337, "pool")
    assert pool is not None
    allow = (TOKEN, encode_call(APPROVE, pool, 100))
    assert judged_batch(allow, (pool, encode_call(REPAY, TOKEN, 100, 2, ACCOUNT)))
    assert judged_batch((pool, encode_call(WITHDRAW, TOKEN, 2**256 - 1, ACCOUNT)))
    assert not judged_batch(allow, (pool, encode_call(REPAY, TOKEN, 100, 2, TOKEN)))
    assert not judged_batch((pool, encode_call(WITHDRAW, TOKEN, 100, TOKEN)))
    assert not judged_batch(allow, (pool, encode_call(SUPPLY, TOKEN, 100, ACCOUNT, 0)))


def test_an_allowance_is_given_under_a_halt_only_to_what_the_same_permit_then_leaves() -> None:
    lender = SHELF.get(LENDER)
    assert lender is not None
    pool = lender.address(31337, "pool")
    assert pool is not None
    repay = (pool, encode_call(REPAY, TOKEN, 100, 2, ACCOUNT))
    assert not judged_batch((TOKEN, encode_call(APPROVE, TOKEN, 100)), repay)
    assert not judged_batch(repay, (TOKEN, encode_call(APPROVE, pool, 100)))
    assert judged_batch(repay, (TOKEN, encode_call(APPROVE, pool, 0)))


@pytest.mark.parametrize("protocol", sorted({each.name for each in SHELF if each.exits is not None} - _ONLY_COMES))
def test_every_protocol_that_knows_a_way_out_says_which_calls_a_halt_may_sign_for_it(protocol: str) -> None:
    found = SHELF.get(protocol)
    assert found is not None and found.leaving


def test_a_vault_share_is_redeemed_under_a_halt_to_the_account_alone() -> None:
    vaults = SHELF.get("erc4626")
    assert vaults is not None
    vault = vaults.address(31337, vaults.entry)
    assert vault is not None
    redeem = "function redeem(uint256 shares, address receiver, address owner)"
    assert judged_batch((vault, encode_call(redeem, 5, ACCOUNT, ACCOUNT)))
    assert not judged_batch((vault, encode_call(redeem, 5, TOKEN, ACCOUNT)))


def test_a_vault_may_be_emptied_under_a_halt_and_neither_filled_nor_drawn_from() -> None:
    maker = SHELF.get("maker")
    assert maker is not None
    manager, join, dai = (maker.address(31337, key) for key in ("cdp_manager", "join_eth_a", "join_dai"))
    assert manager is not None and join is not None and dai is not None
    frob, flux = "function frob(uint256,int256,int256)", "function flux(uint256,address,uint256)"
    leave = "function exit(address,uint256)"
    assert judged_batch(
        (manager, encode_call(frob, 1, -5, -5)),
        (manager, encode_call(flux, 1, ACCOUNT, 5)),
        (join, encode_call(leave, ACCOUNT, 5)),
    )
    assert not judged_batch((manager, encode_call(frob, 1, -5, 5)))
    assert not judged_batch((manager, encode_call(frob, 1, 5, 0)))
    assert not judged_batch((manager, encode_call(flux, 1, TOKEN, 5)))
    assert not judged_batch((join, encode_call(leave, TOKEN, 5)))
    assert not judged_batch((dai, encode_call(leave, ACCOUNT, 5)))


TAKE, PUT = "function withdraw(address,uint256)", "function supply(address,uint256)"


def judged_by_what_was_there(*calls: tuple[str, int], legs: list[dict[str, int]], after: int | None = None) -> bool:
    """Calls of a lender whose `withdraw` also borrows and whose `supply` also lends, by the positions that its permit's
    simulation saw before them; `after` is what the first one has of the token then, if that is another amount.
    """
    lender = SHELF.get("compound_v3")
    assert lender is not None
    comet = lender.address(31337, "comet_usdc")
    assert comet is not None

    def told(position: dict[str, int]) -> dict[str, Any]:
        # Each amount lies in two legs, as lenders tell what covers a debt beside what does not.
        legs = [(token, part) for token, raw in position.items() for part in (raw - 3, 3)]
        return {"legs": [{"token": token, "raw": str(raw)} for token, raw in legs]}

    rows = [(TOKEN, encode_call(APPROVE, comet, 1_000)), *((comet, encode_call(name, TOKEN, n)) for name, n in calls)]
    permit = ActionPermit(
        chain_id=31337,
        signer=ACCOUNT,
        halt_epoch=1,
        calls=[{"to": to, "data": "0x" + data.hex(), "value": "0", "gas_limit": "1", "label": ""} for to, data in rows],
        simulation={
            "positions": [
                {
                    "ref": f"compound_v3/account/31337/{number}",
                    "before": told(position),
                    "after": told({TOKEN: after} if after is not None and not number else position),
                }
                for number, position in enumerate(legs)
            ]
        },
    )
    return is_halts_own(permit, Golem(halt_epoch=1))


@pytest.mark.parametrize(("amount", "is_own"), [(1, True), (149, True), (150, True), (151, False)])
def test_what_is_taken_out_under_a_halt_is_no_more_than_was_measured_there_in_all(amount: int, is_own: bool) -> None:
    legs = [{TOKEN: 100, ACCOUNT: 7_000}, {TOKEN: 50}]
    assert judged_by_what_was_there((TAKE, amount), legs=legs) is is_own
    assert not judged_by_what_was_there((PUT, amount), legs=legs), "nothing is owed"


@pytest.mark.parametrize(("amount", "is_own"), [(1, True), (149, True), (150, True), (151, False)])
def test_what_is_repaid_under_a_halt_is_no_more_than_was_owed_in_all(amount: int, is_own: bool) -> None:
    legs = [{TOKEN: -100, ACCOUNT: -7_000}, {TOKEN: -50}]
    assert judged_by_what_was_there((PUT, amount), legs=legs) is is_own
    assert not judged_by_what_was_there((TAKE, amount), legs=legs), "nothing is there"


def test_one_base_unit_is_there_or_owed_as_any_other_amount() -> None:
    assert judged_by_what_was_there((TAKE, 1), legs=[{TOKEN: 1}])
    assert not judged_by_what_was_there((TAKE, 1), legs=[{TOKEN: 0}])
    assert judged_by_what_was_there((PUT, 1), legs=[{TOKEN: -1}])


@pytest.mark.parametrize(("name", "sign"), [(TAKE, 1), (PUT, -1)])
def test_what_an_earlier_call_of_a_halt_took_is_not_there_for_the_next(name: str, sign: int) -> None:
    assert judged_by_what_was_there((name, 60), (name, 40), legs=[{TOKEN: sign * 100}])
    assert not judged_by_what_was_there((name, 60), (name, 41), legs=[{TOKEN: sign * 100}])


@pytest.mark.parametrize(("before", "after", "is_own"), [(-500, -500, True), (-500, -400, True), (-500, -900, False)])
def test_a_halt_signs_nothing_that_its_own_simulation_saw_deepen_a_debt(before: int, after: int, is_own: bool) -> None:
    assert judged_by_what_was_there((PUT, 1), legs=[{TOKEN: before}, {TOKEN: -5}], after=after) is is_own
    # Two base units are what rounding may make of nothing.
    for left, passes in ((499, True), (-2, True), (-3, False), (-500, False)):
        assert judged_by_what_was_there((TAKE, 1), legs=[{TOKEN: 500}], after=left) is passes


@pytest.mark.parametrize(("unwinds", "sells"), [(True, True), (True, False), (False, True), (None, None)])
def test_a_halt_sells_for_the_account_alone_where_its_owner_said_so(unwinds: bool | None, sells: bool | None) -> None:
    golem = make_golem(owner=make_owner())
    if unwinds is not None and sells is not None:
        HaltSetting.objects.create(golem=golem, unwind_on_halt=unwinds, sell_on_halt=sells)
    HaltSetting.objects.create(
        golem=make_golem(owner=golem.owner, name="Borea"), unwind_on_halt=True, sell_on_halt=True
    )
    golem.halt_epoch = 1
    shelf = SHELF.get("uniswap")
    assert shelf is not None
    router = shelf.address(31337, "v3_router")
    assert router is not None
    swap = "function exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"

    def sell(recipient: str, to: str = router) -> bool:
        sold = (to, encode_call(swap, (TOKEN, ACCOUNT, 500, recipient, 100, 1, 0)))
        rows = [(TOKEN, encode_call(APPROVE, to, 100)), sold, (TOKEN, encode_call(APPROVE, to, 0))]
        permit = ActionPermit(
            chain_id=31337,
            signer=ACCOUNT,
            halt_epoch=1,
            calls=[
                {"to": at, "data": f"0x{data.hex()}", "value": "0", "gas_limit": "1", "label": ""} for at, data in rows
            ],
        )
        return is_halts_own(permit, golem)

    assert sell(ACCOUNT) is (unwinds is True and sells is True)
    assert not sell(TOKEN)
    v2 = shelf.address(31337, "v2_router")
    assert v2 is not None and not sell(ACCOUNT, v2), "another contract's function"
