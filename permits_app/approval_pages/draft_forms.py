"""The forms of a draft of the policy: limits, cage and allowlist of now, to be changed and tried, never saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.http import QueryDict
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldBooleanWidget,
)

from archetypes_app.models import Golem
from permits_app.approval_pages.forms import WhyForm
from permits_app.approvals.policy_state import describe_entry, name_entry, read_policy_state
from permits_app.backtest.least_policy import SUGGESTION_DAYS
from permits_app.backtest.past_decisions import LAST_DECISIONS, MOST_DECISIONS
from permits_app.forms import PolicyCageForm, SpendingLimitsForm, clean_checksum
from permits_app.models import PolicyCage, SpendingLimits
from permits_app.models.allowlist import AllowlistKind
from tools_app.pages.form_values import read_cleaned
from tools_app.pages.opened_rows import OpenedForm

_MOST_ADDED: Final = 50
_PERIODS: Final = ((1, "the last day"), (SUGGESTION_DAYS, "the last 7 days"), (30, "the last 30 days"))
_PASTS: Final = (LAST_DECISIONS, 1_000, MOST_DECISIONS)


class PastForm(forms.Form):
    """How much of the past a draft is tried on."""

    last = forms.TypedChoiceField(
        label="Tried on",
        coerce=int,
        choices=[(each, f"the last {each:,} decisions") for each in _PASTS],
        initial=LAST_DECISIONS,
        widget=UnfoldAdminSelectWidget(),
    )


class PeriodForm(forms.Form):
    """The period of which the least policy is sought."""

    days = forms.TypedChoiceField(
        label="Period", coerce=int, choices=_PERIODS, initial=SUGGESTION_DAYS, widget=UnfoldAdminSelectWidget()
    )
    with_refused = forms.BooleanField(
        label="Also allow what a limit refused",
        required=False,
        widget=UnfoldBooleanWidget(),
        help_text="Off: only what the golem was allowed in that time",
    )


class TakeOverForm(OpenedForm, WhyForm):
    """Why a policy that was looked at is wanted; below what is read first, so it does not take the focus."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: Django's own arguments of a form
        super().__init__(*args, **kwargs)
        self.fields["reason"].widget.attrs.pop("autofocus", None)


class DraftLimitsForm(SpendingLimitsForm):
    """Limits of a draft."""

    class Meta(SpendingLimitsForm.Meta):
        fields: tuple[str, ...] = tuple(name for name in SpendingLimitsForm.Meta.fields if name != "golem")
        widgets = {"writes_per_hour": UnfoldAdminIntegerFieldWidget, "allowlist_mode": UnfoldAdminSelectWidget}


class DraftCageForm(PolicyCageForm):
    """The cage of a draft. What only a contract judges is not tried here."""

    class Meta(PolicyCageForm.Meta):
        fields: tuple[str, ...] = tuple(
            name for name in PolicyCageForm.Meta.fields if name not in ("golem", "allows_arbitrary_calldata")
        )
        widgets = {
            **dict.fromkeys(
                ("max_assets", "min_rebalance_interval_seconds", "max_rebalances_per_day"),
                UnfoldAdminIntegerFieldWidget,
            ),
            "is_action_gate_on": UnfoldBooleanWidget,
        }


@dataclass(frozen=True, slots=True)
class _Entries:
    """Entries of the allowlist that are kept, by key, and new ones with their label."""

    keep: list[str]
    add: dict[str, str]


class DraftAllowlistForm(forms.Form):
    """The allowlist of a draft: entries kept, and new ones."""

    keep = forms.MultipleChoiceField(
        label="Allowed",
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        help_text="Take the mark away to try the draft without an entry",
    )
    add = forms.CharField(
        label="Allowed as well",
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        help_text="One entry a line: chain, kind (token, contract, spender, recipient) and address, for example"
        " 31337 token 0x…",
    )

    def __init__(self, data: QueryDict | None = None, *, entries: Mapping[str, str]) -> None:
        super().__init__(data, prefix="allowlist")
        keep = self.fields["keep"]
        assert isinstance(keep, forms.MultipleChoiceField)
        keep.choices = [(key, describe_entry(key, label)) for key, label in entries.items()]
        keep.initial = list(entries)

    def clean_add(self) -> dict[str, str]:
        """Keys of entries with a label."""
        found = {}
        for line in str(self.cleaned_data["add"]).splitlines():
            words = line.replace(",", " ").split()
            if not words:
                continue
            if len(words) != 3 or not words[0].isdecimal() or words[1].upper() not in AllowlistKind.values:
                raise forms.ValidationError(f"“{line.strip()[:80]}” is not a chain, a kind and an address.")
            found[name_entry(int(words[0]), words[1].upper(), clean_checksum(words[2]))] = "of the draft"
        if len(found) > _MOST_ADDED:
            raise forms.ValidationError(f"At most {_MOST_ADDED} new entries at once.")
        return found


class DraftForms:
    """The three forms of one draft, filled with the policy of now."""

    def __init__(self, golem: Golem, data: QueryDict | None = None) -> None:
        self._state = read_policy_state(golem)
        limits = SpendingLimits.objects.filter(golem=golem).first() or SpendingLimits(golem=golem)
        cage = PolicyCage.objects.filter(golem=golem).first() or PolicyCage(golem=golem)
        self.limits = DraftLimitsForm(data, instance=limits, prefix="limits")
        self.cage = DraftCageForm(data, instance=cage, prefix="cage")
        self.allowlist = DraftAllowlistForm(data, entries=self._state["allowlist"])

    def is_valid(self) -> bool:
        """All of them, so that every mistake is told at once."""
        forms_of_draft = (self.limits, self.cage, self.allowlist)
        return sum(form.is_valid() for form in forms_of_draft) == len(forms_of_draft)

    def make_policy(self) -> dict[str, dict[str, str]]:
        """The draft as a policy."""
        given = read_cleaned(_Entries, self.allowlist)
        return {
            "limits": {**self._state["limits"], **_as_text(self.limits)},
            "cage": {**self._state["cage"], **_as_text(self.cage)},
            "allowlist": {**{key: self._state["allowlist"][key] for key in given.keep}, **given.add},
        }


def _as_text(form: DraftLimitsForm | DraftCageForm) -> dict[str, str]:
    return {name: str(value) for name, value in form.cleaned_data.items()}
