"""The form of a golem's coding workspace: what one place needs, and a host key that is one."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.conf import settings

from archetypes_app.models import CodingWorkspace, Golem
from archetypes_app.models.coding_workspace import WorkspacePlace
from tools_app.subsystems.coding.operations import NeedsOwner
from tools_app.subsystems.coding.presets import PRESETS, Preset

_REMOTE: Final = ("host", "username", "folder", "host_key")
_FREEDOM: Final = (NeedsOwner.EVERYTHING, NeedsOwner.COMMANDS, NeedsOwner.NOTHING)
"""What waits for an owner, from all of it to nothing."""
_REHEARSE_FIRST: Final = (
    "This golem is live, and one owner alone does not loosen what holds it. Press 'Back to rehearsal' on its page,"
    " change it here, and go live again, which is approved with a second factor."
)
_KINDS: Final = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa")


class CodingWorkspaceForm(forms.ModelForm[CodingWorkspace]):
    """Where it works, and what waits for an owner."""

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

    def clean(self) -> dict[str, Any]:
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
        self._keep_live_golem_held(cleaned)
        return cleaned

    def _keep_live_golem_held(self, cleaned: dict[str, Any]) -> None:
        """A live golem is given no more freedom here. Its row stays locked until the form is saved.

        Another machine, or another account or folder of it, is more freedom: there the account is the only fence.
        """
        golem = self.instance.golem if self.instance.pk else cleaned.get("golem")
        if golem is None or not Golem.objects.select_for_update(no_key=True).get(pk=golem.pk).is_live:
            return
        # As the database has it: the form has written its values into its instance only after this.
        before = CodingWorkspace.objects.filter(golem=golem).first() or CodingWorkspace(golem=golem)
        chosen = cleaned.get("needs_owner")
        if chosen and _FREEDOM.index(NeedsOwner(chosen)) > _FREEDOM.index(NeedsOwner(before.needs_owner)):
            self.add_error("needs_owner", _REHEARSE_FIRST)
        if cleaned.get("allows_network") and not before.allows_network:
            self.add_error("allows_network", _REHEARSE_FIRST)
        if cleaned.get("place") == WorkspacePlace.SSH:
            for name in ("place", "port", *_REMOTE):
                if name in cleaned and cleaned[name] != getattr(before, name):
                    self.add_error(name, _REHEARSE_FIRST)


class PresetForm(forms.Form):
    """Which tools."""

    preset = forms.ChoiceField(
        choices=[
            (preset.value, f"{preset.value}: {', '.join(name.removeprefix('coding_') for name in names)}")
            for preset, names in PRESETS.items()
        ],
        initial=Preset.READ_ONLY.value,
    )
