"""Arranges the admin: colours and marks, and the sidebar grouped by concern."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse_lazy


def _static(path: str) -> object:
    return lambda request: static(path)


def _link(title: str, icon: str, model: str, *, is_operators_only: bool = False) -> dict[str, object]:
    """A sidebar line for `app_model`, shown to whoever may see that model."""
    app, _, name = model.rpartition(".")

    def may_see(request: HttpRequest) -> bool:
        if is_operators_only:
            return bool(request.user.is_superuser)
        return bool(request.user.has_perm(f"{app}.view_{name}"))

    def is_active(request: HttpRequest) -> bool:
        here = request.path.startswith(f"/admin/{app}/{name}/")
        return here and not request.path.endswith(("/graph/", "/matrix/"))

    return {
        "title": title,
        "icon": icon,
        "link": reverse_lazy(f"admin:{app}_{name}_changelist"),
        "permission": may_see,
        "active": is_active,
    }


def _view(title: str, icon: str, model: str, page: str) -> dict[str, object]:
    """A sidebar line for a page of our own beside the list of `app_model`."""
    app, _, name = model.rpartition(".")
    return {
        "title": title,
        "icon": icon,
        "link": reverse_lazy(f"admin:{app}_{name}_{page}"),
        "permission": lambda request: bool(request.user.has_perm(f"{app}.view_{name}")),
        "active": lambda request: request.path.startswith(f"/admin/{app}/{name}/{page}/"),
    }


MACHINERY: list[dict[str, Any]] = [  # Any: as Unfold reads them
    {
        "title": "Agents",
        "items": [
            _link("API keys", "key", "archetypes_app.apikey"),
            _link("Archetypes", "category", "archetypes_app.archetype"),
            _view("Who may ask whom", "account_tree", "archetypes_app.archetype", "graph"),
            _link("Tool profiles", "construction", "archetypes_app.toolprofile"),
            _link("Own tools", "extension", "tools_app.tooldefinition"),
            _view("Categories", "grid_on", "archetypes_app.toolprofile", "matrix"),
            _link("Phase changes", "trending_down", "archetypes_app.phasetransition"),
        ],
    },
    {
        "title": "Pulse",
        "items": [
            _link("Decisions", "psychology", "archetypes_app.decisioncyclerecord"),
            _link("Actions", "bolt", "permits_app.actionrecord"),
            _link("Ticks", "timer", "archetypes_app.heartbeattick"),
            _link("Alerts", "notification_important", "archetypes_app.alertbatch"),
            _link("Artifacts", "lightbulb", "archetypes_app.artifact"),
            _link("Vitality", "monitor_heart", "archetypes_app.vitalityrecord"),
            _link("Cost of thinking", "payments", "archetypes_app.modelspendday"),
        ],
    },
    {
        "title": "Permits",
        "items": [
            _link("Outcomes", "fact_check", "permits_app.outcomerecord"),
            _link("Trust in venues", "thumbs_up_down", "permits_app.venuetrust"),
            _link("Standing plans", "event_repeat", "permits_app.standingplan"),
            _link("Halts", "front_hand", "permits_app.haltrecord"),
            _link("Halt settings", "tune", "permits_app.haltsetting"),
            _link("Grants", "token", "permits_app.capabilitygrant"),
            _link("Pending requests", "hourglass_top", "permits_app.pendingrequest"),
        ],
    },
    {
        "title": "Money",
        "items": [
            _link("Cages", "shield", "permits_app.policycage"),
            _link("Cages on chain", "link", "permits_app.cagemirror"),
            _link("Safes that stand open", "lock_open_right", "permits_app.safeopening"),
            _link("Signing keys", "key", "permits_app.signingkey"),
            _link("Budgets of owners", "savings", "permits_app.ownerbudget"),
            _link("Spends", "payments", "permits_app.spendentry"),
            _link("Standing allowances", "lock_open", "permits_app.standingallowance"),
            _link("Transactions", "receipt_long", "permits_app.outboundtransaction"),
            _link("Address book", "contacts", "permits_app.knownaddress"),
            _link("Declared pegs", "balance", "permits_app.declaredpeg"),
            _link("Nonces", "tag", "permits_app.noncereservation"),
        ],
    },
    {
        "title": "Memory",
        "items": [
            _link("Insights", "lightbulb", "memory_app.insight"),
            _link("Playbooks", "menu_book", "memory_app.directive"),
            _link("Strategies", "route", "memory_app.strategy"),
            _link("Executions", "checklist", "memory_app.execution"),
            _link("Dreams", "bedtime", "memory_app.dreamjournal"),
        ],
    },
    {
        "title": "Events",
        "items": [
            _link("Events", "bolt", "tools_app.outboxevent"),
            _link("Webhooks", "webhook", "stream.webhookendpoint"),
            _link("Deliveries", "outgoing_mail", "stream.webhookdelivery"),
            _link("Tasks of other agents", "handshake", "a2a.task"),
            _link("Reads for strangers", "visibility", "a2a.openedread"),
        ],
    },
    {
        "title": "System",
        "items": [
            _link("People", "group", "auth.user", is_operators_only=True),
            _link("Groups", "groups", "auth.group", is_operators_only=True),
            _link("Schedule", "schedule", "django_celery_beat.periodictask", is_operators_only=True),
            _link("Nonce cursors", "pin", "permits_app.noncecursor", is_operators_only=True),
            _link("Chains", "link", "permits_app.chainmark", is_operators_only=True),
        ],
    },
]
"""What is behind the machinery's page, in groups."""


def _is_machinery(request: HttpRequest) -> bool:
    """Whether a page behind it is open."""
    return any(item["active"](request) for group in MACHINERY for item in group["items"] if "active" in item)


ACCOUNT_PAGES: list[dict[str, object]] = [
    {"title": "Where you are signed in", "link": reverse_lazy("sign_ins")},
    {"title": "Your second factors", "link": reverse_lazy("admin:permits_app_changerequest_second_factors")},
    {"title": "Budget over all your golems", "link": reverse_lazy("admin:permits_app_ownerbudget_mine")},
    {"title": "Alerts", "link": reverse_lazy("alerts")},
    {"title": "Sign an agent in", "link": reverse_lazy("sign_in_agent")},
]
OWNER_PAGES: list[dict[str, object]] = [{"title": "Services", "link": reverse_lazy("services")}]
"""Pages of a person's own account, and those of who owns a golem or may make one."""

UNFOLD: dict[str, Any] = {  # Any: as Unfold reads them
    "SITE_TITLE": "Golem",
    "SITE_HEADER": "Golem",
    "SITE_SUBHEADER": "Autonomous agents, in hand",
    "SITE_ICON": _static("golem/mark.svg"),
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": _static("golem/mark.svg")}],
    "SITE_URL": None,
    "SHOW_HISTORY": False,  # the audit log is the history, of pages, agents and the runtime alike
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_BACK_BUTTON": False,
    "STYLES": [_static("golem/theme.css"), _static("golem/admin.css")],
    "SCRIPTS": [_static("golem/admin.js"), _static("golem/fold.js")],
    "DASHBOARD_CALLBACK": "golem_project.owner_pages.theme.fill_dashboard",
    "ENVIRONMENT": "golem_project.owner_pages.theme.describe_environment",
    # Colours stand in theme.css: the theme would write them into a style element, which the policy forbids.
    "COLORS": "golem_project.owner_pages.theme.leave_colors",
    "ACCOUNT": {"navigation": "golem_project.owner_pages.theme.list_account_pages"},
    "SIDEBAR": {
        "show_search": False,
        "show_all_applications": False,
        "navigation": [
            {
                "items": [
                    {"title": "Overview", "icon": "dashboard", "link": reverse_lazy("admin:index")},
                    {"title": "Fleet", "icon": "monitor_heart", "link": reverse_lazy("fleet")},
                    _view("Approvals", "how_to_reg", "permits_app.changerequest", "inbox"),
                ]
            },
            {
                "title": "Golems",
                "items": [
                    _link("Golems", "smart_toy", "archetypes_app.golem"),
                    _link("Permits", "verified_user", "permits_app.actionpermit"),
                    _link("Heartbeats", "ecg_heart", "archetypes_app.heartbeat"),
                ],
            },
            {
                "title": "Money",
                "items": [
                    _link("Spending limits", "speed", "permits_app.spendinglimits"),
                    _link("Allowlist", "playlist_add_check", "permits_app.allowlistentry"),
                    _link("Wallets", "account_balance_wallet", "permits_app.wallet"),
                ],
            },
            {
                "title": "Records",
                "items": [
                    _link("Episodes", "history_edu", "memory_app.episode"),
                    _link("Audit log", "policy", "tools_app.auditentry"),
                    {
                        "title": "Machinery",
                        "icon": "settings",
                        "link": reverse_lazy("machinery"),
                        "active": _is_machinery,
                    },
                ],
            },
        ],
    },
}
"""The sidebar: what owners do, twelve lines at most. Everything else is under Machinery."""
LOGIN_REDIRECT_URL = "admin:index"
