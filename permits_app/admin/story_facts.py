"""Facts of one permit as labelled text: request, plan, worth, seal. Read from its row, decided nowhere here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString

from permits_app.approvals.loan_risk import read_loan_risk, say_liquidation
from permits_app.approvals.simulated_loss import say_loss
from permits_app.limits.reserved_parts import read_parts
from permits_app.models import ActionPermit, SpendEntry
from permits_app.models.permit import PermitStatus
from permits_app.permits.kept_bounds import read_bounds
from permits_app.permits.stored_calls import StoredTerms, read_signed_calls
from permits_app.safety.position_words import say_moved
from permits_app.words.address_book import AddressBook, read_book
from tools_app.core.stored_json import IntText, read_stored
from tools_app.core.units import format_units
from tools_app.pages.html import show_age, show_hex
from tools_app.wording.address_names import format_token_amount
from tools_app.wording.formats import format_age, format_bps, format_chain, format_gwei, format_seconds, format_usd


@dataclass(frozen=True, slots=True)
class Fact:
    """One labelled value; `value` is text or already escaped HTML."""

    name: str
    value: str | SafeString
    hint: str = ""


def describe_request(permit: ActionPermit) -> tuple[Fact, ...]:
    """Who asked, and the validated parameters in units."""
    asked_by = Fact("Asked by", f"API key {permit.api_key}" if permit.api_key else "the runtime")
    given = {name: value for name, value in permit.params.items() if value is not None}
    wish = permit.wished_by or {}
    wished_by = [Fact("Wished for by", f"{wish.get('tool')} version {wish.get('version')}, a tool of the owner's")]
    return (
        asked_by,
        *(wished_by if wish else ()),
        *(Fact(spell(name.removesuffix("_bps")), _parameter(permit, name, value)) for name, value in given.items()),
    )


def _parameter(permit: ActionPermit, name: str, value: object) -> str | SafeString:
    if isinstance(value, str) and value.startswith("0x") and len(value) == 42:
        return show_hex(value, name=_book_of(permit).say(permit.chain_id, value))
    if name.endswith("_bps") and isinstance(value, int):
        return format_bps(value)
    if name == "amount" or name.startswith("amount"):
        token = _parameter_token(permit, name)
        if token and str(value).isdigit():
            return format_token_amount(permit.chain_id, token, str(value))
    if name.startswith("deadline") and str(value).isdigit():
        return f"{value} s" if int(str(value)) < 10**9 else show_value(value)
    if name in ("chain_id", "chain") and str(value).isdigit():
        return format_chain(int(str(value)))
    return show_value(value)


def _parameter_token(permit: ActionPermit, name: str) -> str:
    wanted = [name.replace("amount", "token"), "token_in", "token", "token_out"]
    for key in wanted:
        ref = permit.params.get(key)
        if isinstance(ref, str):
            for flow in read_bounds(permit.bounds).flows:
                if ref.lower() in (flow.token.address.lower(), flow.token.symbol.lower()):
                    return flow.token.address
    return ""


@dataclass(frozen=True, slots=True)
class _SaidPosition:
    label: str
    changes: str
    owed_after: str
    health: str


def describe_plan(permit: ActionPermit) -> tuple[Fact, ...]:
    """The tool and the promises of its plan."""
    bounds = read_bounds(permit.bounds)
    facts = [
        Fact("Tool", f"{permit.tool_name} (schema {permit.schema_version})"),
        Fact("Kind of action", spell(permit.action_class.lower())),
    ]
    if bounds.slippage_bps is not None:
        facts.append(Fact("Slippage at most", format_bps(bounds.slippage_bps)))
    if bounds.price_impact_bps is not None:
        facts.append(Fact("Price impact", format_bps(bounds.price_impact_bps)))
    if bounds.deadline:
        when = datetime.fromtimestamp(bounds.deadline, tz=permit.created_at.tzinfo)
        facts.append(Fact("Deadline on chain", when.strftime("%Y-%m-%d %H:%M:%S UTC")))
    for address in bounds.recipients:
        is_own = address in (permit.account, permit.signer)
        name = "the golem itself" if is_own else _book_of(permit).say(permit.chain_id, address)
        facts.append(Fact("Recipient", show_hex(address, name=name)))
    moved = permit.expected_outcome.get("positions", [])
    for said, told in zip(say_moved(moved), moved, strict=True):
        position = read_stored(_SaidPosition, said)
        facts.append(Fact(position.label, show_value(position.changes)))
        if position.owed_after:
            facts.append(Fact("Owed afterwards", show_value(position.owed_after)))
        if position.health:
            facts.append(Fact("Health (1.00 is liquidation)", show_value(position.health)))
        if liquidated := say_liquidation(told):
            facts.append(Fact("Liquidated", show_value(liquidated)))
    if permit.is_local:
        facts.append(Fact("Effect", show_value(permit.expected_outcome.get("summary", ""))))
    return tuple(facts)


def _book_of(permit: ActionPermit) -> AddressBook:
    return read_book(permit.golem.owner_id)


def describe_allowances(permit: ActionPermit) -> tuple[Fact, ...]:
    """Who may take how much, and what stays allowed."""
    facts = []
    for allowance in read_bounds(permit.bounds).allowances:
        decimals, symbol = allowance.token.decimals, allowance.token.symbol
        granted, left = (format_units(raw, decimals, symbol) for raw in (allowance.granted, allowance.left))
        spender = _book_of(permit).in_text(permit.chain_id, allowance.spender)
        if not allowance.granted and not allowance.left:
            facts.append(Fact(f"{spender} may take no more", symbol, "an approval that stood is taken back"))
            continue
        hint = f"{left} stays allowed until revoked" if allowance.left else "used up inside this plan"
        way = " through Permit2" if allowance.through else ""
        facts.append(Fact(f"{spender} may take{way}", granted, hint))
    return tuple(facts)


def describe_review(permit: ActionPermit) -> tuple[Fact, ...]:
    """What a reviewer said."""
    return tuple(Fact(spell(name), show_value(value)) for name, value in (permit.review or {}).items())


def describe_worth(permit: ActionPermit, entry: SpendEntry | None) -> tuple[Fact, ...]:
    """The worst case in dollars, what was reserved and what was settled."""
    facts = [Fact("Worst case", format_usd(permit.value_micro_usd), "what the permit may cost at most, gas included")]
    if loss := say_loss(permit.expected_outcome):
        facts.append(Fact("Lost in the simulation", loss, "its worth at the feeds before less after"))
    if (risk := read_loan_risk(permit.expected_outcome.get("positions", []))) is not None:
        facts.append(Fact("At stake besides", risk.words, "a loan that is liquidated loses of what covers it"))
    if entry is None:
        return tuple(facts)
    facts.append(Fact("Reserved", format_usd(entry.reserved_micro_usd), entry.get_state_display().lower()))
    if entry.settled_micro_usd is not None:
        facts.append(Fact("Settled", format_usd(entry.settled_micro_usd), format_age(entry.counted_at)))
    for part in read_parts(entry.breakdown):
        facts.append(Fact(spell(part.role), part.units or "gas at the fee cap", format_usd(part.micro_usd)))
    return tuple(facts)


@dataclass(frozen=True, slots=True)
class _UsedPrice:
    """A price as a permit keeps it."""

    symbol: str = ""
    answer: IntText = 0
    decimals: int = 8
    round_id: object = ""
    age_seconds: int = 0


def describe_price(price: Mapping[str, object]) -> Fact:
    """One feed price with its round and age."""
    used = read_stored(_UsedPrice, price)
    shown = f"${format_units(used.answer, used.decimals)}"
    return Fact(used.symbol, shown, f"round {used.round_id}, {format_seconds(used.age_seconds)} old")


def describe_seal(permit: ActionPermit, now: datetime) -> tuple[Fact, ...]:
    """Hashes, signer, fee cap and how long it lasts."""
    return (
        Fact("Permit", show_hex(str(permit.pk))),
        Fact("Plan hash", show_hex(permit.plan_hash)),
        Fact("Simulation hash", show_hex(permit.simulation_hash)),
        Fact("Policy hash", show_hex(permit.policy_hash)),
        Fact("Signer", show_hex(permit.signer)),
        *([Fact("For the account", show_hex(permit.acts_for))] if permit.acts_for else []),
        *(
            _describe_payer(call.user_operation)
            for call in read_signed_calls(permit)
            if call.user_operation is not None
        ),
        Fact(
            "Fee cap",
            format_gwei(permit.max_fee_per_gas),
            f"of it {format_gwei(permit.max_priority_fee_per_gas)} priority",
        ),
        Fact("Opened", show_age(permit.created_at, now=now)),
        Fact(
            "Valid until",
            permit.expires_at.strftime("%Y-%m-%d %H:%M:%S UTC"),
            "that is how long its owners have"
            if permit.status == PermitStatus.AWAITING_APPROVAL
            else f"or heartbeat tick {permit.expires_at_tick}",
        ),
    )


def _describe_payer(terms: StoredTerms) -> Fact:
    """Who pays for a user operation."""
    if not terms.paymaster:
        return Fact("Gas of the user operation", "the account", "no paymaster")
    return Fact("Gas of the user operation", show_hex(terms.paymaster), "this paymaster and no other")


def describe_problem(permit: ActionPermit) -> tuple[Fact, ...]:
    """Why it was refused, when it was."""
    shown = {
        "title": "What happened",
        "detail": "Detail",
        "code": "Code",
        "recovery": "Next step",
        "hook": "Hook",
        "rule": "Rule",
        "observed": "Observed",
        "limit": "Limit",
        "remaining": "Remaining",
    }
    return tuple(
        Fact(label, show_value(permit.problem[name])) for name, label in shown.items() if name in permit.problem
    )


def spell(name: str) -> str:
    """`amount_out` -> `Amount out`."""
    return name.replace("_", " ").capitalize()


def show_value(value: object) -> str:
    """Any JSON value as text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{spell(str(k)).lower()} {show_value(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return "; ".join(show_value(item) for item in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None or value == "" else str(value)
