"""The rules of a cage as permissions of Zodiac Roles v2: a second fence of audited code, made from the same numbers.

Roles judges calls and not what comes of them, so only what a call may be is carried over. What Roles cannot say is left
out where leaving it out is stricter, and named where it is looser. Pure; asks neither chain nor database.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from permits_app.policy_cage.conditions import Condition, Must
from permits_app.policy_cage.contract import (
    APPROVE,
    UINT128_MAX,
    WINDOW_SECONDS,
    RuleKind,
    address_key,
    condition_key,
    key_address,
)
from permits_app.policy_cage.state import CageState
from tools_app.chain.abi import checksum
from tools_app.chain.signatures import AbiParam, parse_signature
from tools_app.toolkit.views import NATIVE

# Kinds of parameters and what is asked of them, as Roles v2 numbers them.
NONE, STATIC, DYNAMIC, TUPLE, ARRAY, CALLDATA = 0, 1, 2, 3, 4, 5
PASS, AND, OR, NOR, MATCHES, EVERY = 0, 1, 2, 3, 5, 7
IS_AVATAR, EQUALS, MORE, LESS, BITS, WITHIN = 15, 16, 17, 18, 21, 28
NO_OPTIONS, MAY_SEND = 0, 1
_MULTICALLS: Final = frozenset(bytes.fromhex(each) for each in ("ac9650d8", "5ae401dc", "1f0464d1"))
_MASK_96: Final = 2**96 - 1

Flat = tuple[int, int, int, bytes]
"""One condition as Roles takes it: the place of its parent, kind of parameter, operator, what it is held against."""


class NotCarried(Exception):
    """Roles cannot say it; the call stays closed there."""


@dataclass(frozen=True, slots=True)
class Permission:
    """A function of a contract that the role may call; without conditions with any arguments."""

    target: str
    selector: bytes
    conditions: tuple[Flat, ...] = ()
    options: int = NO_OPTIONS


@dataclass(frozen=True, slots=True)
class RoleAllowance:
    """So many base units at once, and all of it again each period."""

    key: bytes
    most: int
    period_seconds: int


@dataclass(frozen=True, slots=True)
class RolesManifest:
    """Everything the role may. `left_out` are calls that stay closed, `looser` what Roles does not ask; in words."""

    permissions: tuple[Permission, ...]
    allowances: tuple[RoleAllowance, ...]
    left_out: tuple[str, ...] = ()
    looser: tuple[str, ...] = ()


@dataclass
class _ConditionNode:
    """A condition with those below it."""

    kind: int
    operator: int
    value: bytes = b""
    below: list[_ConditionNode] = field(default_factory=list)


def build_manifest(state: CageState, signatures: Mapping[tuple[str, bytes], str]) -> RolesManifest:
    """What the golem's own key may call by the cage's rules. `signatures` are functions by target and selector."""
    permissions, left_out, looser = [], [], []
    may_send = state.asset(NATIVE) is not None
    for key, value in _list(state, RuleKind.CALL):
        packed = int.from_bytes(key, "big")
        target, selector = checksum(f"0x{packed >> 32:040x}"), key[-4:]
        shown = f"0x{selector.hex()} at {target}"
        try:
            text = signatures.get((target, selector), "")
            conditions = [_read(state, target, selector, place) for place in range(value - 1)]
            tree, notes = _build_tree(state, selector, text, conditions)
        except NotCarried as reason:
            left_out.append(f"{shown}: {reason}")
            continue
        looser += [f"{shown}: {note}" for note in notes]
        permissions.append(Permission(target, selector, tree, MAY_SEND if may_send else NO_OPTIONS))
    spenders = [key_address(key) for key, _ in _list(state, RuleKind.SPENDER)]
    allowances = []
    for asset in state.assets:
        most = state.rule(RuleKind.OUTFLOW_PER_WINDOW, address_key(asset))
        if asset == NATIVE or not spenders or not most:
            continue
        allowance = RoleAllowance(address_key(asset), min(most, UINT128_MAX), WINDOW_SECONDS)
        allowances.append(allowance)
        chosen = _any([_ConditionNode(STATIC, EQUALS, address_key(spender)) for spender in spenders])
        root = _ConditionNode(CALLDATA, MATCHES, below=[chosen, _ConditionNode(STATIC, WITHIN, allowance.key)])
        permissions.append(Permission(asset, APPROVE, _flatten(root)))
    return RolesManifest(tuple(sorted(permissions, key=_order)), tuple(allowances), tuple(left_out), tuple(looser))


def _order(one: Permission) -> tuple[int, bytes]:
    return int(one.target, 16), one.selector


def _list(state: CageState, kind: RuleKind) -> Iterable[tuple[bytes, int]]:
    found = [(bytes.fromhex(key[2:]), value) for (of, key), value in sorted(state.rules.items()) if of == kind]
    return [(key, value) for key, value in found if value]


def _read(state: CageState, target: str, selector: bytes, place: int) -> Condition:
    found = Condition.unpack(state.rule(RuleKind.CONDITION, condition_key(target, selector, place)))
    if found is None:
        raise NotCarried("one of its conditions is met by nothing")
    return found


def _build_tree(
    state: CageState, selector: bytes, text: str, conditions: Sequence[Condition]
) -> tuple[tuple[Flat, ...], list[str]]:
    """The conditions of a call, and what of them Roles does not ask. Raises NotCarried."""
    if selector in _MULTICALLS:
        raise NotCarried("Roles does not open what it wraps")
    if not conditions:
        return (), []
    if not text:
        raise NotCarried("nobody knows what its arguments are")
    params = parse_signature("function " + text.removeprefix("function ")).inputs
    root = _ConditionNode(CALLDATA, MATCHES, below=[_blank(each) for each in params])
    notes = []
    for group in _group(conditions):
        if {one.must for one in group} == {Must.BE_PATH_OF_ASSETS}:
            notes.append("the tokens of its path are not asked")
            continue
        places = {one.place for one in group}
        if len(places) != 1 or places == {()}:
            raise NotCarried("its alternatives are about more than one argument, or about coins")
        [place] = places
        nodes = [_say(state, one) for one in group]
        _put(root.below, params, place, _any(nodes))
    return _flatten(root), notes


def _group(conditions: Sequence[Condition]) -> list[list[Condition]]:
    """Alternatives of each group; groups are numbered as they come."""
    groups: list[list[Condition]] = []
    for index, one in enumerate(conditions):
        if index and one.group == conditions[index - 1].group:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _say(state: CageState, one: Condition) -> _ConditionNode:
    """One condition. Raises NotCarried."""
    word = one.operand.to_bytes(32, "big")
    assets = [_ConditionNode(STATIC, EQUALS, address_key(asset)) for asset in state.assets if asset != NATIVE]
    match one.must:
        case Must.BE_ACCOUNT:
            node = _ConditionNode(STATIC, IS_AVATAR)
        case Must.EQUAL:
            node = _ConditionNode(STATIC, EQUALS, word)
        case Must.BE_ASSET:
            node = _any(assets)
        case Must.BE_AT_MOST:
            node = _ConditionNode(STATIC, LESS, (one.operand + 1).to_bytes(32, "big"))
        case Must.BE_AT_LEAST if one.operand:
            node = _ConditionNode(STATIC, MORE, (one.operand - 1).to_bytes(32, "big"))
        case Must.BE_ASSETS:
            node = _ConditionNode(ARRAY, EVERY, below=[_any(assets)])
        case Must.HAVE_BITS:
            node = _say_bits(one)
        case _:
            raise NotCarried(f"it asks {one.must.name.lower().replace('_', ' ')}")
    if not one.is_not:
        return node
    if node.kind == ARRAY:
        raise NotCarried("what an array is not cannot be said")
    return _ConditionNode(NONE, NOR, below=[node])


def _say_bits(one: Condition) -> _ConditionNode:
    """Roles compares at most 15 bytes from a byte on; ours are the last 12 of a word."""
    mask, wanted = one.operand >> 96, one.operand & _MASK_96
    value = (20).to_bytes(2, "big") + mask.to_bytes(12, "big") + bytes(3) + wanted.to_bytes(12, "big") + bytes(3)
    return _ConditionNode(STATIC, BITS, value)


def _any(nodes: list[_ConditionNode]) -> _ConditionNode:
    if not nodes:
        raise NotCarried("no asset is left that it could name")
    return nodes[0] if len(nodes) == 1 else _ConditionNode(NONE, OR, below=nodes)


def _blank(param: AbiParam) -> _ConditionNode:
    """Whatever stands there, of the shape of its type."""
    if param.array_suffix:
        inner = AbiParam(param.type[: param.type.rindex("[")], "", param.members)
        if not param.type.endswith("[]"):
            raise NotCarried("it takes an array of a fixed length")
        return _ConditionNode(ARRAY, PASS, below=[_blank(inner)])
    if param.members:
        return _ConditionNode(TUPLE, PASS, below=[_blank(each) for each in param.members])
    return _ConditionNode(DYNAMIC if param.type in ("bytes", "string") else STATIC, PASS)


def _is_dynamic(param: AbiParam) -> bool:
    return bool(param.array_suffix) or param.type in ("bytes", "string") or any(map(_is_dynamic, param.members))


def _count_words(param: AbiParam) -> int:
    return 1 if _is_dynamic(param) or not param.members else sum(map(_count_words, param.members))


def _put(
    nodes: list[_ConditionNode], params: Sequence[AbiParam], place: tuple[int, ...], wanted: _ConditionNode
) -> None:
    """Ask `wanted` at that place, beside what is asked there already. Raises NotCarried."""
    word = place[0]
    for index, param in enumerate(params):
        size = _count_words(param)
        if word >= size:
            word -= size
            continue
        is_struct = bool(param.members) and not param.array_suffix
        if is_struct and (not _is_dynamic(param) or len(place) > 1):
            nodes[index].operator = MATCHES
            inner = place[1:] if _is_dynamic(param) else (word, *place[1:])
            return _put(nodes[index].below, param.members, inner, wanted)
        if len(place) > 1 or is_struct or (nodes[index].kind == ARRAY) != (wanted.kind == ARRAY):
            raise NotCarried("one of its conditions is about no argument of it")
        known = nodes[index]
        if known.operator == PASS:
            nodes[index] = wanted
        elif known.operator == AND:
            known.below.append(wanted)
        else:
            nodes[index] = _ConditionNode(NONE, AND, below=[known, wanted])
        return None
    raise NotCarried("one of its conditions is about no argument of it")


def _flatten(root: _ConditionNode) -> tuple[Flat, ...]:
    """Breadth first, as Roles takes a tree."""
    flat: list[Flat] = []
    queue: list[tuple[int, _ConditionNode]] = [(0, root)]
    while queue:
        parent, node = queue.pop(0)
        flat.append((parent, node.kind, node.operator, node.value))
        queue += [(len(flat) - 1, each) for each in node.below]
    return tuple(flat)
