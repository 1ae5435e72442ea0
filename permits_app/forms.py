"""Forms for limits, cage, allowlist, permits and wallets: dollars and percent for people, integers stored."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import (
    UnfoldAdminFileFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminPasswordWidget,
    UnfoldAdminRadioSelectWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldBooleanWidget,
)

from archetypes_app.chain_choices import list_chains
from archetypes_app.forms import GolemForm, NewGolemForm
from archetypes_app.models import Golem
from permits_app.halts.halt_choices import SAYS, HaltChoice
from permits_app.models import AllowlistEntry, PolicyCage, SpendingLimits
from permits_app.models.halt import MOST_LOSS_BPS, HaltSetting
from permits_app.models.spending import ALIKE_WINDOW
from permits_app.permits.leaving_chains import find_tie
from tools_app.chain.abi import checksum
from tools_app.core.bounded_parsing import read_exact_json
from tools_app.core.json_types import JsonObject
from tools_app.core.plain_text import PlainTextField
from tools_app.core.typed_numbers import UnclearNumber
from tools_app.core.units import MICRO_USD_PER_USD, usd_to_micro
from tools_app.pages.confirmation import ReasonForm
from tools_app.pages.number_reading import PERCENT, USD, make_number_widget, read_as
from tools_app.pages.opened_rows import OpenedForm
from tools_app.wording.formats import format_chain, format_usd

LARGEST_USD = 1_000_000_000_000
KEYSTORE_BYTES = 16_384


class UsdField(forms.CharField):
    """Dollars as text, `10,000.00`; an integer of micro-USD inside."""

    def __init__(self, **kwargs: Any) -> None:  # Any: Django's own
        kwargs.setdefault("widget", make_number_widget("usd"))
        kwargs.setdefault("help_text", "US dollars, for example 10,000.00")
        super().__init__(**kwargs)

    def prepare_value(self, value: object) -> object:
        """Micro-USD as dollars; what the person typed stays as typed."""
        if isinstance(value, int):
            dollars = Decimal(value) / MICRO_USD_PER_USD
            return f"{dollars:,.2f}" if value % 10_000 == 0 else f"{dollars:,f}"
        return value

    def to_python(self, value: object) -> Any:  # Any: as Django types it
        """Micro-USD. Refuses negative, endless and too fine amounts."""
        if isinstance(value, int):
            return value
        text = super().to_python(value)
        if not text:
            return None
        try:
            amount = read_as(USD, text)
        except UnclearNumber as error:
            raise ValidationError(str(error)) from None
        if amount > LARGEST_USD:
            raise ValidationError(f"Between 0 and {LARGEST_USD:,} dollars.")
        return usd_to_micro(amount)


class PercentField(forms.CharField):
    """Percent as text, `25` or `0.5`; integer basis points inside."""

    def __init__(self, *, least_bps: int = 0, most_bps: int = 10_000, **kwargs: Any) -> None:  # Any: Django's own
        self.least_bps, self.most_bps = least_bps, most_bps
        kwargs.setdefault("widget", make_number_widget("percent"))
        super().__init__(**kwargs)

    def prepare_value(self, value: object) -> object:
        """Basis points as percent."""
        return f"{Decimal(value) / 100:f}" if isinstance(value, int) else value

    def to_python(self, value: object) -> Any:  # Any: as Django types it
        """Basis points."""
        if isinstance(value, int):
            return value
        text = super().to_python(value)
        if not text:
            return None
        try:
            scaled = read_as(PERCENT, text) * 100
        except UnclearNumber as error:
            raise ValidationError(str(error)) from None
        if not self.least_bps <= scaled <= self.most_bps:
            raise ValidationError(f"Between {Decimal(self.least_bps) / 100:f}% and {Decimal(self.most_bps) / 100:f}%.")
        return int(scaled)


class SpendingLimitsForm(forms.ModelForm[SpendingLimits]):
    """What a golem may spend, in dollars."""

    per_transaction_micro_usd = UsdField(label="Per transaction", help_text="US dollars; the worst case, gas included")
    per_tick_micro_usd = UsdField(label="Per heartbeat tick")
    per_session_micro_usd = UsdField(
        label="Per session",
        help_text="US dollars; one API key, or those made to share it",
    )
    per_day_micro_usd = UsdField(label="Per 24 hours", help_text="US dollars, rolling")
    trading_costs_per_day_micro_usd = UsdField(
        label="Trading costs per 24 hours", help_text="US dollars; fees, slippage and price impact of all trades"
    )
    trading_costs_per_pair_micro_usd = UsdField(
        label="Of one pair", help_text="US dollars; the same, of the trades between two tokens"
    )
    trading_costs_per_venue_micro_usd = UsdField(
        label="At one venue", help_text="US dollars; the same, of the trades at one venue"
    )
    hot_lane_micro_usd = UsdField(
        label="Without the safety guardian, at most",
        help_text="US dollars; above this the safety-guardian must approve",
    )
    most_alike_calls = forms.IntegerField(
        label="Of 20 actions, how many may be alike",
        min_value=1,
        max_value=ALIKE_WINDOW,
        initial=ALIKE_WINDOW,
        widget=UnfoldAdminIntegerFieldWidget(),
        help_text="Alike are actions within an hour that differ in numbers only. 20 is no limit; 12 stops an agent that"
        " goes round in circles by amounts changed a little. Getting out is never held back.",
    )
    max_slippage_bps = PercentField(label="Slippage at most (%)", most_bps=5_000)
    max_price_impact_bps = PercentField(label="Price impact at most (%)", most_bps=5_000)

    class Meta:
        model = SpendingLimits
        fields: tuple[str, ...] = (
            "golem",
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

    def clean(self) -> JsonObject:
        """A limit that is changed has to fit the wider ones: what one transaction may move fits into a day."""
        cleaned = super().clean() or {}
        for inner, outer in _NESTED_LIMITS:
            one, many = cleaned.get(inner), cleaned.get(outer)
            if one is None or many is None or one <= many or not {inner, outer} & set(self.changed_data):
                continue
            wider = str(self.fields[outer].label or outer).lower()
            words = f"More than {wider} allows ({format_usd(many)}); lower this or raise that."
            self.add_error(inner if inner in self.changed_data else outer, words)
        return cleaned


_NESTED_LIMITS = (
    ("per_transaction_micro_usd", "per_day_micro_usd"),
    ("per_transaction_micro_usd", "per_session_micro_usd"),
    ("per_tick_micro_usd", "per_day_micro_usd"),
)


class PolicyCageForm(forms.ModelForm[PolicyCage]):
    """What a golem never exceeds, in percent of its portfolio."""

    max_position_bps = PercentField(label="One venue position (%)", help_text="Percent of the portfolio")
    max_concentration_bps = PercentField(
        label="One asset (%)", least_bps=500, help_text="Percent of the portfolio; the base asset is free"
    )
    max_issuer_bps = PercentField(
        label="One issuer (%)", help_text="Percent of the portfolio that one issuer stands behind; 100 is no limit"
    )
    max_bridge_bps = PercentField(
        label="One bridge (%)", help_text="Percent of the portfolio that came or comes over one bridge; 100 is no limit"
    )
    max_oracle_bps = PercentField(
        label="One oracle (%)",
        help_text="Percent of the portfolio in positions that believe one oracle; 100 is no limit",
    )
    max_drawdown_bps = PercentField(
        label="Drawdown (%)", least_bps=100, most_bps=5_000, help_text="From the high-water mark within 24 h"
    )
    min_collateral_ratio_bps = PercentField(
        label="Collateral ratio at least (%)", least_bps=10_500, most_bps=100_000, help_text="125 is 1.25 to 1"
    )
    min_health_bps = PercentField(
        label="Health at least (%)",
        least_bps=11_500,
        most_bps=100_000,
        help_text="150 is 1.5 times what is owed, at liquidation value",
    )
    min_range_ticks = forms.IntegerField(
        label="Range of a pool at least (ticks)",
        min_value=1,
        max_value=1_774_544,
        help_text="500 are 5.1%. What lies in a narrower one is lost to whoever trades when the price leaves it",
    )

    class Meta:
        model = PolicyCage
        fields: tuple[str, ...] = (
            "golem",
            "max_assets",
            "max_position_bps",
            "max_concentration_bps",
            "max_issuer_bps",
            "max_bridge_bps",
            "max_oracle_bps",
            "max_drawdown_bps",
            "min_collateral_ratio_bps",
            "min_health_bps",
            "min_range_ticks",
            "min_rebalance_interval_seconds",
            "max_rebalances_per_day",
            "is_action_gate_on",
            "allows_arbitrary_calldata",
        )
        help_texts = {
            "min_rebalance_interval_seconds": "Seconds",
            "allows_arbitrary_calldata": "Off: only functions that a protocol here declares are called. Leave it off",
        }


def offer_chains(form: forms.ModelForm[Any]) -> None:  # Any: forms of several models
    """Have a row's chain chosen among those there are, and the one it has."""
    if "chain_id" in form.fields:
        chains = dict(list_chains())
        current = form.instance.chain_id
        if current is not None:
            chains.setdefault(current, format_chain(current))
        form.fields["chain_id"] = forms.TypedChoiceField(
            label="Chain", choices=sorted(chains.items()), coerce=int, widget=UnfoldAdminSelectWidget()
        )


class AllowlistEntryForm(forms.ModelForm[AllowlistEntry]):
    """One allowed address; a mistyped checksum is refused."""

    class Meta:
        model = AllowlistEntry
        fields = ("golem", "chain_id", "kind", "address", "label")

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: Django's own
        super().__init__(*args, **kwargs)
        offer_chains(self)

    def clean_address(self) -> str:
        """EIP-55; mixed case must carry the right checksum."""
        return clean_checksum(str(self.cleaned_data["address"]))


def clean_checksum(text: str) -> str:
    """An address in EIP-55 form. Raises ValidationError when it is none, or its mixed case does not add up."""
    text = text.strip()
    digits = text[2:]
    if not text.startswith("0x") or len(digits) != 40 or any(d not in "0123456789abcdefABCDEF" for d in digits):
        raise ValidationError("An address is 0x and 40 hex digits.")
    proper = checksum(text)
    if digits not in (digits.lower(), digits.upper()) and text != proper:
        raise ValidationError("The checksum of this address is wrong; was a letter mistyped?")
    return proper


class ShortenForm(forms.Form):
    """How long a permit may still live."""

    seconds_left = forms.IntegerField(
        label="Seconds from now",
        min_value=0,
        max_value=3_600,
        widget=UnfoldAdminIntegerFieldWidget(),
        help_text="0 ends it at once",
    )


class PinForm(forms.Form):
    """Whether a golem keeps to the definitions its owner saw."""

    is_pinned = forms.BooleanField(
        required=False, label="Only tools that read as they do now", help_text="Saving looks at all of them again"
    )


class HaltForm(ReasonForm):
    """Why, and whether it is only rehearsed."""

    is_drill = forms.BooleanField(
        label="Drill",
        required=False,
        widget=UnfoldBooleanWidget(),
        help_text="Report what a halt would stop, and change nothing",
    )


class NoteForm(OpenedForm):
    """The owner's words about a permit."""

    note = PlainTextField(max_length=2_000, widget=UnfoldAdminTextareaWidget(attrs={"rows": 4, "autofocus": True}))


class PasswordForm(forms.Form):
    """The person proves again who they are."""

    password = forms.CharField(
        label="Your account password",
        strip=False,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "current-password", "autofocus": True}),
    )

    def __init__(
        self,
        *args: Any,  # Any: whoever is signed in, of the project's user model
        user: Any,  # Any: whoever is signed in, of the project's user model
        **kwargs: Any,  # Any: whoever is signed in, of the project's user model
    ) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_password(self) -> str:
        """It must be the account's."""
        password = str(self.cleaned_data["password"])
        if not self.user.check_password(password):
            raise ValidationError("That is not your password.")
        return password


class WalletSource:
    """Where a golem's wallet comes from."""

    CREATE = "create"
    IMPORT = "import"
    NONE = "none"


class WalletForm(forms.Form):
    """Second page of the wizard: a new key, an imported keystore file, or none."""

    source = forms.ChoiceField(
        label="Wallet",
        choices=[
            (WalletSource.CREATE, "Make a new wallet on this server"),
            (WalletSource.IMPORT, "Import a keystore file (v3 JSON)"),
            (WalletSource.NONE, "No wallet: the golem only reads"),
        ],
        initial=WalletSource.CREATE,
        widget=UnfoldAdminRadioSelectWidget(),
    )
    keystore = forms.FileField(
        label="Keystore file", required=False, widget=UnfoldAdminFileFieldWidget(), help_text="Only when importing"
    )
    passphrase = forms.CharField(
        label="Its passphrase",
        required=False,
        strip=False,
        help_text="Used once to open the file, never stored",
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "off"}),
    )

    def clean(self) -> JsonObject:
        """An import needs its file and passphrase."""
        cleaned = super().clean() or {}
        if cleaned.get("source") == WalletSource.IMPORT:
            if not cleaned.get("keystore"):
                self.add_error("keystore", "Choose the keystore file to import.")
            else:
                cleaned["document"] = self._read_document(cleaned["keystore"])
            if not cleaned.get("passphrase"):
                self.add_error("passphrase", "The keystore file opens only with its passphrase.")
        return cleaned

    def _read_document(self, upload: Any) -> str:  # Any: an uploaded file, of whatever Django kept it in
        if upload.size > KEYSTORE_BYTES:
            self.add_error("keystore", "A keystore file is smaller than 16 KiB.")
            return ""
        try:
            text = str(upload.read().decode("utf-8"))
            document = read_exact_json(text, most_bytes=KEYSTORE_BYTES)
        except ValueError:
            self.add_error("keystore", "This is not a JSON file.")
            return ""
        if not isinstance(document, dict) or document.get("version") != 3:
            self.add_error("keystore", "This is not a keystore file of version 3.")
            return ""
        return text


class HaltChoiceForm(forms.Form):
    """What an owner wants a halt to do, in the words that agents read too."""

    on_halt = forms.ChoiceField(
        label="If it is stopped",
        choices=[(each.value, SAYS[each]) for each in HaltChoice],
        initial=HaltChoice.STOP.value,
        required=False,
        widget=UnfoldAdminRadioSelectWidget(),
        help_text="You, your co-owners and the golem's agent can stop it; only you start it again",
    )
    most_loss_bps = PercentField(
        label="Lost at most in a sale then (%)",
        least_bps=1,
        most_bps=MOST_LOSS_BPS,
        required=False,
        initial=300,
        help_text="Against the price feeds, fees and slippage included; what would lose more stays and is tried again",
    )


class HaltSettingForm(forms.ModelForm[HaltSetting]):
    """What a halt of a golem does."""

    most_loss_bps = PercentField(
        label="Lost at most in a sale (%)",
        least_bps=1,
        most_bps=MOST_LOSS_BPS,
        required=False,
        help_text="Against the price feeds, fees and slippage included; what would lose more stays and is tried again",
    )

    class Meta:
        model = HaltSetting
        fields = ("golem", "unwind_on_halt", "sell_on_halt", "exchange_on_halt", "most_loss_bps")

    def clean(self) -> JsonObject:
        """Who leaves everything leaves positions and pays debts by selling."""
        cleaned = super().clean() or {}
        if cleaned.get("exchange_on_halt"):
            cleaned |= {"unwind_on_halt": True, "sell_on_halt": True}
        if cleaned.get("most_loss_bps") is None:
            cleaned["most_loss_bps"] = self.instance.most_loss_bps
        return cleaned


class WizardGolemForm(NewGolemForm):
    """First page of the wizard, and how much money its limits shall fit."""

    works_with = UsdField(
        label="What it works with",
        required=False,
        help_text="US dollars, about. Its limits are made to fit; the next pages show them and let you change them",
    )
    field_order = (
        "name",
        "intent",
        "works_with",
        "home_chain_id",
        "other_chain_ids",
        "base_asset",
        "archetype",
        "profiles",
    )


class WizardLimitsForm(HaltChoiceForm, SpendingLimitsForm):
    """Third page of the wizard: limits, and what may be touched, prefilled with what the chain registers."""

    allowlist = forms.MultipleChoiceField(
        label="May be touched",
        required=False,
        widget=forms.CheckboxSelectMultiple(),
        help_text="Ticked is what it is for needs. What is not ticked is refused until you allow it",
    )

    class Meta(SpendingLimitsForm.Meta):
        fields: tuple[str, ...] = tuple(name for name in SpendingLimitsForm.Meta.fields if name != "golem")

    def __init__(self, *args: Any, choices: list[tuple[str, str]], **kwargs: Any) -> None:  # Any: Django's own
        super().__init__(*args, **kwargs)
        self.fields["allowlist"].choices = choices  # type: ignore[attr-defined]
        for name in ("writes_per_hour", "allowlist_mode"):
            widget = UnfoldAdminSelectWidget() if name == "allowlist_mode" else UnfoldAdminIntegerFieldWidget()
            if name == "allowlist_mode":
                widget.choices = self.fields[name].choices  # type: ignore[attr-defined]
            self.fields[name].widget = widget


class GolemOfChainsForm(GolemForm):
    """What an owner may change of a golem; a chain goes when nothing of the golem is bound to it any more."""

    def clean(self) -> JsonObject:
        """Its chains may be changed to these. Rows of what it holds say so."""
        cleaned = super().clean()
        if {"home_chain_id", "other_chain_ids"} & set(self.changed_data) and not self.errors:
            home = cleaned.get("home_chain_id", self.instance.home_chain_id)
            before = Golem.objects.get(pk=self.instance.pk)
            if tie := find_tie(before, chains=[home, *cleaned.get("other_chain_ids", before.other_chain_ids)]):
                self.add_error("other_chain_ids" if "other_chain_ids" in self.fields else None, tie)
        return cleaned
