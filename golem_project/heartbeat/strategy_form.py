"""Strategies as fields of the heartbeat's form: symbols, dollars and percent for people, the stored integers inside."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminTextInputWidget,
)

from permits_app.forms import PercentField, UsdField
from tools_app.core.json_types import JsonObject
from tools_app.core.storable_text import make_plain
from tools_app.core.units import MICRO_USD_PER_USD
from tools_app.toolkit.protocol import SHELF

_PARTS: Final = re.compile(r"[,;\n]")
_LONGEST: Final = 500


class TokenField(forms.CharField):
    """A symbol or an address, without hidden characters."""

    def to_python(self, value: object) -> Any:  # Any: what a form's field makes of text
        """What was typed, plain."""
        return make_plain(str(super().to_python(value) or ""))


class _WordsField(forms.CharField):
    """Parts of words and numbers, between commas; a stored value inside."""

    def __init__(self, **kwargs: Any) -> None:  # Any: Django's own arguments of a field
        super().__init__(required=False, max_length=_LONGEST, widget=UnfoldAdminTextInputWidget(), **kwargs)

    def to_python(self, value: object) -> Any:  # Any: what a form's field makes of text
        """What is stored; the text itself where a part cannot be read, which the strategy refuses at its field."""
        text = make_plain(str(super().to_python(value) or ""))
        if not text:
            return None
        if len(text) > _LONGEST:
            raise ValidationError(f"At most {_LONGEST} characters.", code="max_length")
        try:
            return self.read([part.split() for part in _PARTS.split(text) if part.strip()])
        except (ValueError, InvalidOperation):
            return text

    def read(self, parts: list[list[str]]) -> Any:  # Any: JSON of an owner's rule
        """The stored value of parts. Raises ValueError."""
        raise NotImplementedError


class WeightsField(_WordsField):
    """`WETH 60, USDC 40`, in percent."""

    def prepare_value(self, value: object) -> object:
        """A stored value as text."""
        if isinstance(value, Mapping):
            return ", ".join(
                f"{name} {bps / 100:g}" for name, bps in sorted(value.items(), key=lambda share: (-share[1], share[0]))
            )
        return value

    def read(self, parts: list[list[str]]) -> dict[str, int]:
        """Basis points by token."""
        found = {name: int(Decimal(percent.rstrip("%")) * 100) for name, percent in parts}
        if len(found) != len(parts):
            raise ValueError("a token twice")
        return found


class RungsField(_WordsField):
    """`buy 2500 100, sell 3500 100`: side, price and amount in dollars."""

    def prepare_value(self, value: object) -> object:
        """A stored value as text."""
        if isinstance(value, list):
            return ", ".join(
                f"{each['side']} {_dollars(each['price_micro_usd'])} {_dollars(each['amount_micro_usd'])}"
                for each in value
            )
        return value

    def read(self, parts: list[list[str]]) -> list[dict[str, object]]:
        """Rungs as they are stored."""
        return [
            {"side": side.lower(), "price_micro_usd": _micro(price), "amount_micro_usd": _micro(amount)}
            for side, price, amount in parts
        ]


def _dollars(micro_usd: int) -> str:
    return f"{Decimal(micro_usd) / MICRO_USD_PER_USD:f}"


def _micro(dollars: str) -> int:
    return int(Decimal(dollars.lstrip("$")) * MICRO_USD_PER_USD)


def _token(label: str, help_text: str = "Symbol or address") -> TokenField:
    return TokenField(
        label=label, required=False, max_length=64, help_text=help_text, widget=UnfoldAdminTextInputWidget()
    )


def _health(label: str) -> PercentField:
    return PercentField(
        label=label, required=False, most_bps=200_000, help_text="Percent of cover over debt; at 100 it is liquidated"
    )


def _list_places() -> list[tuple[str, str]]:
    return sorted(((each.name, each.label) for each in SHELF if each.has_doors), key=lambda place: place[1].casefold())


def _count(label: str, most: int, help_text: str = "") -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        required=False,
        min_value=1,
        max_value=most,
        help_text=help_text,
        widget=UnfoldAdminIntegerFieldWidget(),
    )


STRATEGY_FIELDS: Final[Mapping[str, Mapping[str, forms.Field]]] = {
    "regular_purchase": {
        "sold": _token("Gives"),
        "bought": _token("For", "Without tokens nothing is bought"),
        "amount_micro_usd": UsdField(label="Worth of each purchase", required=False),
        "every_hours": _count("Every so many hours", 31 * 24),
    },
    "target_weights": {
        "weights": WeightsField(label="Shares", help_text="Percent by token, for example WETH 60, USDC 40"),
        "band_bps": PercentField(
            label="Band", required=False, help_text="Percent of the whole a share may be off before anything is traded"
        ),
        "most_micro_usd": UsdField(label="At once, at most", required=False),
    },
    "stop_orders": {
        "token": _token("Token"),
        "into": _token("Sold for"),
        "stop_micro_usd": UsdField(
            label="All of it at this price and under", required=False, help_text="US dollars of one token, by its feed"
        ),
        "goal_micro_usd": UsdField(
            label="A part at this price and above", required=False, help_text="US dollars; once a day at most"
        ),
        "profit_bps": PercentField(label="That part", required=False, help_text="Percent of what is held"),
    },
    "yield_rotation": {
        "token": _token("Token that earns"),
        "places": forms.MultipleChoiceField(
            label="Where it may lie",
            choices=_list_places,
            required=False,
            widget=UnfoldAdminCheckboxSelectMultipleWidget(),
            help_text="All that it can be taken out of at once; where the golem owes something it is left alone",
        ),
        "most_micro_usd": UsdField(label="At most, in all", required=False),
        "keep_micro_usd": UsdField(label="Stays in the wallet", required=False),
        "better_bps": PercentField(
            label="Moves for so much more a year", required=False, help_text="Percent; less difference is left alone"
        ),
        "pays_back_days": _count(
            "The way is paid within days", 365, "It moves where what is earned more in this time is above the gas"
        ),
    },
    "limit_ladder": {
        "token": _token("Token of the ladder"),
        "against": _token("Against"),
        "rungs": RungsField(
            label="Rungs", help_text="Side, price and amount in dollars, for example buy 2500 100, sell 3500 100"
        ),
    },
    "loan_keeper": {
        "act_below_bps": _health("Lower a debt under"),
        "keep_bps": _health("Until it is"),
    },
}
"""The fields of each strategy on the form, by kind."""
TITLES: Final = {
    "regular_purchase": "Buys regularly",
    "target_weights": "Keeps shares",
    "stop_orders": "Stop and goal",
    "yield_rotation": "Earns where it pays most",
    "limit_ladder": "Ladder of limit orders",
    "loan_keeper": "Keeps loans",
}


def name_field(kind: str, name: str) -> str:
    """How a field of a strategy is called on the form."""
    return f"{kind}__{name}"


def list_fields() -> Iterator[tuple[str, str, str, forms.Field]]:
    """Kind, name, name on the form, and the field."""
    for kind, fields in STRATEGY_FIELDS.items():
        for name, field in fields.items():
            yield kind, name, name_field(kind, name), field


def read_typed(
    cleaned: Mapping[str, Any],  # Any: JSON of an owner's rule
    stored: Mapping[str, Any],  # Any: JSON of an owner's rule
) -> dict[str, object]:
    """The strategies as they will be stored. One whose fields are all empty is none; what the form does not ask stays
    as it was.
    """
    found: JsonObject = {}
    for kind, fields in STRATEGY_FIELDS.items():
        typed = {name: cleaned.get(name_field(kind, name)) for name in fields}
        given = {name: value for name, value in typed.items() if value not in (None, "", [])}
        if given:
            kept = stored.get(kind) if isinstance(stored.get(kind), Mapping) else {}
            found[kind] = {**{name: value for name, value in (kept or {}).items() if name not in fields}, **given}
    return found


def read_initial(stored: object) -> dict[str, object]:
    """What is stored, by the names on the form."""
    kinds = stored if isinstance(stored, Mapping) else {}
    return {
        shown: kinds[kind][name]
        for kind, name, shown, _ in list_fields()
        if isinstance(kinds.get(kind), Mapping) and name in kinds[kind]
    }
