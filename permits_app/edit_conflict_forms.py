"""Forms of policy rows that know what the row said when they were opened.

Such a row has no version: the chain, the owners' approvals and a tick write it too.
"""

from __future__ import annotations

from permits_app.forms import (
    AllowlistEntryForm,
    HaltSettingForm,
    PolicyCageForm,
    SpendingLimitsForm,
    WizardLimitsForm,
)
from tools_app.pages.opened_rows import OpenedRowForm


class OpenedLimitsForm(OpenedRowForm, SpendingLimitsForm):
    """Limits, as they were opened."""


class OpenedWizardLimitsForm(OpenedRowForm, WizardLimitsForm):
    """Limits of a golem that is set up, as they were opened."""


class OpenedCageForm(OpenedRowForm, PolicyCageForm):
    """The cage, as it was opened."""


class OpenedEntryForm(OpenedRowForm, AllowlistEntryForm):
    """An entry of the allowlist, as it was opened."""


class OpenedHaltSettingForm(OpenedRowForm, HaltSettingForm):
    """What a halt does, as it was opened."""
