"""Reads numbers that people type into forms, and tells the page beside its field how one is understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from django.http import HttpRequest, JsonResponse
from django.urls import reverse_lazy
from django.views.decorators.http import require_safe
from unfold.widgets import UnfoldAdminTextInputWidget

from tools_app.core.typed_numbers import UnclearNumber, read_typed_number

_MOST_DECIMALS: Final = 18


@dataclass(frozen=True, slots=True)
class NumberKind:
    """How a field reads a number, and the signs around it."""

    most_decimals: int
    may_group: bool = True
    before: str = ""
    after: str = ""
    least_decimals: int = 0


USD: Final = NumberKind(most_decimals=6, before="$", least_decimals=2)
PERCENT: Final = NumberKind(most_decimals=2, may_group=False, after="%")
PRICE: Final = replace(USD, most_decimals=_MOST_DECIMALS)
AMOUNT: Final = NumberKind(most_decimals=_MOST_DECIMALS)
# What stands in a field's `data-number`.
KINDS: Final[Mapping[str, NumberKind]] = {"usd": USD, "percent": PERCENT, "price": PRICE, "amount": AMOUNT}


def make_number_widget(kind: str) -> UnfoldAdminTextInputWidget:
    """A field for a number of one of KINDS, beside which the page shows what was understood."""
    return UnfoldAdminTextInputWidget(
        attrs={"inputmode": "decimal", "data-number": kind, "data-number-reader": reverse_lazy("number")}
    )


def read_as(kind: NumberKind, text: str) -> Decimal:
    """The number. Raises UnclearNumber."""
    return read_typed_number(
        text, most_decimals=kind.most_decimals, may_group=kind.may_group, before=kind.before, after=kind.after
    )


def describe_as(kind: NumberKind, number: Decimal) -> str:
    """`$50,000.00`: every digit of it, with the signs of its kind."""
    whole, _, rest = f"{number:,f}".partition(".")
    rest = rest.rstrip("0").ljust(kind.least_decimals, "0")
    return f"{kind.before}{whole}{'.' if rest else ''}{rest}{kind.after}"


@require_safe
def show_number(request: HttpRequest) -> JsonResponse:
    """`{"read": "$50,000.00"}` for what `text` means in a field of the kind `kind`, or `{"unclear": why}`."""
    kind = KINDS.get(str(request.GET.get("kind", "")), AMOUNT)
    text = str(request.GET.get("text", ""))
    try:
        return JsonResponse({"read": describe_as(kind, read_as(kind, text))})
    except UnclearNumber as error:
        return JsonResponse({"unclear": str(error)})
