"""Takes an owner's changes to a cage's feeds beside those of its assets."""

from __future__ import annotations

from typing import Final

from django import forms
from unfold.widgets import UnfoldAdminTextInputWidget

from permits_app.approval_pages.cage_forms import AddressField, CageForm
from permits_app.policy_cage.contract import Rule, sequencer_rule
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from tools_app.toolkit.context import ChainReader


class SequencerForm(CageForm):
    """Which feed says that the chain's sequencer is up, and for how long it must have been."""

    title = "The chain's sequencer"
    feed = AddressField(required=False, help_text="Empty: nothing is asked of it")
    minutes = forms.IntegerField(min_value=0, max_value=1_440, initial=60, widget=UnfoldAdminTextInputWidget())
    field_order = ("feed", "minutes", "reason")

    def build_rules(self, chain: ChainReader) -> list[Rule]:
        """One rule."""
        feed = self.cleaned_data["feed"]
        seconds = self.cleaned_data["minutes"] * 60 if feed else 0
        return [sequencer_rule(feed or ZERO_ADDRESS, grace_seconds=seconds)]


FEED_FORMS: Final[dict[str, type[CageForm]]] = {"sequencer": SequencerForm}
