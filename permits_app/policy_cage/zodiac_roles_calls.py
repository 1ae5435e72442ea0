"""Writes the calls that give a role of Zodiac Roles v2 the permissions of a manifest, and reads its present ones.

What it says is read from its events, which tell every condition in full. Reading asks the chain.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from permits_app.policy_cage.roles_manifest import Flat, Permission, RoleAllowance, RolesManifest
from tools_app.chain.abi import checksum, decode_log, encode_call
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import LogEntry

_CONDITIONS: Final = "(uint8 parent, uint8 paramType, uint8 operator, bytes compValue)[] conditions"
ASSIGN: Final = "function assignRoles(address module, bytes32[] roleKeys, bool[] memberOf)"
SCOPE_TARGET: Final = "function scopeTarget(bytes32 roleKey, address target)"
REVOKE_TARGET: Final = "function revokeTarget(bytes32 roleKey, address target)"
SCOPE_FUNCTION: Final = (
    f"function scopeFunction(bytes32 roleKey, address target, bytes4 selector, {_CONDITIONS}, uint8 options)"
)
ALLOW_FUNCTION: Final = "function allowFunction(bytes32 roleKey, address target, bytes4 selector, uint8 options)"
REVOKE_FUNCTION: Final = "function revokeFunction(bytes32 roleKey, address target, bytes4 selector)"
SET_ALLOWANCE: Final = (
    "function setAllowance(bytes32 key, uint128 balance, uint128 maxRefill, uint128 refill, uint64 period,"
    " uint64 timestamp)"
)


@dataclass(frozen=True, slots=True)
class _RolesAssigned:
    """A member of the contract, and of which roles it is one now."""

    member: str
    roles: tuple[bytes, ...]
    is_member: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class _AllowanceSet:
    """An allowance of the contract in base units; what comes back in each period, in seconds."""

    key: bytes
    balance: int
    most: int
    refill: int
    period_seconds: int
    at: int


@dataclass(frozen=True, slots=True)
class _TargetScoped:
    """What a role may call a contract with: nothing, what is scoped, or anything (`options` are how)."""

    role: bytes
    target: str
    options: int = 0


@dataclass(frozen=True, slots=True)
class _FunctionAllowed:
    """A function that a role may call."""

    role: bytes
    target: str
    selector: bytes
    options: int


@dataclass(frozen=True, slots=True)
class _FunctionScoped:
    """A function that a role may call under conditions: parent, type of parameter, operator and value of each."""

    role: bytes
    target: str
    selector: bytes
    conditions: tuple[dict[str, Any], ...]  # Any: a part of a condition is of the type that its signature says
    options: int


@dataclass(frozen=True, slots=True)
class _FunctionRevoked:
    """A function that a role may call no more."""

    role: bytes
    target: str
    selector: bytes


class _TargetAllowed(_TargetScoped):
    """A contract that a role may call with anything."""


class _TargetRevoked(_TargetScoped):
    """A contract that a role may call no more."""


_OfFunction: TypeAlias = _FunctionAllowed | _FunctionScoped | _FunctionRevoked
_RolesEvent: TypeAlias = _RolesAssigned | _AllowanceSet | _TargetScoped | _OfFunction
_EVENTS: Final[dict[str, type[_RolesEvent]]] = {
    "event AssignRoles(address module, bytes32[] roleKeys, bool[] memberOf)": _RolesAssigned,
    "event AllowTarget(bytes32 roleKey, address targetAddress, uint8 options)": _TargetAllowed,
    "event ScopeTarget(bytes32 roleKey, address targetAddress)": _TargetScoped,
    "event RevokeTarget(bytes32 roleKey, address targetAddress)": _TargetRevoked,
    "event AllowFunction(bytes32 roleKey, address targetAddress, bytes4 selector, uint8 options)": _FunctionAllowed,
    f"event ScopeFunction(bytes32 roleKey, address targetAddress, bytes4 selector, {_CONDITIONS}, uint8 options)": (
        _FunctionScoped
    ),
    "event RevokeFunction(bytes32 roleKey, address targetAddress, bytes4 selector)": _FunctionRevoked,
    (
        "event SetAllowance(bytes32 allowanceKey, uint128 balance, uint128 maxRefill, uint128 refill, uint64 period,"
        " uint64 timestamp)"
    ): _AllowanceSet,
}


@dataclass
class FenceState:
    """What a Roles contract says of one role: who has it, what it may call where, and the allowances of the contract.

    `open_targets` may be called with anything.
    """

    members: set[str] = field(default_factory=set)
    targets: set[str] = field(default_factory=set)
    open_targets: set[str] = field(default_factory=set)
    permissions: dict[tuple[str, bytes], Permission] = field(default_factory=dict)
    allowances: dict[bytes, RoleAllowance] = field(default_factory=dict)


def list_calls(roles: str, role: bytes, key: str, manifest: RolesManifest, now: FenceState) -> list[Call]:
    """What the Safe sends so that the role is what the manifest says and `key` has it; nothing where it is."""
    asked: list[tuple[str, str, tuple[object, ...]]] = []
    wanted = {(one.target, one.selector): one for one in manifest.permissions}
    targets = {target for target, _ in wanted}
    # What is taken comes first, and who has the role last.
    asked += [("no longer has the role", ASSIGN, (one, [role], [False])) for one in sorted(now.members - {key})]
    gone = sorted((now.targets | now.open_targets) - targets)
    asked += [("is no target any more", REVOKE_TARGET, (role, target)) for target in gone]
    asked += [
        ("is called no more", REVOKE_FUNCTION, (role, *place)) for place in sorted(set(now.permissions) - set(wanted))
    ]
    asked += [("becomes a target", SCOPE_TARGET, (role, target)) for target in sorted(targets - now.targets)]
    asked += [
        ("is an allowance", SET_ALLOWANCE, (one.key, one.most, one.most, one.most, one.period_seconds, 0))
        for one in manifest.allowances
        if now.allowances.get(one.key) != one
    ]
    asked += [_ask(role, one) for place, one in sorted(wanted.items()) if now.permissions.get(place) != one]
    if key not in now.members:
        asked.append(("has the role", ASSIGN, (key, [role], [True])))
    return [Call(to=roles, data=encode_call(text, *args), value=0, label=label) for label, text, args in asked]


def _ask(role: bytes, one: Permission) -> tuple[str, str, tuple[object, ...]]:
    if not one.conditions:
        return "is called", ALLOW_FUNCTION, (role, one.target, one.selector, one.options)
    flat = [tuple(each) for each in one.conditions]
    return "is called under conditions", SCOPE_FUNCTION, (role, one.target, one.selector, flat, one.options)


def compare_fence(manifest: RolesManifest, key: str, now: FenceState) -> list[str]:
    """Where the chain says something else than the manifest, one line each; none where it is as it should be."""
    wanted = {(one.target, one.selector): one for one in manifest.permissions}
    lines = [f"{member} has the role, and should not" for member in sorted(now.members - {key})]
    if key not in now.members:
        lines.append(f"{key} does not have the role")
    lines += [f"anything may be called at {target}" for target in sorted(now.open_targets)]
    for place in sorted(set(wanted) | set(now.permissions)):
        shown = f"0x{place[1].hex()} at {place[0]}"
        if place not in now.permissions:
            lines.append(f"{shown} may not be called yet")
        elif place not in wanted:
            lines.append(f"{shown} may be called, and should not")
        elif wanted[place] != now.permissions[place]:
            lines.append(f"{shown} may be called under other conditions")
    for allowance in manifest.allowances:
        if now.allowances.get(allowance.key) != allowance:
            lines.append(f"the allowance of {checksum('0x' + allowance.key[-20:].hex())} is another")
    return lines


def read_fence(chain: ChainReader, roles: str, role: bytes, *, since: int) -> FenceState:
    """What the contract's events of blocks from `since` on say. Raises what a node raises."""
    logs = chain.logs(address=roles, topics=[], from_block=since, to_block=chain.block.number)
    ordered = sorted(logs, key=lambda log: (log.block_number, log.log_index))
    return follow_fence(ordered, role)


def follow_fence(logs: Iterable[LogEntry], role: bytes) -> FenceState:
    """The state after these logs of the contract, in their order."""
    state = FenceState()
    for log in logs:
        told = _read_event(log)
        if told is not None:
            _apply(state, told, role)
    return state


def _read_event(log: LogEntry) -> _RolesEvent | None:
    for text, record in _EVENTS.items():
        args = decode_log(text, log)
        if args is not None:
            return record(*args.values())
    return None


def check_fence(chain: ChainReader, roles: str, safe: str) -> list[str]:
    """What is wrong with a Roles contract that should guard this Safe, before any rule of it: one line each."""
    texts = ["function owner() view returns (address)", "function avatar() view returns (address)"]
    texts.append("function target() view returns (address)")
    outcomes = chain.call_many([ReadCall(roles, text) for text in texts])
    if not all(one.ok for one in outcomes):
        return [f"{roles} does not answer as a Roles contract does"]
    words = ("owner", "avatar", "target")
    return [
        f"its {word} is {one.values[0]}, not the Safe"
        for word, one in zip(words, outcomes, strict=True)
        if checksum(one.values[0]) != safe
    ]


def _apply(state: FenceState, told: _RolesEvent, role: bytes) -> None:
    match told:
        case _AllowanceSet():
            # One that refills otherwise is told as one that never does, which no manifest asks for.
            period = told.period_seconds if told.most == told.refill else 0
            state.allowances[told.key] = RoleAllowance(told.key, told.most, period)
        case _RolesAssigned():
            for key, is_member in zip(told.roles, told.is_member, strict=True):
                if key == role:
                    (state.members.add if is_member else state.members.discard)(checksum(told.member))
        case _ if told.role != role:
            return
        case _TargetScoped():
            _apply_target(state, told)
        case _:
            _apply_function(state, told)


def _apply_target(state: FenceState, told: _TargetScoped) -> None:
    target = checksum(told.target)
    state.open_targets.discard(target)
    state.targets.discard(target)
    if isinstance(told, _TargetAllowed):
        state.open_targets.add(target)
    elif not isinstance(told, _TargetRevoked):
        state.targets.add(target)


def _apply_function(state: FenceState, told: _OfFunction) -> None:
    place = (checksum(told.target), told.selector)
    if isinstance(told, _FunctionRevoked):
        state.permissions.pop(place, None)
        return
    conditions: list[Flat] = []
    for each in told.conditions if isinstance(told, _FunctionScoped) else ():
        parent, kind, operator, value = each.values()
        conditions.append((parent, kind, operator, value))
    state.permissions[place] = Permission(*place, tuple(conditions), told.options)
