"""Who may change what, and how long loosening waits."""

from __future__ import annotations

import pytest

from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.abi import ERRORS, FUNCTIONS
from permits_app.policy_cage.contract import (
    AssetRule,
    AssetState,
    Limit,
    Rule,
    RuleKind,
    address_key,
    asset_rules,
    call_rule,
    guardian_rule,
    limit_rule,
    spender_rule,
    valuer_rule,
)
from permits_app.policy_cage.safe_tx import NONCE, SafeTx, hash_safe_tx
from tests.contracts.test_outcome_rules import expect
from tests.proof.caged.engines import CHAIN_ID, Sent
from tests.proof.caged.safe import USD, CagedSafe, deploy
from tools_app.chain.abi import decode_revert, encode_call

HOUR, DAY = 3_600, 86_400
TWO_DAYS = 2 * DAY


def delay(caged: CagedSafe, rule: Rule) -> int:
    return int(caged.ask("delayOf", int(rule.kind), rule.key, rule.value))


@pytest.mark.parametrize(
    ("limit", "value", "seconds"),
    [
        (Limit.MAX_POSITION_BPS, 2_499, 0),
        (Limit.MAX_POSITION_BPS, 2_501, HOUR),
        (Limit.MAX_POSITION_BPS, 3_125, HOUR),
        (Limit.MAX_POSITION_BPS, 3_126, DAY),
        (Limit.MAX_POSITION_BPS, 5_000, DAY),
        (Limit.MAX_POSITION_BPS, 5_001, TWO_DAYS),
        (Limit.MIN_COLLATERAL_RATIO_BPS, 12_501, 0),
        (Limit.MIN_COLLATERAL_RATIO_BPS, 10_500, HOUR),
        (Limit.MIN_REBALANCE_INTERVAL_SECONDS, 2_880, HOUR),
        (Limit.MIN_REBALANCE_INTERVAL_SECONDS, 2_879, DAY),
        (Limit.MIN_REBALANCE_INTERVAL_SECONDS, 1_800, DAY),
        (Limit.MIN_REBALANCE_INTERVAL_SECONDS, 1_799, TWO_DAYS),
        (Limit.MIN_REBALANCE_INTERVAL_SECONDS, 0, TWO_DAYS),
        (Limit.ALLOWS_ARBITRARY_CALLS, 1, TWO_DAYS),
        (Limit.HIGH_WATER_MARK_MICRO_USD, 100_001 * USD, 0),
        (Limit.HIGH_WATER_MARK_MICRO_USD, 80_000 * USD, HOUR),
        (Limit.HIGH_WATER_MARK_MICRO_USD, 79_999 * USD, DAY),
        (Limit.PHASE, 1, 0),
    ],
)
def test_a_quarter_looser_waits_an_hour_twice_a_day_and_more_two_days(
    built: CagedSafe, limit: Limit, value: int, seconds: int
) -> None:
    assert delay(built, limit_rule(limit, value)) == seconds


def test_new_targets_spenders_assets_feeds_and_valuers_wait_two_days(built: CagedSafe) -> None:
    usdc = built.coins["USDC"]
    as_is = AssetRule(usdc.feed, HOUR, 6, 8)
    other_feed = AssetRule(built.coins["WETH"].feed, HOUR, 6, 8)
    older = AssetRule(usdc.feed, HOUR + 1, 6, 8)
    key = address_key(usdc.address)
    for rule in (
        call_rule(built.venue, b"\x01\x02\x03\x04"),
        spender_rule(built.stranger.address, most_micro_usd=1),
        Rule(RuleKind.ASSET, address_key(built.lender), as_is.pack()),
        Rule(RuleKind.ASSET, key, other_feed.pack()),
        Rule(RuleKind.ASSET, key, older.pack()),
        valuer_rule(built.venue, built.lender),
        guardian_rule(built.stranger.address),
    ):
        assert delay(built, rule) == TWO_DAYS, rule
    for rule in (
        Rule(RuleKind.ASSET, key, AssetRule(usdc.feed, HOUR - 1, 6, 8).pack()),
        Rule(RuleKind.ASSET, key, AssetRule(usdc.feed, HOUR, 6, 8, AssetState.RETIRING).pack()),
        Rule(RuleKind.OUTFLOW_PER_BATCH, key, 1),
        spender_rule(built.venue, most_micro_usd=0),
        Rule(RuleKind.VALUER, address_key(built.lender), 0),
        Rule(RuleKind.GUARDIAN, bytes(32), 0),
    ):
        assert delay(built, rule) == 0, rule


def test_taking_away_the_valuer_of_a_debt_waits(caged: CagedSafe) -> None:
    expect(caged, caged.execute(caged.position(12_500 * USD, USD)), None)
    assert delay(caged, Rule(RuleKind.VALUER, address_key(caged.lender), 0)) == TWO_DAYS


def test_loosening_waits_to_the_second_then_anyone_applies_it(caged: CagedSafe) -> None:
    rule = limit_rule(Limit.MAX_POSITION_BPS, 3_000)
    proposed = caged.propose(rule)
    assert caged.rule(rule) == 2_500
    data = cage_contract.encode_apply_change(rule.kind, rule.key)
    ready = proposed.at + HOUR
    caged.engine.advance(ready - 1 - caged.engine.now())
    expect(caged, caged.engine.send(caged.stranger, caged.cage, data), ("NotYet", (ready - 1, ready)))
    assert caged.engine.send(caged.stranger, caged.cage, data).at == ready
    assert caged.rule(rule) == 3_000
    expect(caged, caged.engine.send(caged.stranger, caged.cage, data), ("NothingPending", ()))


def test_a_change_nobody_applied_within_a_week_is_lost(caged: CagedSafe) -> None:
    rule = limit_rule(Limit.MAX_POSITION_BPS, 3_000)
    proposed = caged.propose(rule)
    last = proposed.at + HOUR + 7 * DAY
    caged.engine.advance(last + 1 - caged.engine.now())
    data = cage_contract.encode_apply_change(rule.kind, rule.key)
    expect(caged, caged.engine.send(caged.stranger, caged.cage, data), ("TooLate", (last + 1, last)))


def test_a_pending_change_can_be_cancelled_by_the_owner_only(caged: CagedSafe) -> None:
    rule = limit_rule(Limit.MAX_POSITION_BPS, 3_000)
    assert caged.propose(rule).succeeded
    cancel = cage_contract.encode_cancel_change(rule.kind, rule.key)
    expect(caged, caged.engine.send(caged.session, caged.cage, cancel), ("NotTheAccount", (caged.session.address,)))
    assert caged.owner_call(caged.cage, cancel).succeeded
    caged.engine.advance(HOUR)
    data = cage_contract.encode_apply_change(rule.kind, rule.key)
    expect(caged, caged.engine.send(caged.stranger, caged.cage, data), ("NothingPending", ()))


def test_tightening_takes_a_pending_loosening_away(caged: CagedSafe) -> None:
    rule = limit_rule(Limit.MAX_POSITION_BPS, 3_000)
    assert caged.propose(rule).succeeded
    assert caged.propose(limit_rule(Limit.MAX_POSITION_BPS, 1_000)).succeeded
    caged.engine.advance(HOUR)
    data = cage_contract.encode_apply_change(rule.kind, rule.key)
    expect(caged, caged.engine.send(caged.stranger, caged.cage, data), ("NothingPending", ()))


@pytest.mark.parametrize(
    "data",
    [
        cage_contract.encode_propose([limit_rule(Limit.MAX_POSITION_BPS, 1)]),
        cage_contract.encode_set_session(key="0x" + "11" * 20, expires_at=0, operations=0, budget_micro_usd=0),
        cage_contract.encode_resume(),
        cage_contract.encode_acknowledge_drawdown(),
        cage_contract.encode_cancel_change(RuleKind.LIMIT, bytes(32)),
    ],
)
def test_only_the_safe_changes_anything(built: CagedSafe, data: bytes) -> None:
    for account in (built.session, built.guardian, built.stranger, built.owners[0]):
        sent = built.engine.send(account, built.cage, data)
        expect(built, sent, ("NotTheAccount", (account.address,)))


def test_one_owner_of_two_needed_changes_nothing(caged: CagedSafe) -> None:
    from permits_app.policy_cage.safe_tx import encode_exec_transaction
    from tests.proof.caged.safe import sign_digest

    nonce = int(caged.read(caged.safe, NONCE)[0])
    tx = SafeTx(to=caged.cage, data=cage_contract.encode_propose([limit_rule(Limit.MAX_POSITION_BPS, 1)]), nonce=nonce)
    digest = hash_safe_tx(tx, safe=caged.safe, chain_id=CHAIN_ID)
    data = encode_exec_transaction(tx, signatures=sign_digest(caged.owners[0], digest))
    sent = caged.engine.send(caged.stranger, caged.safe, data)
    assert decode_revert(sent.output).text == "GS020"


@pytest.mark.parametrize(
    ("limit", "value", "bound"),
    [
        (Limit.MAX_CONCENTRATION_BPS, 499, 500),
        (Limit.MAX_CONCENTRATION_BPS, 10_001, 10_000),
        (Limit.MAX_DRAWDOWN_BPS, 99, 100),
        (Limit.MAX_DRAWDOWN_BPS, 5_001, 5_000),
        (Limit.MIN_COLLATERAL_RATIO_BPS, 10_499, 10_500),
        (Limit.MAX_POSITION_BPS, 10_001, 10_000),
        (Limit.MAX_ASSETS, 11, 10),
        (Limit.MAX_LOSS_BPS, 1_001, 1_000),
        (Limit.PHASE, 5, 4),
    ],
)
def test_no_limit_leaves_its_range(caged: CagedSafe, limit: Limit, value: int, bound: int) -> None:
    sent = caged.propose(limit_rule(limit, value))
    assert inner_error(sent) == ("OutOfRange", (value, bound))


def inner_error(sent: Sent) -> tuple[str | None, tuple[object, ...]]:
    """The cage's refusal inside the Safe's transaction, which the Safe hands on as it is."""
    assert not sent.succeeded
    reason = decode_revert(sent.output, tuple(ERRORS.values()))
    return reason.name, tuple(reason.args.values())


def test_there_are_at_most_as_many_assets_as_the_owner_says(caged: CagedSafe) -> None:
    assert caged.propose(limit_rule(Limit.MAX_ASSETS, 3)).succeeded
    token = deploy(caged, "RebasingToken")
    rules = asset_rules(token, AssetRule(caged.coins["USDC"].feed, HOUR, 18, 8), per_batch=1, per_window=1)
    assert caged.propose(*rules).succeeded
    caged.engine.advance(TWO_DAYS)
    data = cage_contract.encode_apply_change(RuleKind.ASSET, address_key(token))
    expect(caged, caged.engine.send(caged.stranger, caged.cage, data), ("OutOfRange", (4, 3)))


def test_a_retiring_asset_only_falls_and_goes_when_none_is_left(caged: CagedSafe) -> None:
    wbtc = caged.coins["WBTC"]
    key = address_key(wbtc.address)
    retiring = AssetRule(wbtc.feed, HOUR, 8, 8, AssetState.RETIRING)
    assert caged.propose(Rule(RuleKind.ASSET, key, retiring.pack())).succeeded
    bought = caged.trade("USDC", 600 * USD, "WBTC", 1_000_000)
    expect(caged, caged.execute(*bought), ("AssetNotApproved", (wbtc.address,)))
    assert inner_error(caged.propose(Rule(RuleKind.ASSET, key, 0))) == ("StillHeld", (wbtc.address, 25_000_000))
    expect(caged, caged.execute(*caged.trade("WBTC", 25_000_000, "USDC", 15_000 * USD)), None)
    assert caged.propose(Rule(RuleKind.ASSET, key, 0)).succeeded
    assert wbtc.address not in caged.ask("assets")


def test_what_is_an_asset_is_not_valued_a_second_time(caged: CagedSafe) -> None:
    rule = valuer_rule(caged.coins["WETH"].address, caged.lender)
    assert caged.propose(rule).succeeded
    caged.engine.advance(TWO_DAYS)
    data = cage_contract.encode_apply_change(rule.kind, rule.key)
    expect(caged, caged.engine.send(caged.stranger, caged.cage, data), ("CountedTwice", (caged.coins["WETH"].address,)))


def test_halt_is_for_the_account_each_owner_and_the_guardian(caged: CagedSafe) -> None:
    halt = cage_contract.encode_halt()
    for account in (caged.stranger, caged.session):
        expect(caged, caged.engine.send(account, caged.cage, halt), ("MayNotHalt", (account.address,)))
    for account in (caged.guardian, *caged.owners):
        assert caged.engine.send(account, caged.cage, halt).succeeded
        expect(caged, caged.execute(caged.approve("USDC", 1)), ("CageHalted", ()))
        expect(
            caged, caged.engine.send(caged.session, caged.cage, cage_contract.encode_top_up_gas(1)), ("CageHalted", ())
        )
        assert caged.owner_call(caged.cage, cage_contract.encode_resume()).succeeded
    assert caged.owner_call(caged.cage, halt).succeeded
    assert caged.ask("isHalted")


def test_the_guardian_can_only_halt(caged: CagedSafe) -> None:
    assert caged.engine.send(caged.guardian, caged.cage, cage_contract.encode_halt()).succeeded
    for data in (
        cage_contract.encode_resume(),
        cage_contract.encode_propose([limit_rule(Limit.PHASE, 1)]),
        cage_contract.encode_worsen_phase(1),
        cage_contract.encode_execute([caged.approve("USDC", 1)]),
    ):
        assert not caged.engine.send(caged.guardian, caged.cage, data).succeeded


def cage_of_a_plain_account(caged: CagedSafe) -> str:
    """The address of a cage whose account is an owner's own."""
    from golem_project.embedded.world.solidity import load_contract
    from tests.proof.caged.safe import standard_rules

    data = cage_contract.encode_deployment(
        bytes.fromhex(load_contract("PolicyCage").bytecode[2:]),
        account=caged.owners[0].address,
        base_asset=caged.coins["USDC"].address,
        rules=standard_rules(caged, {}),
    )
    cage = caged.engine.send(caged.deployer, None, data).created
    assert cage is not None
    return cage


def test_a_plain_account_in_development_is_said_to_be_not_enforced(caged: CagedSafe) -> None:
    cage = cage_of_a_plain_account(caged)
    assert caged.read(cage, FUNCTIONS["isEnforced"]) == (False,)
    session = cage_contract.encode_set_session(
        key=caged.session.address, expires_at=caged.engine.now() + DAY, operations=1, budget_micro_usd=USD
    )
    assert caged.engine.send(caged.owners[0], cage, session).succeeded
    sent = caged.engine.send(caged.session, cage, cage_contract.encode_execute([caged.approve("USDC", 1)]))
    expect(caged, sent, ("AccountIsNoContract", (caged.owners[0].address,)))
    assert caged.read(caged.cage, FUNCTIONS["isEnforced"]) == (True,)


def test_a_module_taken_off_the_safe_enforces_nothing_and_moves_nothing(caged: CagedSafe) -> None:
    disable = encode_call(
        "function disableModule(address prevModule, address module)", "0x" + "00" * 19 + "01", caged.cage
    )
    assert caged.owner_call(caged.safe, disable).succeeded
    assert not caged.ask("isEnforced")
    assert not caged.execute(caged.approve("USDC", 1)).succeeded
