"""A contract's rules beside what holds for a golem without one, line by line, and which of it is looser.

Without a contract a golem has its cage's figures, its allowlist, and the rule that no call passes that no protocol
here declares. The figures follow a contract, and that rule is left to it; the allowlist holds beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from archetypes_app.models import Golem
from permits_app.approvals.approval_rules import COOLING_LARGE_SECONDS, COOLING_SMALL_SECONDS
from permits_app.approvals.cage_rules_text import name_rule, say_terms, show_rule
from permits_app.approvals.operations.base import BeforeAndAfter
from permits_app.approvals.operations.contract_moves import list_moved
from permits_app.approvals.policy_state import diff_policy, longest_wait, read_policy_state
from permits_app.models import AllowlistEntry, CageMirror, PolicyCage, SigningKey
from permits_app.models.allowlist import AllowlistKind
from permits_app.policy_cage.contract import Rule, RuleKind, key_address, limit_key
from permits_app.policy_cage.mirror import COLUMNS, CageFacts, read_columns
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from permits_app.policy_cage.state import CageState
from tools_app.chain.abi import checksum
from tools_app.wording.formats import format_seconds

LOOSENS: Final = "loosens"
_TIGHTENS: Final = "tightens"
_LISTED: Final = {
    RuleKind.ASSET: AllowlistKind.TOKEN,
    RuleKind.CALL: AllowlistKind.CONTRACT,
    RuleKind.SPENDER: AllowlistKind.SPENDER,
    RuleKind.RECIPIENT: AllowlistKind.RECIPIENT,
}
_GROUPS: Final = {
    RuleKind.LIMIT: "More limits",
    RuleKind.ASSET: "Assets",
    RuleKind.OUTFLOW_PER_BATCH: "What may leave",
    RuleKind.OUTFLOW_PER_WINDOW: "What may leave",
    RuleKind.CALL: "Calls",
    RuleKind.CONDITION: "Conditions of calls",
    RuleKind.SPENDER: "Spenders",
    RuleKind.VALUER: "Who values positions",
    RuleKind.GUARDIAN: "Who may halt",
    RuleKind.ROLE_CALL: "Roles",
    RuleKind.ROLE_ALLOWANCE: "Roles",
    RuleKind.RECIPIENT: "Who may be paid",
    RuleKind.PAYOUT: "Who may be paid",
}
_COLUMN_KEYS: Final = frozenset("0x" + limit_key(limit).hex() for limit in COLUMNS.values())


@dataclass(frozen=True, slots=True)
class ContractComparison:
    """`lines` begin with what loosens; `cooling_seconds` is what the loosest of them waits."""

    lines: tuple[BeforeAndAfter, ...]
    cooling_seconds: int


def compare_contract(
    golem: Golem,
    *,
    chain_id: int,
    facts: CageFacts,
    state: CageState,
    owners: str,
    deployed_block: int,
    standing: CageMirror | None = None,
    delays: Sequence[int] = (),
) -> ContractComparison:
    """What following this contract would change; `owners` is who its Safe obeys.

    Where one is `standing`, `delays` are the seconds that it would let each rule of `list_moved` wait.
    """
    if standing is not None:
        return _compare_with_standing(
            golem,
            standing,
            chain_id=chain_id,
            facts=facts,
            state=state,
            owners=owners,
            deployed_block=deployed_block,
            delays=delays,
        )
    wallet = getattr(golem, "wallet", None)
    account = str(wallet.address) if wallet is not None else ""
    is_held = facts.is_enforced and facts.account == account
    before = read_policy_state(golem)
    after = {**before, "cage": {**before["cage"], **{name: str(value) for name, value in read_columns(state).items()}}}
    figures = diff_policy(before, after)
    lines = [
        BeforeAndAfter("What enforces its cage", "this server", f"{state.cage}, deployed in block {deployed_block:,}"),
        BeforeAndAfter(
            "Account of the contract",
            f"{account or 'none'}, the golem's own",
            facts.account,
            "" if facts.account == account else f"{LOOSENS}: the contract does not hold the account it acts from now",
        ),
        BeforeAndAfter(
            "Who changes its cage",
            "the owners of this golem, here",
            owners,
            "" if facts.account == account else f"{LOOSENS}: they decide from then on",
        ),
        BeforeAndAfter(
            "On chain", "nothing", "the account acts through it" if facts.is_enforced else "not enabled yet"
        ),
        *_tell_undeclared(golem, is_held=is_held),
        *([BeforeAndAfter("State of the contract", "", "halted: no batch runs", _TIGHTENS)] if state.is_halted else []),
        *(
            BeforeAndAfter(each.words, each.shown_before, each.shown_after, LOOSENS if each.loosens else _TIGHTENS)
            for each in figures
        ),
        *_tell_pending(state, chain_id),
        *_tell_keys(golem, state),
    ]
    is_unmeasured = any(each.note.startswith(f"{LOOSENS}:") for each in lines)
    waits = max(COOLING_SMALL_SECONDS, longest_wait(figures), COOLING_LARGE_SECONDS if is_unmeasured else 0)
    lines.sort(key=lambda each: not each.note.startswith(LOOSENS))
    return ContractComparison((*lines, *_tell_rules(golem, state, chain_id)), waits)


def _compare_with_standing(
    golem: Golem,
    standing: CageMirror,
    *,
    chain_id: int,
    facts: CageFacts,
    state: CageState,
    owners: str,
    deployed_block: int,
    delays: Sequence[int],
) -> ContractComparison:
    is_same = facts.account == standing.account
    was = CageState.from_dict(standing.state)
    lines = [
        BeforeAndAfter(
            "What enforces its cage", standing.contract, f"{state.cage}, deployed in block {deployed_block:,}"
        ),
        BeforeAndAfter(
            "Account of the contract",
            standing.account,
            facts.account,
            "" if is_same else f"{LOOSENS}: the contract does not hold the account it acts from now",
        ),
        BeforeAndAfter(
            "Who changes its cage",
            "the owners of that account's Safe",
            owners,
            "" if is_same else f"{LOOSENS}: they decide from then on",
        ),
        BeforeAndAfter(
            "On chain",
            _say_enforced(is_enforced=standing.is_enforced),
            _say_enforced(is_enforced=facts.is_enforced),
            f"{LOOSENS}: nobody enforces it until its Safe lets it act"
            if standing.is_enforced and not facts.is_enforced
            else "",
        ),
        *_tell_what_goes_on(standing, was, is_same=is_same),
        *([BeforeAndAfter("State of the contract", "", "halted: no batch runs", _TIGHTENS)] if state.is_halted else []),
        *_tell_pending(state, chain_id),
        *_tell_keys(golem, state, before=was),
    ]
    is_unmeasured = any(each.note.startswith(f"{LOOSENS}:") for each in lines)
    moved = [
        _tell_moved(rule, was, delay, chain_id) for rule, delay in zip(list_moved(was, state), delays, strict=True)
    ]
    waits = max(COOLING_SMALL_SECONDS, max(delays, default=0), COOLING_LARGE_SECONDS if is_unmeasured else 0)
    for listed in (lines, moved):
        listed.sort(key=lambda each: not each.note.startswith(LOOSENS))
    return ContractComparison((*lines, *moved), waits)


def _say_enforced(*, is_enforced: bool) -> str:
    return "the account acts through it" if is_enforced else "not enabled"


def _tell_what_goes_on(standing: CageMirror, was: CageState, *, is_same: bool) -> list[BeforeAndAfter]:
    """That the Safe goes on acting through the contract that stands, until its owners end that."""
    acts = [each for each in was.sessions.values() if each.key != ZERO_ADDRESS]
    if not (standing.is_enforced and is_same):
        return []
    words = f"What {standing.contract} may do"
    told = "; ".join(say_terms(each) for each in acts) or "nobody is appointed in it"
    after = "the same, until its owners end it on the contract's page"
    return [BeforeAndAfter(words, told, after, f"{LOOSENS}: both contracts let keys act" if acts else "")]


def _tell_moved(rule: Rule, was: CageState, delay: int, chain_id: int) -> BeforeAndAfter:
    def show(value: int) -> str:
        return show_rule(int(rule.kind), rule.key, value, chain_id=chain_id)

    note = f"{LOOSENS}; the contract that stands lets it wait {format_seconds(delay)}" if delay else _TIGHTENS
    before = was.rule(rule.kind, rule.key)
    words = name_rule(int(rule.kind), rule.key, chain_id=chain_id)
    return BeforeAndAfter(words, show(before), show(rule.value), note, _GROUPS[rule.kind])


def _tell_undeclared(golem: Golem, *, is_held: bool) -> list[BeforeAndAfter]:
    cage = PolicyCage.objects.filter(golem=golem).first()
    if cage is not None and cage.allows_arbitrary_calldata:
        return []
    words = "Calls that no protocol here declares"
    if is_held:
        return [BeforeAndAfter(words, "refused by this server", "refused by the contract unless it lists them")]
    return [
        BeforeAndAfter(
            words,
            "refused by this server",
            "left to the contract, which does not hold the account",
            f"{LOOSENS}: nobody refuses them until it does",
        )
    ]


def _tell_pending(state: CageState, chain_id: int) -> list[BeforeAndAfter]:
    def show(kind: int, key: str, value: int) -> str:
        return show_rule(kind, bytes.fromhex(key[2:]), value, chain_id=chain_id)

    return [
        BeforeAndAfter(
            f"Waits in the contract: {name_rule(kind, bytes.fromhex(key[2:]), chain_id=chain_id)}",
            show(kind, key, state.rules.get((kind, key), 0)),
            show(kind, key, change.value),
            f"{LOOSENS}: by itself, from {datetime.fromtimestamp(change.ready_at, UTC):%Y-%m-%d %H:%M} UTC on",
        )
        for (kind, key), change in sorted(state.pending.items())
    ]


def _tell_keys(golem: Golem, state: CageState, *, before: CageState | None = None) -> list[BeforeAndAfter]:
    own = set(SigningKey.objects.filter(golem=golem).values_list("address", flat=True))
    return [
        BeforeAndAfter(
            f"Key of role {role}" if role else "Session key",
            say_terms(before.sessions[role]) if before is not None and role in before.sessions else "nobody",
            say_terms(session),
            "" if session.key in own else f"{LOOSENS}: this server holds no such key of this golem",
        )
        for role, session in sorted(state.sessions.items())
        if session.key != ZERO_ADDRESS
    ]


def _tell_rules(golem: Golem, state: CageState, chain_id: int) -> Iterable[BeforeAndAfter]:
    """Every rule of the contract, and what of the allowlist it does not have."""
    rows = AllowlistEntry.objects.filter(golem=golem, chain_id=chain_id)
    listed: Mapping[str, set[str]] = {kind: {row.address for row in rows if row.kind == kind} for kind in AllowlistKind}
    named: dict[str, set[str]] = {kind: set() for kind in AllowlistKind}
    order = list(dict.fromkeys(_GROUPS.values()))
    lines: list[BeforeAndAfter] = []
    for (number, key), value in state.rules.items():
        kind, raw = RuleKind(number), bytes.fromhex(key[2:])
        if kind is RuleKind.LIMIT and key in _COLUMN_KEYS:
            continue
        before, note = "no rule here", _TIGHTENS
        if kind in _LISTED:
            of, address = _LISTED[kind], _find_subject(kind, raw, value)
            named[of].add(address)
            before = "on its allowlist" if address in listed[of] else "not on its allowlist"
            note = "" if address in listed[of] else "wider than its allowlist, which still holds"
        words, shown = name_rule(number, raw, chain_id=chain_id), show_rule(number, raw, value, chain_id=chain_id)
        lines.append(BeforeAndAfter(words, before, shown, note, _GROUPS[kind]))
    for kind, of in _LISTED.items():
        missing = sorted(listed[of] - named[of])
        lines += [
            BeforeAndAfter(
                f"{of.label} {each}", "on its allowlist", "no rule of the contract", _TIGHTENS, _GROUPS[kind]
            )
            for each in missing
        ]
    return sorted(lines, key=lambda each: (order.index(each.group), each.words))


def _find_subject(kind: RuleKind, key: bytes, value: int) -> str:
    """Whom the allowlist would name."""
    if kind is RuleKind.CALL:
        return checksum(f"0x{int.from_bytes(key, 'big') >> 32:040x}")
    if kind is RuleKind.RECIPIENT:
        return checksum(f"0x{value:040x}")
    return key_address(key)
