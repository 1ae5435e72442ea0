"""`cage`: what owners change in the contract behind a golem's cage, signed by the owners of its Safe.

The contract decides what is looser and how long that waits; here its answer is shown before anybody signs. Local limits
that go with the change are written when the chain has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from archetypes_app.models import Golem
from permits_app.approval_errors import CageNotMirrored, ChangeStale, ChangeUnchanged
from permits_app.approvals.approval_rules import COOLING_SMALL_SECONDS
from permits_app.approvals.cage_rules_text import name_rule, show_rule
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal, SafeTxDraft
from permits_app.approvals.policy_state import apply_differences, diff_policy, read_policy_state
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
from tools_app.core.units import format_micro_usd
from tools_app.toolkit.enums import RiskTier
from tools_app.wording.formats import format_seconds

MOST_RULES = 128


def find_mirror(golem: Golem) -> CageMirror | None:
    """The mirror of the golem's cage, None without a contract."""
    return CageMirror.objects.filter(cage__golem=golem).first()


def draft_safe_tx(seen: Mapping[str, Any], *, to: str, data: bytes) -> SafeTxDraft:
    """A call of the Safe that `observe_safe` saw, under the next nonce that nothing is asked under."""
    chain_id, safe = int(seen["chain_id"]), str(seen["safe"])
    nonce = find_free_nonce(chain_id=chain_id, safe=safe, at_least=int(seen["nonce"]))
    return SafeTxDraft(
        chain_id=chain_id,
        safe=safe,
        tx=SafeTx(to=to, data=data, nonce=nonce),
        block=int(seen["block"]),
        threshold=int(seen["threshold"]),
        ends_through=str(seen.get("ends_through", "")),
    )


def observe_safe(golem: Golem, *, now: datetime) -> dict[str, object]:
    """The Safe behind the golem's cage, as `draft_safe_tx` takes it. Raises CageNotMirrored, CageHasNoSafe."""
    mirror = find_mirror(golem)
    if mirror is None:
        raise CageNotMirrored("this golem's cage is enforced by this server only; there is no contract to change")
    chain = open_chain(mirror.chain_id, now=now)
    safe = read_safe(chain, mirror.account)
    return {
        "chain_id": mirror.chain_id,
        "safe": safe.address,
        "nonce": safe.nonce,
        "threshold": safe.threshold,
        "block": safe.block,
        "ends_through": find_end_through(chain),
    }


class ChangeCage:
    """`arguments`: `act`, one of propose, cancel, session, role, halt, resume, acknowledge, prices, enable, disable.

    And what it needs:
    `rules` ({kind, key as 0x-hex, value as text}) and `policy` (changes of local limits) to propose; `kind`, `key` to
    cancel; `key`, `expires_at` (unix seconds), `operations`, `budget_micro_usd` for a session, and `role` for
    another role's.
    """

    name = "cage"

    def observe(self, golem: Golem, arguments: Mapping[str, Any], *, now: datetime) -> dict[str, Any]:
        """The Safe as it is, and what the contract says each rule would wait. Raises as observe_safe."""
        seen = observe_safe(golem, now=now)
        if arguments["act"] == "propose":
            mirror = find_mirror(golem)
            assert mirror is not None
            rules = [rule.as_tuple() for rule in read_rules(arguments["rules"])]
            seen["delays"] = read_delays(open_chain(mirror.chain_id, now=now), mirror.contract, rules)
        if arguments["act"] == "disable":
            mirror = find_mirror(golem)
            assert mirror is not None
            chain = open_chain(mirror.chain_id, now=now)
            seen["before"] = find_module_before(chain, mirror.account, mirror.replaced) or ""
        return {**arguments, "seen": seen}

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """What the contract would be asked to do. Raises ChangeUnchanged, InvalidParams, CageNotMirrored."""
        mirror = find_mirror(golem)
        if mirror is None:
            raise CageNotMirrored("this golem's cage is enforced by this server only; there is no contract to change")
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
        }.get(str(arguments["act"]))
        if build is None:
            raise InvalidParams(f"a cage knows no {arguments['act']!r}", fields={"act": "unknown"})
        return build(golem, mirror, state, arguments)

    def check_current(self, golem: Golem, change: Mapping[str, Any]) -> None:
        """The contract behind the mirror is the same, and every value still is what the change starts from."""
        mirror = find_mirror(golem)
        if mirror is None or mirror.contract != change["contract"]:
            raise ChangeStale("the golem's cage follows another contract now")
        state = CageState.from_dict(mirror.state)
        if change["act"] == "propose":
            for each in change["rules"]:
                if str(state.rules.get((int(each["kind"]), each["key"]), 0)) != each["before"]:
                    raise ChangeStale("a rule of the contract moved since", key=each["key"])
            _check_local(golem, change["policy"])
        elif _describe_moment(state, mirror, change) != change["before"]:
            raise ChangeStale("the contract moved on since")

    def apply(
        self, *, golem: Golem, change: Mapping[str, Any], actor: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """The chain has it; write the local limits that go with it."""
        if not change.get("policy"):
            return {"contract": change["contract"]}
        version = write_policy(golem=golem, changes=change["policy"], actor=actor, reason=reason, now=now)
        return {"contract": change["contract"], "policy_version": str(version.number)}


def read_rules(given: Sequence[Mapping[str, Any]]) -> list[Rule]:
    """Rules from their JSON form. Raises InvalidParams."""
    if not 0 < len(given) <= MOST_RULES:
        raise InvalidParams(f"a proposal holds 1 to {MOST_RULES} rules", fields={"rules": "count"})
    try:
        return [
            Rule(RuleKind(int(each["kind"])), bytes.fromhex(each["key"].removeprefix("0x")), int(each["value"]))
            for each in given
        ]
    except (KeyError, ValueError) as error:
        raise InvalidParams("a rule has a kind, a key of 32 bytes and a value", fields={"rules": str(error)}) from None


def write_rule(rule: Rule) -> dict[str, str]:
    """A rule in its JSON form."""
    return {"kind": str(int(rule.kind)), "key": "0x" + rule.key.hex(), "value": str(rule.value)}


def _propose_rules(golem: Golem, mirror: CageMirror, state: CageState, arguments: Mapping[str, Any]) -> Proposal:
    rules = read_rules(arguments["rules"])
    kept: list[tuple[Rule, int, int]] = []
    for rule, delay in zip(rules, arguments["seen"]["delays"], strict=True):
        before = state.rule(rule.kind, rule.key)
        if before != rule.value:
            kept.append((rule, before, int(delay)))
    if not kept:
        raise ChangeUnchanged("the contract says so already")
    # What waits of one proposal waits together, for the longest of its delays.
    longest = max(delay for _, _, delay in kept)
    lines = [_spell_rule(rule, before, longest if delay else 0, mirror.chain_id) for rule, before, delay in kept]
    local = list(arguments.get("policy", ()))
    before_policy = read_policy_state(golem)
    found = diff_policy(before_policy, apply_differences(before_policy, local))
    lines += [
        BeforeAndAfter(each.words, each.shown_before, each.shown_after, "loosens" if each.loosens else "tightens")
        for each in found
    ]
    loosens = longest > 0 or any(each.loosens for each in found)
    title = str(arguments.get("title") or f"{'Loosen' if loosens else 'Tighten'} the cage on chain: {lines[0].words}")
    change = {
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
        safe_tx=draft_safe_tx(arguments["seen"], to=mirror.contract, data=data),
    )


def _spell_rule(rule: Rule, before: int, delay: int, chain_id: int) -> BeforeAndAfter:
    def show(value: int) -> str:
        return show_rule(rule.kind, rule.key, value, chain_id=chain_id)

    note = f"loosens; the contract lets it wait {format_seconds(delay)}" if delay else "tightens"
    return BeforeAndAfter(name_rule(rule.kind, rule.key, chain_id=chain_id), show(before), show(rule.value), note)


def _propose_cancel(golem: Golem, mirror: CageMirror, state: CageState, arguments: Mapping[str, Any]) -> Proposal:
    kind, key = int(arguments["kind"]), str(arguments["key"])
    if (kind, key) not in state.pending:
        raise ChangeUnchanged("no such change waits in the contract")
    raw = bytes.fromhex(key[2:])
    waiting = state.pending[(kind, key)]
    words = name_rule(kind, raw, chain_id=mirror.chain_id)
    shown = [show_rule(kind, raw, value, chain_id=mirror.chain_id) for value in (waiting.value, waiting.base)]
    line = BeforeAndAfter(words, f"waits to become {shown[0]}", f"stays {shown[1]}", "tightens")
    return _simple(
        mirror,
        state,
        arguments,
        f"Cancel the waiting change: {words}",
        [line],
        RiskTier.STANDARD,
        encode_cancel_change(RuleKind(kind), raw),
        kind=str(kind),
        key=key,
    )


def _propose_session(golem: Golem, mirror: CageMirror, state: CageState, arguments: Mapping[str, Any]) -> Proposal:
    key, expires = str(arguments["key"]), int(arguments["expires_at"])
    operations, budget = int(arguments["operations"]), int(arguments["budget_micro_usd"])
    ends = key == ZERO_ADDRESS
    role = int(arguments.get("role", 0))
    now = state.sessions.get(role, SessionState())
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
        mirror,
        state,
        arguments,
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


def _propose_halt(golem: Golem, mirror: CageMirror, state: CageState, arguments: Mapping[str, object]) -> Proposal:
    if state.is_halted:
        raise ChangeUnchanged("the contract is halted already")
    line = BeforeAndAfter("The cage on chain", "lets the session key act", "halted: no batch runs", "tightens")
    return _simple(mirror, state, arguments, "Halt the cage on chain", [line], RiskTier.STANDARD, encode_halt())


def _propose_resume(golem: Golem, mirror: CageMirror, state: CageState, arguments: Mapping[str, object]) -> Proposal:
    if not state.is_halted:
        raise ChangeUnchanged("the contract is not halted")
    line = BeforeAndAfter("The cage on chain", "halted: no batch runs", "lets the session key act", "loosens")
    return _simple(mirror, state, arguments, "Resume the cage on chain", [line], RiskTier.CRITICAL, encode_resume())


def _propose_acknowledge(
    golem: Golem, mirror: CageMirror, state: CageState, arguments: Mapping[str, object]
) -> Proposal:
    if not state.is_drawdown_breached:
        raise ChangeUnchanged("the contract has no drawdown on record")
    line = BeforeAndAfter("Drawdown on record", "blocks what does not leave a position", "acknowledged", "loosens")
    return _simple(
        mirror,
        state,
        arguments,
        "Acknowledge the drawdown on chain",
        [line],
        RiskTier.HIGH,
        encode_acknowledge_drawdown(),
    )


def _propose_prices(golem: Golem, mirror: CageMirror, state: CageState, arguments: Mapping[str, object]) -> Proposal:
    line = BeforeAndAfter(
        "Prices that the next batch is held against", "those of the last batch", "those of the feeds by then", "loosens"
    )
    return _simple(mirror, state, arguments, "Take the prices of today", [line], RiskTier.HIGH, encode_note_prices())


def _propose_enable(golem: Golem, mirror: CageMirror, state: CageState, arguments: Mapping[str, object]) -> Proposal:
    if mirror.is_enforced:
        raise ChangeUnchanged("the Safe acts through this cage already")
    lines = [
        BeforeAndAfter("Modules of the Safe", "the cage is none of them", "the cage is one of them", "loosens"),
        # The mirror follows no code but this: it is compared at every sync.
        *(BeforeAndAfter(f"Code of {name}", "", digest, "as published") for name, (digest, _) in PUBLISHED.items()),
    ]
    data = encode_call(ENABLE_MODULE, mirror.contract)
    return _simple(
        mirror, state, arguments, "Let the cage act for the Safe", lines, RiskTier.CRITICAL, data, to=mirror.account
    )


def _propose_disable(golem: Golem, mirror: CageMirror, state: CageState, arguments: Mapping[str, Any]) -> Proposal:
    before = str(arguments["seen"]["before"])
    if not mirror.replaced or not before:
        raise ChangeUnchanged("no contract that was followed before acts for the Safe any more")
    line = BeforeAndAfter(
        "Modules of the Safe",
        f"{mirror.replaced}, which was followed before, is one of them",
        "it is none of them; nobody acts through it",
        "tightens",
    )
    data = encode_call(DISABLE_MODULE, before, mirror.replaced)
    return _simple(
        mirror,
        state,
        arguments,
        "End what the contract before may do",
        [line],
        RiskTier.STANDARD,
        data,
        to=mirror.account,
        module=mirror.replaced,
    )


def _simple(
    mirror: CageMirror,
    state: CageState,
    arguments: Mapping[str, Any],
    title: str,
    lines: Sequence[BeforeAndAfter],
    tier: RiskTier,
    data: bytes,
    *,
    to: str = "",
    value_micro_usd: int = 0,
    **given: str,
) -> Proposal:
    change: dict[str, Any] = {"act": str(arguments["act"]), "contract": mirror.contract, **given}
    change["before"] = _describe_moment(state, mirror, change)
    return Proposal(
        title=title[:200],
        change=change,
        differences=tuple(lines),
        risk_tier=tier,
        value_micro_usd=value_micro_usd,
        is_tightening=tier is RiskTier.STANDARD,
        safe_tx=draft_safe_tx(arguments["seen"], to=to or mirror.contract, data=data),
    )


def _describe_moment(state: CageState, mirror: CageMirror, change: Mapping[str, Any]) -> str:
    """What the act starts from, as text that is compared later."""
    match change["act"]:
        case "cancel":
            waiting = state.pending.get((int(change["kind"]), change["key"]))
            return f"{waiting.value} at {waiting.ready_at}" if waiting else "nothing waits"
        case "session" | "role":
            # What is left of a session falls with each batch; the key and its end say which one is replaced.
            now = state.sessions.get(int(change.get("role", 0)), SessionState())
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


def _check_local(golem: Golem, changes: Sequence[Mapping[str, Any]]) -> None:
    state = read_policy_state(golem)
    for each in changes:
        if state[each["row"]].get(each["name"]) != each["before"]:
            raise ChangeStale(f"{each['name']} was changed since", field=each["name"])


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
