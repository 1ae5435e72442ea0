"""Takes an owner's changes to the cage contract: one form for each kind of rule, in units.

A form only writes a wish down; the contract says what is looser, and the owners of the Safe sign.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Final

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from permits_app.approval_pages.cage_form_values import (
    ActGiven,
    AssetGiven,
    LimitGiven,
    SessionGiven,
    SpenderGiven,
    TargetGiven,
    ValuerGiven,
)
from permits_app.approval_pages.forms import WhyForm
from permits_app.approvals.cage_rules_text import LIMIT_WORDS, PHASES, show_rule
from permits_app.approvals.operations.cage import write_rule
from permits_app.forms import PercentField, UsdField
from permits_app.models import CageMirror
from permits_app.policy_cage.contract import (
    AssetRule,
    AssetState,
    Limit,
    Rule,
    RuleKind,
    address_key,
    asset_rules,
    call_rule,
    guardian_rule,
    limit_key,
    limit_rule,
    spender_rule,
    valuer_rule,
)
from permits_app.policy_cage.feed_bounds import LARGEST_ANSWER, MOST_JUMP_PERCENT
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from permits_app.policy_cage.state import CageState
from permits_app.policy_cage.suggested_bounds import USUAL_JUMP_PERCENT, read_bounds
from tools_app.chain.abi import checksum
from tools_app.chain.feeds import DEFAULT_MAX_AGE_SECONDS
from tools_app.chain.signatures import parse_signature
from tools_app.core.errors import InvalidParams
from tools_app.core.typed_numbers import UnclearNumber, read_typed_units
from tools_app.pages.form_values import read_cleaned
from tools_app.pages.number_reading import PRICE, make_number_widget, read_as
from tools_app.toolkit.context import ChainReader
from tools_app.wording.address_names import find_token, known_deployment, name_address

_FLAGS: Final = {"yes": 1, "allowed": 1, "on": 1, "no": 0, "refused": 0, "off": 0}


class AddressField(forms.CharField):
    """0x and 40 hex digits; checksummed inside."""

    def __init__(self, **given: Any) -> None:  # Any: Django's own arguments of a field
        given.setdefault("widget", UnfoldAdminTextInputWidget(attrs={"placeholder": "0x…", "spellcheck": "false"}))
        super().__init__(max_length=42, **given)

    def to_python(self, value: object) -> str:
        """With its checksum, or empty."""
        text = str(super().to_python(value) or "").strip()
        if not text:
            return ""
        try:
            bytes.fromhex(text.removeprefix("0x"))
            if len(text) != 42:
                raise ValueError
        except ValueError:
            raise forms.ValidationError("An address is 0x and 40 hex digits.") from None
        return checksum(text)


class CageForm(WhyForm):
    """The base: what is asked, and why. `state` is the contract as the mirror knows it."""

    title: ClassVar[str] = ""

    def __init__(self, *args: Any, mirror: CageMirror, **kwargs: Any) -> None:  # Any: Django's own arguments of a form
        super().__init__(*args, **kwargs)
        self.mirror, self.state = mirror, CageState.from_dict(mirror.state)
        self.fields["reason"].widget.attrs.pop("autofocus", None)
        self.fields["reason"].widget.attrs["rows"] = 2

    def build_rules(self, chain: ChainReader) -> list[Rule]:
        """The rules it asks for; none unless a form says so. Reads the chain where a feed is needed."""
        return []

    def build_arguments(self, *, chain: ChainReader, now: datetime) -> dict[str, object]:
        """The arguments of the owners' operation `cage`."""
        return {"act": "propose", "rules": [write_rule(rule) for rule in self.build_rules(chain)]}


class LimitForm(CageForm):
    """One of the sixteen limits."""

    title = "A limit"
    limit = forms.TypedChoiceField(
        coerce=int,
        choices=[(int(limit), words) for limit, words in LIMIT_WORDS.items()],
        widget=UnfoldAdminSelectWidget(),
    )
    value = forms.CharField(
        max_length=40,
        widget=UnfoldAdminTextInputWidget(),
        help_text="Percent, dollars, seconds, coins or a count, as the limit has it; yes or no; a phase",
    )
    field_order = ("limit", "value", "reason")

    def clean(self) -> dict[str, Any]:  # Any: what Django's fields have cleaned
        """The value in the limit's own unit."""
        given = dict(super().clean() or {})
        if "limit" in given and "value" in given:
            try:
                given["number"] = parse_limit(Limit(given["limit"]), given["value"])
            except forms.ValidationError as error:
                self.add_error("value", error)
        return given

    def build_rules(self, chain: ChainReader) -> list[Rule]:
        """One rule."""
        given = read_cleaned(LimitGiven, self)
        return [limit_rule(Limit(given.limit), given.number)]


class TargetForm(CageForm):
    """A function of a contract the golem may call."""

    title = "A contract and function it may call"
    target = AddressField()
    function = forms.CharField(
        max_length=400,
        widget=UnfoldAdminTextInputWidget(),
        help_text="Its signature, such as swap(address,uint256), or a selector such as 0x38ed1739",
    )
    may = forms.ChoiceField(
        label="It", choices=[("1", "may call it"), ("0", "may not call it any more")], widget=UnfoldAdminSelectWidget()
    )
    field_order: tuple[str, ...] = ("target", "function", "may", "reason")

    def clean_function(self) -> bytes:
        """Four bytes."""
        text = str(self.cleaned_data["function"]).strip()
        try:
            if text.startswith("0x"):
                selector = bytes.fromhex(text[2:])
                if len(selector) != 4:
                    raise ValueError
                return selector
            return parse_signature(text if text.startswith("function ") else f"function {text}").selector
        except (ValueError, InvalidParams):
            raise forms.ValidationError("Write a signature, or a selector of four bytes.") from None

    def build_rules(self, chain: ChainReader) -> list[Rule]:
        """One rule."""
        given = read_cleaned(TargetGiven, self)
        return [call_rule(given.target, given.function, is_allowed=given.may == "1")]


class SpenderForm(CageForm):
    """Who may be given an allowance, and of how much."""

    title = "A spender and its largest allowance"
    spender = AddressField()
    most = UsdField(label="Largest allowance", help_text="US dollars per token, by its value then; 0 for none")
    field_order = ("spender", "most", "reason")

    def build_rules(self, chain: ChainReader) -> list[Rule]:
        """One rule."""
        given = read_cleaned(SpenderGiven, self)
        return [spender_rule(given.spender, most_micro_usd=given.most)]


class AssetForm(CageForm):
    """A token that counts: approved with its feed and caps, only to be sold, or not any more."""

    title = "An asset and how much of it may leave"
    token = forms.ChoiceField(widget=UnfoldAdminSelectWidget())
    becomes = forms.ChoiceField(
        choices=[("approved", "approved"), ("retiring", "only to be sold"), ("absent", "not an asset any more")],
        widget=UnfoldAdminSelectWidget(),
    )
    per_batch = forms.CharField(
        label="May leave in one batch",
        required=False,
        max_length=60,
        widget=make_number_widget("amount"),
        help_text="In whole units of the token; empty leaves it as it is",
    )
    per_window = forms.CharField(
        label="May leave within 24 h", required=False, max_length=60, widget=make_number_widget("amount")
    )
    jump = forms.IntegerField(
        label="Its price may jump by, in per cent",
        required=False,
        min_value=0,
        max_value=MOST_JUMP_PERCENT,
        widget=UnfoldAdminTextInputWidget(),
        help_text="Since the last batch; 0 for any, empty leaves it as it is",
    )
    least = forms.CharField(
        label="Its price is above",
        required=False,
        max_length=60,
        widget=make_number_widget("price"),
        help_text="US dollars; 0 asks nothing, empty leaves it as it is",
    )
    most = forms.CharField(
        label="Its price is below", required=False, max_length=60, widget=make_number_widget("price")
    )
    field_order = ("token", "becomes", "per_batch", "per_window", "jump", "least", "most", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: Django's own arguments of a form
        super().__init__(*args, **kwargs)
        chain_id = self.mirror.chain_id
        deployment = known_deployment(chain_id)
        addresses = dict.fromkeys([*self.state.assets, *(deployment.feeds if deployment else ())])
        choices = [(address, name_address(chain_id, address) or address) for address in addresses]
        self.fields["token"].choices = choices  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:  # Any: what Django's fields have cleaned
        """Caps in base units."""
        given = dict(super().clean() or {})
        token = find_token(self.mirror.chain_id, given.get("token", ""))
        for name in ("per_batch", "per_window"):
            if not given.get(name):
                given[name] = None
                continue
            try:
                given[name] = read_typed_units(str(given[name]), token.decimals if token else 18)
            except UnclearNumber as error:
                self.add_error(name, str(error))
        for name in ("least", "most"):
            try:
                given[name] = read_as(PRICE, given[name]) if given.get(name) else None
            except UnclearNumber as error:
                self.add_error(name, str(error))
        return given

    def build_rules(self, chain: ChainReader) -> list[Rule]:
        """The asset with its caps. Raises InvalidParams for a token without a feed."""
        given = read_cleaned(AssetGiven, self)
        key = address_key(given.token)
        batch = self.state.rule(RuleKind.OUTFLOW_PER_BATCH, key) if given.per_batch is None else given.per_batch
        window = self.state.rule(RuleKind.OUTFLOW_PER_WINDOW, key) if given.per_window is None else given.per_window
        known = self.state.asset(given.token)
        if given.becomes == "absent":
            return [
                Rule(RuleKind.ASSET, key, 0),
                Rule(RuleKind.OUTFLOW_PER_BATCH, key, 0),
                Rule(RuleKind.OUTFLOW_PER_WINDOW, key, 0),
            ]
        state = AssetState.APPROVED if given.becomes == "approved" else AssetState.RETIRING
        if known is not None:
            asset = replace(known, state=state)
        else:
            asset = self._read_asset(chain, given.token, state)
        asset = _bound(given, asset)
        return asset_rules(given.token, asset, per_batch=batch, per_window=window)

    def _read_asset(self, chain: ChainReader, address: str, state: AssetState) -> AssetRule:
        deployment, meta = known_deployment(self.mirror.chain_id), find_token(self.mirror.chain_id, address)
        feed = deployment.feeds.get(address) if deployment else None
        if feed is None or meta is None:
            raise InvalidParams("this token has no feed, so the cage could not value it", fields={"token": "no feed"})
        least, most = read_bounds(chain, feed.address)
        return AssetRule(
            feed=feed.address,
            max_age_seconds=feed.max_age_seconds or DEFAULT_MAX_AGE_SECONDS,
            token_decimals=meta.decimals,
            feed_decimals=chain.price(meta).decimals,
            state=state,
            most_jump_percent=USUAL_JUMP_PERCENT,
            least=least,
            most=most,
        )


def _bound(given: AssetGiven, asset: AssetRule) -> AssetRule:
    """With the bounds that were written; a bound of the feed is in its own units. Raises InvalidParams."""
    if given.jump is not None:
        asset = replace(asset, most_jump_percent=given.jump)
    if given.least is not None:
        asset = replace(asset, least=_scale_price("least", given.least, asset.feed_decimals))
    if given.most is not None:
        asset = replace(asset, most=_scale_price("most", given.most, asset.feed_decimals))
    return asset


def _scale_price(name: str, dollars: Decimal, decimals: int) -> int:
    """The price in the feed's units. Raises InvalidParams for more than the contract takes from any feed."""
    price = int(dollars.scaleb(decimals))
    if price > LARGEST_ANSWER:
        raise InvalidParams("no feed answers so high a price", fields={name: "more than any feed answers"})
    return price


class ValuerForm(CageForm):
    """Which contract says what a position is worth."""

    title = "A position and who values it"
    target = AddressField(help_text="Where the position lies, such as a position manager or a pool")
    valuer = AddressField(required=False, help_text="Empty: it counts as nothing")
    field_order = ("target", "valuer", "reason")

    def build_rules(self, chain: ChainReader) -> list[Rule]:
        """One rule."""
        given = read_cleaned(ValuerGiven, self)
        return [valuer_rule(given.target, given.valuer or ZERO_ADDRESS)]


class GuardianForm(CageForm):
    """Who may halt the cage, and nothing else."""

    title = "The guardian"
    guardian = AddressField(required=False, help_text="Empty for nobody. It can halt and nothing else")
    field_order = ("guardian", "reason")

    def build_rules(self, chain: ChainReader) -> list[Rule]:
        """One rule."""
        return [guardian_rule(self.cleaned_data["guardian"] or ZERO_ADDRESS)]


class SessionForm(CageForm):
    """The golem's key, until when, for how much."""

    title = "The session key"
    key = AddressField(required=False, help_text="The golem's key; empty ends the session")
    hours = forms.IntegerField(min_value=0, max_value=8_760, initial=168, widget=UnfoldAdminTextInputWidget())
    operations = forms.IntegerField(min_value=0, initial=1_000, widget=UnfoldAdminTextInputWidget())
    budget = UsdField(help_text="US dollars its batches may move together")
    field_order: tuple[str, ...] = ("key", "hours", "operations", "budget", "reason")

    def build_arguments(self, *, chain: ChainReader, now: datetime) -> dict[str, object]:
        """A session, not a rule."""
        given = read_cleaned(SessionGiven, self)
        expires = int(now.timestamp()) + given.hours * 3_600 if given.key else 0
        return {
            "act": "session",
            "key": given.key or ZERO_ADDRESS,
            "expires_at": expires,
            "operations": given.operations if given.key else 0,
            "budget_micro_usd": given.budget if given.key else 0,
        }


class ActForm(CageForm):
    """Halt, resume, acknowledge, take prices, enable, disable, or cancel what waits: nothing to fill in but why."""

    kind = forms.IntegerField(required=False, widget=forms.HiddenInput())
    key = forms.CharField(required=False, max_length=66, widget=forms.HiddenInput())

    def __init__(self, *args: Any, act: str, **kwargs: Any) -> None:  # Any: Django's own arguments of a form
        super().__init__(*args, **kwargs)
        self.act = act

    def build_arguments(self, *, chain: ChainReader, now: datetime) -> dict[str, object]:
        """The act, and for a cancellation which change."""
        found: dict[str, object] = {"act": self.act}
        if self.act == "cancel":
            given = read_cleaned(ActGiven, self)
            found |= {"kind": given.kind or 0, "key": given.key}
        return found


RULE_FORMS: Final[dict[str, type[CageForm]]] = {
    "limit": LimitForm,
    "target": TargetForm,
    "spender": SpenderForm,
    "asset": AssetForm,
    "valuer": ValuerForm,
    "guardian": GuardianForm,
    "session": SessionForm,
}
ACTS: Final = ("halt", "resume", "acknowledge", "prices", "enable", "disable", "cancel")


def parse_limit(limit: Limit, text: str) -> int:
    """The limit's number from text in its unit. Raises ValidationError."""
    plain = text.strip().lower()
    if limit is Limit.PHASE:
        names = [phase.value.lower() for phase in PHASES]
        if plain not in names:
            raise forms.ValidationError(f"One of {', '.join(names)}.")
        return names.index(plain)
    if limit is Limit.ALLOWS_ARBITRARY_CALLS:
        if plain not in _FLAGS:
            raise forms.ValidationError("Yes or no.")
        return _FLAGS[plain]
    if limit.name.endswith("_BPS"):
        return int(PercentField(most_bps=1_000_000).to_python(plain) or 0)
    if limit.name.endswith("_MICRO_USD"):
        return int(UsdField().to_python(plain) or 0)
    try:
        return read_typed_units(plain, 18 if limit.name.endswith("_WEI") else 0)
    except UnclearNumber as error:
        raise forms.ValidationError(str(error)) from None


def describe_limits(state: CageState, *, chain_id: int) -> list[tuple[str, str]]:
    """Every limit in words, as the contract has it."""
    return [
        (words, show_rule(RuleKind.LIMIT, limit_key(limit), state.limit(limit), chain_id=chain_id))
        for limit, words in LIMIT_WORDS.items()
    ]
