"""What nobody calls at run time is hollow: every function, method and class of the product is used by the product.

What a library calls by its name, and what is there to be called from outside, is listed with who calls it.
"""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from vulture import Vulture

PACKAGES = ("golem_project", "permits_app", "memory_app", "tools_app", "archetypes_app", "manage.py")
NO_PRODUCT = ("*/node_modules/*",)
DJANGO_FINDS = ("migrations", "commands")
"""Folders whose classes Django looks up; they call others and nobody calls them."""

REGISTERS = [
    *("@*.read*", "@*.write*", "@*.local_write*", "@action*", "@display*", "@admin.*", "@*.connect*", "@register*"),
    *("@shared_task*"),
]
"""Who is decorated by these is found by what the decorator keeps."""

CALLED_BY_NAME = {
    "Django": [
        *(
            "add_view",
            "clean_*",
            "delete_queryset",
            "has_*_permission",
            "label_from_instance",
            "lookups",
            "prepare_value",
        ),
        *("process_template_response", "*Config", "*Command"),
    ],
    "django-otp": ["get_throttle_factor"],
    "Django's settings": [
        *("AnswerBackend", "KeptForms", "PageHeaders", "PageTitles", "RedactingFilter", "RedactingFormatter"),
        *(
            "RedactingReporter",
            "RequestIdFilter",
            "PaceFilter",
            "HostChecked",
            "JsonFormatter",
            "CarriedSpans",
            "NamedEndpoints",
            "QuietBeat",
            "WatchedRequests",
            "KnownSessions",
            "describe_environment",
            "fill_dashboard",
            "link_help",
            "leave_colors",
            "form_out_of_date",
        ),
        *(
            "scope_choices",
            "AgentSchema",
            "ApiKeyScheme",
            "CallerScheme",
            "HasScope",
            "StrictJsonParser",
            "answer_problem",
            "close_bodies",
        ),
    ],
    "Django REST framework and its schema": [
        *(
            "authenticate",
            "authenticate_header",
            "get_security_definition",
            "get_security_requirement",
            "has_permission",
        ),
        *("map_serializer*", "ClosedBody", "OpenBody", "TextThatSaysSomething", "WrittenUuid"),
    ],
    "Celery": ["_store_result", "_get_task_meta_for", "Schedule", "schedule_changed", "Entry", "tick"],
    "uvicorn": ["BoundedHttp", "connection_*", "data_received", "send_400_response", "*_writing", "on_*"],
    "django-axes": ["LoginLock", "tell_locked", "name_*", "clean_expired_user_attempts", "get_user_attempts"],
    "Authlib": [
        *("get_client_id", "get_allowed_scope", "get_scope", "get_user_code", "is_expired"),
        *("check_client", "check_endpoint_auth_method", "check_grant_type", "should_slow_down", "scopes_supported"),
        *("query_client", "query_device_credential", "query_user_grant", "query_token"),
        *(
            "authenticate_refresh_token",
            "authenticate_user",
            "create_endpoint_response",
            "generate_token",
            "save_token",
        ),
        *("revoke_old_credential", "revoke_token", "CLIENT_AUTH_METHODS", "TOKEN_ENDPOINT_AUTH_METHODS"),
    ],
    "the A2A SDK": ["on_*"],
    "the cage's events, by their names": ["_on_*"],
    "http.server": ["do_POST", "do_GET", "log_message"],
    "pytest in a run of mutants": ["pytest_*"],
    "py-evm": [
        *("delete_code", "get_code_hash", "account_exists", "touch_account", "*_transient_storage", "is_*_warm"),
        *("get_ancestor_hash", "set_storage"),
    ],
    "web3": ["make_request", "is_connected"],
    "Python": ["__init_subclass__"],
}

ONLY_FROM_OUTSIDE = {
    "Queues": "`golem_project/celery.py` names it to Celery as text",
    "GivingWayHasher": "the settings name it to Django",
    "count_waiting": "a test waits until others wait",
    "forget_all": "a test begins without what another one read ahead",
    "rank_by_vector": "a bench holds the index and the words against vectors alone",
    "PyEvmProvider": "docs/simulation.md gives it to who explores a simulation with web3",
    "UnknownMethod": "what the same provider answers",
    "check_bindings": "a test asks whether the generated files are those of the contracts",
    "stop_all": "a test's world ends its chains; those of a server end with it",
    "load_header": "a test fills a base while another thread reads it",
    "used_to_take": "the day a tool changes in a breaking way, its old shape is declared by it (decision 0165)",
    "replace_profile": "tests tell what a change of a profile would do",
    "replace_own": "tests tell what a change of a golem would do",
    "follow_wall": "a test ends what it had the clock compared with",
    "forget_silence": "a test begins with a service that may be asked",
    "WatchedTransport": "the settings name it to Celery where Sentinels watch the broker",
    "tell_left": "the settings name it to Django, for every page",
    "load_last_release": "a test holds the migrated database against what the last release knows",
    "as_json_schema": "a test holds the catalogue of events against it",
}


def list_unused() -> dict[str, str]:
    """What nobody in the product uses: name to place."""
    names = [name for group in CALLED_BY_NAME.values() for name in group]
    look = Vulture(ignore_names=names, ignore_decorators=REGISTERS)
    look.scavenge([str(Path(settings.BASE_DIR) / package) for package in PACKAGES], exclude=list(NO_PRODUCT))
    items = look.get_unused_code(min_confidence=60)
    return {
        item.name: f"{Path(item.filename).relative_to(settings.BASE_DIR)}:{item.first_lineno}"
        for item in items
        if item.typ in ("function", "method", "class") and Path(item.filename).parent.name not in DJANGO_FINDS
    }


def test_what_the_product_has_the_product_uses() -> None:
    unused = list_unused()
    assert {name: place for name, place in unused.items() if name not in ONLY_FROM_OUTSIDE} == {}
    assert set(ONLY_FROM_OUTSIDE) - set(unused) == set(), "these are used now: take them off the list"
