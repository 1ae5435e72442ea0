"""`cage`: what owners change in the contract behind a golem's cage, signed by the owners of its Safe.

The contract decides what is looser and how long that waits; here its answer is shown before anybody signs. Local limits
that go with the change are written when the chain has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from archetypes_app.models import Golem
from permits_app.approval_errors import CageNotMirrored, ChangeStale, ChangeUnchanged
from permits_app.approvals.approval_rules import COOLING_SMALL_SECONDS
from permits_app.approvals.cage_rules_text import name_rule, show_rule
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal, SafeTxDraft, SeenSafe
from permits_app.approvals.operations.cage_arguments import (
    CageAct,
    CageAsked,
    CageChange,
    CancelAsked,
    RulesAsked,
    RuleText,
    SessionAsked,
)
from permits_app.approvals.policy_state import (
    PolicyChange,
    apply_differences,
    diff_policy,
    find_moved,
    read_policy_changes,
    read_policy_state,
)
from permits_app.approvals.safe_nonces import find_free_nonce
from permits_app.approvals.write_policy import write_policy
from permits_app.custody.safe_view import find_module_before, open_chain, read_delays, read_safe
from permits_app.custody.signing_route import find_end_through
from permits_app.models import CageMirror
from permits_app.policy_cage.abi import PUBLISHED
from permits_app.policy_cage.contract import (
    Limit,
    Rule,
    RuleKind,
    encode_acknowledge_drawdown,
    encode_appoint,
    encode_cancel_change,
    encode_halt,
    encode_note_prices,
    encode_propose,
    encode_resume,
    encode_set_session,
)
from permits_app.policy_cage.safe_tx import DISABLE_MODULE, ENABLE_MODULE, ZERO_ADDRESS, SafeTx
from permits_app.policy_cage.state import CageState, SessionState
from tools_app.chain.abi import encode_call
from tools_app.core.errors import InvalidParams
from tools_app.core.stored_json import read_stored, write_stored
from tools_app.core.units import format_micro_usd
from tools_app.toolkit.enums import RiskTier
from tools_app.wording.formats import format_seconds

MOST_RULES = 128


def find_mirror(golem: Golem) -> CageMirror | None:
    """The mirror of the golem's cage, None without a contract."""
    return CageMirror.objects.filter(cage__golem=golem).first()


def draft_safe_tx(seen: SeenSafe, *, to: str, data: bytes) -> SafeTxDraft:
    """Draft a call of the Safe that `observe_safe` saw, under the next nonce that nothing is asked under."""
    nonce = find_free_nonce(chain_id=seen.chain_id, safe=seen.safe, at_least=seen.nonce)
    return SafeTxDraft(
        chain_id=seen.chain_id,
        safe=seen.safe,
        tx=SafeTx(to=to, data=data, nonce=nonce),
        block=seen.block,
        threshold=seen.threshold,
        ends_through=seen.ends_through,
    )


def observe_safe(golem: Golem, *, now: datetime) -> SeenSafe:
    """Look at the Safe behind the golem's cage. Raises CageNotMirrored, CageHasNoSafe."""
    mirror = find_mirror(golem)
    if mirror is None:
        raise CageNotMirrored("this golem's cage is enforced by this server only; there is no contract to change")
    chain = open_chain(mirror.chain_id, now=now)
    safe = read_safe(chain, mirror.account)
    return SeenSafe(
        chain_id=mirror.chain_id,
        safe=safe.address,
        nonce=safe.nonce,
        threshold=safe.threshold,
        block=safe.block,
        ends_through=find_end_through(chain),
    )


class ChangeCage:
    """`arguments`: `act`, one of propose, cancel, session, role, halt, resume, acknowledge, prices, enable, disable.

    And what it needs:
    `rules` ({kind, key as 0x-hex, value as text}) and `policy` (changes of local limits) to propose; `kind`, `key` to
    cancel; `key`, `expires_at` (unix seconds), `operations`, `budget_micro_usd` for a session, and `role` for
    another role's.
    """

    name = "cage"

    def observe(self, golem: Golem, arguments: Mapping[str, object], *, now: datetime) -> dict[str, object]:
        """The Safe as it is, and what the contract says each rule would wait. Raises as observe_safe."""
        seen = write_stored(observe_safe(golem, now=now))
        act = read_stored(CageAsked, arguments).act
        if act == "propose":
            rules = [rule.as_tuple() for rule in read_rules(read_stored(RulesAsked, arguments).rules)]
            mirror = _require_mirror(golem)
            seen |= {"delays": read_delays(open_chain(mirror.chain_id, now=now), mirror.contract, rules)}
        if act == "disable":
            mirror = _require_mirror(golem)
            chain = open_chain(mirror.chain_id, now=now)
            seen |= {"before": find_module_before(chain, mirror.account, mirror.replaced) or ""}
        return {**arguments, "seen": seen}

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """What the contract would be asked to do. Raises ChangeUnchanged, InvalidParams, CageNotMirrored."""
        mirror, asked = _require_mirror(golem), read_stored(CageAct, arguments)
        state = CageState.from_dict(mirror.state)
        build = {
            "propose": _propose_rules,
            "cancel": _propose_cancel,
            "session": _propose_session,
            "role": _propose_session,
            "halt": _propose_halt,
            "resume": _propose_resume,
            "acknowledge": _propose_acknowledge,
            "prices": _propose_prices,
            "enable": _propose_enable,
            "disable": _propose_disable,
        }.get(asked.act)
        if build is None:
            raise InvalidParams(f"a cage knows no {asked.act!r}", fields={"act": "unknown"})
        return build(_Base(golem, mirror, state, asked), arguments)

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """The contract behind the mirror is the same, and every value still is what the change starts from."""
        mirror, kept = find_mirror(golem), read_stored(CageChange, change)
        if mirror is None or mirror.contract != kept.contract:
            raise ChangeStale("the golem's cage follows another contract now")
        state = CageState.from_dict(mirror.state)
        if kept.act == "propose":
            for each in kept.rules:
                if str(state.rules.get((each.kind, each.key), 0)) != each.before:
                    raise ChangeStale("a rule of the contract moved since", key=each.key)
            _check_local(golem, read_policy_changes(kept.policy))
        elif _describe_moment(state, mirror, kept) != kept.before:
            raise ChangeStale("the contract moved on since")

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """The chain has it; write the local limits that go with it."""
        kept = read_stored(CageChange, change)
        if not kept.policy:
            return {"contract": kept.contract}
        version = write_policy(golem=golem, changes=kept.policy, actor=actor, reason=reason, now=now)
        return {"contract": kept.contract, "policy_version": str(version.number)}


@dataclass(frozen=True, slots=True)
class _Base:
    """What a proposal starts from."""

    golem: Golem
    mirror: CageMirror
    state: CageState
    asked: CageAct


def read_rules(given: Sequence[Mapping[str, object]]) -> list[Rule]:
    """Rules from their JSON form. Raises InvalidParams."""
    if not 0 < len(given) <= MOST_RULES:
        raise InvalidParams(f"a proposal holds 1 to {MOST_RULES} rules", fields={"rules": "count"})
    try:
        told = [read_stored(RuleText, each) for each in given]
        return [Rule(RuleKind(each.kind), bytes.fromhex(each.key.removeprefix("0x")), each.value) for each in told]
    except ValueError as error:
        raise InvalidParams("a rule has a kind, a key of 32 bytes and a value", fields={"rules": str(error)}) from None


def write_rule(rule: Rule) -> dict[str, str]:
    """A rule in its JSON form."""
    return {"kind": str(int(rule.kind)), "key": "0x" + rule.key.hex(), "value": str(rule.value)}


def _require_mirror(golem: Golem) -> CageMirror:
    """The golem's mirror. Raises CageNotMirrored."""
    mirror = find_mirror(golem)
    if mirror is None:
        raise CageNotMirrored("this golem's cage is enforced by this server only; there is no contract to change")
    return mirror


def _propose_rules(base: _Base, arguments: Mapping[str, object]) -> Proposal:
    asked, seen, mirror = read_stored(RulesAsked, arguments), base.asked.seen, base.mirror
    kept: list[tuple[Rule, int, int]] = []
    for rule, delay in zip(read_rules(asked.rules), seen.delays, strict=True):
        before = base.state.rule(rule.kind, rule.key)
        if before != rule.value:
            kept.append((rule, before, delay))
    if not kept:
        raise ChangeUnchanged("the contract says so already")
    # What waits of one proposal waits together, for the longest of its delays.
    longest = max(delay for _, _, delay in kept)
    lines = [_spell_rule(rule, before, longest if delay else 0, mirror.chain_id) for rule, before, delay in kept]
    before_policy = read_policy_state(base.golem)
    found = diff_policy(before_policy, apply_differences(before_policy, asked.policy))
    lines += [
        BeforeAndAfter(each.words, each.shown_before, each.shown_after, "loosens" if each.loosens else "tightens")
        for each in found
    ]
    loosens = longest > 0 or any(each.loosens for each in found)
    title = asked.title or f"{'Loosen' if loosens else 'Tighten'} the cage on chain: {lines[0].words}"
    change: dict[str, object] = {
        "act": "propose",
        "contract": mirror.contract,
        "rules": [{**write_rule(rule), "before": str(before)} for rule, before, _ in kept],
        "policy": [each.as_dict() for each in found],
    }
    data = encode_propose([rule for rule, _, _ in kept])
    return Proposal(
        title=title[:200],
        change=change,
        differences=tuple(lines),
        risk_tier=_tier_of(longest, loosens=loosens),
        value_micro_usd=_value_of([rule for rule, _, delay in kept if delay]),
        is_tightening=not loosens,
        safe_tx=draft_safe_tx(seen, to=mirror.contract, data=data),
    )


def _spell_rule(rule: Rule, before: int, delay: int, chain_id: int) -> BeforeAndAfter:
    def show(value: int) -> str:
        return show_rule(rule.kind, rule.key, value, chain_id=chain_id)

    note = f"loosens; the contract lets it wait {format_seconds(delay)}" if delay else "tightens"
    return BeforeAndAfter(name_rule(rule.kind, rule.key, chain_id=chain_id), show(before), show(rule.value), note)


def _propose_cancel(base: _Base, arguments: Mapping[str, object]) -> Proposal:
    asked, chain_id = read_stored(CancelAsked, arguments), base.mirror.chain_id
    waiting = base.state.pending.get((asked.kind, asked.key))
    if waiting is None:
        raise ChangeUnchanged("no such change waits in the contract")
    raw = bytes.fromhex(asked.key[2:])
    words = name_rule(asked.kind, raw, chain_id=chain_id)
    shown = [show_rule(asked.kind, raw, value, chain_id=chain_id) for value in (waiting.value, waiting.base)]
    line = BeforeAndAfter(words, f"waits to become {shown[0]}", f"stays {shown[1]}", "tightens")
    return _simple(
        base,
        f"Cancel the waiting change: {words}",
        [line],
        RiskTier.STANDARD,
        encode_cancel_change(RuleKind(asked.kind), raw),
        kind=str(asked.kind),
        key=asked.key,
    )


def _propose_session(base: _Base, arguments: Mapping[str, object]) -> Proposal:
    asked = read_stored(SessionAsked, arguments)
    key, expires, role = asked.key, asked.expires_at, asked.role
    operations, budget = asked.operations, asked.budget_micro_usd
    ends = key == ZERO_ADDRESS
    now = base.state.sessions.get(role, SessionState())
    lines = [
        BeforeAndAfter(
            f"Key of role {role}" if role else "Session key",
            now.key if now.key != ZERO_ADDRESS else "nobody",
            "nobody" if ends else key,
            "tightens" if ends else "loosens",
        ),
        BeforeAndAfter("Until", _spell_time(now.expires_at), _spell_time(expires)),
        BeforeAndAfter("Operations left", f"{now.operations_left:,}", f"{operations:,}"),
        BeforeAndAfter("Budget left", format_micro_usd(now.budget_left), format_micro_usd(budget)),
    ]
    if role:
        data = encode_appoint(role, key=key, expires_at=expires, operations=operations, budget_micro_usd=budget)
    else:
        data = encode_set_session(key=key, expires_at=expires, operations=operations, budget_micro_usd=budget)
    whose = f"the session of role {role}" if role else "the golem's session"
    appointed = f"the key of role {role}" if role else "the golem's session key"
    return _simple(
        base,
        f"End {whose}" if ends else f"Appoint {appointed}",
        lines,
        RiskTier.STANDARD if ends else RiskTier.CRITICAL,
        data,
        key=key,
        expires_at=str(expires),
        operations=str(operations),
        budget_micro_usd=str(budget),
        value_micro_usd=budget,
        **({"role": str(role)} if role else {}),
    )


def _propose_halt(base: _Base, arguments: Mapping[str, object]) -> Proposal:
    if base.state.is_halted:
        raise ChangeUnchanged("the contract is halted already")
    line = BeforeAndAfter("The cage on chain", "lets the session key act", "halted: no batch runs", "tightens")
    return _simple(base, "Halt the cage on chain", [line], RiskTier.STANDARD, encode_halt())


def _propose_resume(base: _Base, arguments: Mapping[str, object]) -> Proposal:
    if not base.state.is_halted:
        raise ChangeUnchanged("the contract is not halted")
    line = BeforeAndAfter("The cage on chain", "halted: no batch runs", "lets the session key act", "loosens")
    return _simple(base, "Resume the cage on chain", [line], RiskTier.CRITICAL, encode_resume())


def _propose_acknowledge(base: _Base, arguments: Mapping[str, object]) -> Proposal:
    if not base.state.is_drawdown_breached:
        raise ChangeUnchanged("the contract has no drawdown on record")
    line = BeforeAndAfter("Drawdown on record", "blocks what does not leave a position", "acknowledged", "loosens")
    return _simple(
        base,
        "Acknowledge the drawdown on chain",
        [line],
        RiskTier.HIGH,
        encode_acknowledge_drawdown(),
    )


def _propose_prices(base: _Base, arguments: Mapping[str, object]) -> Proposal:
    line = BeforeAndAfter(
        "Prices that the next batch is held against", "those of the last batch", "those of the feeds by then", "loosens"
    )
    return _simple(base, "Take the prices of today", [line], RiskTier.HIGH, encode_note_prices())


def _propose_enable(base: _Base, arguments: Mapping[str, object]) -> Proposal:
    if base.mirror.is_enforced:
        raise ChangeUnchanged("the Safe acts through this cage already")
    lines = [
        BeforeAndAfter("Modules of the Safe", "the cage is none of them", "the cage is one of them", "loosens"),
        # The mirror follows no code but this: it is compared at every sync.
        *(BeforeAndAfter(f"Code of {name}", "", digest, "as published") for name, (digest, _) in PUBLISHED.items()),
    ]
    data = encode_call(ENABLE_MODULE, base.mirror.contract)
    return _simple(base, "Let the cage act for the Safe", lines, RiskTier.CRITICAL, data, to=base.mirror.account)


def _propose_disable(base: _Base, arguments: Mapping[str, object]) -> Proposal:
    before = base.asked.seen.before
    if not base.mirror.replaced or not before:
        raise ChangeUnchanged("no contract that was followed before acts for the Safe any more")
    line = BeforeAndAfter(
        "Modules of the Safe",
        f"{base.mirror.replaced}, which was followed before, is one of them",
        "it is none of them; nobody acts through it",
        "tightens",
    )
    data = encode_call(DISABLE_MODULE, before, base.mirror.replaced)
    return _simple(
        base,
        "End what the contract before may do",
        [line],
        RiskTier.STANDARD,
        data,
        to=base.mirror.account,
        module=base.mirror.replaced,
    )


def _simple(
    base: _Base,
    title: str,
    lines: Sequence[BeforeAndAfter],
    tier: RiskTier,
    data: bytes,
    *,
    to: str = "",
    value_micro_usd: int = 0,
    **given: str,
) -> Proposal:
    mirror = base.mirror
    change: dict[str, object] = {"act": base.asked.act, "contract": mirror.contract, **given}
    moment = _describe_moment(base.state, mirror, read_stored(CageChange, change))
    return Proposal(
        title=title[:200],
        change={**change, "before": moment},
        differences=tuple(lines),
        risk_tier=tier,
        value_micro_usd=value_micro_usd,
        is_tightening=tier is RiskTier.STANDARD,
        safe_tx=draft_safe_tx(base.asked.seen, to=to or mirror.contract, data=data),
    )


def _describe_moment(state: CageState, mirror: CageMirror, change: CageChange) -> str:
    """What the act starts from, as text that is compared later."""
    match change.act:
        case "cancel":
            waiting = state.pending.get((change.kind, change.key))
            return f"{waiting.value} at {waiting.ready_at}" if waiting else "nothing waits"
        case "session" | "role":
            # What is left of a session falls with each batch; the key and its end say which one is replaced.
            now = state.sessions.get(change.role, SessionState())
            return f"{now.key} until {now.expires_at}"
        case "acknowledge":
            return f"breached {state.is_drawdown_breached}"
        case "prices":
            return f"settled at {state.settled_at}"
        case "enable":
            return f"enforced {mirror.is_enforced}"
        case "disable":
            return f"replaced {mirror.replaced}"
        case _:
            return f"halted {state.is_halted}"


def _check_local(golem: Golem, changes: Sequence[PolicyChange]) -> None:
    moved = find_moved(read_policy_state(golem), changes)
    if moved is not None:
        raise ChangeStale(f"{moved.name} was changed since", field=moved.name)


def _tier_of(longest_delay: int, *, loosens: bool) -> RiskTier:
    if not loosens:
        return RiskTier.STANDARD
    return RiskTier.HIGH if 0 < longest_delay <= COOLING_SMALL_SECONDS else RiskTier.CRITICAL


def _value_of(loosened: Sequence[Rule]) -> int:
    limits = (Limit.MAX_SESSION_BUDGET_MICRO_USD,)
    dollars = [rule.value for rule in loosened if rule.kind is RuleKind.SPENDER]
    dollars += [
        rule.value for rule in loosened if rule.kind is RuleKind.LIMIT and int.from_bytes(rule.key, "big") in limits
    ]
    return min(max(dollars, default=0), 2**62)


def _spell_time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if seconds else "never appointed"
