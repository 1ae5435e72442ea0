"""Django's page of a failure, shown where GOLEM_DEBUG is on, without secrets: its variables pass the taint rules."""

from __future__ import annotations

import re
from pprint import pformat
from typing import Any

from django.views.debug import ExceptionReporter, SafeExceptionReporterFilter

from tools_app.core.taint import DataSink, redact_text

_LONGEST = 4_096


def _show(value: Any) -> str:  # Any: a value of any type is walked
    try:
        text = pformat(value)
    # A variable is shown as far as it can be; whatever its repr does, the page is about another failure.
    except Exception as error:  # noqa: BLE001
        text = f"<{type(value).__name__}: {type(error).__name__} while it was shown>"
    return redact_text(text, sink=DataSink.LOGS)[:_LONGEST]


class RedactingFilter(SafeExceptionReporterFilter):
    """Settings, headers, form fields and local variables as a log may hold them."""

    hidden_settings = re.compile("API|AUTHORIZATION|TOKEN|KEY|SECRET|PASS|SIGNATURE|COOKIE|_URL", re.IGNORECASE)

    def cleanse_setting(self, key: Any, value: Any) -> Any:  # Any: a value of any type is walked
        """The setting as Django shows it, and nothing secret inside its text."""
        shown = super().cleanse_setting(key, value)
        return redact_text(shown, sink=DataSink.LOGS) if isinstance(shown, str) else shown

    def get_post_parameters(self, request: Any) -> dict[str, str]:  # Any: a value of any type is walked
        """Form fields, cleaned as settings are."""
        given = super().get_post_parameters(request)
        return {name: self.cleanse_setting(name, value) for name, value in given.items()}

    def get_traceback_frame_variables(
        self,
        request: object,
        tb_frame: object,
    ) -> Any:  # Any: a value of any type is walked
        """Names with their values as redacted text."""
        return [(name, _show(value)) for name, value in super().get_traceback_frame_variables(request, tb_frame)]


class RedactingReporter(ExceptionReporter):
    """The page and its text form; what the exception itself says is redacted as well."""

    def get_traceback_data(self) -> dict[str, object]:
        """What both forms are made from."""
        data: dict[str, Any] = super().get_traceback_data()  # Any: a value of any type is walked
        for name in ("exception_value", "exception_notes", "request_insecure_uri"):
            if data.get(name):
                data[name] = redact_text(str(data[name]), sink=DataSink.LOGS)
        for frame in data.get("frames", []):
            notes = frame["exc_cause"]
            frame["exc_cause"] = redact_text(str(notes), sink=DataSink.LOGS) if notes else notes
        return data
