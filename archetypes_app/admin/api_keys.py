"""API keys: made here and shown once, rotated, revoked; never edited, never deleted, their text never stored."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.cache import add_never_cache_headers
from django.utils.safestring import SafeString
from unfold.decorators import action, display

from archetypes_app.actions.create_api_key import NewApiKey, create_api_key, find_session, hash_token
from archetypes_app.actions.revoke_api_key import revoke_api_key, rotate_api_key
from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.admin.scoped_filters import GolemFilter
from archetypes_app.forms import ConfirmForm, NewApiKeyForm
from archetypes_app.models import AgentSignIn, ApiKey, Golem
from archetypes_app.models.api_key import Scope
from archetypes_app.ownership import may_own
from archetypes_app.sample_calls import PERMIT_HERE, find_commit, find_first_action, list_examples
from tools_app.core import clock
from tools_app.pages.confirmation import show_confirmation
from tools_app.pages.html import show_age, show_badge

TOKEN_COOKIE = "new_token"  # noqa: S105  (a name of a cookie)
TOKEN_SECONDS = 120


def redirect_to_token(*, request: HttpRequest, fresh: NewApiKey) -> HttpResponse:
    """To the page that shows the token once. Meanwhile only this browser holds its text, in a cookie of that page."""
    page = reverse("admin:archetypes_app_apikey_token", args=[fresh.key.pk])
    response = HttpResponseRedirect(page)
    response.set_cookie(
        TOKEN_COOKIE,
        fresh.token,
        max_age=TOKEN_SECONDS,
        path=page,
        secure=request.is_secure(),
        httponly=True,
        samesite="Strict",
    )
    add_never_cache_headers(response)
    return response


@admin.register(ApiKey)
class ApiKeyAdmin(OwnerScopedAdmin):
    """Bearer tokens of golems."""

    list_display = ("prefix", "golem", "label", "scope_list", "state", "last_used", "expires")
    list_filter = (GolemFilter,)
    list_select_related = ("golem",)
    search_fields = ("=prefix", "label")
    search_help_text = "The first 14 characters of a token, or words of its label"
    fields = (
        "golem",
        "label",
        "prefix",
        "scope_list",
        "shown_tools",
        "state",
        "created_at",
        "expires",
        "last_used",
        "made_by",
    )
    readonly_fields = (
        "shown_tools",
        "golem",
        "prefix",
        "scope_list",
        "state",
        "created_at",
        "expires",
        "last_used",
        "made_by",
        "label",
    )
    actions_detail: ClassVar[tuple[str, ...]] = ("rotate", "revoke")
    actions_row: ClassVar[tuple[str, ...]] = ("rotate", "revoke")

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nothing of a key is edited."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """A revoked key stays as a record."""
        return False

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Django's permission, and there is a golem for it or may be one: who only looks makes no key."""
        may = super().has_add_permission(request)
        return bool(may and (may_own(request.user) or self._operates_one(request)))

    def has_end_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Whoever may make a key may end one of a golem that they operate."""
        return bool(self.has_add_permission(request)) and not self.is_only_seen(request, object_id)

    def _operates_one(self, request: HttpRequest) -> bool:
        return bool(self.list_choices(Golem, request).exists())

    @display(description="Made by")
    def made_by(self, obj: ApiKey) -> str:
        """A name without a link: people are the operators' to see."""
        return str(obj.created_by or "this server")

    @display(description="Scopes")
    def scope_list(self, obj: ApiKey) -> str:
        """As words."""
        return ", ".join(obj.scopes)

    @display(description="Tools shown at once")
    def shown_tools(self, obj: ApiKey) -> str:
        """The ceiling, and what its agent loaded beside the core."""
        if obj.most_tools is None:
            return "every tool the golem has"
        loaded = ", ".join(obj.loaded_tools) or "nothing"
        return f"at most {obj.most_tools}; loaded beside the core: {loaded}"

    @display(description="State")
    def state(self, obj: ApiKey) -> SafeString:
        """Active, expired or revoked."""
        if obj.revoked_at:
            return show_badge("replaced" if obj.replaced_by_id else "revoked", "quiet")
        return show_badge("expired", "quiet") if obj.expires_at <= clock.now() else show_badge("active", "good")

    @display(description="Last used", ordering="last_used_at")
    def last_used(self, obj: ApiKey) -> SafeString | str:
        """How long ago."""
        return show_age(obj.last_used_at) if obj.last_used_at else "never"

    @display(description="Expires", ordering="expires_at")
    def expires(self, obj: ApiKey) -> SafeString:
        """In how long."""
        return show_age(obj.expires_at)

    def get_urls(self) -> Any:  # Any: unfold has no types
        """The page that shows a token once, before the form's own addresses."""
        wrap = self.admin_site.admin_view
        shown = path("<path:object_id>/token/", wrap(self.token_view), name="archetypes_app_apikey_token")
        return [shown, *super().get_urls()]

    def token_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """A new token, once, with calls that work; a page that is loaded again has nothing to show."""
        key = self.get_row(request, object_id)
        token = request.COOKIES.get(TOKEN_COOKIE, "")
        is_its_own = bool(token) and hash_token(token) == key.digest
        context = {
            **self.admin_site.each_context(request),
            "title": f"The token of {key.golem.name}",
            "opts": self.opts,
            "key": key,
            "token": token if is_its_own else "",
            "golem": key.golem,
            "base_url": f"{request.scheme}://{request.get_host()}",
            "examples": list_examples(key) if is_its_own else (),
            "first": find_first_action(key) if is_its_own else None,
            "commit": find_commit(key) if is_its_own else None,
            "permit_here": PERMIT_HERE,
            "may_spend": Scope.COMMIT in key.scopes and key.golem.may_keys_spend,
            "sharing": ApiKey.objects.filter(session_id=key.session_id).exclude(pk=key.pk).count(),
        }
        response = TemplateResponse(request, "admin/archetypes_app/apikey/created.html", context)
        response.delete_cookie(TOKEN_COOKIE, path=request.path, samesite="Strict")
        add_never_cache_headers(response)
        return response

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: object = None) -> HttpResponse:
        """Make a key and show its token once."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        golems = self.list_choices(Golem, request).order_by("name")
        initial = {"golem": request.GET.get("golem", "")}
        form = NewApiKeyForm(request.POST or None, golems=golems, initial=initial)
        if request.method == "POST" and form.is_valid():
            golem, now = form.cleaned_data["golem"], clock.now()
            fresh = create_api_key(
                golem=golem,
                scopes=form.cleaned_data["scopes"],
                label=form.cleaned_data["label"],
                created_by=request.user,
                now=now,
                lifetime_days=form.cleaned_data["lifetime_days"],
                most_tools=form.cleaned_data["most_tools"],
                session_id=None if form.cleaned_data["session"] == "own" else find_session(golem=golem, now=now),
            )
            return redirect_to_token(request=request, fresh=fresh)
        return show_confirmation(
            request=request,
            model_admin=self,
            title="New API key",
            explanation="An agent uses it to act as the golem. It is shown once, on the next page.",
            form=form,
            submit="Create the key",
            back_url=reverse("admin:archetypes_app_apikey_changelist"),
        )

    @action(description="Rotate", icon="autorenew", url_path="rotate", permissions=["end"])
    def rotate(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Replace the key by a fresh one with the same scopes."""
        key = self.get_row_to_act_on(request, object_id)
        if key.revoked_at:
            messages.warning(request, "This key is revoked already.")
            return HttpResponseRedirect(self._page(key))
        if AgentSignIn.objects.filter(key=key).exists():
            messages.warning(request, "Its agent renews its own tokens every few minutes. Revoke the key to end it.")
            return HttpResponseRedirect(self._page(key))
        if request.method == "POST":
            fresh = rotate_api_key(key=key, rotated_by=request.user, now=clock.now())
            return redirect_to_token(request=request, fresh=fresh)
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"Rotate {key}",
            form=ConfirmForm(),
            submit="Rotate now",
            explanation="The old token stops working with the next request; the new one is shown once. It begins"
            " a fresh session limit, unless other keys share this one's.",
            back_url=self._page(key),
            subject=key.golem,
        )

    @action(description="Revoke", icon="key_off", url_path="revoke", permissions=["end"])
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Make the key useless."""
        key = self.get_row_to_act_on(request, object_id)
        if request.method == "POST":
            revoke_api_key(key=key, revoked_by=request.user, now=clock.now())
            messages.success(request, f"{key} no longer works.")
            return HttpResponseRedirect(self._page(key))
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"Revoke {key}",
            form=ConfirmForm(),
            submit="Revoke now",
            explanation="Its next request is refused. This cannot be undone; a new key can be made at any time.",
            back_url=self._page(key),
            is_dangerous=True,
            subject=key.golem,
        )

    def _page(self, key: ApiKey) -> str:
        return reverse("admin:archetypes_app_apikey_change", args=[key.pk])
