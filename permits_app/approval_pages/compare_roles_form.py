"""Takes the Zodiac Roles v2 contract that is compared with a cage."""

from __future__ import annotations

from django import forms
from unfold.widgets import UnfoldAdminTextInputWidget

from permits_app.approval_pages.cage_forms import AddressField
from permits_app.policy_cage.roles_check import USUAL_ROLE


class FenceForm(forms.Form):
    """Asks nothing of the owners and sends nothing, so its answers are in the page's address."""

    roles = AddressField(label="Roles contract", help_text="Owned by the Safe, and its module")
    role = forms.CharField(
        initial=USUAL_ROLE,
        max_length=32,
        widget=UnfoldAdminTextInputWidget(),
        label="Name of the role",
    )
    since = forms.IntegerField(
        initial=0,
        min_value=0,
        widget=UnfoldAdminTextInputWidget(),
        label="Block of its deployment",
        help_text="Its events are read from there on",
    )
