"""The session key: until when, how often, with how much; and its coins for gas."""

from __future__ import annotations

import pytest

from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.abi import ERRORS
from permits_app.policy_cage.contract import Limit, limit_rule
from tests.contracts.test_outcome_rules import expect
from tests.proof.caged.safe import USD, CagedSafe, set_session
from tools_app.chain.abi import decode_revert

DAY = 86_400


@pytest.mark.parametrize(("left", "refused"), [(1, False), (0, True), (-1, True)])
def test_a_session_key_acts_until_the_second_it_expires(caged: CagedSafe, left: int, refused: bool) -> None:
    expires_at = int(caged.ask("session")[1])
    caged.engine.advance(expires_at - left - caged.engine.now())
    sent = caged.execute(caged.approve("USDC", 1))
    expect(caged, sent, ("SessionExpired", (expires_at - left, expires_at)) if refused else None)


def test_a_session_key_has_so_many_operations(caged: CagedSafe) -> None:
    set_session(caged, operations=2)
    for _ in range(2):
        expect(caged, caged.execute(caged.approve("USDC", 1)), None)
    expect(caged, caged.execute(caged.approve("USDC", 1)), ("NoOperationsLeft", ()))


def test_a_session_key_moves_no_more_than_its_budget(caged: CagedSafe) -> None:
    set_session(caged, budget=600 * USD)
    batch = caged.trade("WETH", 10**17, "USDC", 300 * USD)
    for _ in range(2):
        expect(caged, caged.execute(*batch), None)
    assert caged.ask("session")[3] == 0
    one_more = caged.trade("WETH", 10**12, "USDC", 3_000)
    expect(caged, caged.execute(*one_more), ("SessionBudgetExceeded", (3_000, 0)))


def test_a_new_session_key_ends_the_old_one_and_the_windows_go_on(caged: CagedSafe) -> None:
    expect(caged, caged.execute(*caged.trade("USDC", 300 * USD, "WETH", 10**17)), None)
    former = caged.session
    data = cage_contract.encode_set_session(
        key=caged.stranger.address, expires_at=caged.engine.now() + DAY, operations=5, budget_micro_usd=USD
    )
    assert caged.owner_call(caged.cage, data).succeeded
    expect(caged, caged.execute(caged.approve("USDC", 1), key=former), ("NotSessionKey", (former.address,)))
    expect(caged, caged.execute(caged.approve("USDC", 1), key=caged.stranger), None)
    # The right to take one more unit, given by the new key and not used, counts as gone.
    assert caged.ask("spent", caged.coins["USDC"].address) == 300 * USD + 1


def test_a_session_is_no_longer_and_larger_than_the_owner_laid_down(caged: CagedSafe) -> None:
    assert caged.propose(limit_rule(Limit.MAX_SESSION_OPERATIONS, 10)).succeeded
    for seconds, operations, budget in ((31 * DAY, 1, 0), (DAY, 11, 0), (DAY, 1, 10**9 * USD + 1)):
        data = cage_contract.encode_set_session(
            key=caged.session.address,
            expires_at=caged.engine.now() + seconds,
            operations=operations,
            budget_micro_usd=budget,
        )
        sent = caged.owner_call(caged.cage, data)
        assert not sent.succeeded
        assert decode_revert(sent.output, tuple(ERRORS.values())).name == "SessionTooLarge"


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        (Limit.MAX_SESSION_OPERATIONS, 10),
        (Limit.MAX_SESSION_BUDGET_MICRO_USD, 1_000 * USD),
        (Limit.MAX_SESSION_SECONDS, DAY),
    ],
)
def test_a_session_larger_than_the_owner_allows_by_now_ends_at_once(caged: CagedSafe, limit: Limit, value: int) -> None:
    expect(caged, caged.execute(caged.approve("USDC", 1)), None)
    assert caged.propose(limit_rule(limit, value)).succeeded
    name, args = caged.error(caged.execute(caged.approve("USDC", 2)))
    assert name == "SessionTooLarge"
    assert args["observed"] > args["allowed"]
    refused = caged.engine.send(caged.session, caged.cage, cage_contract.encode_top_up_gas(1))
    assert caged.error(refused)[0] == "SessionTooLarge"
    set_session(caged, seconds=3_600, operations=10, budget=1_000 * USD)
    expect(caged, caged.execute(caged.approve("USDC", 2)), None)


def test_no_one_but_the_session_key_executes(built: CagedSafe) -> None:
    for account in (built.stranger, built.guardian, *built.owners):
        sent = built.execute(built.approve("USDC", 1), key=account)
        expect(built, sent, ("NotSessionKey", (account.address,)))


@pytest.mark.parametrize(("wei", "refused"), [(10**17 - 1, False), (10**17, False), (10**17 + 1, True)])
def test_coins_for_gas_are_capped_in_the_window(caged: CagedSafe, wei: int, refused: bool) -> None:
    caged.engine.give_coins(caged.safe, 10**18)
    before = caged.engine.balance(caged.safe)
    sent = caged.engine.send(caged.session, caged.cage, cage_contract.encode_top_up_gas(wei))
    expect(caged, sent, ("GasTopUpTooLarge", (wei, 10**17)) if refused else None)
    assert before - caged.engine.balance(caged.safe) == (0 if refused else wei)


def test_coins_for_gas_add_up_over_a_day(caged: CagedSafe) -> None:
    caged.engine.give_coins(caged.safe, 10**18)
    half = cage_contract.encode_top_up_gas(5 * 10**16)
    for _ in range(2):
        assert caged.engine.send(caged.session, caged.cage, half).succeeded
    refused = caged.engine.send(caged.session, caged.cage, cage_contract.encode_top_up_gas(1))
    expect(caged, refused, ("GasTopUpTooLarge", (10**17 + 1, 10**17)))
    caged.engine.advance(DAY + 900)
    assert caged.engine.send(caged.session, caged.cage, half).succeeded


def test_the_session_key_may_only_make_the_phase_worse(caged: CagedSafe) -> None:
    assert caged.engine.send(caged.session, caged.cage, cage_contract.encode_worsen_phase(2)).succeeded
    for phase in (0, 2, 5):
        sent = caged.engine.send(caged.session, caged.cage, cage_contract.encode_worsen_phase(phase))
        expect(caged, sent, ("OutOfRange", (phase, 4)))
    sent = caged.engine.send(caged.stranger, caged.cage, cage_contract.encode_worsen_phase(3))
    expect(caged, sent, ("NotSessionKey", (caged.stranger.address,)))
    assert caged.rule(limit_rule(Limit.PHASE, 0)) == 2
