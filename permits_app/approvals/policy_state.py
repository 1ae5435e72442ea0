"""A golem's policy as one value, the difference of two, and which parts of a difference loosen.

A column nobody named here counts as loosening whichever way it moves: what is not understood waits longest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from archetypes_app.models import Golem
from permits_app.approvals.approval_rules import cool_off, measure_loosening, tier_of_loosening
from permits_app.models import AllowlistEntry, PolicyCage, SpendingLimits
from permits_app.models.allowlist import AllowlistKind
from permits_app.models.spending import AllowlistMode
from permits_app.words.look_alikes import find_look_alike
from tools_app.core.hashing import hash_canonical
from tools_app.core.right_to_left_names import isolate
from tools_app.core.stored_json import read_stored
from tools_app.core.units import format_micro_usd
from tools_app.toolkit.enums import RiskTier
from tools_app.wording.address_names import list_named, name_address
from tools_app.wording.formats import format_bps, format_chain

PolicyState: TypeAlias = Mapping[str, Any]  # Any: each is a mapping of text, which a replay makes its own of
"""`limits` and `cage`: column to text; `allowlist`: `chain:KIND:address` to label."""

LIMIT_COLUMNS: Final = (
    "per_transaction_micro_usd",
    "per_tick_micro_usd",
    "per_session_micro_usd",
    "per_day_micro_usd",
    "hot_lane_micro_usd",
    "trading_costs_per_day_micro_usd",
    "trading_costs_per_pair_micro_usd",
    "trading_costs_per_venue_micro_usd",
    "writes_per_hour",
    "most_alike_calls",
    "max_slippage_bps",
    "max_price_impact_bps",
    "allowlist_mode",
)
CAGE_COLUMNS: Final = (
    "max_assets",
    "max_position_bps",
    "max_concentration_bps",
    "max_issuer_bps",
    "max_bridge_bps",
    "max_oracle_bps",
    "max_drawdown_bps",
    "min_rebalance_interval_seconds",
    "max_rebalances_per_day",
    "min_collateral_ratio_bps",
    "min_health_bps",
    "min_range_ticks",
    "is_action_gate_on",
    "allows_arbitrary_calldata",
)
_LOOSER_IS_LOWER: Final = frozenset(
    {"min_rebalance_interval_seconds", "min_collateral_ratio_bps", "min_health_bps", "min_range_ticks"}
)
_LOOSER_WHEN_ON: Final = {"is_action_gate_on": False, "allows_arbitrary_calldata": True}
_MODES: Final = tuple(str(mode) for mode in (AllowlistMode.STRICT, AllowlistMode.WARN, AllowlistMode.OFF))


@dataclass(frozen=True, slots=True)
class PolicyDifference:
    """One column, or one allowlist entry, that would change. `loosening_bps` None: it loosens without a measure."""

    row: str
    name: str
    words: str
    before: str | None
    after: str | None
    shown_before: str
    shown_after: str
    loosens: bool
    loosening_bps: int | None = 0

    @property
    def cooling_seconds(self) -> int:
        """Seconds it waits after its approval."""
        return cool_off(self.loosening_bps) if self.loosens else 0

    @property
    def risk_tier(self) -> RiskTier:
        """The tier it is decided at."""
        return tier_of_loosening(self.loosening_bps) if self.loosens else RiskTier.ROUTINE

    def as_dict(self) -> dict[str, str | None]:
        """JSON-ready; what an operation carries, and what `read_policy_changes` reads."""
        return {"row": self.row, "name": self.name, "before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """One column, or one allowlist entry, as it shall be; `after` None takes an entry out."""

    row: str
    name: str
    after: str | None
    before: str | None = None

    @property
    def is_entry(self) -> bool:
        """Whether it is about an entry of the allowlist."""
        return self.row == "allowlist"


def read_policy_changes(changes: Iterable[Mapping[str, object]]) -> list[PolicyChange]:
    """Read changes from their JSON. Raises ValueError naming the field that is missing or of another type."""
    return [read_stored(PolicyChange, each) for each in changes]


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a policy: columns by name, and the allowlist's labels by entry."""

    limits: Mapping[str, str]
    cage: Mapping[str, str]
    allowlist: Mapping[str, str]


def read_policy_state(golem: Golem) -> dict[str, dict[str, str]]:
    """The policy as stored now; a golem without rows has the defaults."""
    limits = SpendingLimits.objects.filter(golem=golem).first() or SpendingLimits(golem=golem)
    cage = PolicyCage.objects.filter(golem=golem).first() or PolicyCage(golem=golem)
    entries = AllowlistEntry.objects.filter(golem=golem).order_by("chain_id", "kind", "address")
    return {
        "limits": read_columns(limits, LIMIT_COLUMNS),
        "cage": read_columns(cage, CAGE_COLUMNS),
        "allowlist": {name_entry(row.chain_id, row.kind, row.address): row.label for row in entries},
    }


def read_columns(row: SpendingLimits | PolicyCage, columns: Iterable[str]) -> dict[str, str]:
    """Columns of one row as text."""
    return {name: str(getattr(row, name)) for name in columns}


def name_entry(chain_id: int, kind: str, address: str) -> str:
    """The key of one allowlist entry."""
    return f"{chain_id}:{kind}:{address}"


def split_entry(key: str) -> tuple[int, str, str]:
    """Chain, kind and address of a key."""
    chain_id, kind, address = key.split(":")
    return int(chain_id), kind, address


def hash_policy_state(state: PolicyState) -> str:
    """Names the state; labels do not count, they permit nothing."""
    rows = _Rows(**state)
    return hash_canonical({"limits": rows.limits, "cage": rows.cage, "allowlist": sorted(rows.allowlist)})


def diff_policy(before: PolicyState, after: PolicyState) -> tuple[PolicyDifference, ...]:
    """What would change from `before` to `after`, in the order of the columns."""
    old, new = _Rows(**before), _Rows(**after)
    found: list[PolicyDifference] = []
    for row, had, has in (("limits", old.limits, new.limits), ("cage", old.cage, new.cage)):
        for name in (*had, *(set(has) - set(had))):
            was, becomes = had.get(name), has.get(name, had.get(name))
            if was != becomes:
                found.append(_compare(row, name, str(was), str(becomes)))
    gone = sorted(set(old.allowlist) - set(new.allowlist))
    fresh = sorted(set(new.allowlist) - set(old.allowlist))
    found += [_entry(key, old.allowlist[key], is_new=False) for key in gone]
    found += [_warn(_entry(key, new.allowlist[key], is_new=True), old.allowlist) for key in fresh]
    return tuple(found)


def apply_differences(state: PolicyState, changes: Iterable[Mapping[str, object]]) -> dict[str, dict[str, str]]:
    """`state` with changes (`row`, `name`, `before`, `after`) made to it; a new value."""
    made = {row: dict(state[row]) for row in ("limits", "cage", "allowlist")}
    for change in read_policy_changes(changes):
        if change.after is None:
            made[change.row].pop(change.name, None)
        else:
            made[change.row][change.name] = change.after
    return made


def find_moved(state: PolicyState, changes: Iterable[PolicyChange]) -> PolicyChange | None:
    """The first change that starts from another value than `state` has by now."""
    return next((each for each in changes if state[each.row].get(each.name) != each.before), None)


def longest_wait(differences: Sequence[PolicyDifference]) -> int:
    """Seconds all of them wait: the longest of any."""
    return max((each.cooling_seconds for each in differences), default=0)


def highest_tier(differences: Sequence[PolicyDifference]) -> RiskTier:
    """The tier all of them are decided at."""
    order = list(RiskTier)
    return max((each.risk_tier for each in differences), key=order.index, default=RiskTier.ROUTINE)


def _compare(row: str, name: str, before: str, after: str) -> PolicyDifference:
    loosens, bps = _judge(name, before, after)
    return PolicyDifference(
        row, name, _spell(row, name), before, after, show_value(name, before), show_value(name, after), loosens, bps
    )


def _judge(name: str, before: str, after: str) -> tuple[bool, int | None]:
    if name == "allowlist_mode" and {before, after} <= set(_MODES):
        loosens = _MODES.index(after) > _MODES.index(before)
        return loosens, None if loosens else 0
    if name in _LOOSER_WHEN_ON:
        loosens = after == str(_LOOSER_WHEN_ON[name])
        return loosens, None if loosens else 0
    if name not in (*LIMIT_COLUMNS, *CAGE_COLUMNS) or not (before.isdigit() and after.isdigit()):
        return True, None
    bps = measure_loosening(before=int(before), after=int(after), looser_is_higher=name not in _LOOSER_IS_LOWER)
    return bps is None or bps > 0, bps


def describe_entry(key: str, label: str) -> str:
    """One allowlist entry in words: what it is, where, its name and its address."""
    words, shown = _spell_entry(key, label)
    return f"{words}: {shown}"


def _spell_entry(key: str, label: str) -> tuple[str, str]:
    chain_id, kind, address = split_entry(key)
    name = isolate(label) or name_address(chain_id, address) or "not registered"
    return f"{AllowlistKind(kind).label} on {format_chain(chain_id)}", f"{name} {address}"


def _entry(key: str, label: str, *, is_new: bool) -> PolicyDifference:
    words, shown = _spell_entry(key, label)
    if is_new:
        return PolicyDifference("allowlist", key, words, None, label, "not allowed", shown, True, None)
    return PolicyDifference("allowlist", key, words, label, None, shown, "not allowed", False)


def _warn(entry: PolicyDifference, allowed: Mapping[str, str]) -> PolicyDifference:
    """With what the new address is alike, of what is registered on its chain or allowed there already."""
    chain_id, _, address = split_entry(entry.name)
    known = list_named(chain_id)
    known += [(split_entry(key)[2], label) for key, label in allowed.items() if split_entry(key)[0] == chain_id]
    alike = find_look_alike(address, known)
    if alike is None:
        return entry
    told = f"{entry.shown_after}. It LOOKS LIKE {alike[1] or 'an allowed address'} {alike[0]} and is another address"
    return replace(entry, shown_after=told)


def _spell(row: str, name: str) -> str:
    model = SpendingLimits if row == "limits" else PolicyCage
    words = name.removesuffix("_micro_usd").removesuffix("_bps").replace("_", " ").capitalize()
    known = {field.name: field for field in model._meta.concrete_fields}.get(name)
    hint = str(known.help_text) if known is not None and known.help_text else ""
    return f"{words} ({hint[:1].lower()}{hint[1:]})" if hint else words


def show_value(name: str, value: str) -> str:
    """A stored value for people, with its unit."""
    if value in ("True", "False"):
        return "on" if value == "True" else "off"
    if name.endswith("_micro_usd") and value.isdigit():
        return format_micro_usd(int(value))
    if name.endswith("_bps") and value.isdigit():
        return format_bps(int(value))
    if name.endswith("_seconds"):
        return f"{value} s"
    return value.lower() if name == "allowlist_mode" else value
