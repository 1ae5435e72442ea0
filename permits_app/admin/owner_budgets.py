"""Shows an owner one budget over all their golems, and lets them set it; what is looser asks for a second factor."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from unfold.decorators import display

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.audit_actor_names import name_actor
from permits_app.approval_pages.passkey_answers import find_problem, read_answer
from permits_app.approval_pages.second_factor_forms import FactorForm
from permits_app.approvals import second_factor
from permits_app.approvals.passkey_challenges import FactorUse, name_action
from permits_app.forms import UsdField
from permits_app.limits.owner_budget import BudgetView, set_budget
from permits_app.models import OwnerBudget
from permits_app.pages.budget_lines import MOST_SHOWN, list_share_lines, meter_budget, read_budget
from tools_app.admin.read_only import ReadOnlyAdminMixin
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.pages.html import NOTHING
from tools_app.wording.formats import format_usd

PAGE = "permits_app_ownerbudget_mine"


class BudgetForm(FactorForm):
    """Dollars in 24 hours, and a second factor for more of them than before."""

    per_day = UsdField(label="All my golems together, in 24 hours")
    field_order = ("per_day", "old_code", "passkey")

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: Django's own
        super().__init__(*args, **kwargs)
        if "old_code" in self.fields:
            self.fields["old_code"].help_text = "Asked for when it becomes more than before, or ends"


class EndBudgetForm(FactorForm):
    """A second factor, to be without a budget."""


@admin.register(OwnerBudget)
class OwnerBudgetAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """Everybody their own budget, operators all of them. It is set on the page `mine/`, which is nobody else's."""

    owner_path = "person"
    empty_text = "Nobody has a budget over their golems. Each golem keeps its own limits."
    list_display = ("person", "limit", "used", "left")
    list_select_related = ("person",)
    ordering = ("person__username",)
    fields = ("person", "limit", "used", "left", "frees", "shares")
    readonly_fields = fields

    def get_urls(self) -> list[object]:
        """And the page on which it is set."""
        return [path("mine/", self.admin_site.admin_view(self.show_mine), name=PAGE), *super().get_urls()]

    @display(description="In 24 h", ordering="per_day_micro_usd")
    def limit(self, obj: OwnerBudget) -> str:
        """In dollars."""
        return format_usd(obj.per_day_micro_usd)

    @display(description="Used or held")
    def used(self, obj: OwnerBudget) -> str:
        """Of all golems of the person."""
        return format_usd(_read(obj).used_micro_usd)

    @display(description="Left")
    def left(self, obj: OwnerBudget) -> str:
        """What they may still spend together."""
        return format_usd(_read(obj).left_micro_usd)

    @display(description="Some of it is free again")
    def frees(self, obj: OwnerBudget) -> str:
        """In UTC."""
        at = _read(obj).frees_at
        return f"{at:%Y-%m-%d %H:%M} UTC" if at is not None else NOTHING

    @display(description="Which golem used what")
    def shares(self, obj: OwnerBudget) -> SafeString:
        """A line for each that used some of it."""
        lines = [(line.name, line.used, line.told) for line in list_share_lines(_read(obj)) if line.is_used]
        if not lines:
            return NOTHING
        return format_html('<ul class="gx-list">{}</ul>', format_html_join("", "<li>{}: {}, {}</li>", lines))

    def show_mine(self, request: HttpRequest) -> HttpResponse:
        """The budget of whoever is signed in; a POST sets or ends it."""
        return _show_mine(request, self)


@never_cache
def _show_mine(request: HttpRequest, model_admin: OwnerBudgetAdmin) -> HttpResponse:
    person: Any = request.user  # Any: whoever is signed in, of the project's user model
    budget, held = read_budget(person.pk, now=clock.now()), second_factor.find_held(person)
    is_end = request.POST.get("do") == "end"
    posted = request.POST if request.method == "POST" else None
    form = BudgetForm(None if is_end else posted, held=held, initial={"per_day": budget.limit_micro_usd})
    end = EndBudgetForm(posted if is_end else None, held=held, prefix="end")
    refusal: GolemError | None = None
    used: FactorForm = end if is_end else form
    if posted is not None and used.is_valid():
        wanted = None if is_end else int(form.cleaned_data["per_day"])
        try:
            _set(request, used, budget, wanted)
        except GolemError as error:
            refusal = error
        else:
            return HttpResponseRedirect(reverse(f"admin:{PAGE}"))
    context = {
        **model_admin.admin_site.each_context(request),
        "title": "Budget over all my golems",
        "opts": model_admin.opts,
        "budget": budget,
        "meters": [meter_budget(budget)] if budget.limit_micro_usd is not None else [],
        "shares": list_share_lines(budget),
        "more": max(0, len(budget.shares) - MOST_SHOWN),
        "form": form,
        "end": end,
        "held": held,
        "use": FactorUse.RAISE_BUDGET.value,
        "problem": find_problem(request),
        "refusal": refusal,
    }
    return TemplateResponse(
        request, "permits_app/limits/owner_budget.html", context, status=refusal.http_status if refusal else 200
    )


def _set(request: HttpRequest, form: FactorForm, budget: BudgetView, wanted: int | None) -> None:
    """Lower it at once, loosen it with a second factor. Raises SecondFactorMissing and its kin."""
    before = budget.limit_micro_usd
    if wanted == before:
        messages.info(request, "It is so already.")
        return
    if before is not None and (wanted is None or wanted > before):
        second_factor.check_second_factor(
            user=request.user,
            code=form.cleaned_data.get("old_code", ""),
            passkey=read_answer(request, form.cleaned_data["passkey"]),
            action=name_action(FactorUse.RAISE_BUDGET),
            now=clock.now(),
        )
    set_budget(person=request.user, per_day_micro_usd=wanted, actor=name_actor(request.user), now=clock.now())
    told = "There is no budget over your golems any more." if wanted is None else f"It is {format_usd(wanted)} now."
    messages.success(request, told)


def _read(obj: OwnerBudget) -> BudgetView:
    """Of one row, once for all its columns."""
    kept: BudgetView | None = getattr(obj, "budget_view", None)
    if kept is None:
        kept = read_budget(obj.person_id, now=clock.now())
        obj.budget_view = kept  # type: ignore[attr-defined]
    return kept
