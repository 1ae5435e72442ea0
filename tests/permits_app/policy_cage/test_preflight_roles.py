"""The pre-flight and the contract answer every role alike: random batches and payouts of four keys, one life long."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from eth_account.signers.local import LocalAccount

from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.call_rules import list_rights
from permits_app.policy_cage.contract import (
    Limit,
    Refill,
    Rule,
    RuleKind,
    address_key,
    decode_cage_error,
    payout_key,
    payout_rule,
    recipient_rule,
    role_allowance_rule,
    role_call_key,
)
from permits_app.policy_cage.preflight import predict
from permits_app.policy_cage.preflight_types import Observed, PreflightVerdict, Refusal, Right
from permits_app.policy_cage.roles import Payout, predict_payout
from permits_app.policy_cage.safe_tx import NONCE, ZERO_ADDRESS
from permits_app.policy_cage.state import CageState
from tests.contracts.role_keys import PAYER, TRADER, appoint, pay, payer_rules, trader_rules
from tests.permits_app.policy_cage.test_preflight import follow
from tests.permits_app.policy_cage.test_preflight_positions import look, said
from tests.proof.caged.engines import InProcessEngine, Sent, make_account
from tests.proof.caged.safe import TAKE, USD, CagedSafe, build_caged_safe
from tools_app.chain.abi import encode_call
from tools_app.toolkit.plan import Call

STEPS = 700
ALLOWANCE = "function allowance(address account, address spender) view returns (uint256)"
ZERO = "0x" + "00" * 20


@pytest.fixture(scope="module")
def keys() -> dict[int, LocalAccount]:
    return {TRADER: make_account("trader"), PAYER: make_account("payer"), 3: make_account("a stranger to the cage")}


@pytest.fixture
def caged(keys: dict[int, LocalAccount]) -> Iterator[CagedSafe]:
    limits = {Limit.MIN_REBALANCE_INTERVAL_SECONDS: 0, Limit.MAX_CONCENTRATION_BPS: 10_000}
    caged = build_caged_safe(InProcessEngine(), limits=limits, most_usd=20_000)
    for key in keys.values():
        caged.engine.give_coins(key.address, 10**24)
    usdc = caged.coins["USDC"].address
    caged.change(
        *trader_rules(caged),
        *payer_rules(caged),
        role_allowance_rule(TRADER, caged.coins["WBTC"].address, Refill(10**6)),
        recipient_rule(9, keys[3].address),
        payout_rule(0, 9, usdc, Refill(5_000 * USD, USD, 60)),
    )
    for role in (TRADER, PAYER):
        assert appoint(caged, role, keys[role].address, operations=300, budget=50_000 * USD).succeeded
    yield caged


def read_rights(caged: CagedSafe, state: CageState, calls: Sequence[Call]) -> dict[Right, int | Refusal]:
    rights = list_rights(state, calls)
    return {right: int(caged.read(right.token, ALLOWANCE, caged.safe, right.spender)[0]) for right in rights}


def observe(caged: CagedSafe, state: CageState, calls: Sequence[Call]) -> Observed | None:
    """What the cage would see: the owners make the same calls one by one from the Safe, and it is undone.

    None where one fails by itself, which the batches of other tests meet.
    """
    at, before = caged.engine.now(), look(caged)
    held = read_rights(caged, state, calls)
    seen = Observed(
        now=at,
        prices={asset: caged.ask("priceOf", asset) for asset in state.assets},
        before=before,
        after=before,
        hooks=frozenset({ZERO, caged.handler}),
        modules=frozenset({caged.cage}),
        nonce=int(caged.read(caged.safe, NONCE)[0]),
        rights_before=held,
        rights_after=held,
    )
    snapshot = caged.engine.snapshot()
    is_run = all(caged.owner_call(call.to, call.data).succeeded for call in calls)
    after, held_after = look(caged), read_rights(caged, state, calls)
    caged.engine.revert(snapshot)
    return replace(seen, after=after, rights_after=held_after) if is_run else None


def random_batch(caged: CagedSafe, chance: random.Random) -> list[Call]:
    sold, bought = chance.sample(["USDC", "WETH", "WBTC"], 2)
    dollars = chance.choice([1, 40, 300, 900, 3_100, 15_000])
    give, take = (
        dollars * USD * 10 ** (caged.coins[symbol].decimals + 8) // (caged.coins[symbol].price * USD)
        for symbol in (sold, bought)
    )
    match chance.randrange(6):
        case 0:
            return [caged.approve(sold, chance.choice([0, 1, give]))]
        case 1:
            return [caged.approve(sold, give), caged.call(caged.venue, TAKE, caged.coins[sold].address, give)]
    return caged.trade(sold, give, bought, take * chance.choice([100, 100, 100, 99, 96]) // 100)


def random_runnable(caged: CagedSafe, state: CageState, chance: random.Random) -> tuple[list[Call], Observed]:
    while True:
        calls = random_batch(caged, chance)
        seen = observe(caged, state, calls)
        if seen is not None:
            return calls, seen


def foresee_payout(caged: CagedSafe, state: CageState, payout: Payout, sender: str) -> Refusal | None:
    """The transfer from the Safe itself, as the cage would make it."""
    to = state.rule(RuleKind.RECIPIENT, payout.recipient.to_bytes(32, "big"))
    transfer = encode_call("function transfer(address to, uint256 amount)", f"0x{to:040x}", payout.amount)
    seen = observe(caged, state, [Call(to=payout.asset, data=transfer, value=0, label="")] if to else [])
    assert seen is not None, "there is more than is ever paid"
    return predict_payout(state, payout, seen, sender=sender)


def answer_of(sent: Sent) -> Refusal | None:
    if sent.succeeded:
        return None
    reason = decode_cage_error(sent.output)
    return Refusal(reason.name or "", tuple(reason.args.values()))


def change_something(caged: CagedSafe, chance: random.Random, keys: dict[int, LocalAccount]) -> None:
    """What owners take away, and give again."""
    usdc = caged.coins["USDC"].address
    taken = chance.choice(
        [
            Rule(RuleKind.PAYOUT, payout_key(PAYER, 7, usdc), 0),
            recipient_rule(7, ZERO_ADDRESS),
            Rule(RuleKind.ROLE_CALL, role_call_key(TRADER, caged.venue, bytes.fromhex("095ea7b3")), 0),
            Rule(RuleKind.OUTFLOW_PER_WINDOW, address_key(usdc), 2_000 * USD),
        ]
    )
    if caged.rule(taken) not in (0, taken.value):
        assert caged.propose(taken).succeeded
        return
    wide = Rule(RuleKind.OUTFLOW_PER_WINDOW, address_key(usdc), 40_000 * USD)
    given = [rule for rule in (*trader_rules(caged), *payer_rules(caged), wide) if caged.rule(rule) != rule.value]
    if given:
        caged.change(*given)
    for role in (TRADER, PAYER):
        budget = chance.choice([200, 50_000]) * USD
        assert appoint(caged, role, keys[role].address, operations=chance.choice([12, 200]), budget=budget).succeeded


def test_batches_and_payouts_of_every_role_are_answered_alike(caged: CagedSafe, keys: dict[int, LocalAccount]) -> None:
    chance = random.Random(15)
    met: Counter[str] = Counter()
    for step in range(STEPS):
        state = follow(caged.engine, caged)
        key = chance.choice([caged.session, keys[TRADER], keys[TRADER], keys[PAYER], keys[PAYER], keys[3]])
        if chance.random() < 0.35:
            asset = caged.coins[chance.choice(["USDC", "USDC", "USDC", "WETH"])].address
            number = (
                {caged.session: 9, keys[PAYER]: 7}.get(key, 3) if chance.random() < 0.7 else chance.choice([3, 7, 9])
            )
            payout = Payout(number, asset, chance.choice([0, 1, 50 * USD, 250 * USD, 999 * USD, 1_001 * USD]))
            foreseen: PreflightVerdict | Refusal | None = foresee_payout(caged, state, payout, key.address)
            sent = pay(caged, payout.amount, key=key, recipient=payout.recipient, asset=asset)
            answer: PreflightVerdict | Refusal | None = answer_of(sent)
        else:
            calls, seen = random_runnable(caged, state, chance)
            foreseen = predict(state, calls, seen, sender=key.address)
            answer = said(caged, caged.execute(*calls, key=key))
        assert foreseen == answer, f"step {step}"
        met[answer.name if isinstance(answer, Refusal) else "paid" if answer is None else "ran"] += 1
        if chance.random() < 0.2:
            caged.engine.advance(chance.choice([30, 600, 3_600, 20_000]))
        if chance.random() < 0.04:
            change_something(caged, chance, keys)
    assert met.keys() >= {
        "AllowanceUsedUp",
        "LossTooLarge",
        "NotSessionKey",
        "OutflowInWindowTooLarge",
        "PayoutNotMade",
        "RecipientUnknown",
        "RoleMayNotCall",
        "SessionBudgetExceeded",
        "SessionExpired",
        "paid",
        "ran",
    }, met
    assert met["ran"] > STEPS // 14 and met["paid"] > STEPS // 100, met
    assert_is_the_contracts(follow(caged.engine, caged), caged)


def assert_is_the_contracts(state: CageState, caged: CagedSafe) -> None:
    for role in range(16):
        session = caged.ask("sessionOf", role)
        mine = state.sessions.get(role)
        assert session == (
            (mine.key, mine.expires_at, mine.operations_left, mine.budget_left) if mine else (ZERO_ADDRESS, 0, 0, 0)
        )
    assert state.purses
    for (kind, key), purse in state.purses.items():
        assert caged.ask("purseOf", kind, bytes.fromhex(key[2:])) == (purse.used, purse.at)
    assert CageState.from_dict(state.as_dict()) == state
    assert caged.ask("rulesDigest") == bytes.fromhex(state.rules_digest[2:])
    assert cage_contract.MOST_ROLES == 16
