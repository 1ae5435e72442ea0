"""Several keys at once: each with its calls, its budget and allowances that refill."""

from __future__ import annotations

import pytest

from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.contract import (
    Limit,
    Refill,
    Rule,
    RuleKind,
    limit_rule,
    payout_key,
    role_allowance_key,
    role_allowance_rule,
    role_call_rule,
)
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from tests.contracts.role_keys import DAY, HOUR, PAYER, TRADER, WAGE, Roles, appoint, give_role, pay
from tests.contracts.test_governance import inner_error
from tests.contracts.test_outcome_rules import expect, tighten
from tests.proof.caged.engines import Sent
from tests.proof.caged.safe import TAKE, TRADE, USD, CagedSafe, deploy, selector
from tools_app.chain.abi import encode_call

# ---- calls -----------------------------------------------------------------------------------------------------------


def test_three_keys_act_side_by_side_each_within_its_own(roles: Roles) -> None:
    caged, trader, payer = roles
    expect(caged, caged.execute(*caged.trade("USDC", 300 * USD, "WETH", 10**17)), None)
    expect(caged, caged.execute(*caged.trade("USDC", 300 * USD, "WETH", 10**17), key=trader), None)
    expect(caged, pay(caged, WAGE, key=payer), None)
    left = [caged.ask("sessionOf", role)[2:] for role in (0, TRADER, PAYER)]
    assert left == [(999, 10**8 * USD - 300 * USD), (99, 9_700 * USD), (99, 9_000 * USD)]
    assert caged.ask("session") == caged.ask("sessionOf", 0)


def test_a_role_makes_no_call_of_the_account_that_it_was_not_given(roles: Roles) -> None:
    caged, trader, payer = roles
    usdc = caged.coins["USDC"].address
    take = caged.call(caged.venue, TAKE, usdc, 1)
    expect(caged, caged.execute(take, key=trader), ("RoleMayNotCall", (TRADER, caged.venue, selector(TAKE))))
    trade = caged.call(caged.venue, TRADE, usdc, 1, usdc, 1)
    expect(caged, caged.execute(trade, key=payer), ("RoleMayNotCall", (PAYER, caged.venue, selector(TRADE))))
    right = bytes.fromhex("095ea7b3")
    sent = caged.execute(caged.approve("USDC", 1), key=payer)
    expect(caged, sent, ("RoleMayNotCall", (PAYER, caged.venue, right)))
    # To take a right back is anybody's.
    expect(caged, caged.execute(caged.approve("USDC", 0), key=payer), None)


def test_a_role_given_a_call_that_the_account_may_not_make_may_not_make_it(roles: Roles) -> None:
    caged, trader, _ = roles
    gone = selector("function withdrawEverything()")
    caged.change(role_call_rule(TRADER, caged.venue, gone))
    give_role(caged, TRADER, trader)
    sent = caged.execute(caged.call(caged.venue, "function withdrawEverything()"), key=trader)
    expect(caged, sent, ("CallNotAllowed", (caged.venue, gone)))


def test_what_is_inside_a_bundle_of_calls_is_the_roles_own_too(roles: Roles) -> None:
    caged, trader, _ = roles
    multicall = "function multicall(bytes[] data)"
    caged.change(
        cage_contract.call_rule(caged.venue, selector(multicall)),
        role_call_rule(TRADER, caged.venue, selector(multicall)),
    )
    give_role(caged, TRADER, trader)
    inner = encode_call(TAKE, caged.coins["USDC"].address, 1)
    sent = caged.execute(caged.call(caged.venue, multicall, [inner]), key=trader)
    expect(caged, sent, ("RoleMayNotCall", (TRADER, caged.venue, selector(TAKE))))


def test_a_call_taken_from_a_role_is_gone_in_the_next_block(roles: Roles) -> None:
    caged, trader, _ = roles
    batch = caged.trade("USDC", 30 * USD, "WETH", 10**16)
    expect(caged, caged.execute(*batch, key=trader), None)
    assert caged.propose(role_call_rule(TRADER, caged.venue, selector(TRADE), is_allowed=False)).succeeded
    expect(caged, caged.execute(*batch, key=trader), ("RoleMayNotCall", (TRADER, caged.venue, selector(TRADE))))
    expect(caged, caged.execute(*batch), None)


# ---- sessions --------------------------------------------------------------------------------------------------------


def test_a_role_that_was_ended_acts_no_more(roles: Roles) -> None:
    caged, trader, payer = roles
    assert appoint(caged, PAYER, ZERO_ADDRESS, operations=0, budget=0, seconds=0).succeeded
    expect(caged, pay(caged, 1, key=payer), ("NotSessionKey", (payer.address,)))
    # Nor does a key whose place another took.
    give_role(caged, TRADER, payer)
    batch = caged.trade("USDC", 30 * USD, "WETH", 10**16)
    expect(caged, caged.execute(*batch, key=trader), ("NotSessionKey", (trader.address,)))
    expect(caged, caged.execute(*batch, key=payer), None)


def test_one_key_has_one_role(roles: Roles) -> None:
    caged, trader, payer = roles
    for role, key in ((PAYER, trader), (TRADER, caged.session), (0, payer)):
        assert inner_error(appoint(caged, role, key.address)) == ("KeyHasRole", (key.address,))
    # The key of a role may be appointed to it again.
    assert appoint(caged, TRADER, trader.address).succeeded


def test_there_are_sixteen_roles_and_no_more(caged: CagedSafe) -> None:
    assert inner_error(appoint(caged, 16, caged.stranger.address)) == ("RoleUnknown", (16,))
    for rule in (
        Rule(RuleKind.ROLE_CALL, (16 << 192).to_bytes(32, "big"), 1),
        Rule(RuleKind.ROLE_ALLOWANCE, role_allowance_key(16, caged.venue), 1),
        Rule(RuleKind.PAYOUT, payout_key(16, 0, caged.venue), 1),
    ):
        assert inner_error(caged.propose(rule)) == ("RoleUnknown", (16,))
    # The golem's own role is bounded by the account's rules alone: to take one of its own from it would be to loosen.
    assert inner_error(caged.propose(role_call_rule(0, caged.venue, bytes(4)))) == ("RoleUnknown", (0,))


@pytest.mark.parametrize("refused", ["SessionExpired", "NoOperationsLeft", "SessionTooLarge", "SessionBudgetExceeded"])
def test_a_role_has_a_length_a_number_and_a_budget_of_its_own(roles: Roles, refused: str) -> None:
    caged, trader, _ = roles
    batch = caged.trade("USDC", 30 * USD, "WETH", 10**16)
    if refused == "SessionExpired":
        give_role(caged, TRADER, trader, seconds=60)
        caged.engine.advance(60)
    elif refused == "NoOperationsLeft":
        give_role(caged, TRADER, trader, operations=1)
        expect(caged, caged.execute(*batch, key=trader), None)
    elif refused == "SessionTooLarge":
        assert caged.propose(limit_rule(Limit.MAX_SESSION_OPERATIONS, 99)).succeeded
    else:
        give_role(caged, TRADER, trader, budget=30 * USD - 1)
    assert caged.error(caged.execute(*batch, key=trader))[0] == refused


def test_a_roles_key_uses_nobody_elses_budget(roles: Roles) -> None:
    caged, trader, payer = roles
    give_role(caged, TRADER, trader, budget=100 * USD)
    sent = caged.execute(*caged.trade("USDC", 101 * USD, "WETH", 34 * 10**15), key=trader)
    expect(caged, sent, ("SessionBudgetExceeded", (101 * USD, 100 * USD)))
    expect(caged, caged.execute(*caged.trade("USDC", 100 * USD, "WETH", 34 * 10**15), key=trader), None)
    assert caged.ask("sessionOf", 0)[3] == 10**8 * USD
    assert caged.ask("sessionOf", PAYER)[3] == 10_000 * USD
    assert caged.ask("sessionOf", TRADER)[3] == 0


def test_another_roles_key_neither_tops_up_gas_nor_tells_a_phase(roles: Roles) -> None:
    caged, trader, _ = roles
    caged.engine.give_coins(caged.safe, 10**18)
    for data in (cage_contract.encode_top_up_gas(1), cage_contract.encode_worsen_phase(4)):
        sent = caged.engine.send(trader, caged.cage, data)
        expect(caged, sent, ("NotSessionKey", (trader.address,)))


def test_a_roles_key_that_became_an_owner_stops(roles: Roles) -> None:
    caged, _, payer = roles
    add = "function addOwnerWithThreshold(address owner, uint256 threshold)"
    assert caged.owner_call(caged.safe, encode_call(add, payer.address, 2)).succeeded
    expect(caged, pay(caged, 1, key=payer), ("KeyIsOwner", (payer.address,)))


def test_a_halt_stops_every_role(roles: Roles) -> None:
    caged, trader, payer = roles
    assert caged.engine.send(caged.guardian, caged.cage, cage_contract.encode_halt()).succeeded
    expect(caged, caged.execute(caged.approve("USDC", 0), key=trader), ("CageHalted", ()))
    expect(caged, pay(caged, 1, key=payer), ("CageHalted", ()))


# ---- allowances that refill ------------------------------------------------------------------------------------------


def test_an_allowance_comes_back_bit_by_bit_and_never_beyond_what_it_was(roles: Roles) -> None:
    caged, trader, _ = roles
    key = role_allowance_key(TRADER, caged.coins["USDC"].address)
    kind = int(RuleKind.ROLE_ALLOWANCE)
    price = caged.coins["WETH"].units("0.001")

    def buy_for(dollars: int) -> Sent:
        return caged.execute(*caged.trade("USDC", dollars * USD, "WETH", price * dollars // 3 + 1), key=trader)

    first = buy_for(3_000)
    expect(caged, first, None)
    expect(caged, buy_for(1), ("AllowanceUsedUp", (kind, key, 3_001 * USD, 3_000 * USD)))
    caged.engine.advance(first.at + HOUR - 1 - caged.engine.now())
    expect(caged, buy_for(1), ("AllowanceUsedUp", (kind, key, 3_001 * USD, 3_000 * USD)))
    caged.engine.advance(first.at + HOUR - caged.engine.now())
    expect(caged, buy_for(751), ("AllowanceUsedUp", (kind, key, 3_001 * USD, 3_000 * USD)))
    expect(caged, buy_for(750), None)
    # A year gives no more than there was: nothing overflows, and nothing is saved up.
    caged.engine.advance(365 * DAY)
    give_role(caged, TRADER, trader)
    expect(caged, buy_for(3_001), ("AllowanceUsedUp", (kind, key, 3_001 * USD, 3_000 * USD)))
    expect(caged, buy_for(3_000), None)
    assert caged.ask("purseOf", kind, key)[0] == 3_000 * USD


def test_the_largest_allowance_overflows_into_nothing(roles: Roles) -> None:
    caged, trader, _ = roles
    usdc = caged.coins["USDC"].address
    caged.change(role_allowance_rule(TRADER, usdc, Refill(2**112 - 1, 2**112 - 1, 1)))
    give_role(caged, TRADER, trader)
    batch = caged.trade("USDC", 300 * USD, "WETH", 10**17)
    expect(caged, caged.execute(*batch, key=trader), None)
    caged.engine.advance(HOUR)
    expect(caged, caged.execute(*batch, key=trader), None)
    assert caged.ask("purseOf", int(RuleKind.ROLE_ALLOWANCE), role_allowance_key(TRADER, usdc))[0] == 300 * USD


@pytest.mark.parametrize(
    "value",
    [
        2**112 << 0 | 0,  # one comes back of nothing
        Refill(5).pack() | 6 << 112 | 1 << 224,  # more comes back than there is
        Refill(5).pack() | 5 << 112,  # it comes back at no time
        Refill(5).pack() | 1 << 224,  # nothing comes back every second
    ],
)
def test_an_allowance_that_says_two_things_is_none(caged: CagedSafe, value: int) -> None:
    for kind, key in (
        (RuleKind.ROLE_ALLOWANCE, role_allowance_key(1, caged.venue)),
        (RuleKind.PAYOUT, payout_key(1, 1, caged.venue)),
    ):
        assert inner_error(caged.propose(Rule(kind, key, value)))[0] == "OutOfRange"


def test_an_asset_a_role_has_no_allowance_of_does_not_leave_with_it(roles: Roles) -> None:
    caged, trader, _ = roles
    wbtc = caged.coins["WBTC"].address
    sent = caged.execute(*caged.trade("WBTC", 10_000, "USDC", 6 * USD), key=trader)
    key = role_allowance_key(TRADER, wbtc)
    expect(caged, sent, ("AllowanceUsedUp", (int(RuleKind.ROLE_ALLOWANCE), key, 10_000, 0)))


def test_a_right_that_a_role_leaves_behind_is_out_of_its_allowance(roles: Roles) -> None:
    caged, trader, _ = roles
    expect(caged, caged.execute(caged.approve("USDC", 3_000 * USD), key=trader), None)
    key = role_allowance_key(TRADER, caged.coins["USDC"].address)
    sent = caged.execute(caged.approve("USDC", 3_000 * USD + 1), key=trader)
    expect(caged, sent, ("AllowanceUsedUp", (int(RuleKind.ROLE_ALLOWANCE), key, 3_000 * USD + 1, 3_000 * USD)))


def test_two_roles_use_up_the_accounts_limits_together(roles: Roles) -> None:
    caged, trader, payer = roles
    usdc = caged.coins["USDC"].address
    cap = Rule(RuleKind.OUTFLOW_PER_WINDOW, cage_contract.address_key(usdc), 1_500 * USD)
    assert caged.propose(cap).succeeded
    expect(caged, caged.execute(*caged.trade("USDC", 900 * USD, "WETH", 3 * 10**17), key=trader), None)
    expect(caged, pay(caged, 601 * USD, key=payer), ("OutflowInWindowTooLarge", (usdc, 1_501 * USD, 1_500 * USD)))
    expect(caged, pay(caged, 600 * USD, key=payer), None)
    sent = caged.execute(caged.approve("USDC", 1))
    expect(caged, sent, ("OutflowInWindowTooLarge", (usdc, 1_500 * USD + 1, 1_500 * USD)))


def test_two_roles_in_one_transaction_keep_to_their_own_and_sum_up_to_the_accounts(roles: Roles) -> None:
    """Keys that are contracts, called one after the other: nothing of the first batch is left for the second."""
    caged, _, _ = roles
    golem, trader, payer, driver = (deploy(caged, name) for name in ("Relayer", "Relayer", "Relayer", "CageWatcher"))
    for role, key in enumerate((golem, trader, payer)):
        assert appoint(caged, role, key).succeeded
    usdc = caged.coins["USDC"].address
    cap = Rule(RuleKind.OUTFLOW_PER_WINDOW, cage_contract.address_key(usdc), 1_500 * USD)
    assert caged.propose(cap).succeeded

    def by(key: str, data: bytes) -> tuple[str, int, bytes]:
        return key, 0, encode_call("function relay(address to, bytes data)", caged.cage, data)

    def run(*calls: tuple[str, int, bytes]) -> tuple[int, str | None]:
        """How many went through together, and why the next one did not; all of it undone where one did not."""
        text = (
            "function runAndLook((address to, uint256 value, bytes data)[] calls, address watcher, bytes question)"
            " returns (uint256 done, bytes reason, bytes answer)"
        )
        done, reason, _ = caged.read(driver, text, list(calls), driver, b"")
        if done == len(calls):
            assert caged.engine.send(caged.stranger, driver, encode_call(text, list(calls), driver, b"")).succeeded
        return int(done), cage_contract.decode_cage_error(reason).name if reason else None

    def pays(dollars: int) -> bytes:
        return cage_contract.encode_pay_out(recipient=7, asset=usdc, amount=dollars * USD)

    bought = cage_contract.encode_execute(caged.trade("USDC", 900 * USD, "WETH", 3 * 10**17))
    taken = cage_contract.encode_execute([caged.call(caged.venue, TAKE, usdc, 0)])
    # The golem's own key is bound by no role that acted before it, and a role by no freedom of the golem's.
    assert run(by(trader, bought), by(golem, taken)) == (2, None)
    assert run(by(golem, taken), by(trader, taken)) == (1, "RoleMayNotCall")
    assert run(by(golem, taken), by(payer, pays(601))) == (1, "OutflowInWindowTooLarge")
    assert run(by(payer, pays(600)), by(golem, pays(1))) == (1, "AllowanceUsedUp")
    assert run(by(payer, pays(600)), by(payer, pays(1))) == (1, "OutflowInWindowTooLarge")
    assert run(by(payer, pays(600)), by(golem, taken)) == (2, None)
    assert [caged.ask("sessionOf", role)[2] for role in (0, TRADER, PAYER)] == [98, 99, 99]
    assert caged.ask("spent", usdc) == 1_500 * USD


def test_losses_of_all_roles_are_one_sum(roles: Roles) -> None:
    caged, trader, _ = roles
    tighten(caged, Limit.MAX_WINDOW_LOSS_BPS, 1)
    expect(caged, caged.execute(*caged.trade("WETH", 10**17, "USDC", 295 * USD)), None)
    sent = caged.execute(*caged.trade("WETH", 2 * 10**17, "USDC", 594 * USD), key=trader)
    assert caged.error(sent) == ("LossInWindowTooLarge", {"observed": 11 * USD, "allowed": 9_999_500})
