"""Saved filters of a list: a person keeps its search, filters and order under a name, finds it there, and removes it.

Only parameters that the list itself knows are kept. What is kept is a question: whoever asks it again is shown what
they may see then, and no more.
"""

from __future__ import annotations

import re
from typing import Final

from django import forms
from django.contrib import messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ORDER_VAR, SEARCH_VAR, ChangeList
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import path, reverse
from django.utils.decorators import method_decorator
from django.utils.http import urlencode
from django.views.decorators.http import require_POST
from unfold.admin import ModelAdmin

from tools_app.models import SavedFilter

MOST_FILTERS: Final = 30
"""Of one person for one list."""
_LONGEST: Final = 200
_MOST_VALUES: Final = 50
_ORDER: Final = re.compile(r"-?\d{1,3}(\.-?\d{1,3}){0,20}")


class NameForm(forms.Form):
    """What it is called, and the list as it was looked at."""

    name = forms.CharField(max_length=60)
    query = forms.CharField(max_length=4_000, required=False)


class SavedFiltersMixin(ModelAdmin):
    """Above each list of its kind: the person's own filters, and a field to keep what is looked at now."""

    list_before_template = "admin/lists/above.html"

    def get_urls(self) -> list[object]:
        """With keeping and removing."""
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        wrap = self.admin_site.admin_view
        return [
            path("filters/", wrap(self.keep_filter), name=f"{name}_keep_filter"),
            path("filters/<int:filter_id>/remove/", wrap(self.remove_filter), name=f"{name}_remove_filter"),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        """The list, with the filters of who looks at it."""
        saved = SavedFilter.objects.filter(person_id=request.user.pk, list_name=self.opts.label_lower)
        given = {"saved_filters": saved, "looked_at": request.GET.urlencode(), **(extra_context or {})}
        answer: HttpResponse = super().changelist_view(request, given)
        return answer

    @method_decorator(require_POST)
    def keep_filter(self, request: HttpRequest) -> HttpResponse:
        """Keep the parameters of `query` that this list knows, under `name`; an older one of that name is replaced."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        form = NameForm(request.POST)
        back = self._list_url()
        if not form.is_valid():
            messages.error(request, "Nothing was kept: a filter needs a name of at most 60 characters.")
            return HttpResponseRedirect(back)
        params = self._choose_known(request, QueryDict(form.cleaned_data["query"]))
        if not params:
            messages.error(request, "Nothing was kept: choose a filter, a search or an order first.")
            return HttpResponseRedirect(back)
        mine = SavedFilter.objects.filter(person_id=request.user.pk, list_name=self.opts.label_lower)
        name = form.cleaned_data["name"]
        if mine.exclude(name=name).count() >= MOST_FILTERS:
            messages.error(request, f"Nothing was kept: {MOST_FILTERS} filters of one list are the most; remove one.")
            return HttpResponseRedirect(back)
        kept, _ = SavedFilter.objects.update_or_create(
            person_id=request.user.pk, list_name=self.opts.label_lower, name=name, defaults={"params": params}
        )
        messages.success(request, f"“{kept.name}” is kept.")
        return HttpResponseRedirect(f"{back}?{kept.query}")

    @method_decorator(require_POST)
    def remove_filter(self, request: HttpRequest, filter_id: int) -> HttpResponse:
        """Remove one's own. Raises Http404 for anybody else's."""
        gone, _ = SavedFilter.objects.filter(
            pk=filter_id, person_id=request.user.pk, list_name=self.opts.label_lower
        ).delete()
        if not gone:
            raise Http404("no such filter of yours")
        messages.success(request, "The filter is removed.")
        return HttpResponseRedirect(self._list_url())

    def _list_url(self) -> str:
        return reverse(f"{self.admin_site.name}:{self.opts.app_label}_{self.opts.model_name}_changelist")

    def _choose_known(self, request: HttpRequest, given: QueryDict) -> dict[str, list[str]]:
        """The parameters that the list, as this person sees it, answers to; nothing where it refuses them."""
        bare = self._open_list(request, QueryDict())
        if bare is None:
            return {}
        known = {name for spec in bare.filter_specs for name in spec.expected_parameters() if name}
        if self.get_search_fields(request):
            known.add(SEARCH_VAR)
        kept = {
            name: [text[:_LONGEST] for text in given.getlist(name) if text][:_MOST_VALUES] for name in sorted(known)
        }
        order = given.get(ORDER_VAR, "")
        if _ORDER.fullmatch(order):
            kept[ORDER_VAR] = [order]
        kept = {name: texts for name, texts in kept.items() if any(texts)}
        asked = QueryDict(urlencode(kept, doseq=True))
        return kept if self._open_list(request, asked) is not None else {}

    def _open_list(self, request: HttpRequest, given: QueryDict) -> ChangeList | None:
        """The list as it answers to `given`; None where it refuses that."""
        asked, request.GET = request.GET, given  # type: ignore[assignment]
        try:
            return self.get_changelist_instance(request)
        except (IncorrectLookupParameters, SuspiciousOperation, PermissionDenied):
            return None
        finally:
            request.GET = asked
