"""A permit is never signed: it is refused by its name, whatever the owner trusts and a protocol says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from permits_app.actions.allow_addresses import allow_addresses
from permits_app.limits.suggested_allowlist import AllowlistChoice
from permits_app.models import ActionPermit, SignedPromise
from permits_app.models.allowlist import AllowlistKind
from tests.evm.world import CHAIN_ID
from tests.made_up_bank.on_the_shelf import NAME
from tests.permits_app.execution.test_safe_wallet import SafeGolem
from tests.permits_app.test_promises_of_a_safe import put_in
from tests.permits_app.test_signed_promises import DAI, Maker
from tests.permits_app.test_signed_promises import maker as maker
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.core import clock
from tools_app.standards.permit2 import PERMIT2
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.typed_data import TypedData

DETAILS = (("token", "address"), ("amount", "uint160"), ("expiration", "uint48"), ("nonce", "uint48"))
AMOUNT = (("token", "address"), ("amount", "uint256"))
THIEF = "0x" + "66" * 20


def permits_of(maker: Maker) -> dict[str, TypedData]:
    """Every kind of permit over 100 DAI for a thief, exactly as wallets are shown it."""
    dai, account, later = maker.bank.world.tokens["DAI"].address, str(maker.live.golem.address), 2**32
    at_permit2 = {"name": "Permit2", "chainId": CHAIN_ID, "verifyingContract": PERMIT2}
    at_token = {"name": "Dai Stablecoin", "version": "1", "chainId": CHAIN_ID, "verifyingContract": dai}
    details = {"token": dai, "amount": 100 * DAI, "expiration": later, "nonce": 0}
    single = (("details", "PermitDetails"), ("spender", "address"), ("sigDeadline", "uint256"))
    batch = (("details", "PermitDetails[]"), *single[1:])
    once = (("permitted", "TokenPermissions"), ("spender", "address"), ("nonce", "uint256"), ("deadline", "uint256"))
    taken = {"permitted": {"token": dai, "amount": 100 * DAI}, "spender": THIEF, "nonce": 7, "deadline": later}
    witness = {"PermitWitnessTransferFrom": (*once, ("witness", "Order")), "Order": AMOUNT, "TokenPermissions": AMOUNT}
    names = ("owner", "address"), ("spender", "address"), ("value", "uint256"), ("nonce", "uint256")
    of_token = {"owner": account, "spender": THIEF, "value": 100 * DAI, "nonce": 0, "deadline": later}
    order = {"token": maker.bank.world.tokens["WETH"].address, "amount": int(maker.worth())}
    return {
        "PermitSingle": TypedData(
            at_permit2,
            "PermitSingle",
            {"PermitSingle": single, "PermitDetails": DETAILS},
            {"details": details, "spender": THIEF, "sigDeadline": later},
        ),
        "PermitBatch": TypedData(
            at_permit2,
            "PermitBatch",
            {"PermitBatch": batch, "PermitDetails": DETAILS},
            {"details": [details], "spender": THIEF, "sigDeadline": later},
        ),
        "PermitTransferFrom": TypedData(
            at_permit2, "PermitTransferFrom", {"PermitTransferFrom": once, "TokenPermissions": AMOUNT}, taken
        ),
        "PermitWitnessTransferFrom": TypedData(
            at_permit2, "PermitWitnessTransferFrom", witness, {**taken, "witness": order}
        ),
        "Permit": TypedData(at_token, "Permit", {"Permit": (*names, ("deadline", "uint256"))}, of_token),
    }


@pytest.mark.parametrize(
    "kind", ["PermitSingle", "PermitBatch", "PermitTransferFrom", "PermitWitnessTransferFrom", "Permit"]
)
def test_a_permit_is_refused_by_its_name_and_never_signed(maker: Maker, kind: str) -> None:
    typed = permits_of(maker)[kind]
    hash_typed_data(typed)
    maker.bank.modules["tools"].INSTEAD.append(typed)
    # The token is on its list already, Permit2 is not.
    assert maker.preview()[1]["rule"] in {"allowlist_guard.contract", "simulator.promise_permit"}
    trusted = AllowlistChoice(CHAIN_ID, AllowlistKind.CONTRACT, typed.contract, "its owner trusts it")
    allow_addresses(golem=maker.live.golem, choices=[trusted], actor="system:test", now=clock.now())
    status, problem = maker.preview()
    assert (status, problem["code"], problem["rule"]) == (422, "SAFETY_SIMULATION_FAILED", "simulator.promise_permit")
    assert (problem["observed"], problem["recovery"]) == (kind, "FIX_PARAMS")
    assert "brings nothing" in problem["detail"] and "an approval of the exact amount" in problem["would_pass"]
    assert not SignedPromise.objects.exists()
    assert not ActionPermit.objects.filter(action_type="bank_offer").exists()


def test_a_permit_is_refused_also_where_a_protocol_says_that_it_reads_it(maker: Maker) -> None:
    class Obliging:
        def read(self, *_: object, **__: object) -> None: ...

    object.__setattr__(SHELF.get(NAME), "promises", Obliging())
    typed = permits_of(maker)["PermitTransferFrom"]
    at_bank = {**typed.domain, "verifyingContract": maker.bank.address}
    maker.bank.modules["tools"].INSTEAD.append(replace(typed, domain=at_bank))
    assert maker.preview()[1]["rule"] == "simulator.promise_permit"


def test_a_safe_signs_no_permit_either(maker: Maker) -> None:
    safe = SafeGolem(maker.live)
    maker.bank.world.fund(safe.safe.address, 20 * 10**18, {"DAI": 5_000 * DAI})
    put_in(maker)
    maker.bank.modules["tools"].INSTEAD.append(permits_of(maker)["Permit"])
    status, problem = maker.preview()
    assert (status, problem["rule"]) == (422, "simulator.promise_permit"), problem
    assert not SignedPromise.objects.exists()
