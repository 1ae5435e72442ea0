"""The form with which a person switches one service on, or gives it another key."""

from __future__ import annotations

from django import forms
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminPasswordWidget

from archetypes_app.models.service_access import MOST_QUESTIONS_AN_HOUR
from tools_app.toolkit.outside_services import OutsideService


class ServiceForm(forms.Form):
    """A key, where the service takes one, and how many questions an hour may go there."""

    key = forms.CharField(
        required=False,
        max_length=500,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="It is kept sealed and never shown again; empty keeps the one that is there",
    )
    questions_an_hour = forms.IntegerField(
        label="Questions an hour",
        min_value=1,
        max_value=MOST_QUESTIONS_AN_HOUR,
        widget=UnfoldAdminIntegerFieldWidget(),
        help_text="All golems of yours together; further questions are refused until the next full hour",
    )

    def __init__(self, *args: object, service: OutsideService, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["questions_an_hour"].initial = service.questions_an_hour
        if not service.needs_key:
            del self.fields["key"]
