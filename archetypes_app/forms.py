"""Forms for golems, archetypes, profiles and API keys: lists as checkboxes, tool names from the registry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.forms.formsets import DELETION_FIELD_NAME
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.forms import PaginationInlineFormSet
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminRadioSelectWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from archetypes_app.chain_choices import ChainsField, check_chains, list_chains, list_offered
from archetypes_app.delegation import Node
from archetypes_app.edit_conflicts import check_unchanged
from archetypes_app.empty_categories import list_stocked, tell_empty
from archetypes_app.errors import EditConflict
from archetypes_app.golem_intents import CUSTOM, INTENTS
from archetypes_app.models import ApiKey, Archetype, Golem, ToolOverride, ToolProfile
from archetypes_app.models.api_key import Scope
from archetypes_app.models.golem import PHASE_CHOICES
from archetypes_app.models.profile import CATEGORY_CHOICES
from archetypes_app.stored_delegation_graph import find_proposal_violations, lock_graph, make_node, read_nodes
from archetypes_app.tool_loadout import MOST_TOOLS
from archetypes_app.toolset import ArchetypeRule, list_protocols, make_profile_rule, split_overrides
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.errors import GolemError
from tools_app.core.plain_text import PlainTextField
from tools_app.pages.form_values import get_field, read_valid
from tools_app.pages.many_select import ManySelect
from tools_app.toolkit.enums import Category
from tools_app.toolkit.registry import REGISTRY
from tools_app.wording.address_names import list_tokens
from tools_app.wording.formats import format_chain

EDIT_CONFLICT: Final = "edit_conflict"


def list_venues() -> list[tuple[str, str]]:
    """Every protocol a registered tool belongs to; the product's own venues are always allowed."""
    return [(venue, venue) for venue in sorted(list_protocols(REGISTRY))]


def _list_categories() -> list[tuple[str, str]]:
    stocked = {category.value for category in list_stocked()}
    return [(value, label if value in stocked else f"{label} (no tools here yet)") for value, label in CATEGORY_CHOICES]


class ProfilesField(forms.ModelMultipleChoiceField[ToolProfile]):
    """Tool profiles as checkboxes, each with what it is for."""

    def label_from_instance(self, obj: ToolProfile) -> SafeString:
        """The name, and its description below; with it what of a profile that is not for everything is not there."""
        words = [obj.description, "" if len(obj.categories) > len(Category) // 2 else tell_empty(obj.categories)]
        return format_html("{} <small>{}</small>", obj.name, "; ".join(filter(None, words)))


class CategoriesField(forms.MultipleChoiceField):
    """Tool categories as checkboxes; those without a tool say so."""

    def __init__(self, **kwargs: Any) -> None:  # Any: Django hands on any value
        kwargs.setdefault("widget", UnfoldAdminCheckboxSelectMultipleWidget())
        super().__init__(choices=_list_categories, required=False, **kwargs)


@dataclass(frozen=True, slots=True)
class _GivenVersion:
    edit_version: int | None = None


@dataclass(frozen=True, slots=True)
class _GivenArchetype:
    """What a form of an archetype was given, as far as it is valid."""

    name: str = ""
    tool_categories: Sequence[str] = ()
    profiles: Iterable[ToolProfile] | None = None
    is_read_only: bool = False
    keeps_local_writes: bool = False
    delegates_to: Iterable[Archetype] | None = None
    is_terminal_node: bool = False


@dataclass(frozen=True, slots=True)
class _GivenRules:
    safety_rules_text: str = ""


@dataclass(frozen=True, slots=True)
class _GivenOverride:
    tool_name: str = ""


@dataclass(frozen=True, slots=True)
class _GivenGolem:
    """What a form of a golem was given, as far as it is valid."""

    name: str = ""
    intent: str = ""
    archetype: Archetype | None = None
    home_chain_id: int | None = None
    other_chain_ids: Sequence[int] = ()
    base_asset: str = ""


class EditedRowForm(forms.ModelForm[Any]):  # Any: rows of any model
    """A form that knows which version of its row it was opened with, so that nobody overwrites another's edit."""

    edit_version = forms.IntegerField(required=False, widget=forms.HiddenInput())

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: what Django hands to a form
        super().__init__(*args, **kwargs)
        get_field(self, forms.IntegerField, "edit_version").initial = self.instance.version

    def clean(self) -> dict[str, Any]:  # Any: each field gives its own type
        """Locks the row until the admin's transaction ends; a row that moved on refuses the edit."""
        cleaned = super().clean() or {}
        if self.instance.pk and not self.instance._state.adding:
            try:
                check_unchanged(self.instance, version=read_valid(_GivenVersion, cleaned).edit_version or 0)
            except EditConflict as error:
                told = f"{error.detail}. What you typed is still here; open the page anew to see what it is now."
                raise ValidationError(told, code=EDIT_CONFLICT) from None
        return cleaned


class ToolProfileForm(EditedRowForm):
    """A profile; `data` is in every profile, so it is not asked for."""

    categories = CategoriesField(help_text="Reads of the chain (data) are in every profile")

    class Meta:
        model = ToolProfile
        fields = ("name", "description", "categories", "is_read_only", "is_conservative", "owner")


class ArchetypeForm(EditedRowForm):
    """An archetype; a delegation that breaks a rule is refused here, before the database."""

    tool_categories = CategoriesField(help_text="Used together with the profiles below")
    safety_rules_text = PlainTextField(
        label="Safety rules", required=False, help_text="One rule a line", widget=forms.Textarea(attrs={"rows": 4})
    )

    class Meta:
        model = Archetype
        fields = (
            "name",
            "description",
            "category",
            "inference_tier",
            "tool_categories",
            "profiles",
            "is_read_only",
            "keeps_local_writes",
            "delegates_to",
            "is_terminal_node",
            "role",
            "workflow",
            "output_format",
            "owner",
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: what Django hands to a form
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            get_field(self, PlainTextField, "safety_rules_text").initial = "\n".join(self.instance.safety_rules)

    def clean(self) -> dict[str, Any]:  # Any: each field gives its own type
        """The delegation rules, on the graph as it would be."""
        cleaned = super().clean()
        given = read_valid(_GivenArchetype, cleaned)
        if given.keeps_local_writes and not given.is_read_only:
            self.add_error("keeps_local_writes", "Only a read-only archetype keeps its local writes.")
        if given.name and given.delegates_to is not None:
            for error in self._find_violations(given, given.delegates_to):
                self.add_error("delegates_to", error.detail)
        return cleaned

    def _find_violations(self, given: _GivenArchetype, targets: Iterable[Archetype]) -> tuple[GolemError, ...]:
        lock_graph()
        old_name = Archetype.objects.filter(pk=self.instance.pk).values_list("name", flat=True).first()
        name = str(given.name)
        stored = [_rename(node, old_name, name) for node in read_nodes()] if old_name else read_nodes()
        kept = self.instance.tool_overrides.all() if old_name else ()
        includes, excludes = split_overrides(kept)
        rule = ArchetypeRule(
            name=name,
            categories=frozenset(Category(category) for category in given.tool_categories),
            profiles=tuple(make_profile_rule(profile) for profile in given.profiles or ()),
            is_read_only=bool(given.is_read_only),
            keeps_local_writes=bool(given.keeps_local_writes),
            includes=includes,
            excludes=excludes,
        )
        delegates = [name if delegate.pk == self.instance.pk else delegate.name for delegate in targets]
        node = make_node(rule, delegates_to=delegates, is_terminal=bool(given.is_terminal_node))
        return find_proposal_violations([node], stored=stored)

    def save(self, commit: bool = True) -> Archetype:
        """Write the rules back as a list."""
        text = read_valid(_GivenRules, self.cleaned_data).safety_rules_text
        self.instance.safety_rules = [line.strip() for line in text.splitlines() if line.strip()]
        saved: Archetype = super().save(commit)
        return saved


def _rename(node: Node, old: str, new: str) -> Node:
    """`node` as it is once the archetype called `old` is called `new`."""
    delegates = tuple(new if target == old else target for target in node.delegates_to)
    return replace(node, name=new if node.name == old else node.name, delegates_to=delegates)


class ToolOverrideFormSet(PaginationInlineFormSet):
    """Overrides of one row: a tool is either put in or taken out, once."""

    def clean(self) -> None:
        """Name the tool that stands twice."""
        super().clean()
        seen: set[str] = set()
        for form in self.forms:
            name = read_valid(_GivenOverride, form.cleaned_data).tool_name
            if form.cleaned_data.get(DELETION_FIELD_NAME) or not name:
                continue
            if name in seen:
                raise ValidationError(f"{name} is listed twice; include it or exclude it, once.")
            seen.add(name)


class ToolOverrideForm(forms.ModelForm[ToolOverride]):
    """One tool in or out, by a name that exists."""

    class Meta:
        model = ToolOverride
        fields = ("tool_name", "mode")

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: what Django hands to a form
        super().__init__(*args, **kwargs)
        # A row that is shown offers its own tool: every tool in every row makes a page of a megabyte.
        own = {self.instance.tool_name} if self.instance.pk else set()
        names = own if own and not self.is_bound else own | {tool.name for tool in REGISTRY}
        self.fields |= {
            "tool_name": forms.ChoiceField(
                choices=[("", "Choose a tool"), *((name, name) for name in sorted(names))],
                widget=ManySelect(attrs={"aria-label": "Tool"}),
                label="Tool",
            )
        }
        get_field(self, forms.ChoiceField, "mode").widget.attrs |= {"aria-label": "Mode"}


class GolemForm(EditedRowForm):
    """What an owner may change of a golem. Address, phase and halt have actions of their own."""

    profiles = ProfilesField(
        queryset=ToolProfile.objects.none(),
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        help_text="None ticked: what the archetype brings. Else the union of the ticked bundles replaces it",
    )
    allowed_protocols = forms.MultipleChoiceField(
        required=False, widget=UnfoldAdminCheckboxSelectMultipleWidget(), help_text="None ticked: every protocol"
    )
    other_chain_ids = ChainsField()

    class Meta:
        model = Golem
        fields = (
            "name",
            "owner",
            "archetype",
            "profiles",
            "allowed_protocols",
            "home_chain_id",
            "other_chain_ids",
            "base_asset",
            "permit_ttl_seconds",
            "simulation_engine",
            "is_memory_enabled",
        )
        labels = {"home_chain_id": "Home chain", "is_memory_enabled": "Memory"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: what Django hands to a form
        super().__init__(*args, **kwargs)
        if "allowed_protocols" in self.fields:
            kept = [(name, name) for name in self.instance.allowed_protocols or []]
            venues = get_field(self, forms.MultipleChoiceField, "allowed_protocols")
            venues.choices = sorted({*list_venues(), *kept})
        if "home_chain_id" in self.fields:
            chains = list_chains()
            current = self.instance.home_chain_id
            if current not in dict(chains):
                chains.append((current, f"{format_chain(current)}, no node configured"))
            home = forms.TypedChoiceField(
                label="Home chain", choices=chains, coerce=int, widget=UnfoldAdminSelectWidget()
            )
            self.fields |= {"home_chain_id": home}
        if "other_chain_ids" in self.fields:
            get_field(self, ChainsField, "other_chain_ids").offer(self.instance.other_chain_ids)

    def clean(self) -> dict[str, Any]:  # Any: each field gives its own type
        """A base asset that is changed has to be known on the chain."""
        cleaned = super().clean()
        given = read_valid(_GivenGolem, cleaned)
        home = given.home_chain_id or self.instance.home_chain_id
        if {"base_asset", "home_chain_id"} & set(self.changed_data) and given.base_asset:
            try:
                cleaned |= {"base_asset": check_base_asset(given.base_asset, home)}
            except ValidationError as error:
                self.add_error("base_asset", error)
        if "other_chain_ids" in cleaned:
            try:
                cleaned |= {"other_chain_ids": check_chains(home, given.other_chain_ids)}
            except ValidationError as error:
                self.add_error("other_chain_ids", error)
        return cleaned


class NewApiKeyForm(forms.Form):
    """A new bearer token for a golem."""

    golem: forms.ModelChoiceField[Golem] = forms.ModelChoiceField(
        queryset=Golem.objects.none(), widget=UnfoldAdminSelectWidget(), empty_label="Choose a golem"
    )
    label = PlainTextField(
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
    most_tools = forms.IntegerField(
        label="Tools shown at once",
        min_value=1,
        max_value=1_000,
        initial=MOST_TOOLS,
        required=False,
        widget=UnfoldAdminTextInputWidget(),
        help_text="Its agent loads others when it needs them; each costs its model tokens. Empty: every tool at once",
    )
    session = forms.ChoiceField(
        label="Session limit",
        choices=[("shared", "Shared with the golem's newest key"), ("own", "A fresh one of its own")],
        initial="shared",
        required=False,
        widget=UnfoldAdminSelectWidget(),
        help_text="With a fresh one the golem may spend its session limit once more; the limits per tick and day"
        " hold for all its keys together",
    )

    def __init__(self, *args: Any, golems: Any, **kwargs: Any) -> None:  # Any: what Django hands to a form
        super().__init__(*args, **kwargs)
        get_field(self, forms.ModelChoiceField, "golem").queryset = golems


_INTENT_ARCHETYPE: Final = "golem-instance"


def check_base_asset(symbol: str, chain_id: int) -> str:
    """The symbol as the chain registers it. Raises ValidationError for one it does not."""
    known = {token.symbol for token in list_tokens(chain_id)}
    network = KNOWN_NETWORKS.get(chain_id)
    known |= {network.native_symbol} if network is not None else set()
    found = {each.lower(): each for each in known}.get(symbol.strip().lower())
    if found is None and known:
        names = ", ".join(sorted(known))
        raise ValidationError(f"No token {symbol!r} is registered on this chain. Choose from {names}.")
    return found or symbol.strip()


class NewGolemForm(forms.ModelForm[Golem]):
    """First page of the wizard: what it is for, and who it is."""

    intent = forms.ChoiceField(
        label="What it is for",
        required=False,
        choices=[(name, f"{each.title}. {each.words}") for name, each in INTENTS.items()],
        widget=UnfoldAdminRadioSelectWidget(),
    )
    other_chain_ids = ChainsField()
    field_order: tuple[str, ...] = (
        "name",
        "intent",
        "archetype",
        "profiles",
        "home_chain_id",
        "other_chain_ids",
        "base_asset",
    )

    class Meta:
        model = Golem
        fields = ("name", "archetype", "profiles", "home_chain_id", "other_chain_ids", "base_asset")
        labels = {"home_chain_id": "Home chain"}
        help_texts = {
            "name": "How you tell it from your others",
            "archetype": "The kind of agent: its default tools, delegates and prompt",
            "profiles": "None ticked: what the archetype brings. Else the union of the ticked bundles replaces it",
            "base_asset": "Symbol of the token it measures itself in",
        }

    def __init__(
        self,
        *args: Any,  # Any: Django hands on any value
        owner: Any,  # Any: which model accounts have is a setting
        archetypes: Any,  # Any: Django hands on any value
        profiles: Any,  # Any: Django hands on any value
        **kwargs: Any,  # Any: Django hands on any value
    ) -> None:
        super().__init__(*args, **kwargs)
        self.owner = owner
        get_field(self, forms.CharField, "name").widget = UnfoldAdminTextInputWidget(attrs={"autofocus": True})
        get_field(self, forms.CharField, "base_asset").widget = UnfoldAdminTextInputWidget()
        archetype = get_field(self, forms.ModelChoiceField, "archetype")
        archetype.required = False
        archetype.queryset = archetypes
        archetype.widget = UnfoldAdminSelectWidget(choices=archetype.choices)
        self.fields |= {
            "profiles": ProfilesField(
                queryset=profiles,
                required=False,
                widget=forms.CheckboxSelectMultiple(),
                help_text=get_field(self, forms.ModelMultipleChoiceField, "profiles").help_text,
            ),
            "home_chain_id": forms.TypedChoiceField(
                label="Home chain", choices=list_chains, coerce=int, widget=UnfoldAdminSelectWidget()
            ),
        }
        chains = get_field(self, ChainsField, "other_chain_ids")
        chains.offer()
        if len(list_offered()) < 2:
            # Nothing to choose from; the home chain alone is what there is.
            chains.widget = forms.MultipleHiddenInput()

    def clean(self) -> dict[str, Any]:  # Any: each field gives its own type
        """An intent chooses archetype and bundles; the base asset has to be known on the chain."""
        cleaned = super().clean() or {}
        given = read_valid(_GivenGolem, cleaned)
        names = INTENTS.get(given.intent or CUSTOM, INTENTS[CUSTOM]).profiles
        archetype = given.archetype
        if names:
            archetype = Archetype.objects.filter(name=_INTENT_ARCHETYPE, owner__isnull=True).first()
            profiles = ToolProfile.objects.filter(name__in=names, owner__isnull=True)
            cleaned |= {"archetype": archetype, "profiles": profiles}
            self.errors.pop("archetype", None)
        if archetype is None and "archetype" not in self.errors:
            self.add_error("archetype", "Choose an archetype, or what it is for.")
        if given.base_asset and given.home_chain_id:
            try:
                cleaned |= {"base_asset": check_base_asset(given.base_asset, given.home_chain_id)}
            except ValidationError as error:
                self.add_error("base_asset", error)
        try:
            cleaned |= {"other_chain_ids": check_chains(given.home_chain_id, given.other_chain_ids)}
        except ValidationError as error:
            self.add_error("other_chain_ids", error)
        return cleaned

    def clean_name(self) -> str:
        """Once per owner; the database says so too."""
        name = str(read_valid(_GivenGolem, self.cleaned_data).name).strip()
        if Golem.objects.filter(owner=self.owner, name=name).exists():
            raise ValidationError("You have a golem of this name already.")
        return name


class PhaseForm(forms.Form):
    """An owner's reset of a golem's phase."""

    to = forms.ChoiceField(label="Phase", choices=PHASE_CHOICES, widget=UnfoldAdminSelectWidget())
    reason = PlainTextField(
        max_length=500, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}), help_text="Kept in the golem's history"
    )


class ConfirmForm(forms.Form):
    """Nothing to fill in: pressing the button is the confirmation."""


__all__ = [
    "ApiKey",
    "ArchetypeForm",
    "GolemForm",
    "NewApiKeyForm",
    "NewGolemForm",
    "PhaseForm",
    "ConfirmForm",
    "ToolOverrideForm",
    "ToolOverrideFormSet",
    "ToolProfileForm",
    "list_chains",
    "list_venues",
]
