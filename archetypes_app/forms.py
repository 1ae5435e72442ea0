"""Forms for golems, archetypes, profiles and API keys: lists as checkboxes, tool names from the registry."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from archetypes_app.models import ApiKey, Archetype, Golem, ToolOverride, ToolProfile
from archetypes_app.models.api_key import Scope
from archetypes_app.models.profile import CATEGORY_CHOICES
from archetypes_app.toolset import list_protocols
from tools_app.admin.display import format_chain
from tools_app.chain.networks import configured_networks
from tools_app.toolkit.registry import REGISTRY


def list_venues() -> list[tuple[str, str]]:
    """Every protocol a registered tool belongs to; the product's own venues are always allowed."""
    return [(venue, venue) for venue in sorted(list_protocols(REGISTRY))]


def list_chains() -> list[tuple[int, str]]:
    """Every chain this server has a node for."""
    return [(network.chain_id, format_chain(network.chain_id)) for network in configured_networks()]


class ProfilesField(forms.ModelMultipleChoiceField[ToolProfile]):
    """Tool profiles as checkboxes, each with what it is for."""

    def label_from_instance(self, obj: ToolProfile) -> SafeString:
        """The name, and its description below."""
        return format_html("{} <small>{}</small>", obj.name, obj.description)


class CategoriesField(forms.MultipleChoiceField):
    """Tool categories as checkboxes."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("widget", UnfoldAdminCheckboxSelectMultipleWidget())
        super().__init__(choices=CATEGORY_CHOICES, required=False, **kwargs)


class ToolProfileForm(forms.ModelForm[ToolProfile]):
    """A profile; `data` is in every profile, so it is not asked for."""

    categories = CategoriesField(help_text="Reads of the chain (data) are in every profile")

    class Meta:
        model = ToolProfile
        fields = ("name", "description", "categories", "is_read_only", "owner")


class ArchetypeForm(forms.ModelForm[Archetype]):
    """An archetype. Delegation is checked here for the loop a person makes most easily: to itself."""

    tool_categories = CategoriesField(help_text="Used together with the profiles below")
    safety_rules_text = forms.CharField(
        label="Safety rules", required=False, help_text="One rule a line", widget=forms.Textarea(attrs={"rows": 4})
    )

    class Meta:
        model = Archetype
        fields = (
            "name", "description", "category", "inference_tier", "tool_categories", "profiles", "delegates_to",
            "is_terminal_node", "role", "workflow", "output_format", "owner",
        )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.fields["safety_rules_text"].initial = "\n".join(self.instance.safety_rules)

    def clean(self) -> dict[str, Any]:
        """A terminal archetype delegates to nobody; nobody delegates to themselves."""
        cleaned = super().clean() or {}
        delegates = cleaned.get("delegates_to")
        if delegates is not None:
            if cleaned.get("is_terminal_node") and len(delegates):
                self.add_error("delegates_to", "A terminal archetype never delegates; clear one of the two.")
            if self.instance.pk and any(delegate.pk == self.instance.pk for delegate in delegates):
                self.add_error("delegates_to", "An archetype does not delegate to itself.")
        return cleaned

    def save(self, commit: bool = True) -> Archetype:
        """Write the rules back as a list."""
        text = self.cleaned_data.get("safety_rules_text", "")
        self.instance.safety_rules = [line.strip() for line in text.splitlines() if line.strip()]
        return super().save(commit)


class ToolOverrideForm(forms.ModelForm[ToolOverride]):
    """One tool in or out, by a name that exists."""

    class Meta:
        model = ToolOverride
        fields = ("tool_name", "mode")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = {tool.name for tool in REGISTRY} | ({self.instance.tool_name} if self.instance.pk else set())
        self.fields["tool_name"] = forms.ChoiceField(
            choices=[("", "Choose a tool"), *((name, name) for name in sorted(names))],
            widget=UnfoldAdminSelectWidget(),
            label="Tool",
        )


class GolemForm(forms.ModelForm[Golem]):
    """What an owner may change of a golem. Address, phase and halt have actions of their own."""

    profiles = ProfilesField(
        queryset=ToolProfile.objects.none(), required=False, widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        help_text="None ticked: what the archetype brings. Else the union of the ticked bundles replaces it",
    )  # fmt: skip
    allowed_protocols = forms.MultipleChoiceField(
        required=False, widget=UnfoldAdminCheckboxSelectMultipleWidget(), help_text="None ticked: every protocol"
    )

    class Meta:
        model = Golem
        fields = (
            "name", "owner", "archetype", "profiles", "allowed_protocols", "home_chain_id", "base_asset",
            "permit_ttl_seconds", "is_memory_enabled", "is_live",
        )  # fmt: skip
        labels = {"home_chain_id": "Home chain", "is_memory_enabled": "Memory", "is_live": "Live"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "allowed_protocols" in self.fields:
            kept = [(name, name) for name in self.instance.allowed_protocols or []]
            self.fields["allowed_protocols"].choices = sorted({*list_venues(), *kept})  # type: ignore[attr-defined]
        if "home_chain_id" in self.fields:
            chains = list_chains()
            current = self.instance.home_chain_id
            if current not in dict(chains):
                chains.append((current, f"{format_chain(current)}, no node configured"))
            self.fields["home_chain_id"] = forms.TypedChoiceField(
                label="Home chain", choices=chains, coerce=int, widget=UnfoldAdminSelectWidget()
            )


class NewApiKeyForm(forms.Form):
    """A new bearer token for a golem."""

    golem: forms.ModelChoiceField[Golem] = forms.ModelChoiceField(
        queryset=Golem.objects.none(), widget=UnfoldAdminSelectWidget(), empty_label="Choose a golem"
    )
    label = forms.CharField(
        max_length=64, required=False, widget=UnfoldAdminTextInputWidget(), help_text="For you: where it will be used"
    )
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        initial=[Scope.READ, Scope.PREVIEW, Scope.COMMIT],
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        help_text="Give only what the agent needs",
    )
    lifetime_days = forms.IntegerField(
        label="Valid for (days)", min_value=1, max_value=365, initial=90, widget=UnfoldAdminTextInputWidget()
    )

    def __init__(self, *args: Any, golems: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["golem"].queryset = golems  # type: ignore[attr-defined]


class NewGolemForm(forms.ModelForm[Golem]):
    """First page of the wizard: who it is."""

    class Meta:
        model = Golem
        fields = ("name", "archetype", "profiles", "home_chain_id", "base_asset")
        labels = {"home_chain_id": "Home chain"}
        help_texts = {
            "name": "How you tell it from your others",
            "archetype": "The kind of agent: its default tools, delegates and prompt",
            "profiles": "None ticked: what the archetype brings. Else the union of the ticked bundles replaces it",
            "base_asset": "Symbol of the token it measures itself in",
        }

    def __init__(self, *args: Any, owner: Any, archetypes: Any, profiles: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner = owner
        self.fields["name"].widget = UnfoldAdminTextInputWidget(attrs={"autofocus": True})
        self.fields["base_asset"].widget = UnfoldAdminTextInputWidget()
        self.fields["archetype"].queryset = archetypes  # type: ignore[attr-defined]
        self.fields["archetype"].widget = UnfoldAdminSelectWidget(choices=self.fields["archetype"].choices)  # type: ignore[attr-defined]
        self.fields["profiles"] = ProfilesField(
            queryset=profiles,
            required=False,
            widget=forms.CheckboxSelectMultiple(),
            help_text=self.fields["profiles"].help_text,
        )
        self.fields["home_chain_id"] = forms.TypedChoiceField(
            label="Home chain", choices=list_chains, coerce=int, widget=UnfoldAdminSelectWidget()
        )

    def clean_name(self) -> str:
        """Once per owner; the database says so too."""
        name = str(self.cleaned_data["name"]).strip()
        if Golem.objects.filter(owner=self.owner, name=name).exists():
            raise ValidationError("You have a golem of this name already.")
        return name


class RevokeForm(forms.Form):
    """Nothing to fill in: pressing the button is the confirmation."""


__all__ = [
    "ApiKey", "ArchetypeForm", "GolemForm", "NewApiKeyForm", "NewGolemForm", "RevokeForm", "ToolOverrideForm",
    "ToolProfileForm", "list_chains", "list_venues",
]  # fmt: skip
