"""Takes an owner's message to a golem."""

from __future__ import annotations

from django import forms
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldBooleanWidget

from golem_project.chat.turn_states import LONGEST_WORDS
from tools_app.core.plain_text import PlainTextField


class WordsForm(forms.Form):
    """The words, and whether they begin a new conversation."""

    words = PlainTextField(
        label="Your words",
        max_length=LONGEST_WORDS,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text="It reads and previews; nothing is committed",
    )
    begins_anew = forms.BooleanField(
        label="Begin anew",
        required=False,
        widget=UnfoldBooleanWidget(),
        help_text="It is not told what was said before",
    )
