"""The liquidity rule and the strategies as a form: symbols, dollars and percent for people, stored integers inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final

from django import forms
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from archetypes_app.models import Heartbeat
from golem_project.heartbeat.liquidity_rule import FEE_TIERS, LiquidityRule, parse_liquidity_rule
from golem_project.heartbeat.strategies.catalog import parse_strategies
from golem_project.heartbeat.strategy_form import list_fields, name_field, read_initial, read_typed
from permits_app.forms import PercentField, UsdField
from tools_app.core.errors import InvalidParams
from tools_app.pages.html import NOTHING
from tools_app.pages.opened_rows import OPENED, OpenedRowForm
from tools_app.wording.formats import format_bps, format_usd

RULE_FIELDS: Final = tuple(field.name for field in fields(LiquidityRule))
_FEES = [(fee, f"{fee / 10_000:g}%") for fee in FEE_TIERS]


def _name_token(label: str, help_text: str = "") -> forms.CharField:
    return forms.CharField(
        label=label, required=False, max_length=64, help_text=help_text, widget=UnfoldAdminTextInputWidget()
    )


class HeartbeatForm(OpenedRowForm):
    """What an owner sets. Without both tokens there is no rule, and the rules only watch."""

    token_a = _name_token("One token", "Symbol or address, for example WETH. Without tokens it only watches")
    token_b = _name_token("Other token", "For example USDC")
    fee_tier = forms.TypedChoiceField(
        label="Fee of the pool", choices=_FEES, coerce=int, required=False, widget=UnfoldAdminSelectWidget()
    )
    target_micro_usd = UsdField(label="Worth of the position", required=False)
    half_width_bps = PercentField(
        label="Width to each side", required=False, help_text="Percent of the price, 0.5 to 50; narrower earns more"
    )
    harvest_micro_usd = UsdField(
        label="Collect fees from", required=False, help_text="US dollars, and never before they are worth their gas"
    )
    most_deviation_bps = PercentField(
        label="Away from the feeds, at most",
        required=False,
        help_text="Percent; nothing is opened in a pool whose price is further off",
    )
    slippage_bps = PercentField(label="Slippage, at most", required=False, help_text="Percent of each of its swaps")

    columns = ("is_on", "planner", "rules_stand_in", "base_interval_seconds", "liquidity_rule", "strategies")

    class Meta:
        model = Heartbeat
        fields = ("golem", "is_on", "planner", "rules_stand_in", "base_interval_seconds")

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: what Django hands to a form
        super().__init__(*args, **kwargs)
        stored = self.instance.liquidity_rule if isinstance(self.instance.liquidity_rule, Mapping) else {}
        known = LiquidityRule(**{"token_a": "", "token_b": "", **stored}).as_json()
        for name, value in known.items():
            self.fields[name].initial = value
        for name, value in read_initial(self.instance.strategies).items():
            self.fields[name].initial = value

    def clean(self) -> dict[str, object]:
        """The rule as it will be stored, or what is wrong with it at its field."""
        cleaned = super().clean() or {}
        given = {name: cleaned.get(name) for name in RULE_FIELDS}
        rule = {name: value for name, value in given.items() if value not in (None, "")}
        if not any(name in rule for name in ("token_a", "token_b")):
            rule = {}
        try:
            kept = parse_liquidity_rule(rule)
        except InvalidParams as error:
            for name, why in error.data["fields"].items():
                if name not in self.errors:
                    self.add_error(name, why)
        else:
            self.instance.liquidity_rule = kept.as_json() if kept is not None else {}
        self._clean_strategies(cleaned)
        return cleaned

    def _clean_strategies(self, cleaned: dict[str, object]) -> None:
        """The strategies as they will be stored, or what is wrong with one at its field."""
        try:
            kept = parse_strategies(read_typed(cleaned, self.instance.strategies))
        except InvalidParams as error:
            for path, why in error.data["fields"].items():
                kind, _, field_name = path.partition(".")
                shown = name_field(kind, field_name)
                if shown not in self.errors:
                    self.add_error(shown if shown in self.fields else None, why)
        else:
            self.instance.strategies = {each.kind: each.as_json() for each in kept}


def tell_typed(form: HeartbeatForm, name: str) -> str | Callable[[object], str]:
    """A field of a rule or a strategy as a column that only tells; the name itself of what is a column of the row."""
    field = form.declared_fields.get(name)
    if field is None or name == OPENED:
        return name
    value = form.fields[name].initial

    @display(description=str(field.label or ""))
    def told(_row: object) -> str:
        return _tell_value(field, value)

    told.__name__ = f"told_{name}"
    columned: Callable[[object], str] = told
    return columned


def _tell_value(field: forms.Field, value: object) -> str:
    if value in (None, "", []):
        return NOTHING
    if isinstance(field, UsdField) and isinstance(value, int):
        return format_usd(value)
    if isinstance(field, PercentField) and isinstance(value, int):
        return format_bps(value)
    if isinstance(field, forms.ChoiceField):
        choices: Any = field.choices  # Any: of the shapes that Django allows, ours are pairs
        labels = dict(choices)
        chosen = value if isinstance(value, list) else [value]
        return ", ".join(str(labels.get(each, each)) for each in chosen)
    return str(field.prepare_value(value))


for _, _, _shown, _field in list_fields():
    HeartbeatForm.declared_fields[_shown] = HeartbeatForm.base_fields[_shown] = _field
