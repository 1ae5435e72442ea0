"""The form of a new channel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import time
from typing import Any, Final
from zoneinfo import available_timezones

from django import forms
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldAdminTimeWidget,
)

from archetypes_app.models import Golem
from golem_project.alerts.models import ChannelKind
from golem_project.alerts.topics import TOPICS
from tools_app.core.plain_text import PlainTextField
from tools_app.pages.form_values import get_field, read_valid

_TOKEN = re.compile(r"[0-9]{5,20}:[A-Za-z0-9_-]{20,100}")
_CHAT = re.compile(r"-?[0-9]{1,20}|@[A-Za-z0-9_]{5,32}")
_DIGESTS = [("0", "At once"), ("15", "Every quarter of an hour"), ("60", "Every hour"), ("1440", "Once a day")]
_SECRET = {"autocomplete": "off", "spellcheck": "false"}


_NEEDS: Final = {"EMAIL": ("address",), "WEBHOOK": ("url",), "TELEGRAM": ("token", "chat_id")}
"""What each kind is sealed with."""


@dataclass(frozen=True, slots=True)
class _GivenChannel:
    """What the form was given, as far as it is valid."""

    label: str = ""
    kind: str = ""
    golem: Golem | None = None
    topics: Sequence[str] = ()
    digest_minutes: int = 0
    time_zone: str = ""
    quiet_from: time | None = None
    quiet_until: time | None = None


class NewChannelForm(forms.Form):
    """Where to, about what, and when not."""

    label = PlainTextField(max_length=60, widget=UnfoldAdminTextInputWidget(), help_text="For you: what it is")
    kind = forms.ChoiceField(
        choices=[each for each in ChannelKind.choices if each[0] != ChannelKind.PUSH], widget=UnfoldAdminSelectWidget()
    )
    address = forms.EmailField(required=False, widget=UnfoldAdminTextInputWidget(), help_text="For e-mail")
    url = forms.CharField(
        label="Webhook",
        required=False,
        max_length=500,
        widget=UnfoldAdminTextInputWidget(attrs=_SECRET),
        help_text="For a chat: the https address it gave you for incoming messages. It is kept sealed",
    )
    token = forms.CharField(
        label="Bot token",
        required=False,
        max_length=121,
        widget=UnfoldAdminTextInputWidget(attrs=_SECRET),
        help_text="For Telegram: as its BotFather gave it. It is kept sealed",
    )
    chat_id = forms.CharField(
        label="Chat",
        required=False,
        max_length=33,
        widget=UnfoldAdminTextInputWidget(),
        help_text="For Telegram: its id",
    )
    golem: forms.ModelChoiceField[Golem] = forms.ModelChoiceField(
        queryset=Golem.objects.none(), required=False, widget=UnfoldAdminSelectWidget(), empty_label="Every golem I see"
    )
    topics = forms.MultipleChoiceField(
        choices=[(name, topic.words + (" (urgent)" if topic.is_urgent else "")) for name, topic in TOPICS.items()],
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        help_text="None ticked: everything. What is urgent comes at once, in quiet hours too",
    )
    digest_minutes = forms.TypedChoiceField(
        label="How often", choices=_DIGESTS, coerce=int, initial="0", widget=UnfoldAdminSelectWidget()
    )
    quiet_from = forms.TimeField(
        label="Quiet from", required=False, widget=UnfoldAdminTimeWidget(), help_text="As 22:00"
    )
    quiet_until = forms.TimeField(label="Quiet until", required=False, widget=UnfoldAdminTimeWidget())
    time_zone = forms.CharField(
        label="Time zone",
        initial="UTC",
        max_length=48,
        widget=UnfoldAdminTextInputWidget(),
        help_text="As Europe/Berlin",
    )

    def __init__(self, *args: Any, golems: Any, **kwargs: Any) -> None:  # Any: what Django hands to a form
        super().__init__(*args, **kwargs)
        get_field(self, forms.ModelChoiceField, "golem").queryset = golems

    def clean_time_zone(self) -> str:
        """One the server knows."""
        name = read_valid(_GivenChannel, self.cleaned_data).time_zone.strip()
        if name not in available_timezones():
            raise forms.ValidationError("No time zone is called that.")
        return name

    def clean(self) -> dict[str, object]:
        """What its kind needs, and both ends of the quiet hours or none."""
        given = super().clean() or {}
        valid = read_valid(_GivenChannel, given)
        for name in _NEEDS.get(valid.kind, ()):
            if not given.get(name) and name not in self.errors:
                self.add_error(name, "It is needed for this kind.")
        if valid.kind == ChannelKind.TELEGRAM:
            for name, form in (("token", _TOKEN), ("chat_id", _CHAT)):
                if given.get(name) and not form.fullmatch(str(given[name])):
                    self.add_error(name, "That is not how one looks.")
        if (valid.quiet_from is None) != (valid.quiet_until is None):
            self.add_error("quiet_until", "Say both ends of the quiet hours, or neither.")
        return given

    def read_target(self) -> dict[str, str]:
        """What is sealed: the address and keys of its kind."""
        return {name: str(self.cleaned_data[name]) for name in _NEEDS[self.read_kind()]}

    def read_kind(self) -> ChannelKind:
        """Which kind of channel it is."""
        return ChannelKind(read_valid(_GivenChannel, self.cleaned_data).kind)

    def read_columns(self) -> dict[str, object]:
        """The rest, as the row has it."""
        given = read_valid(_GivenChannel, self.cleaned_data)
        return {
            "label": given.label,
            "golem": given.golem,
            "topics": given.topics,
            "digest_minutes": given.digest_minutes,
            "time_zone": given.time_zone,
            "quiet_from": _minute(given.quiet_from),
            "quiet_until": _minute(given.quiet_until),
        }


def _minute(at: time | None) -> int | None:
    return at.hour * 60 + at.minute if at is not None else None
