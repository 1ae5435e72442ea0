"""Forms of the second factor: setting up an authenticator, adding, naming and removing a passkey, and its challenge."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminTextInputWidget

from permits_app.approvals.passkey_challenges import FactorUse
from permits_app.approvals.passkeys import LONGEST_ANSWER
from permits_app.approvals.second_factor import HeldFactors
from permits_app.models.passkey import LONGEST_NAME
from tools_app.core.plain_text import PlainTextField

_CODE = {"inputmode": "numeric", "autocomplete": "one-time-code", "maxlength": "7", "placeholder": "123 456"}


def make_code_field(**given: Any) -> forms.CharField:  # Any: Django's own arguments of a field
    """Six digits of an authenticator."""
    return forms.CharField(
        label="Code of your authenticator",
        required=False,
        max_length=7,
        widget=UnfoldAdminTextInputWidget(attrs=_CODE),
        **given,
    )


def make_passkey_field() -> forms.CharField:
    """What a passkey answered, as JSON; a script fills it in, and no page shows it again."""
    return forms.CharField(required=False, max_length=LONGEST_ANSWER, widget=forms.HiddenInput())


def make_name_field(**given: Any) -> PlainTextField:  # Any: Django's own arguments of a field
    """How its owner calls a passkey."""
    return PlainTextField(
        label="Name",
        max_length=LONGEST_NAME,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off", "placeholder": "my telephone"}),
        **given,
    )


class FactorForm(forms.Form):
    """A second factor that is there already, for what changes the second factors."""

    old_code = make_code_field()
    passkey = make_passkey_field()

    def __init__(self, *args: Any, held: HeldFactors, **kwargs: Any) -> None:  # Any: Django's own arguments of a form
        super().__init__(*args, **kwargs)
        if not held.has_code:
            del self.fields["old_code"]


class CodeAndPasswordForm(FactorForm):
    """And the password of who is signed in."""

    proof = forms.CharField(
        label="Your account password",
        strip=False,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:  # Any: Django's own arguments of a form
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_proof(self) -> str:
        """It must be the account's."""
        proof = str(self.cleaned_data["proof"])
        if not self.user.check_password(proof):
            raise forms.ValidationError("That is not your password.")
        return proof


class EnrolForm(CodeAndPasswordForm):
    """The first code of a new device, and the proof of who sets it up."""

    code = make_code_field(help_text="What the new device shows now")

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: Django's own arguments of a form
        super().__init__(*args, **kwargs)
        self.fields["code"].label = "Code of the new device"
        self.fields["code"].required = True
        if "old_code" in self.fields:
            self.fields["old_code"].label = "Code of the device you have"


class AddPasskeyForm(CodeAndPasswordForm):
    """A new passkey under a name."""

    name = make_name_field(help_text="So that you know it again: the device it is on")
    new_passkey = make_passkey_field()


class RenamePasskeyForm(forms.Form):
    """Another name than what it is `called`."""

    name = make_name_field()

    def __init__(self, data: QueryDict | None = None, *, called: str = "") -> None:
        super().__init__(data, initial={"name": called}, auto_id=False)
        self.fields["name"].widget.attrs["aria-label"] = f"New name of {called}"


class ChallengeForm(forms.Form):
    """What a passkey is about to be asked for."""

    use = forms.ChoiceField(choices=[(str(use), str(use)) for use in FactorUse])
    subject = forms.RegexField(r"^[0-9a-z:-]*$", required=False, max_length=120)
