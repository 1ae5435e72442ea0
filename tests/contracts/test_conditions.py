"""What the arguments of a call must be: the contract and its twin in Python answer alike, whatever the bytes are."""

from __future__ import annotations

import random

import pytest

from permits_app.policy_cage.call_rules import check_calls
from permits_app.policy_cage.conditions import Condition, Must
from permits_app.policy_cage.contract import (
    Limit,
    RuleKind,
    call_rule,
    conditional_call_rules,
    decode_cage_error,
    limit_rule,
)
from permits_app.policy_cage.preflight_types import Observed, Refused
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from tests.contracts.test_governance import delay
from tests.permits_app.policy_cage.test_preflight import follow
from tests.proof.caged.engines import InProcessEngine
from tests.proof.caged.safe import USD, CagedSafe, build_caged_safe, set_session
from tools_app.toolkit.plan import Call

SETS, CALLS = 40, 30
WORDS = 6


def selector_of(number: int) -> bytes:
    return (0x77000000 + number).to_bytes(4, "big")


@pytest.fixture(scope="module")
def alone() -> CagedSafe:
    """A caged Safe on the machine in this process: thousands of calls would take the node too long."""
    return build_caged_safe(InProcessEngine())


class Guesser:
    """Conditions, and calls that often meet them."""

    def __init__(self, caged: CagedSafe, seed: int) -> None:
        self.rng = random.Random(seed)
        listed = [int(coin.address, 16) for coin in caged.coins.values()]
        self.account, self.listed = int(caged.safe, 16), listed
        self.words = [*listed, self.account, int(caged.stranger.address, 16), 0, 1, 32, 64, 96, 128, 2**64]
        self.words += [2**160 | listed[0], 2**256 - 1, int("ee" * 20, 16), 5, 10**18]

    def condition(self) -> Condition:
        rng = self.rng
        must = rng.choice(list(Must))
        depth = rng.choice((0, 1, 1, 1, 2, 2, 3)) if must < Must.BE_ASSETS else rng.choice((0, 1, 1, 2))
        place = tuple(rng.choice((0, 0, 1, 1, 2, 3, 7)) for _ in range(depth))
        operand = rng.choice(self.words) % 2**192
        if must is Must.HAVE_BITS:
            operand = rng.choice((1, 0xFF, 2**95)) << 96 | rng.choice((0, 1, 0x20))
        return Condition(must, place, operand, rng.choice((0, 0, 1, 2)), rng.random() < 0.25)

    def data(self) -> bytes:
        rng = self.rng
        kind = rng.randrange(5)
        if kind == 0:
            return rng.randbytes(rng.choice((0, 3, 31, 32, 64, 200)))
        words = [rng.choice(self.words) for _ in range(rng.randrange(WORDS))]
        if kind == 1:
            return b"".join(word.to_bytes(32, "big") for word in words)
        if kind == 2:
            count = rng.choice((0, 1, 2, 3, 16, 17))
            listed = [rng.choice(self.listed if rng.random() < 0.9 else self.words) for _ in range(count)]
            body = [32, count, *listed]
            return b"".join(word.to_bytes(32, "big") for word in body)[: rng.choice((10**6, 10**6, 70))]
        hops = [rng.choice(self.listed if rng.random() < 0.9 else [1]) for _ in range(rng.choice((1, 2, 2, 3)))]
        path = b"\0\1\x2c".join((hop % 2**160).to_bytes(20, "big") for hop in hops) + rng.choice((b"", b"", b"", b"\1"))
        tail = len(path).to_bytes(32, "big") + path.ljust(-(-len(path) // 32) * 32, b"\0")
        if kind == 3:
            return (32).to_bytes(32, "big") + tail[: rng.choice((10**6, 10**6, 40))]
        head = [32, 64, rng.choice((self.account, rng.choice(self.words)))]
        return b"".join(word.to_bytes(32, "big") for word in head) + tail


def test_contract_and_twin_answer_thousands_of_calls_alike(alone: CagedSafe) -> None:
    caged, guess = alone, Guesser(alone, 15)
    caged.change(*(call_rule(caged.venue, selector_of(number)) for number in range(SETS)))
    set_session(caged)
    for number in range(SETS):
        conditions = [guess.condition() for _ in range(guess.rng.randint(1, 5))]
        assert caged.propose(*conditional_call_rules(caged.venue, selector_of(number), conditions)).succeeded
    state = follow(caged.engine, caged)
    observed = Observed(now=caged.engine.now(), prices={}, before=None, after=None, hooks=frozenset({ZERO_ADDRESS}))  # type: ignore[arg-type]
    met = unmet = 0
    for number in range(SETS):
        for _ in range(CALLS):
            call = Call(to=caged.venue, data=selector_of(number) + guess.data(), value=0, label="")
            try:
                check_calls(state, [call], observed)
                expected = None
            except Refused as refused:
                expected = refused.refusal
            assert isinstance(caged.engine, InProcessEngine)
            reason = decode_cage_error(caged.execute(call).output)
            if expected is None:
                # The venue knows no such function: the call was allowed, and failed.
                assert reason.name == "CallFailed", call.data.hex()
                met += 1
            else:
                assert (reason.name, tuple(reason.args.values())) == (expected.name, expected.args), call.data.hex()
                unmet += 1
    assert met > SETS and unmet > SETS


def test_alternatives_stand_in_one_group_and_every_group_must_be_met(caged: CagedSafe) -> None:
    account, other = caged.safe, caged.stranger.address
    usdc, weth = caged.coins["USDC"].address, caged.coins["WETH"].address
    conditions = [
        Condition(Must.BE_ACCOUNT, (0,)),
        Condition(Must.EQUAL, (0,), 1),
        Condition(Must.EQUAL, (1,), int(usdc, 16), group=1),
        Condition(Must.BE_AT_MOST, (2,), 100, group=2),
        Condition(Must.BE_AT_MOST, (), 0, group=3),
    ]
    chosen = selector_of(1)
    caged.change(*conditional_call_rules(caged.venue, chosen, conditions))
    set_session(caged)

    def name(*words: str | int) -> tuple[str | None, int | None]:
        values = [int(word, 16) if isinstance(word, str) else word for word in words]
        data = chosen + b"".join(value.to_bytes(32, "big") for value in values)
        error, args = caged.error(caged.execute(Call(to=caged.venue, data=data, value=0, label="")))
        return error, args.get("place")

    allowed = ("CallFailed", None)
    assert name(account, usdc, 100) == name(1, usdc, 0) == allowed
    assert name(other, usdc, 100) == ("ConditionNotMet", 1)
    assert name(account, weth, 100) == ("ConditionNotMet", 2)
    assert name(account, usdc, 101) == ("ConditionNotMet", 3)
    assert name(account, usdc) == ("ConditionNotMet", 3)


def test_conditions_where_there_were_none_hold_at_once_and_others_wait(caged: CagedSafe) -> None:
    from permits_app.policy_cage.contract import Rule, call_key, condition_key
    from tests.proof.caged.safe import TAKE, selector

    take, day = selector(TAKE), 86_400
    bound = conditional_call_rules(caged.venue, take, [Condition(Must.BE_ASSET, (0,))])
    assert caged.propose(*bound).succeeded
    assert all(caged.rule(rule) == rule.value for rule in bound)
    assert caged.execute(*caged.take("USDC", 0)).succeeded
    other = Rule(RuleKind.CONDITION, condition_key(caged.venue, take, 0), Condition(Must.BE_ACCOUNT, (0,)).pack())
    freed = Rule(RuleKind.CALL, call_key(caged.venue, take), 1)
    assert delay(caged, other) == delay(caged, freed) == 2 * day
    # Taken away, it is a condition that nothing meets.
    assert caged.propose(Rule(RuleKind.CONDITION, other.key, 0)).succeeded
    assert caged.error(caged.execute(*caged.take("USDC", 0)))[0] == "ConditionNotMet"
    assert caged.rule(limit_rule(Limit.MAX_LOSS_BPS, 0)) == 300 and USD
