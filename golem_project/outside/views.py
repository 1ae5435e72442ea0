"""A person's services: what each lends, whether it is on, how much of its quota is used, and what came last."""

from __future__ import annotations

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from archetypes_app.ownership import may_own
from golem_project.outside.access import ServiceLine, list_services, switch_off, switch_on
from golem_project.outside.forms import ServiceForm
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.toolkit.outside_services import SERVICES


@never_cache
@require_http_methods(["GET", "POST"])
def show_services(request: HttpRequest) -> HttpResponse:
    """The page. Each owner sees and changes their own; who owns no golem has none to lend to."""
    if not may_own(request.user):
        raise PermissionDenied("services are lent to golems by their owners")
    did, name = (str(request.POST.get(word, "")) for word in ("do", "service"))
    service = SERVICES.get(name) if request.method == "POST" else None
    form = None
    if did == "off" and service is not None:
        if switch_off(person=request.user, name=name):
            messages.success(request, f"{service.label} is off; its key is forgotten.")
        return HttpResponseRedirect(reverse("services"))
    if did == "on" and service is not None:
        form = ServiceForm(request.POST, service=service, prefix=name)
        if form.is_valid():
            try:
                switch_on(
                    person=request.user,
                    name=name,
                    key=form.cleaned_data.get("key", ""),
                    questions_an_hour=form.cleaned_data["questions_an_hour"],
                    now=clock.now(),
                )
            except GolemError as error:
                form.add_error(None, error.detail)
            else:
                messages.success(request, f"{service.label} is on: your golems may ask it.")
                return HttpResponseRedirect(reverse("services"))
    lines = list_services(person=request.user, now=clock.now())
    context = {
        **admin.site.each_context(request),
        "title": "Services",
        "lines": [(line, form if form is not None and line.service == service else _make_form(line)) for line in lines],
    }
    return TemplateResponse(request, "golem_project/outside/services.html", context)


def _make_form(line: ServiceLine) -> ServiceForm:
    given = {"questions_an_hour": line.access.questions_an_hour} if line.access is not None else None
    return ServiceForm(service=line.service, prefix=line.service.name, initial=given)
