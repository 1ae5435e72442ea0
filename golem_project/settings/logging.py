"""Logs to standard error, one line each, with the request id; never a secret, never a body."""

from __future__ import annotations

from golem_project.settings.environment import read_text

_FORMAT = "json" if read_text("GOLEM_LOG_FORMAT", "line").strip().lower() == "json" else "line"

LOGGING: dict[str, object] = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "request_id": {"()": "golem_project.middleware.request_id.RequestIdFilter"},
        "quiet_beat": {"()": "golem_project.runtime.quiet_beat.QuietBeat"},
        "pace": {"()": "tools_app.core.log_rate_limit.PaceFilter"},
    },
    "formatters": {
        "json": {"()": "golem_project.middleware.json_lines.JsonFormatter"},
        "line": {
            "()": "tools_app.core.log_redaction.RedactingFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s%(left_out)s",
        },
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": _FORMAT,
            "filters": ["quiet_beat", "pace", "request_id"],
        },
    },
    "root": {"handlers": ["stderr"], "level": read_text("GOLEM_LOG_LEVEL", "INFO")},
    "loggers": {
        # The web server has handlers of its own, which know neither bound nor redaction.
        "uvicorn": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
        "httpx": {"level": "WARNING"},
        # At INFO and below these write addresses, headers and bodies of requests to the model.
        "httpx2": {"level": "WARNING"},
        "httpcore2": {"level": "WARNING"},
        "openai": {"level": "WARNING"},
        "anthropic": {"level": "WARNING"},
        # At INFO this writes two lines for every request, and below it their bodies.
        "mcp": {"level": "WARNING"},
        # Below it writes the tokens that it hands out.
        "authlib": {"level": "WARNING"},
        "urllib3": {"level": "WARNING"},
        # Below it writes requests and what is wrong with them, the credentials of notifications too.
        "a2a": {"level": "CRITICAL"},
        "django.request": {"level": "ERROR"},
        # At INFO Celery writes every task's whole answer into the log, the golem's strategy with it.
        "celery.app.trace": {"level": "WARNING"},
        # One line for each task that is taken, which says nothing but its name.
        "celery.worker.strategy": {"level": "WARNING"},
    },
}
