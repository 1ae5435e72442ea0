"""The form of a new webhook."""

from __future__ import annotations

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from archetypes_app.models import Golem
from tools_app.core.events import EventType
from tools_app.core.plain_text import PlainTextField

FAMILIES = sorted({f"{kind.partition(':')[0]}:*" for kind in EventType})


class NewWebhookForm(forms.Form):
    """Where to, of which golem, what."""

    label = PlainTextField(max_length=60, widget=UnfoldAdminTextInputWidget(), help_text="For you: who receives it")
    url = forms.CharField(
        max_length=500,
        label="URL",
        widget=UnfoldAdminTextInputWidget(),
        help_text="https; its host must have public addresses only",
    )
    golem: forms.ModelChoiceField[Golem] = forms.ModelChoiceField(
        queryset=Golem.objects.none(), required=False, widget=UnfoldAdminSelectWidget(), empty_label="All my golems"
    )
    types = forms.MultipleChoiceField(
        choices=[(family, family) for family in FAMILIES],
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        help_text="None ticked: everything",
    )

    def __init__(self, *args: Any, golems: Any, **kwargs: Any) -> None:  # Any: what Django hands to a form
        super().__init__(*args, **kwargs)
        self.fields["golem"].queryset = golems  # type: ignore[attr-defined]
