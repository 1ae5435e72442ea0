"""Rights that outlive a batch: what a spender may still take counts as gone when it is given."""

from __future__ import annotations

import pytest

from golem_project.embedded.world.deploy import PERMIT2
from permits_app.policy_cage.contract import Limit, Rule, RuleKind, address_key, call_rule, limit_rule, spender_rule
from tests.contracts.test_call_rules import PERMIT2_APPROVE, install_permit2
from tests.contracts.test_outcome_rules import expect
from tests.proof.caged.safe import TAKE, USD, CagedSafe, deploy, selector, set_session
from tools_app.chain.abi import encode_call
from tools_app.toolkit.plan import Call

TAKE_FROM = "function takeFrom(address token, address from, uint256 amount)"
TAKE_THROUGH = "function takeThroughPermit2(address permit2, address token, address from, uint160 amount)"
CAP = 1_000 * USD
DAY, SLOT = 86_400, 900


@pytest.fixture
def capped(caged: CagedSafe) -> CagedSafe:
    """At most 1,000 USDC at once and 2,000 within a day."""
    key = address_key(caged.coins["USDC"].address)
    assert caged.propose(
        Rule(RuleKind.OUTFLOW_PER_BATCH, key, CAP), Rule(RuleKind.OUTFLOW_PER_WINDOW, key, 2 * CAP)
    ).succeeded
    return caged


def pull(caged: CagedSafe, amount: int) -> bool:
    """The spender takes what it may, outside any batch."""
    data = encode_call(TAKE_FROM, caged.coins["USDC"].address, caged.safe, amount)
    return caged.engine.send(caged.stranger, caged.venue, data).succeeded


def test_a_spender_that_takes_between_batches_gets_no_more_than_the_window(capped: CagedSafe) -> None:
    usdc = capped.coins["USDC"].address
    for _ in range(2):
        expect(capped, capped.execute(capped.approve("USDC", CAP)), None)
        assert pull(capped, CAP)
    expect(capped, capped.execute(capped.approve("USDC", 1)), ("OutflowInWindowTooLarge", (usdc, 2 * CAP + 1, 2 * CAP)))
    assert capped.balance("USDC") == 70_000 * USD - 2 * CAP
    capped.engine.advance(DAY + SLOT)
    expect(capped, capped.execute(capped.approve("USDC", CAP)), None)


def test_a_right_left_over_and_what_left_in_the_same_batch_are_one_outflow(capped: CagedSafe) -> None:
    usdc, weth = capped.coins["USDC"].address, capped.coins["WETH"]
    swap = capped.trade("USDC", CAP, "WETH", weth.units("0.3334"))
    expect(capped, capped.execute(*swap, capped.approve("USDC", 1)), ("OutflowTooLarge", (usdc, CAP + 1, CAP)))
    expect(capped, capped.execute(*swap), None)
    assert capped.ask("spent", usdc) == CAP


def test_an_allowance_used_up_in_its_batch_counts_once(capped: CagedSafe) -> None:
    usdc, weth = capped.coins["USDC"].address, capped.coins["WETH"]
    twice = [
        capped.approve("USDC", 1),
        capped.approve("USDC", 5),
        *capped.trade("USDC", 600 * USD, "WETH", weth.units("0.2")),
    ]
    expect(capped, capped.execute(*twice), None)
    assert capped.ask("spent", usdc) == 600 * USD


def test_a_right_named_twice_counts_once(capped: CagedSafe) -> None:
    expect(capped, capped.execute(capped.approve("USDC", 7), capped.approve("USDC", CAP)), None)
    assert capped.ask("spent", capped.coins["USDC"].address) == CAP


def test_taking_another_right_back_pays_for_no_new_one(capped: CagedSafe) -> None:
    """The owners once gave somebody an unlimited allowance; the thief offers it in exchange."""
    usdc = capped.coins["USDC"].address
    assert capped.owner_call(usdc, capped.approve("USDC", 2**256 - 1, capped.lender).data).succeeded
    exchange = [capped.approve("USDC", 0, capped.lender), capped.approve("USDC", CAP + 1)]
    expect(capped, capped.execute(*exchange), ("OutflowTooLarge", (usdc, CAP + 1, CAP)))


def test_a_right_that_is_renewed_counts_by_how_much_it_grew(capped: CagedSafe) -> None:
    usdc = capped.coins["USDC"].address
    expect(capped, capped.execute(capped.approve("USDC", 400 * USD)), None)
    expect(capped, capped.execute(capped.approve("USDC", 500 * USD)), None)
    expect(capped, capped.execute(capped.approve("USDC", 100 * USD)), None)
    assert capped.ask("spent", usdc) == 500 * USD
    expect(capped, capped.execute(capped.approve("USDC", 500 * USD)), None)
    assert capped.ask("spent", usdc) == 900 * USD


def test_an_asset_that_does_not_tell_its_allowances_is_not_approved(caged: CagedSafe) -> None:
    from tests.contracts.test_hostile import add_asset

    token = deploy(caged, "FragileToken")
    add_asset(caged, token, caged.coins["USDC"].feed)
    sent = caged.execute(caged.call(token, "function approve(address spender, uint256 amount)", caged.venue, 0))
    expect(caged, sent, ("BalanceUnreadable", (token,)))


class ThroughPermit2:
    """The venue may take through Permit2, which may take a thousand dollars."""

    def __init__(self, caged: CagedSafe) -> None:
        install_permit2(caged)
        self.caged, self.usdc = caged, caged.coins["USDC"].address
        caged.change(spender_rule(PERMIT2, most_micro_usd=50_000 * USD), call_rule(caged.venue, selector(TAKE_THROUGH)))
        caged.set_price("USDC", 10**8)

    def approve(self, amount: int, *, seconds: int = DAY) -> Call:
        until = self.caged.engine.now() + seconds
        return self.caged.call(PERMIT2, PERMIT2_APPROVE, self.usdc, self.caged.venue, amount, until)

    def pull(self, amount: int) -> bool:
        data = encode_call(TAKE_THROUGH, PERMIT2, self.usdc, self.caged.safe, amount)
        return self.caged.engine.send(self.caged.stranger, self.caged.venue, data).succeeded


def test_a_right_through_permit2_counts_when_it_is_given_and_again_when_it_is_renewed(capped: CagedSafe) -> None:
    through = ThroughPermit2(capped)
    expect(capped, capped.execute(capped.approve("USDC", 40_000 * USD, PERMIT2)), None)
    # Permit2's own allowance is no right of anybody's yet.
    assert capped.ask("spent", through.usdc) == 0
    expect(capped, capped.execute(through.approve(CAP, seconds=60)), None)
    assert capped.ask("spent", through.usdc) == CAP
    assert through.pull(600 * USD)
    capped.engine.advance(3_600)
    assert not through.pull(1)
    # What has expired is no right any more, so renewing it is a new one.
    expect(capped, capped.execute(through.approve(CAP)), None)
    assert capped.ask("spent", through.usdc) == 2 * CAP
    again = capped.execute(through.approve(CAP + 1))
    expect(capped, again, ("OutflowInWindowTooLarge", (through.usdc, 2 * CAP + 1, 2 * CAP)))


def test_a_right_through_permit2_used_up_in_its_batch_counts_once(capped: CagedSafe) -> None:
    through = ThroughPermit2(capped)
    capped.change(limit_rule(Limit.MAX_LOSS_BPS, 1_000), limit_rule(Limit.MAX_WINDOW_LOSS_BPS, 1_000))
    capped.set_price("USDC", 10**8)
    weth = capped.coins["WETH"]
    calls = [
        capped.approve("USDC", 600 * USD, PERMIT2),
        through.approve(600 * USD),
        capped.call(capped.venue, TAKE_THROUGH, PERMIT2, through.usdc, capped.safe, 600 * USD),
        capped.call(
            capped.venue,
            "function trade(address tokenIn, uint256 amountIn, address tokenOut, uint256 amountOut)",
            through.usdc,
            0,
            weth.address,
            weth.units("0.2"),
        ),
    ]
    expect(capped, capped.execute(*calls), None)
    assert capped.ask("spent", through.usdc) == 600 * USD


def test_rights_over_permit2_are_named_by_its_own_path_only(caged: CagedSafe) -> None:
    """`take` of the venue with the length of a Permit2 approval is no right, whatever its words say."""
    padded = caged.call(caged.venue, TAKE, caged.coins["USDC"].address, 0)
    sent = caged.execute(Call(to=padded.to, data=padded.data + bytes(64), value=0, label=""))
    expect(caged, sent, None)
    assert caged.ask("spent", caged.coins["USDC"].address) == 0


def test_a_session_gives_no_larger_right_away_than_its_budget(caged: CagedSafe) -> None:
    """Nothing is moved by an approval; who may take it afterwards moves it without the session."""
    set_session(caged, budget=600 * USD)
    refused = ("SessionBudgetExceeded", (600 * USD + 1, 600 * USD))
    expect(caged, caged.execute(caged.approve("USDC", 600 * USD + 1)), refused)
    expect(caged, caged.execute(caged.approve("USDC", 400 * USD)), None)
    assert caged.ask("session")[3] == 200 * USD
    # What is moved and what may be taken besides come out of one budget.
    too_much = [*caged.trade("USDC", 150 * USD, "WETH", 5 * 10**16), caged.approve("WETH", 17 * 10**15)]
    expect(caged, caged.execute(*too_much), ("SessionBudgetExceeded", (201 * USD, 200 * USD)))
    enough = [*caged.trade("USDC", 152 * USD, "WETH", 51 * 10**15), caged.approve("WETH", 16 * 10**15)]
    expect(caged, caged.execute(*enough), None)
    assert caged.ask("session")[3] == 0


def test_a_right_used_up_in_its_batch_costs_the_session_what_was_moved(caged: CagedSafe) -> None:
    set_session(caged, budget=600 * USD)
    expect(caged, caged.execute(*caged.trade("USDC", 600 * USD, "WETH", caged.coins["WETH"].units("0.2"))), None)
    assert caged.ask("session")[3] == 0
