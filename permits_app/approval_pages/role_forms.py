"""Takes an owner's changes to a cage's roles: keys, calls, allowances, payees."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from permits_app.approval_pages.cage_forms import AddressField, CageForm, SessionForm, TargetForm
from permits_app.policy_cage.contract import (
    MOST_RECIPIENTS,
    MOST_ROLES,
    Refill,
    Rule,
    payout_rule,
    recipient_rule,
    role_allowance_rule,
    role_call_rule,
    role_spender_rule,
)
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from tools_app.core.typed_numbers import UnclearNumber, read_typed_units
from tools_app.pages.form_values import read_cleaned
from tools_app.pages.number_reading import make_number_widget
from tools_app.toolkit.context import ChainReader
from tools_app.wording.address_names import find_token, name_address

_HOUR: Final = 3_600
_MOST_HOURS: Final = 10 * 8_760


class RoleField(forms.IntegerField):
    """The number of a role; `least` 1 for what the golem's own role has none of."""

    def __init__(self, *, least: int = 1, **given: Any) -> None:  # Any: Django's own arguments of a field
        words = "1 to 15; the golem's own key is role 0 and bounded by the account's rules alone"
        if least == 0:
            words = "0 for the golem's own key, 1 to 15 for the others"
        super().__init__(
            min_value=least, max_value=MOST_ROLES - 1, widget=UnfoldAdminTextInputWidget(), help_text=words, **given
        )


@dataclass(frozen=True, slots=True)
class _RoleGiven:
    """The number of a role."""

    role: int


class RoleSessionForm(SessionForm):
    """The key of another role, until when, for how much."""

    title = "The key of another role"
    role = RoleField()
    field_order = ("role", "key", "hours", "operations", "budget", "reason")

    def build_arguments(self, *, chain: ChainReader, now: datetime) -> dict[str, object]:
        """As for the golem's own key, and which role it is."""
        given = super().build_arguments(chain=chain, now=now)
        return {**given, "act": "role", "role": read_cleaned(_RoleGiven, self).role}


@dataclass(frozen=True, slots=True)
class _RoleCallGiven(_RoleGiven):
    """A contract, the selector of a function of it, and "1" where the role may call it."""

    target: str
    function: bytes
    may: str


class RoleCallForm(TargetForm):
    """A function, of those the account may call, that a role may call too."""

    title = "A contract and function another role may call"
    role = RoleField()
    field_order = ("role", "target", "function", "may", "reason")

    def build_rules(self, chain: ChainReader) -> list[Rule]:
        """One rule."""
        given = read_cleaned(_RoleCallGiven, self)
        return [role_call_rule(given.role, given.target, given.function, is_allowed=given.may == "1")]


@dataclass(frozen=True, slots=True)
class _RoleSpenderGiven(_RoleGiven):
    """A spender, and "1" where the role may give it an allowance."""

    spender: str
    may: str


class RoleSpenderForm(CageForm):
    """Whom a role may give an allowance, as large as the account's own rules let it be."""

    title = "A spender another role may give an allowance"
    role = RoleField()
    spender = AddressField()
    may = forms.ChoiceField(
        label="It", choices=[("1", "may give it one"), ("0", "may not any more")], widget=UnfoldAdminSelectWidget()
    )
    field_order = ("role", "spender", "may", "reason")

    def build_rules(self, chain: ChainReader) -> list[Rule]:
        """One rule."""
        given = read_cleaned(_RoleSpenderGiven, self)
        return [role_spender_rule(given.role, given.spender, is_allowed=given.may == "1")]


class RefillForm(CageForm):
    """The base: an amount of an approved asset that refills."""

    token = forms.ChoiceField(widget=UnfoldAdminSelectWidget())
    most = forms.CharField(
        label="At most",
        max_length=60,
        widget=make_number_widget("amount"),
        help_text="Whole units; 0 for none",
    )
    back = forms.CharField(
        label="Of which comes back",
        required=False,
        max_length=60,
        widget=make_number_widget("amount"),
        help_text="Whole units; empty for all of it",
    )
    hours = forms.IntegerField(
        label="Every so many hours",
        min_value=0,
        max_value=_MOST_HOURS,
        initial=24,
        widget=UnfoldAdminTextInputWidget(),
        help_text="0: nothing comes back",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: Django's own arguments of a form
        super().__init__(*args, **kwargs)
        chain_id = self.mirror.chain_id
        choices = [(address, name_address(chain_id, address) or address) for address in self.state.assets]
        self.fields["token"].choices = choices  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:  # Any: what Django's fields have cleaned
        """The allowance in base units, as `refill`."""
        given = dict(super().clean() or {})
        token = find_token(self.mirror.chain_id, given.get("token", ""))
        amounts = {}
        for name in ("most", "back"):
            if not (text := str(given.get(name) or given.get("most") or "")):
                continue
            try:
                amounts[name] = read_typed_units(text, token.decimals if token else 18)
            except UnclearNumber as error:
                self.add_error(name, str(error))
        if len(amounts) == 2 and "hours" in given:
            is_back = bool(given["hours"] and amounts["most"])
            refill = Refill(
                amounts["most"],
                amounts["back"] if is_back else 0,
                given["hours"] * _HOUR if is_back and amounts["back"] else 0,
            )
            try:
                refill.pack()
            except ValueError as error:
                self.add_error("back", str(error))
            given["refill"] = refill
        return given


@dataclass(frozen=True, slots=True)
class _RoleAllowanceGiven(_RoleGiven):
    """An asset, and how much of it refills."""

    token: str
    refill: Refill


class RoleAllowanceForm(RefillForm):
    """What a role may let go of an asset."""

    title = "How much of an asset another role may let go"
    role = RoleField()
    field_order = ("role", "token", "most", "back", "hours", "reason")

    def build_rules(self, chain: ChainReader) -> list[Rule]:
        """One rule."""
        given = read_cleaned(_RoleAllowanceGiven, self)
        return [role_allowance_rule(given.role, given.token, given.refill)]


class NumberField(forms.IntegerField):
    """The number under which a recipient is registered."""

    def __init__(self, **given: Any) -> None:  # Any: Django's own arguments of a field
        given.setdefault("help_text", "0 to 255: the number under which the contract knows the recipient")
        super().__init__(min_value=0, max_value=MOST_RECIPIENTS - 1, widget=UnfoldAdminTextInputWidget(), **given)


@dataclass(frozen=True, slots=True)
class _RecipientGiven:
    """The number of a recipient, and who it is; empty for nobody."""

    number: int
    recipient: str


class RecipientForm(CageForm):
    """Who may be paid at all."""

    title = "A recipient who may be paid"
    number = NumberField()
    recipient = AddressField(required=False, help_text="Empty: nobody is paid under this number any more")
    field_order = ("number", "recipient", "reason")

    def build_rules(self, chain: ChainReader) -> list[Rule]:
        """One rule."""
        given = read_cleaned(_RecipientGiven, self)
        return [recipient_rule(given.number, given.recipient or ZERO_ADDRESS)]


@dataclass(frozen=True, slots=True)
class _PayoutGiven(_RoleAllowanceGiven):
    """The same, and the number of whom it is paid to."""

    number: int


class PayoutForm(RefillForm):
    """What a role may pay a recipient."""

    title = "How much a role may pay a recipient"
    role = RoleField(least=0)
    number = NumberField(label="Recipient")
    field_order = ("role", "number", "token", "most", "back", "hours", "reason")

    def build_rules(self, chain: ChainReader) -> list[Rule]:
        """One rule."""
        given = read_cleaned(_PayoutGiven, self)
        return [payout_rule(given.role, given.number, given.token, given.refill)]


ROLE_FORMS: Final[dict[str, type[CageForm]]] = {
    "recipient": RecipientForm,
    "payout": PayoutForm,
    "role": RoleSessionForm,
    "role-call": RoleCallForm,
    "role-spender": RoleSpenderForm,
    "role-allowance": RoleAllowanceForm,
}
