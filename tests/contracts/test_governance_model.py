"""Governance beside a model of it: hundreds of random steps, and every rule and what waits is the same after each."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.contract import (
    Limit,
    Refill,
    Rule,
    call_rule,
    guardian_rule,
    limit_rule,
    payout_rule,
    recipient_rule,
    role_call_rule,
    spender_rule,
)
from tests.permits_app.policy_cage.test_preflight import follow
from tests.proof.caged.engines import InProcessEngine
from tests.proof.caged.safe import TAKE, TRADE, USD, CagedSafe, build_caged_safe, selector, set_session

HOUR, WEEK = 3_600, 7 * 86_400
STEPS = 120


@dataclass
class Bundle:
    """What was proposed together and waits: each rule with its value and what it was then."""

    ready_at: int
    rules: dict[tuple[int, bytes], tuple[int, int]]


@dataclass
class Model:
    """What the contract must do. How long a change waits is asked of the contract; tests of delays are elsewhere."""

    caged: CagedSafe
    rules: dict[tuple[int, bytes], int]
    waiting: list[Bundle] = field(default_factory=list)

    def bundle_of(self, rule: Rule) -> Bundle | None:
        key = (int(rule.kind), rule.key)
        return next((bundle for bundle in self.waiting if key in bundle.rules), None)

    def drop(self, rule: Rule) -> None:
        bundle = self.bundle_of(rule)
        if bundle is not None:
            self.waiting.remove(bundle)

    def propose(self, rules: list[Rule], delays: list[int], now: int) -> None:
        together: dict[tuple[int, bytes], tuple[int, int]] = {}
        for rule, delay in zip(rules, delays, strict=True):
            self.drop(rule)
            key = (int(rule.kind), rule.key)
            if delay:
                together[key] = (rule.value, self.rules[key])
            else:
                self.rules[key] = rule.value
        if together:
            self.waiting.append(Bundle(now + max(delays), together))

    def apply(self, rule: Rule, now: int) -> bool:
        bundle = self.bundle_of(rule)
        if bundle is None or not bundle.ready_at <= now <= bundle.ready_at + WEEK:
            return False
        assert all(self.rules[key] == base for key, (_, base) in bundle.rules.items()), "a rule moved under a bundle"
        self.rules |= {key: value for key, (value, _) in bundle.rules.items()}
        self.waiting.remove(bundle)
        return True


class Walk:
    """Random steps of owners, of the session key and of strangers."""

    def __init__(self, caged: CagedSafe, seed: int) -> None:
        self.caged, self.rng = caged, random.Random(seed)
        self.kinds = [
            lambda: limit_rule(Limit.MAX_POSITION_BPS, self.rng.randint(1_000, 9_000)),
            lambda: limit_rule(Limit.MAX_DRAWDOWN_BPS, self.rng.randint(500, 4_000)),
            lambda: limit_rule(Limit.MIN_COVER_BPS, self.rng.randint(10_500, 14_000)),
            lambda: limit_rule(Limit.PHASE, self.rng.randint(0, 4)),
            lambda: call_rule(caged.venue, selector(TAKE), is_allowed=self.rng.random() < 0.5),
            lambda: call_rule(caged.venue, selector(TRADE), is_allowed=self.rng.random() < 0.5),
            lambda: spender_rule(caged.venue, most_micro_usd=self.rng.randint(1, 90_000) * USD),
            lambda: role_call_rule(1, caged.venue, selector(TAKE), is_allowed=self.rng.random() < 0.5),
            lambda: payout_rule(2, 7, caged.venue, Refill(self.rng.randint(9, 99), 9, self.rng.randint(1, 9))),
            lambda: recipient_rule(7, self.rng.choice((caged.stranger.address, "0x" + "00" * 20))),
            lambda: guardian_rule(self.rng.choice((caged.guardian.address, caged.stranger.address, "0x" + "00" * 20))),
        ]
        everything = [make() for make in self.kinds]
        self.model = Model(caged, {(int(rule.kind), rule.key): caged.rule(rule) for rule in everything})

    def step(self) -> None:
        move = self.rng.choices((self.propose, self.apply, self.cancel, self.worsen, self.wait), (5, 5, 1, 1, 4))[0]
        move()
        for (kind, key), value in self.model.rules.items():
            assert self.caged.ask("rules", kind, key) == value
        waiting = {key: (*each, bundle.ready_at) for bundle in self.model.waiting for key, each in bundle.rules.items()}
        for kind, key in self.model.rules:
            *found, _ = self.caged.ask("pending", kind, key)
            assert tuple(found) == waiting.get((kind, key), (0, 0, 0))

    def one(self) -> Rule:
        return self.rng.choice(self.kinds)()

    def propose(self) -> None:
        chosen = {}
        for make in self.rng.sample(self.kinds, self.rng.randint(1, 4)):
            rule = make()
            if self.model.rules[(int(rule.kind), rule.key)] != rule.value:
                chosen[(rule.kind, rule.key)] = rule
        rules = list(chosen.values())
        if not rules:
            return
        delays = [int(self.caged.ask("delayOf", int(rule.kind), rule.key, rule.value)) for rule in rules]
        sent = self.caged.propose(*rules)
        assert sent.succeeded
        self.model.propose(rules, delays, sent.at)

    def apply(self) -> None:
        rule = self.one()
        data = cage_contract.encode_apply_change(rule.kind, rule.key)
        sent = self.caged.engine.send(self.caged.stranger, self.caged.cage, data)
        assert sent.succeeded is self.model.apply(rule, sent.at)

    def cancel(self) -> None:
        rule = self.one()
        is_waiting = self.model.bundle_of(rule) is not None
        sent = self.caged.owner_call(self.caged.cage, cage_contract.encode_cancel_change(rule.kind, rule.key))
        assert sent.succeeded is is_waiting
        self.model.drop(rule)

    def worsen(self) -> None:
        phase = limit_rule(Limit.PHASE, self.rng.randint(0, 4))
        key = (int(phase.kind), phase.key)
        sent = self.caged.engine.send(
            self.caged.session, self.caged.cage, cage_contract.encode_worsen_phase(phase.value)
        )
        assert sent.succeeded is (phase.value > self.model.rules[key])
        if sent.succeeded:
            self.model.drop(phase)
            self.model.rules[key] = phase.value

    def wait(self) -> None:
        self.caged.engine.advance(self.rng.choice((60, HOUR, 24 * HOUR, 48 * HOUR, 48 * HOUR, WEEK + HOUR)))
        set_session(self.caged)


@pytest.mark.one_of_many
@pytest.mark.parametrize("seed", range(4))
def test_every_step_of_governance_is_what_the_model_says(seed: int) -> None:
    caged = build_caged_safe(InProcessEngine())
    walk = Walk(caged, seed)
    for _ in range(STEPS):
        walk.step()
    state = follow(caged.engine, caged)
    assert state.rules_digest == "0x" + caged.ask("rulesDigest").hex()
    for kind, key in walk.model.rules:
        waits = state.pending.get((kind, "0x" + key.hex()))
        told = (0, 0, 0, 0) if waits is None else (waits.value, waits.base, waits.ready_at, waits.bundle)
        assert told == tuple(caged.ask("pending", kind, key))
