"""The form of a golem's coding workspace: what one place needs, and a host key that is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.conf import settings

from archetypes_app.models import CodingWorkspace, Golem
from archetypes_app.models.coding_workspace import SETTINGS, WorkspacePlace
from tools_app.pages.opened_rows import OpenedRowForm
from tools_app.subsystems.coding.operations import NeedsOwner
from tools_app.subsystems.coding.presets import PRESETS, Preset

_REMOTE: Final = ("host", "username", "folder", "host_key")
_FREEDOM: Final = (NeedsOwner.EVERYTHING, NeedsOwner.COMMANDS, NeedsOwner.NOTHING)
"""What waits for an owner, from all of it to nothing."""
LOOSENS: Final = "loosens"
"""The code of a form's error where its owners have to be asked."""
_ASK_OWNERS: Final = "This golem is live, and one owner alone does not loosen what holds it: its owners are asked."
_KINDS: Final = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa")


class CodingWorkspaceForm(OpenedRowForm):
    """Where it works, and what waits for an owner."""

    wished: dict[str, Any]  # Any: Django hands on any value

    class Meta:
        model = CodingWorkspace
        fields = ("golem", "needs_owner", "place", "allows_network", "host", "port", "username", "folder", "host_key")

    def clean_host_key(self) -> str:
        """Its kind and its key; a comment behind them is left out."""
        words = str(self.cleaned_data["host_key"]).split()
        if not words:
            return ""
        if len(words) < 2 or words[0] not in _KINDS or not words[1].startswith("AAAA"):
            raise forms.ValidationError(f"One line: a kind ({', '.join(_KINDS)}) and the key, AAAA…")
        return " ".join(words[:2])

    def clean(self) -> dict[str, Any]:  # Any: each field gives its own type
        """Another machine needs all that names it, and this server's network its operator's leave."""
        cleaned = super().clean() or {}
        if cleaned.get("allows_network") and not settings.GOLEM_CODING_ALLOWS_NETWORK:
            # The network of this server is that of every golem on it.
            self.add_error(
                "allows_network",
                "Commands here reach no network: this server's operator has not allowed it"
                " (GOLEM_CODING_ALLOWS_NETWORK). A machine of your own by SSH has its own network.",
            )
        if cleaned.get("place") == WorkspacePlace.SSH:
            for name in _REMOTE:
                if not cleaned.get(name) and name not in self.errors:
                    self.add_error(name, "Another machine needs this.")
            if cleaned.get("allows_network"):
                self.add_error("allows_network", "This is about commands on this server; leave it off.")
        if not self.errors:
            self.wished = {name: cleaned[name] for name in SETTINGS}
            self._keep_live_golem_held()
        return cleaned

    def _keep_live_golem_held(self) -> None:
        """A live golem is given no more freedom here. Its row stays locked until the form is saved."""
        golem = self.instance.golem if self.instance.pk else self.cleaned_data["golem"]
        if not Golem.objects.select_for_update(no_key=True).get(pk=golem.pk).is_live:
            return
        # As the database has it: the form has written its values into its instance only after this.
        before = CodingWorkspace.objects.filter(golem=golem).first() or CodingWorkspace(golem=golem)
        for name in list_loosened(before.settings, self.wished):
            self.add_error(name, forms.ValidationError(_ASK_OWNERS, code=LOOSENS))

    @property
    def asks_owners(self) -> bool:
        """Whether nothing is wrong but that it gives a live golem more freedom; `wished` is what was meant."""
        found = [error for errors in self.errors.as_data().values() for error in errors]
        return bool(found) and all(error.code == LOOSENS for error in found)


def list_loosened(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:  # Any: Django hands on any value
    """Settings by name that give a golem more freedom than it has.

    Another machine, or another account or folder of it, is more freedom: there the account is the only fence.
    """
    loosened = []
    if _FREEDOM.index(NeedsOwner(after["needs_owner"])) > _FREEDOM.index(NeedsOwner(before["needs_owner"])):
        loosened.append("needs_owner")
    if after["allows_network"] and not before["allows_network"]:
        loosened.append("allows_network")
    if after["place"] == WorkspacePlace.SSH:
        loosened += [name for name in ("place", "port", *_REMOTE) if after[name] != before[name]]
    return loosened


class PresetForm(forms.Form):
    """Which tools."""

    preset = forms.ChoiceField(
        choices=[
            (preset.value, f"{preset.value}: {', '.join(name.removeprefix('coding_') for name in names)}")
            for preset, names in PRESETS.items()
        ],
        initial=Preset.READ_ONLY.value,
    )
