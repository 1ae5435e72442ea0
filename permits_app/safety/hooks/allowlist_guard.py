"""Hook 2: tokens, contracts, spenders, recipients and hooks of pools the owner listed, chain by chain.

Strict refuses what is not listed, warn notes it in the permit, off looks at nothing. What a golem once did under its
list it may leave again when the list is shorter: decision 0129.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Count, Q

from permits_app.errors import AddressNotAllowed, HookNotAllowed, PolicyRejected, TokenNotAllowed
from permits_app.hook_rejection import Reject
from permits_app.models import ActionPermit
from permits_app.models.allowlist import AllowlistKind
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import AllowlistMode
from permits_app.safety.assets import find_wrapped_native
from permits_app.safety.decode_token_calls import TokenAct, list_recipients, read_token_call
from permits_app.safety.hook import Allow, HookCall, Verdict
from permits_app.safety.risk_tier_of_call import returns_to_golem
from tools_app.standards.loan_callback import unfold
from tools_app.toolkit.enums import LEAVING
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.views import NATIVE, TokenMeta

_MOST_NAMED = 10
_ERRORS: Mapping[AllowlistKind, type[PolicyRejected]] = {
    AllowlistKind.TOKEN: TokenNotAllowed,
    AllowlistKind.HOOK: HookNotAllowed,
}


@dataclass(frozen=True, slots=True)
class Touch:
    """One address a plan touches, as what, and how it is called for people."""

    kind: AllowlistKind
    address: str
    words: str


class AllowlistGuard:
    """Everything a plan touches against the golem's list for that chain."""

    name = "allowlist_guard"

    def check(self, call: HookCall) -> Verdict:
        """Allow, in warn mode with what is not listed; or Reject with all of it."""
        wrapped = find_wrapped_native(call.chain) if call.chain is not None else None
        verdict = self.decide(call, wrapped)
        if isinstance(verdict, Reject) and call.action_class in LEAVING and returns_to_golem(call):
            return self.decide(call, wrapped, once_touched=read_once_touched(call, wrapped))
        return verdict

    def decide(
        self, call: HookCall, wrapped_native: str | None, *, once_touched: frozenset[tuple[str, str]] = frozenset()
    ) -> Verdict:
        """The same answer from what was loaded before; reads nothing. `once_touched` stays listed for leaving."""
        if call.plan is None:
            return Allow(note="no transaction")
        mode = call.limits.allowlist_mode
        if mode == AllowlistMode.OFF:
            return Allow(note="the allowlist is off")
        unlisted = find_unlisted(
            plan=call.plan, account=call.view.address or "", allowlist=call.allowlist, wrapped_native=wrapped_native
        )
        if once_touched:
            unlisted = [each for each in unlisted if not _is_listed(each, once_touched, wrapped_native)]
        if not unlisted:
            return Allow(note="everything it touches is listed")
        if mode == AllowlistMode.WARN:
            return Allow(note="not listed: " + "; ".join(_describe(touch) for touch in unlisted[:_MOST_NAMED]))
        return _refuse(unlisted, chain_id=call.plan.chain_id)


def read_once_touched(call: HookCall, wrapped_native: str | None) -> frozenset[tuple[str, str]]:
    """What of the plan's unlisted the golem's own verified transactions on its chain moved, called and approved, which
    its list held then: a position taken under one list can be left under another, however much was done since. A
    recipient is none of it, and nothing that a stranger sent is.
    """
    plan = call.plan
    if plan is None:
        return frozenset()
    unlisted = find_unlisted(
        plan=plan, account=call.view.address or "", allowlist=call.allowlist, wrapped_native=wrapped_native
    )
    asked = [
        (kind, address)
        for kind, address in dict.fromkeys(each for touch in unlisted for each in _list_entries(touch, wrapped_native))
        if kind in _TOUCHING
    ]
    done = ActionPermit.objects.filter(
        golem=call.golem, chain_id=plan.chain_id, status=PermitStatus.COMMITTED, is_local=False
    )
    # One look at the golem's rows, whatever the number of those asked for.
    counted = {
        f"asked_{number}": Count("pk", filter=_TOUCHING[kind](address)) for number, (kind, address) in enumerate(asked)
    }
    found = done.aggregate(**counted) if counted else {}
    return frozenset(
        (str(kind), address) for number, (kind, address) in enumerate(asked) if found[f"asked_{number}"] > 0
    )


def _moves_token(address: str) -> Q:
    token = {"token": {"address": address}}
    return (
        Q(bounds__spends__contains=[token])
        | Q(bounds__receives__contains=[token])
        | Q(bounds__allowances__contains=[token])
        | Q(bounds__principals__contains=[token])
    )


# How the row of a permit tells that it touched an address, as what.
_TOUCHING: Mapping[AllowlistKind, Callable[[str], Q]] = {
    AllowlistKind.TOKEN: _moves_token,
    AllowlistKind.CONTRACT: lambda address: Q(bounds__contracts__contains=[address]),
    AllowlistKind.SPENDER: lambda address: Q(bounds__allowances__contains=[{"spender": address}]),
    AllowlistKind.HOOK: lambda address: Q(bounds__hooks__contains=[{"address": address}]),
}


def find_unlisted(
    *, plan: TxPlan, account: str, allowlist: frozenset[tuple[str, str]], wrapped_native: str | None
) -> list[Touch]:
    """What `plan` touches that `allowlist`, pairs of (kind, EIP-55 address), does not name; in order, once."""
    touched = dict.fromkeys((*_touches(plan, account), *_hooks_of(plan)))
    return [touch for touch in touched if not _is_listed(touch, allowlist, wrapped_native)]


def _hooks_of(plan: TxPlan) -> Iterator[Touch]:
    for hook in plan.hooks:
        yield Touch(AllowlistKind.HOOK, hook.address, f"of pool {hook.pool}, {hook.words}")


def _touches(plan: TxPlan, account: str) -> Iterator[Touch]:
    known = {token.address: token for token in plan.tokens}
    # Who may use a venue may give back its shares: those are measured as the position the plan says they are.
    for token in plan.tokens:
        if token.address not in plan.claims:
            yield Touch(AllowlistKind.TOKEN, token.address, _name(token))
    for allowance in plan.allowances:
        if allowance.granted or allowance.left:
            yield Touch(AllowlistKind.SPENDER, allowance.spender, f"spender of {_name(allowance.token)}")
    for call in unfold(plan.calls):
        spoken = read_token_call(call)
        if spoken is None:
            yield Touch(AllowlistKind.CONTRACT, call.to, "contract called")
            continue
        token_name = _name(known[spoken.token]) if spoken.token in known else spoken.token
        if spoken.act is not TokenAct.APPROVE or spoken.token not in plan.claims:
            yield Touch(AllowlistKind.TOKEN, spoken.token, token_name)
        # Taking an allowance back gives nobody anything.
        if spoken.act is TokenAct.APPROVE and spoken.amount:
            yield Touch(AllowlistKind.SPENDER, spoken.party, f"spender of {token_name}")
    if plan.promise is not None:
        yield Touch(AllowlistKind.CONTRACT, plan.promise.contract, "contract that takes what is signed")
    for recipient in list_recipients(plan):
        if recipient != account:
            yield Touch(AllowlistKind.RECIPIENT, recipient, "recipient")


def _is_listed(touch: Touch, allowlist: frozenset[tuple[str, str]], wrapped_native: str | None) -> bool:
    return any((str(kind), address) in allowlist for kind, address in _list_entries(touch, wrapped_native))


def _list_entries(touch: Touch, wrapped_native: str | None) -> Iterator[tuple[AllowlistKind, str]]:
    """The entries of a list of which each is enough for `touch`."""
    yield touch.kind, touch.address
    if touch.kind is AllowlistKind.SPENDER:
        yield AllowlistKind.CONTRACT, touch.address
    if touch.kind is AllowlistKind.TOKEN and touch.address == NATIVE and wrapped_native is not None:
        # The coin and its wrapped form are one asset, to an owner and to every rule here.
        yield AllowlistKind.TOKEN, wrapped_native


def _refuse(unlisted: list[Touch], *, chain_id: int) -> Reject:
    first = unlisted[0]
    error = _ERRORS.get(first.kind, AddressNotAllowed)
    named = "; ".join(_describe(touch) for touch in unlisted[:_MOST_NAMED])
    return Reject(
        rule=f"allowlist_guard.{str(first.kind).lower()}",
        reason=f"not on the golem's list for chain {chain_id}: {named}",
        observed=_describe(first),
        limit="the allowlist, in strict mode",
        would_pass="a pool without a hook, or after the owner lists this one as a hook of pools it may use"
        if first.kind is AllowlistKind.HOOK
        else "only what is listed, or after the owner lists it",
        error=error,
        data={"not_listed": [{"kind": str(touch.kind), "address": touch.address} for touch in unlisted]},
    )


def _describe(touch: Touch) -> str:
    return f"{str(touch.kind).lower()} {touch.address} ({touch.words})"


def _name(token: TokenMeta) -> str:
    return token.symbol or token.address
