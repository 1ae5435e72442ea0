"""Forms of approvals: a decision, a comment, and what an owner asks for."""

from __future__ import annotations

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from archetypes_app.models.golem import PHASE_CHOICES
from permits_app.approval_pages.second_factor_forms import make_code_field, make_passkey_field
from permits_app.models.approval import Verdict
from tools_app.core.plain_text import PlainTextField
from tools_app.pages.opened_rows import OpenedForm


def make_signature_field() -> forms.CharField:
    """What an owner's wallet, or `manage.py sign_request`, answered."""
    return forms.CharField(
        label="Your signature",
        required=False,
        max_length=200,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off", "spellcheck": "false", "placeholder": "0x…"}),
        help_text="65 bytes over the hash above; your wallet fills it in, or manage.py sign_request prints it",
    )


class DecisionForm(forms.Form):
    """Approve or reject; the button says which."""

    code = make_code_field(help_text="Six digits, used once. Asked for when you approve")
    passkey = make_passkey_field()
    reason = PlainTextField(
        required=False,
        max_length=1_000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        help_text="Needed to reject; kept in the audit log",
    )
    is_empty_wanted = forms.BooleanField(
        label="The new account is empty, and that is what I want",
        required=False,
        widget=UnfoldBooleanWidget(),
        help_text="Nothing moves with this. Until somebody funds it the golem pays for no gas and trades nothing",
    )
    signature = make_signature_field()
    digest = forms.CharField(max_length=66, widget=forms.HiddenInput())
    verdict = forms.ChoiceField(choices=Verdict.choices, widget=forms.HiddenInput())


class SignatureForm(forms.Form):
    """A signature without a decision."""

    signature = make_signature_field()
    digest = forms.CharField(max_length=66, widget=forms.HiddenInput())


class CommentForm(forms.Form):
    """Words for the other owners."""

    text = PlainTextField(
        label="Comment",
        max_length=2_000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        help_text="Decides nothing",
    )


class WhyForm(forms.Form):
    """Why a change is asked for; shown to who decides."""

    reason = PlainTextField(
        label="Why",
        max_length=500,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3, "autofocus": True}),
        help_text="Shown to the owners who decide, and kept in the audit log",
    )


class StrategyForm(WhyForm):
    """A section of the strategy."""

    section = PlainTextField(max_length=80, widget=UnfoldAdminTextInputWidget(), help_text="Its heading")
    text = PlainTextField(
        max_length=8_000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 10}),
        help_text="Markdown; headings inside start with ###",
    )
    field_order = ("section", "text", "reason")


class OwnersForm(OpenedForm, WhyForm):
    """Who co-owns the golem."""

    co_owners = forms.CharField(
        label="Co-owners",
        required=False,
        max_length=500,
        widget=UnfoldAdminTextInputWidget(),
        help_text="User names, separated by commas; empty for none",
    )
    field_order = ("co_owners", "reason")

    def clean_co_owners(self) -> list[str]:
        """As a list of names."""
        return [name.strip() for name in str(self.cleaned_data["co_owners"]).split(",") if name.strip()]


class PhaseWishForm(WhyForm):
    """The phase asked for."""

    to = forms.ChoiceField(label="Phase", choices=PHASE_CHOICES, widget=UnfoldAdminSelectWidget())
    field_order = ("to", "reason")


class ResumeForm(WhyForm):
    """Why; and whether a heartbeat that was live acts again at once."""

    live = forms.BooleanField(
        label="Live at once",
        required=False,
        widget=UnfoldBooleanWidget(),
        help_text="Else it rehearses until you set it live",
    )

    def __init__(
        self,
        *args: Any,  # Any: Django's own arguments of a form
        was_live: bool = False,
        **kwargs: Any,  # Any: as above
    ) -> None:  # Any: Django's own arguments of a form
        super().__init__(*args, **kwargs)
        if not was_live:
            del self.fields["live"]
