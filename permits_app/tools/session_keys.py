"""`session_*`: keys that may act for a golem's Safe through its cage, each until its time, operations or budget are up,
keys that may take so much of a token a day from the Safe, and delegations by which the golem's own key may draw on an
owner's wallet.

Contracts enforce all of them: whoever has such a key can do what the cage lets its role do, what its allowance or the
signed caveats let it, and no more. Owners appoint and end them by their own signature; an agent asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from django.db import transaction
from pydantic import AfterValidator, BeforeValidator, Field

from archetypes_app.models import Golem
from permits_app.actions.carry_out_wish import carry_out_wish
from permits_app.actions.request_change import WISH
from permits_app.actions.stage_key import stage_key
from permits_app.approval_errors import CageNotMirrored, ChangeUnchanged
from permits_app.approvals.operations import find_operation
from permits_app.approvals.operations.allowance import ALLOWANCE, END, GIVE
from permits_app.approvals.operations.base import ObservingOperation
from permits_app.custody.allowed_keys import AllowedKey, find_allowing_safe, read_allowed
from permits_app.models import CageMirror, ChangeRequest, SigningKey
from permits_app.policy_cage.contract import Limit
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from permits_app.policy_cage.state import CageState
from permits_app.tools.delegated_keys import (
    find_delegated,
    find_handed_on,
    list_delegated,
    list_handed_on,
    say_own_step,
    say_owner_step,
)
from permits_app.tools.session_key_lines import (
    SessionKeyLine,
    describe_allowed,
    describe_delegated,
    describe_handed_on,
    describe_session,
    list_permissions,
    spell_time,
)
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import read_stored
from tools_app.core.units import format_micro_usd, format_units, usd_to_micro
from tools_app.standards.paused_tokens import StillReads
from tools_app.standards.safe_allowance import LARGEST_AMOUNT
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import PLAIN, Address, MicroUsdText, RawAmount, Token, check_address, check_whole
from tools_app.toolkit.plan import LocalEffect
from tools_app.toolkit.result import UsdAmount

session = ToolFamily(prefix="session", category=Category.WALLET, venue="wallet")

_HASH_LENGTH: Final = 66
_MICRO: Final = 10**6
_ROLES: Final = 16
_SAID_AS: Final = {"delegate": "key", "amount_raw": "amount"}
LONGEST_SECONDS: Final = 30 * 86_400
"""No session is asked for longer; the contract's own limit may be shorter."""

ExpiresIn = Annotated[
    int, Field(ge=60, le=LONGEST_SECONDS, description="Seconds until it ends."), BeforeValidator(check_whole)
]
Operations = Annotated[
    int, Field(ge=1, le=10_000, description="How many batches it may run."), BeforeValidator(check_whole)
]
RoleNumber = Annotated[
    int, Field(ge=0, le=15, description="Role of the cage; 0 is the golem's own."), BeforeValidator(check_whole)
]
KeyId = Annotated[
    str,
    Field(
        pattern=r"^0x([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$",
        description="Address of a key of a cage or an allowance, or hash of a delegation, as session_get_keys tells.",
    ),
    AfterValidator(lambda given: given.lower() if len(given) == _HASH_LENGTH else check_address(given)),
]
KeyLabel = Annotated[str, Field(min_length=1, max_length=100, description="A word for the owners."), PLAIN]


@dataclass(frozen=True, slots=True)
class _AskedKey:
    """The key that the owners were asked for: its end in Unix seconds, its batches, its budget in micro-USD."""

    key: str
    expires_at: int
    operations: int
    budget_micro_usd: int


@dataclass(frozen=True, slots=True)
class SessionKeyAsked:
    """What the owners approved. It acts once the chain has their transaction; session_get_keys shows it then.

    Of an allowance `role`, `expires_at`, `operations` and `budget_usd` are null: it has no end but its owners' word.
    """

    key_id: str
    public_key: str
    role: int | None
    expires_at: str | None
    operations: int | None
    budget_usd: UsdAmount | None
    permissions: tuple[str, ...]
    request_id: str


@dataclass(frozen=True, slots=True)
class SessionKeys:
    """Every key that the golem's cage names or its Safe allows something, and every delegation to its key.

    `note` says why there are none.
    """

    keys: tuple[SessionKeyLine, ...]
    total: int
    contract: str | None
    block_number: int | None
    note: str


@dataclass(frozen=True, slots=True)
class SessionKeyEnded:
    """What the owners approved to end. The chain lets the key act until it has their transaction."""

    revoked_count: int
    revoked_keys: tuple[str, ...]
    request_id: str


def preview_session_key(
    ctx: WriteContext,
    expires_in: ExpiresIn = 86_400,
    operations: Operations = 100,
    budget_usd: MicroUsdText | None = None,
    role: RoleNumber = 0,
    key: Address | None = None,
    label: KeyLabel | None = None,
    token: Token | None = None,
    amount: RawAmount | None = None,
) -> LocalEffect:
    """What the owners are asked to sign. Raises CageNotMirrored, InvalidParams."""
    golem = Golem.objects.select_related("owner", "archetype").get(pk=ctx.golem.id)
    if token is not None or amount is not None:
        return _preview_allowance(ctx, golem, key, token, amount)
    mirror, state = _open_cage(ctx)
    budget = usd_to_micro(budget_usd) if budget_usd is not None else state.limit(Limit.MAX_SESSION_BUDGET_MICRO_USD)
    _check_bounds(state, expires_in, operations, budget)
    if role == 0 and key is not None:
        raise InvalidParams("the golem's own key is made by this server", fields={"key": "left out for role 0"})
    if role and key is None:
        raise InvalidParams("the key of another role is held by others", fields={"key": "its address"})
    if not list_permissions(state, role, mirror.chain_id):
        able = [each for each in range(_ROLES) if list_permissions(state, each, mirror.chain_id)]
        known: JsonObject = {"fill": {"role": {"one_of": able}}} if able else {}
        fields = {"role": "one that may do something"}
        raise InvalidParams(f"the owners gave role {role} no call", fields=fields, **known)
    if key is None:
        key = _stage(golem, label, ctx.now)
    ends_at = int(ctx.now.timestamp()) + expires_in
    arguments = {
        "act": "role" if role else "session",
        "key": key,
        "expires_at": ends_at,
        "operations": operations,
        "budget_micro_usd": budget,
        **({"role": role} if role else {}),
    }
    words = f"asks the owners to let the key {key} act until {spell_time(ends_at)}, {operations} batches"
    return LocalEffect(f"{words} and {format_micro_usd(budget)} at most", {WISH: _observe(golem, arguments, ctx.now)})


@session.local_write(
    action_type="provision_session_key",
    schema_version=2,
    budget=TickBudget.SLOW,
    in_database=True,
    risk=RiskLayer.BOUNDED,
    preview=preview_session_key,
    action_class=ActionClass.READ_ONLY,
    privileged=True,
    aliases=("wallet_provision_session_key",),
    snippet=(
        "provision_session_key: ask your owners for a key that acts for their Safe through the cage until its time,"
        " batches or budget are used up, or that may take so much of a token a day; they sign it on chain."
    ),
    guidelines=(
        "Ask for as little time and budget as the work needs; what it may call its role says, not you.",
        "An allowance (token and amount) pays anybody until owners end it: ask for one where no cage's role will do.",
    ),
)
def session_provision_key(
    ctx: WriteContext,
    capability: Capability,
    expires_in: ExpiresIn = 86_400,
    operations: Operations = 100,
    budget_usd: MicroUsdText | None = None,
    role: RoleNumber = 0,
    key: Address | None = None,
    label: KeyLabel | None = None,
    token: Token | None = None,
    amount: RawAmount | None = None,
) -> SessionKeyAsked:
    """Ask the golem's owners for a session key with an end, a number of batches and a budget, or with an allowance.

    Use before the present one is used up, or for somebody who holds a key of another role. The contract enforces it.
    With `token` and `amount` (base units in each 24 hours) `key` may take so much of the Safe by Safe's own module.
    Does not widen what a role may call, and needs a golem with a cage on chain, or with a Safe for an allowance.
    """
    ctx.step("Asking the owners")
    opened = _open_cage(ctx) if token is None else None
    with transaction.atomic():
        request = ChangeRequest.objects.select_related("golem").get(permit_id=capability.permit_id)
        carry_out_wish(request=request, now=ctx.now)
    if opened is None:
        delegate = str(request.change["delegate"])
        words = (request.title.partition(" take ")[2],)
        return SessionKeyAsked(delegate, delegate, None, None, None, None, words, str(request.pk))
    mirror, state = opened
    asked = read_stored(_AskedKey, request.change)
    return SessionKeyAsked(
        key_id=asked.key,
        public_key=asked.key,
        role=role,
        expires_at=spell_time(asked.expires_at),
        operations=asked.operations,
        budget_usd=UsdAmount(asked.budget_micro_usd),
        permissions=list_permissions(state, role, mirror.chain_id),
        request_id=str(request.pk),
    )


@session.read(
    query="session_keys",
    budget=TickBudget.FAST,
    aliases=("wallet_list_session_keys",),
    snippet=(
        "session_keys: each key that may act for the golem's Safe or take an allowance of it, and each delegation to"
        " its own key: what it may do, its end, how often it was used, what is left."
    ),
    guidelines=("A key you do not know is not yours to judge: tell the owner at once.",),
)
def session_get_keys(ctx: ReadContext) -> SessionKeys:
    """List keys of the golem's cage, allowances of its Safe and delegations to its key: what each may do, what is left.

    Use to see how long the golem can go on, and who else may act. Keys of a cage as its mirror saw them last,
    allowances and delegations as their contracts say now.
    Does not show the keys themselves.
    """
    mirror = CageMirror.objects.filter(cage__golem_id=ctx.golem.id).first()
    allowed, unasked = _read_allowed(ctx)
    given = (
        *allowed,
        *(describe_delegated(each) for each in list_delegated(ctx)),
        *(describe_handed_on(each) for each in list_handed_on(ctx)),
    )
    if mirror is None:
        note = "" if given else "this golem has no cage on chain: its key signs without an end"
        return SessionKeys(given, len(given), None, None, unasked or note)
    state = CageState.from_dict(mirror.state)
    own = {each.address: each for each in SigningKey.objects.filter(golem_id=ctx.golem.id)}
    lines = tuple(
        describe_session(role, each, state, mirror, own.get(each.key), ctx.now)
        for role, each in sorted(state.sessions.items())
        if each.key != ZERO_ADDRESS
    )
    note = "" if lines else "the cage names no key: nobody acts for the Safe until its owners appoint one"
    lines += given
    return SessionKeys(lines, len(lines), mirror.contract, mirror.block_number, unasked or note)


def preview_revocation(ctx: WriteContext, key_id: KeyId | None = None, reason: KeyLabel | None = None) -> LocalEffect:
    """Whose session ends. Raises CageNotMirrored, ChangeUnchanged, InvalidParams."""
    _check_whose(ctx, key_id)
    golem = Golem.objects.select_related("owner", "archetype").get(pk=ctx.golem.id)
    if (delegate := _find_allowed(ctx, key_id)) is not None:
        wish = _observe(golem, {"act": END, "delegate": delegate}, ctx.now, name=ALLOWANCE)
        return LocalEffect(f"asks the owners to end every allowance of {delegate}", {WISH: wish})
    _, state = _open_cage(ctx)
    role = _find_role(state, key_id)
    arguments = {
        "act": "role" if role else "session",
        "key": ZERO_ADDRESS,
        "expires_at": 0,
        "operations": 0,
        "budget_micro_usd": 0,
        **({"role": role} if role else {}),
    }
    ends = state.sessions[role].key
    return LocalEffect(f"asks the owners to end the key {ends}", {WISH: _observe(golem, arguments, ctx.now)})


@session.local_write(
    action_type="revoke_session_key",
    schema_version=2,
    budget=TickBudget.SLOW,
    in_database=True,
    preview=preview_revocation,
    action_class=ActionClass.READ_ONLY,
    privileged=True,
    aliases=("wallet_revoke_session_key",),
    snippet=(
        "revoke_session_key: ask your owners to end a key of the cage on chain; where it must stop now, emergency_halt"
        " stops this server's at once."
    ),
    guidelines=("When a key may be stolen call emergency_halt first, then this, and tell the owner why.",),
)
def session_revoke_key(
    ctx: WriteContext, capability: Capability, key_id: KeyId | None = None, reason: KeyLabel | None = None
) -> SessionKeyEnded:
    """Ask the golem's owners to end a session key on chain.

    Use when a key is not needed any more, or may be known to others. Without `key_id` the only one there is.
    Does not end it before the owners' transaction is on the chain, and no delegation: its giver alone does.
    """
    ctx.step("Asking the owners")
    ends = _find_allowed(ctx, key_id)
    if ends is None:
        _, state = _open_cage(ctx)
        ends = state.sessions[_find_role(state, key_id)].key
    with transaction.atomic():
        request = ChangeRequest.objects.select_related("golem").get(permit_id=capability.permit_id)
        carry_out_wish(request=request, now=ctx.now)
    return SessionKeyEnded(1, (ends,), str(request.pk))


# ---- below ---------------------------------------------------------------------------------------------------------


def _open_cage(ctx: ReadContext) -> tuple[CageMirror, CageState]:
    """Raises CageNotMirrored."""
    mirror = CageMirror.objects.filter(cage__golem_id=ctx.golem.id).first()
    if mirror is None:
        raise CageNotMirrored(
            "session keys act through a cage on chain, and this golem has none; its owners deploy one on its page,"
            " or an owner's wallet delegates to the golem's key (request_runway)"
        )
    return mirror, CageState.from_dict(mirror.state)


def _check_bounds(state: CageState, seconds: int, operations: int, budget: int) -> None:
    """What the contract would refuse is told before anybody is asked. Raises InvalidParams."""
    for name, given, limit in (
        ("expires_in", seconds, Limit.MAX_SESSION_SECONDS),
        ("operations", operations, Limit.MAX_SESSION_OPERATIONS),
        ("budget_usd", budget, Limit.MAX_SESSION_BUDGET_MICRO_USD),
    ):
        most = state.limit(limit)
        if given > most:
            is_money = name == "budget_usd"
            shown = format_micro_usd(most) if is_money else str(most)
            passes: int | str = f"{most // _MICRO}.{most % _MICRO:06d}" if is_money else most
            fields, fill = {name: f"at most {shown}"}, {name: {"most": passes}}
            raise InvalidParams(f"the cage takes at most {shown}", fields=fields, fill=fill)


def _find_role(state: CageState, key: str | None) -> int:
    """Raises ChangeUnchanged, InvalidParams."""
    appointed = {each.key: role for role, each in state.sessions.items() if each.key != ZERO_ADDRESS}
    if key is None and len(appointed) > 1:
        raise InvalidParams(
            f"{len(appointed)} keys are appointed; name one, and ask for each",
            fields={"key_id": " or ".join(sorted(appointed))},
        )
    if not appointed or (key is not None and key not in appointed):
        raise ChangeUnchanged("the cage names no such key: nothing of it can act")
    return appointed[key] if key is not None else next(iter(appointed.values()))


def _check_whose(ctx: ReadContext, key_id: str | None) -> None:
    """Raises InvalidParams for a delegation, with what its giver does, and ChangeUnchanged for a hash of none."""
    if key_id is None or len(key_id) != _HASH_LENGTH:
        return
    if (handed := find_handed_on(ctx, key_id)) is not None:
        raise InvalidParams(
            f"the golem handed that on itself: {say_own_step(handed)}",
            fields={"key_id": "the address of a key of the cage"},
        )
    given = find_delegated(ctx, key_id)
    if given is None:
        raise ChangeUnchanged("no delegation of that hash stands in this golem's book")
    raise InvalidParams(
        f"{say_owner_step(given)} Here revoke_permissions uses every one of them no more",
        fields={"key_id": "the address of a key of the cage"},
    )


def _preview_allowance(
    ctx: WriteContext, golem: Golem, key: str | None, token: str | None, amount: int | None
) -> LocalEffect:
    """Raises InvalidParams, TokenNotFound, TokenStandsStill, CageHasNoSafe, ChainNotSupported."""
    missing = {"key": key, "token": token, "amount": amount}
    if lacking := sorted(name for name, value in missing.items() if value is None):
        raise InvalidParams(
            "an allowance has a key, a token and an amount for each 24 hours",
            fields=dict.fromkeys(lacking, "said beside the others"),
        )
    if int(amount or 0) > LARGEST_AMOUNT:
        raise InvalidParams(
            f"a day's allowance is from 1 to {LARGEST_AMOUNT} base units",
            fields={"amount": f"at most {LARGEST_AMOUNT}"},
            most=str(LARGEST_AMOUNT),
        )
    reader = ctx.chain()
    known = reader.token(str(token))
    still = StillReads.of(reader.chain_id, [(known.address, str(ctx.golem.address))])
    still.read(reader.call_many(still.calls) if still.calls else ()).check([known], str(ctx.golem.address))
    arguments = {"act": GIVE, "delegate": key, "token": known.address, "amount_raw": str(amount)}
    try:
        wish = _observe(golem, arguments, ctx.now, name=ALLOWANCE)
    except InvalidParams as refused:
        # The owners' operation has words of its own for what an agent says.
        fields = {_SAID_AS.get(name, name): text for name, text in refused.data.get("fields", {}).items()}
        raise InvalidParams(refused.detail, **{**refused.data, "fields": fields}) from None
    shown = format_units(int(amount or 0), known.decimals, known.symbol)
    return LocalEffect(f"asks the owners to let the key {key} take {shown} in each 24 hours", {WISH: wish})


def _find_allowed(ctx: ReadContext, key_id: str | None) -> str | None:
    """The key of an allowance that is meant; None for another key, and where a cage names keys and none was said."""
    mirror = CageMirror.objects.filter(cage__golem_id=ctx.golem.id).first()
    named = {each.key for each in CageState.from_dict(mirror.state).sessions.values()} if mirror is not None else set()
    if key_id in named or (key_id is None and named - {ZERO_ADDRESS}):
        return None
    allowed = {each.allowance.delegate for each in _list_allowed(ctx)}
    if key_id is None and len(allowed) > 1:
        raise InvalidParams(
            f"{len(allowed)} keys have an allowance; name one, and ask for each",
            fields={"key_id": " or ".join(sorted(allowed))},
        )
    return key_id if key_id in allowed else next(iter(allowed), None) if key_id is None else None


def _list_allowed(ctx: ReadContext) -> tuple[AllowedKey, ...]:
    """Those of the golem's Safe; none for a plain account, and where the module is not. Raises what a node raises."""
    safe = find_allowing_safe(Golem.objects.select_related("wallet", "policy_cage__mirror").get(pk=ctx.golem.id))
    return read_allowed(ctx.chain(safe.chain_id), safe) if safe is not None and safe.has_module else ()


def _read_allowed(ctx: ReadContext) -> tuple[tuple[SessionKeyLine, ...], str]:
    """Keys with an allowance; and why they could not be asked, where that is so."""
    try:
        return tuple(describe_allowed(each) for each in _list_allowed(ctx)), ""
    except GolemError as error:
        return (), f"whom the Safe's allowance module lets take what cannot be asked now: {error.code}"


def _stage(golem: Golem, label: str | None, now: datetime) -> str:
    """A key without any right yet; asking again answers the same one."""
    staged = stage_key(golem=golem, reason=label or "asked for by its agent", actor=f"golem:{golem.pk}", now=now)
    return str(staged.address)


def _observe(golem: Golem, arguments: Mapping[str, object], now: datetime, *, name: str = "cage") -> JsonObject:
    operation = find_operation(name)
    if not isinstance(operation, ObservingOperation):
        raise TypeError("the operation looks at no chain")
    return {"name": name, "arguments": operation.observe(golem, arguments, now=now)}
