"""None of our contracts, nor a Safe that uses one, is an account or a paymaster to the real EntryPoint (ERC-4337).

Anybody may name any address as either: the EntryPoint then asks it, and calls it with whatever a stranger wrote.
"""

from __future__ import annotations

import pytest

from permits_app.policy_cage.contract import encode_halt
from permits_app.policy_cage.safe_tx import SET_HANDLER
from tests.contracts.callers import ROWS, SIMULATED
from tests.contracts.lent_safe import deploy_code, give_callback, lend
from tests.contracts.operations import Operations, deploy_operations
from tests.contracts.strangers import Attacked, build_attacked
from tests.proof.caged.safe import CagedSafe
from tools_app.chain.abi import decode_revert, encode_call

NO_ACCOUNT, NO_PAYMASTER = "AA23", "AA33"
NO_HANDLER = "0x" + "00" * 20
# Returns the address of whoever calls.
ANSWERS_WHO_CALLS = bytes.fromhex("6009600c60003960096000f3" + "3360005260206000f3")
HANDLERS = ("its own", "callback", "cage", "none")
"""What a Safe may hand on what it does not know itself to."""


@pytest.fixture(scope="module")
def attacked() -> dict[str, Attacked]:
    return build_attacked()


@pytest.fixture
def operations(caged: CagedSafe) -> Operations:
    return deploy_operations(caged)


def test_an_operation_of_a_strangers_account_is_carried_out(caged: CagedSafe, operations: Operations) -> None:
    """An EntryPoint that takes no operation at all would refuse every attack."""
    caged.mint("USDC", operations.account.address, 100)
    pay = caged.transfer("USDC", caged.guardian.address, 60)
    assert operations.carry(operations.write(pay)).succeeded
    assert not operations.carry(operations.write(pay)).succeeded
    assert caged.balance("USDC", caged.guardian.address) == 60


def test_who_calls_is_the_account_and_who_makes_accounts_is_the_maker(caged: CagedSafe, operations: Operations) -> None:
    refused = operations.call(caged.cage, encode_halt())
    told = decode_revert(refused.output, ("error MayNotHalt(address caller)",))
    assert told.args["caller"] == operations.account.address
    factory = deploy_code(caged, ANSWERS_WHO_CALLS)
    asked = caged.engine.send(
        caged.stranger,
        operations.entry_point,
        encode_call("function getSenderAddress(bytes initCode)", bytes.fromhex(factory[2:])),
    )
    made = decode_revert(asked.output, ("error SenderAddressResult(address sender)",))
    assert made.args["sender"] == operations.maker


@pytest.mark.parametrize("handler", HANDLERS)
def test_a_safe_is_no_account_and_no_paymaster_whatever_its_handler(
    caged: CagedSafe, operations: Operations, handler: str
) -> None:
    lent = give_callback(caged, is_handler=handler == "callback")
    if handler in ("cage", "none"):
        set_to = encode_call(SET_HANDLER, caged.cage if handler == "cage" else NO_HANDLER)
        assert caged.owner_call(caged.safe, set_to).succeeded
    operations.deposit(caged.safe, 10**18)
    before = [caged.balance(symbol) for symbol in caged.coins], caged.ask("isHalted"), caged.ask("rulesDigest")
    steal = lent.steal()
    for data in (steal.data, encode_halt(), lend(b"")):
        assert operations.carry(operations.write_as(caged.safe, data)).refusal
    assert operations.carry(operations.write_paid_by(caged.safe, steal)).refusal
    after = [caged.balance(symbol) for symbol in caged.coins], caged.ask("isHalted"), caged.ask("rulesDigest")
    assert after == before


def test_no_contract_of_ours_is_an_account_or_a_paymaster(attacked: dict[str, Attacked]) -> None:
    """The cage's, the callback, and each that stands for a protocol, with what pays for it at the EntryPoint."""
    one = next(iter(attacked.values()))
    operations, caged = one.stranger.operations, one.held.caged
    contracts = {at: name for place in attacked.values() for at, name in place.held.contracts.items()}
    contracts |= {caged.cage: "PolicyCage", caged.ask("governance"): "CageGovernance", caged.ask("gate"): "CageGate"}
    contracts[give_callback(caged).callback] = "LoanCallback"
    changing = {name for name, taken in SIMULATED.items() if any(taken.values())} | {row.contract for row in ROWS}
    assert set(contracts.values()) >= changing
    pay = caged.transfer("USDC", caged.guardian.address, 1)
    taken = []
    for at, name in contracts.items():
        operations.deposit(at, 10**18)
        as_account = operations.carry(operations.write_as(at, pay.data)).refusal
        as_paymaster = operations.carry(operations.write_paid_by(at, pay)).refusal
        if (as_account[:4], as_paymaster[:4]) != (NO_ACCOUNT, NO_PAYMASTER):
            taken.append(f"{name}: {as_account}, {as_paymaster}")
    assert taken == []
