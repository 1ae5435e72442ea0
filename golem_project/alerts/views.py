"""A person's channels: listed with what became of the last message, made, tried, removed."""

from __future__ import annotations

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from archetypes_app.ownership import list_golems_with
from archetypes_app.roles import Power
from golem_project.alerts import push_key
from golem_project.alerts.channels import create_channel, find_channels, try_channel
from golem_project.alerts.forms import NewChannelForm
from golem_project.alerts.mail_confirmation import confirm_channel, mail_code
from golem_project.alerts.models import AlertChannel, ChannelKind
from golem_project.alerts.sending import NotSent
from golem_project.alerts.topics import TOPICS
from tools_app.core import clock
from tools_app.core.errors import GolemError


@never_cache
@require_http_methods(["GET", "POST"])
def show_channels(request: HttpRequest) -> HttpResponse:
    """The page. A channel of somebody else is none here."""
    did = request.POST.get("do", "") if request.method == "POST" else ""
    if did in ("try", "remove", "code", "confirm"):
        _act(request, did)
        return HttpResponseRedirect(reverse("alerts"))
    if did == "push":
        _subscribe(request)
        return HttpResponseRedirect(reverse("alerts"))
    golems = list_golems_with(request.user, Power.SEE).order_by("name")
    form = NewChannelForm(request.POST if did == "make" else None, golems=golems)
    if did == "make" and form.is_valid():
        try:
            made = create_channel(
                person=request.user,
                kind=form.read_kind(),
                target=form.read_target(),
                now=clock.now(),
                **form.read_columns(),
            )
        except GolemError as error:
            form.add_error(None, error.detail)
        else:
            if made.confirmed_at is None:
                _mail_code(request, made)
            else:
                messages.success(request, f"Alerts go to {made} from now on. Send a test to see that it arrives.")
            return HttpResponseRedirect(reverse("alerts"))
    context = {
        **admin.site.each_context(request),
        "title": "Alerts",
        "push_key": push_key.read_public_key(),
        "form": form,
        "channels": [(channel, _say_topics(channel)) for channel in find_channels(request.user)],
    }
    return TemplateResponse(request, "golem_project/alerts/channels.html", context)


def _act(request: HttpRequest, did: str) -> None:
    person: object = request.user
    wanted = str(request.POST.get("channel", ""))
    channel = next((each for each in find_channels(person) if str(each.pk) == wanted), None)
    if channel is None:
        messages.error(request, "There is no such channel.")
    elif did == "remove":
        AlertChannel.objects.filter(pk=channel.pk).delete()
        messages.success(request, f"{channel} is removed.")
    elif did == "code":
        _mail_code(request, channel)
    elif did == "confirm":
        _confirm(request, channel)
    else:
        try:
            try_channel(channel=channel)
        except NotSent as error:
            messages.error(request, f"{channel} was not told: {error}")
        else:
            messages.success(request, f"A test went to {channel}.")


def _subscribe(request: HttpRequest) -> None:
    """Alert this browser from now on, of everything that waits for its person or may lose money."""
    url, p256dh, auth = (str(request.POST.get(name, ""))[:600] for name in ("endpoint", "p256dh", "auth"))
    try:
        made = create_channel(
            person=request.user,
            kind=ChannelKind.PUSH,
            target={"url": url, "p256dh": p256dh, "auth": auth},
            now=clock.now(),
            label=_name_browser(request.headers.get("User-Agent", "")),
            topics=["decide", "stopped", "danger"],
        )
    except GolemError as error:
        messages.error(request, f"This browser is not alerted: {error.detail}.")
    else:
        messages.success(request, f"{made} is alerted from now on. Send a test to see that it arrives.")


def _name_browser(agent: str) -> str:
    """What kind of device it is, as its browser says."""
    found = next((each for each in ("iPhone", "iPad", "Android", "Windows", "Macintosh", "Linux") if each in agent), "")
    return f"This {found} browser" if found else "This browser"


def _mail_code(request: HttpRequest, channel: AlertChannel) -> None:
    try:
        mail_code(channel=channel, now=clock.now())
    except NotSent as error:
        messages.error(request, f"No code was mailed to {channel}: {error}")
    except GolemError as error:
        messages.error(request, f"No code was mailed to {channel}: {error.detail}.")
    else:
        messages.success(request, f"A code was mailed to {channel}. Type it below; nothing else is sent there before.")


def _confirm(request: HttpRequest, channel: AlertChannel) -> None:
    try:
        confirm_channel(channel=channel, code=str(request.POST.get("code", ""))[:40], now=clock.now())
    except GolemError as error:
        messages.error(request, f"{channel} is not confirmed: {error.detail}.")
    else:
        messages.success(request, f"Alerts go to {channel} from now on.")


def _say_topics(channel: AlertChannel) -> str:
    return "; ".join(TOPICS[name].words for name in channel.topics if name in TOPICS) or "everything"
