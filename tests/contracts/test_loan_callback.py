"""LoanCallback under attack: nobody but the Safe has anything run, whichever way they come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from permits_app.policy_cage.contract import call_rule, encode_execute
from tests.contracts.lent_safe import (
    ANNOUNCE,
    FIRST_CODE,
    OF_AAVE,
    RELAY,
    SET_HANDLER,
    LentSafe,
    deploy_code,
    encode_steps,
    give_callback,
    lend,
)
from tests.proof.caged.engines import Sent
from tests.proof.caged.safe import TRANSFER, CagedSafe, deploy, selector
from tools_app.chain.abi import decode_revert, encode_call
from tools_app.toolkit.plan import Call

ERRORS = (
    "error NotTheAccount(address caller)",
    "error AccountDoesNotTellWhoCalls(address account)",
    "error NotAnnounced(address lender)",
    "error NotTheAccountsLoan(address initiator)",
    "error StepForbidden(uint256 index)",
    "error StepFailed(uint256 index)",
)
Attempt = Callable[[LentSafe, bytes], Sent]


@pytest.fixture(params=["with a cage", "without a cage"])
def lent(caged: CagedSafe, request: pytest.FixtureRequest) -> LentSafe:
    return give_callback(caged, with_cage=request.param == "with a cage")


def announce(lender: str, steps: bytes, *, by: str = "") -> bytes:
    """An announcement, with somebody's address behind it or nobody's."""
    return encode_call(ANNOUNCE, lender, steps) + bytes.fromhex(by.removeprefix("0x"))


def send(lent: LentSafe, to: str, data: bytes) -> Sent:
    return lent.caged.engine.send(lent.caged.stranger, to, data)


def plainly(lent: LentSafe, data: bytes) -> Sent:
    return send(lent, lent.safe, data)


def in_the_safes_name(lent: LentSafe, data: bytes) -> Sent:
    return send(lent, lent.safe, data + bytes.fromhex(lent.safe[2:]))


def through_a_contract(lent: LentSafe, data: bytes) -> Sent:
    """As through Multicall3 or any contract that makes calls for whoever asks."""
    return send(lent, lent.lender, encode_call(RELAY, lent.safe, data))


def through_a_contract_in_the_safes_name(lent: LentSafe, data: bytes) -> Sent:
    return through_a_contract(lent, data + bytes.fromhex(lent.safe[2:]))


def at_the_callback_in_the_safes_name(lent: LentSafe, data: bytes) -> Sent:
    return send(lent, lent.callback, data + bytes.fromhex(lent.safe[2:]))


def through_a_contract_at_the_callback(lent: LentSafe, data: bytes) -> Sent:
    return send(lent, lent.lender, encode_call(RELAY, lent.callback, data + bytes.fromhex(lent.safe[2:])))


def through_an_operation(lent: LentSafe, data: bytes) -> Sent:
    return lent.operations.call(lent.safe, data)


def through_an_operation_in_the_safes_name(lent: LentSafe, data: bytes) -> Sent:
    return through_an_operation(lent, data + bytes.fromhex(lent.safe[2:]))


def through_an_operation_at_the_callback(lent: LentSafe, data: bytes) -> Sent:
    return lent.operations.call(lent.callback, data + bytes.fromhex(lent.safe[2:]))


DOORS: dict[str, Attempt] = {
    door.__name__: door
    for door in (
        plainly,
        in_the_safes_name,
        through_a_contract,
        through_a_contract_in_the_safes_name,
        at_the_callback_in_the_safes_name,
        through_a_contract_at_the_callback,
        through_an_operation,
        through_an_operation_in_the_safes_name,
        through_an_operation_at_the_callback,
    )
}


@pytest.mark.parametrize("door", DOORS)
def test_a_stranger_cannot_empty_a_safe_through_its_callback(lent: LentSafe, door: str) -> None:
    caged, stranger = lent.caged, lent.caged.stranger.address
    before = caged.balance("USDC")
    steps = encode_steps([lent.steal()])
    for lender in (stranger, lent.lender, lent.safe, lent.callback, lent.operations.account.address):
        announced = DOORS[door](lent, announce(lender, steps))
        asked = [
            knock(lent, data)
            for knock in DOORS.values()
            for data in (lend(steps), encode_call(OF_AAVE, lender, 0, 0, lent.safe, steps))
        ]
        assert not announced.succeeded and not any(each.succeeded for each in asked)
    assert (caged.balance("USDC"), caged.balance("USDC", stranger)) == (before, 0)


def test_the_session_key_of_a_cage_reaches_no_callback(caged: CagedSafe) -> None:
    lent = give_callback(caged)
    caged.change(call_rule(lent.callback, selector(ANNOUNCE)), call_rule(lent.lender, selector(RELAY)))
    before = caged.balance("USDC")
    steps = encode_steps([lent.steal()])
    for batch in (
        list(lent.borrow(lent.steal())),
        [Call(lent.safe, announce(lent.lender, steps), 0, "")],
        [Call(lent.lender, encode_call(RELAY, lent.safe, announce(lent.lender, steps)), 0, "")],
        [Call(lent.lender, encode_call(RELAY, lent.safe, lend(steps)), 0, "")],
    ):
        assert not caged.engine.send(caged.session, caged.cage, encode_execute(batch)).succeeded
    assert caged.balance("USDC") == before


def test_what_the_safe_announced_is_run_once_with_the_loan(lent: LentSafe) -> None:
    caged, payee = lent.caged, lent.caged.guardian.address
    announced, asked = lent.borrow(caged.transfer("USDC", payee, 5), caged.transfer("WETH", payee, 7))
    assert lent.act(announced, asked).succeeded
    assert (caged.balance("USDC", payee), caged.balance("WETH", payee)) == (5, 7)
    # Used up: the same steps again are asked for by whoever may call the lender.
    assert not send(lent, asked.to, asked.data).succeeded
    assert caged.balance("USDC", payee) == 5


def test_the_safe_may_announce_through_itself_as_well(lent: LentSafe) -> None:
    caged, payee = lent.caged, lent.caged.guardian.address
    announced, asked = lent.borrow(caged.transfer("USDC", payee, 5))
    through_itself = replace(announced, to=lent.safe, data=announced.data[:-20])
    assert lent.act(through_itself, asked).succeeded
    assert caged.balance("USDC", payee) == 5


def test_the_first_code_was_emptied_through_an_operation_too(caged: CagedSafe) -> None:
    """So the door of operations notices a hole where there is one."""
    lent = give_callback(caged, code=FIRST_CODE)
    steps = encode_steps([lent.steal()])
    assert through_an_operation(lent, announce(lent.operations.account.address, steps)).succeeded
    assert through_an_operation(lent, lend(steps)).succeeded
    assert caged.balance("USDC") == 0


@pytest.mark.parametrize("named", ["nobody", "a stranger"])
def test_the_safes_own_announcement_names_the_safe(lent: LentSafe, named: str) -> None:
    announced, asked = lent.borrow(lent.caged.transfer("USDC", lent.caged.guardian.address, 5))
    by = "" if named == "nobody" else lent.caged.stranger.address
    other = replace(announced, data=announced.data[:-20] + bytes.fromhex(by.removeprefix("0x")))
    assert not lent.act(other, asked).succeeded


def test_an_announcement_is_not_left_standing_for_another_block(lent: LentSafe) -> None:
    announced, asked = lent.borrow(lent.caged.transfer("USDC", lent.caged.guardian.address, 5))
    assert lent.act(announced).succeeded
    lent.caged.mint("USDC", lent.caged.deployer.address, 1)
    assert not send(lent, asked.to, asked.data).succeeded
    assert lent.caged.balance("USDC", lent.caged.guardian.address) == 0


def test_another_lender_other_steps_and_another_account_run_nothing(lent: LentSafe) -> None:
    caged = lent.caged
    other, payee = deploy(caged, "Relayer"), caged.guardian.address
    announced, asked = lent.borrow(caged.transfer("USDC", payee, 5))
    _, more = lent.borrow(caged.transfer("USDC", payee, 6))
    by_aave = Call(
        lent.lender,
        encode_call(
            RELAY,
            lent.safe,
            encode_call(OF_AAVE, lent.lender, 1, 0, lent.lender, encode_steps([caged.transfer("USDC", payee, 5)])),
        ),
        0,
        "",
    )
    for call in (replace(asked, to=other), more, by_aave):
        assert not lent.act(announced, call).succeeded
    assert caged.balance("USDC", payee) == 0


def test_no_step_changes_who_owns_the_safe_or_announces_another(lent: LentSafe) -> None:
    caged = lent.caged
    announced, asked = lent.borrow(caged.transfer("USDC", caged.guardian.address, 5))
    for step in (Call(lent.safe, encode_call(SET_HANDLER, lent.lender), 0, ""), announced, asked):
        assert not lent.act(*lent.borrow(step, caged.transfer("USDC", caged.guardian.address, 5))).succeeded
    nested = Call(lent.lender, encode_call(RELAY, lent.callback, announced.data), 0, "")
    assert not lent.act(*lent.borrow(nested)).succeeded


def test_whom_a_step_calls_does_not_have_the_steps_run_again(lent: LentSafe) -> None:
    """Re-entry: the announcement is used up before its first step."""
    caged, payee = lent.caged, lent.caged.guardian.address
    inner = encode_steps([caged.transfer("USDC", payee, 5)])
    again = Call(lent.lender, encode_call(RELAY, lent.safe, lend(inner)), 0, "")
    assert not lent.act(*lent.borrow(caged.transfer("USDC", payee, 5), again)).succeeded
    assert caged.balance("USDC", payee) == 0


@pytest.mark.parametrize("half", ["handler", "module"])
def test_a_safe_with_half_of_it_runs_no_steps_and_no_stranger_does(caged: CagedSafe, half: str) -> None:
    lent = give_callback(caged, is_handler=half == "handler", is_module=half == "module")
    before = caged.balance("USDC")
    steps = encode_steps([lent.steal()])
    for door in DOORS.values():
        door(lent, announce(caged.stranger.address, steps))
        assert not door(lent, lend(steps)).succeeded or half == "module"
    assert not lent.act(*lent.borrow(lent.steal())).succeeded
    assert caged.balance("USDC") == before


@pytest.mark.parametrize("first_is", ["handler", "module"])
def test_the_first_and_the_present_callback_on_one_safe_let_no_stranger_in(caged: CagedSafe, first_is: str) -> None:
    """Each as one half: nobody gets in, and nothing is run, until the owners mend it."""
    lent = give_callback(caged, is_handler=first_is == "module", is_module=first_is == "handler")
    first = give_callback(caged, code=FIRST_CODE, is_handler=first_is == "handler", is_module=first_is == "module")
    before = caged.balance("USDC")
    steps = encode_steps([lent.steal()])
    for which in (lent, first):
        for door in DOORS.values():
            door(which, announce(caged.stranger.address, steps))
            door(which, lend(steps))
    assert not lent.act(*lent.borrow(lent.steal())).succeeded
    assert caged.balance("USDC") == before


def test_who_has_no_account_behind_them_announces_nothing(lent: LentSafe) -> None:
    caged = lent.caged
    steps = encode_steps([lent.steal()])
    for by in ("", caged.stranger.address):
        assert not send(lent, lent.callback, announce(caged.stranger.address, steps, by=by)).succeeded
    # Fewer bytes behind the function than who called would take.
    for length in (0, 1, 3, 4, 5, 23, 24):
        assert not send(lent, lent.safe, announce(caged.stranger.address, steps)[:length]).succeeded or length < 4
        assert not send(lent, lent.callback, announce(caged.stranger.address, steps)[:length]).succeeded


def test_an_account_that_does_not_say_who_calls_it_announces_nothing(caged: CagedSafe) -> None:
    """Safes of before 1.3 hand a call on as it came, with whatever address a stranger put at its end."""
    callback = give_callback(caged).callback
    account = deploy(caged, "ForgetfulAccount", "constructor(address handler)", callback)
    caged.mint("USDC", account, 1_000)
    take = caged.transfer("USDC", caged.stranger.address, 1_000)
    steps = encode_steps([take])
    forged = announce(caged.stranger.address, steps, by=account)
    assert not caged.engine.send(caged.stranger, account, forged).succeeded
    assert not caged.engine.send(
        caged.stranger, account, lend(steps) + bytes.fromhex(caged.stranger.address[2:])
    ).succeeded
    assert caged.balance("USDC", account) == 1_000
    # The same on the first code: it was emptied.
    first = deploy_code(caged, FIRST_CODE)
    account = deploy(caged, "ForgetfulAccount", "constructor(address handler)", first)
    caged.mint("USDC", account, 1_000)
    assert caged.engine.send(caged.stranger, account, announce(caged.stranger.address, steps, by=account)).succeeded
    stolen = lend(steps) + bytes.fromhex(caged.stranger.address[2:])
    assert caged.engine.send(caged.stranger, account, stolen).succeeded
    assert caged.balance("USDC", account) == 0


def test_callbacks_of_lenders_it_does_not_know_run_nothing(lent: LentSafe) -> None:
    steps = encode_steps([lent.steal()])
    announced, _ = lent.borrow(lent.steal())
    for text in (
        "function onFlashLoan(address initiator, address token, uint256 amount, uint256 fee, bytes data)",
        "function uniswapV3FlashCallback(uint256 fee0, uint256 fee1, bytes data)",
        "function receiveFlashLoan(address[] tokens, uint256[] amounts, uint256[] fees, bytes data)",
        "function onMorphoSupply(uint256 assets, bytes data)",
    ):
        values: dict[int, tuple[object, ...]] = {
            5: (lent.safe, lent.safe, 1, 0, steps),
            3: (1, 1, steps),
            4: ([lent.safe], [1], [0], steps),
            2: (1, steps),
        }
        arguments = values[text.count(",") + 1]
        call = Call(lent.lender, encode_call(RELAY, lent.safe, encode_call(text, *arguments)), 0, "")
        assert not lent.act(announced, call).succeeded


def test_a_refusal_says_why(caged: CagedSafe) -> None:
    lent = give_callback(caged)
    steps = encode_steps([caged.transfer("USDC", caged.stranger.address, 1)])
    sent = send(lent, lent.callback, announce(lent.lender, steps, by=lent.safe))
    reason = decode_revert(sent.output, ERRORS)
    assert (reason.name, list(reason.args.values())) == ("NotTheAccount", [lent.safe])


def test_a_delegate_call_of_the_callback_acts_on_nothing(lent: LentSafe) -> None:
    """Owners can sign one, of this code as of any; it then acts on who called the Safe, which has no account."""
    caged = lent.caged
    before = caged.balance("USDC")
    steps = encode_steps([lent.steal()])
    for data in (announce(lent.lender, steps, by=lent.safe), lend(steps), TRANSFER.encode()):
        assert not lent.act_by_delegate_call(lent.callback, data).succeeded
    assert caged.balance("USDC") == before
