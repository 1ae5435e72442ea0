"""A flash loan is taken by a Safe that answers the lender, through preview, owners and commit; nobody else gets one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from permits_app.actions.execute_change import execute_change
from permits_app.models import ChangeRequest
from tests.catalogue.specified import list_missing
from tests.golem_project.heartbeat.loans import USD, include
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, give_device
from tests.permits_app.execution.test_safe_wallet import SafeGolem
from tests.permits_app.noted_safe import take_note
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.core.errors import GolemError

pytestmark = pytest.mark.protocols("aave_v3", "morpho")
TOOL = "lending_flash_loan"
ANSWERS_TRUE = "0x600160005260206000f3"
"""Code that answers every call with true: all that a handler of the lender's callback has to do."""
LOAN = {"action_type": "flash_loan", "venue": "lending", "asset": "USDC", "receiver_calldata": "0x"}
NOT_A_SWAP = dict.fromkeys(("token_in", "token_out"))


def preview(live: LiveGolem, **params: Any) -> dict[str, Any]:
    return live.preview(**NOT_A_SWAP, **LOAN, amount=str(100_000 * USD), **params)


def give_handler(owned: SafeGolem) -> None:
    """The owners let a contract answer calls that the Safe does not know."""
    handler = "0x" + "fa11bacc" * 5
    world = owned.live.world
    world.rpc.call("anvil_setCode", handler, ANSWERS_TRUE)
    data = encode_call("function setFallbackHandler(address handler)", handler)
    # The Safe changes its handler by a call to itself alone; impersonating it is its owners' signature here.
    world.rpc.call("anvil_impersonateAccount", owned.safe.address)
    world.rpc.call("anvil_setBalance", owned.safe.address, hex(10**18))
    request = {"from": owned.safe.address, "to": owned.safe.address, "data": "0x" + data.hex(), "gas": hex(200_000)}
    assert world.wait(world.rpc.call("eth_sendTransaction", request))["status"] == "0x1"
    world.rpc.call("anvil_stopImpersonatingAccount", owned.safe.address)
    take_note(owned)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize(("provider", "fee"), [("aave_v3", 50 * USD), ("morpho", 0)])
def test_a_safe_with_a_handler_takes_a_flash_loan_and_pays_it_back(
    live_golem: LiveGolem, provider: str, fee: int
) -> None:
    owned = SafeGolem(live_golem)
    include(live_golem, TOOL)
    give_handler(owned)
    give_device(live_golem.owner)
    before = owned.balance("USDC")
    permit = preview(live_golem, provider=provider)
    assert permit["status"] == "AWAITING_APPROVAL", permit
    request = ChangeRequest.objects.get(permit_id=permit["permit_id"])
    approve(request, live_golem.owner)
    execute_change(request_id=request.pk, now=clock.now())
    row = live_golem.permit(permit["permit_id"])
    assert row.status == "COMMITTED", row.status_reason
    assert owned.balance("USDC") == before - fee
    told = row.result["data"]
    assert list_missing(TOOL, told) == []
    assert Decimal(told["profit_usd"]) == Decimal(-fee) / USD


def test_a_plain_account_and_a_safe_without_a_handler_are_told_which_kind_can(live_golem: LiveGolem) -> None:
    include(live_golem, TOOL)
    with pytest.raises(GolemError) as plain:
        preview(live_golem, provider="aave_v3")
    assert plain.value.code == "FLASH_LOAN_NEEDS_CONTRACT" and plain.value.data["account_kind"] == "plain"
    SafeGolem(live_golem)
    with pytest.raises(GolemError) as safe:
        preview(live_golem, provider="aave_v3")
    assert safe.value.code == "FLASH_LOAN_NEEDS_CONTRACT" and safe.value.data["account_kind"] == "contract"


def test_data_for_the_accounts_own_code_is_a_veto(live_golem: LiveGolem) -> None:
    owned = SafeGolem(live_golem)
    include(live_golem, TOOL)
    give_handler(owned)
    for provider in ("aave_v3", "morpho"):
        with pytest.raises(GolemError) as vetoed:
            live_golem.preview(
                **NOT_A_SWAP, **{**LOAN, "receiver_calldata": "0x01"}, amount=str(USD), provider=provider
            )
        assert vetoed.value.code == "REVIEW_VETOED"
