"""Fields that take a value as it is written and convert nothing, so that the documented schema is the rule."""

from __future__ import annotations

import re
from uuid import UUID

from rest_framework import serializers

from tools_app.core.exact_numbers import NumberText
from tools_app.core.storable_text import make_plain
from tools_app.toolkit.params import check_whole

SAYS_SOMETHING = r"\S"
UUID_TEXT = r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
TIME_TEXT = r"^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?([Zz]|[+-]\d{2}:\d{2})$"


class StrictText(serializers.CharField):
    """Text that is text and says something: a number or list is refused, not converted; spaces count as length."""

    pattern = SAYS_SOMETHING

    def to_internal_value(self, data: object) -> str:
        if not isinstance(data, str) or isinstance(data, NumberText):
            self.fail("invalid")
        if not data.strip():
            self.fail("blank")
        if self.max_length is not None and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        return str(super().to_internal_value(data))


class FreeText(StrictText):
    """What an agent says in its own words, without the characters nobody sees."""

    def to_internal_value(self, data: object) -> str:
        """Text of nothing else is blank."""
        text = make_plain(super().to_internal_value(data))
        if not text.strip():
            self.fail("blank")
        return text


class TimeText(StrictText):
    """A time with its zone, RFC 3339."""

    pattern = TIME_TEXT
    default_error_messages = {"no_time": "a time with its zone, such as 2026-11-21T06:00:00Z"}

    def to_internal_value(self, data: object) -> str:
        text = super().to_internal_value(data)
        if not re.fullmatch(self.pattern, text):
            self.fail("no_time")
        return text


class PermitId(serializers.UUIDField):
    """A permit's id in its usual written form: five groups of hexadecimal digits."""

    def to_internal_value(self, data: object) -> UUID:
        if not isinstance(data, str) or not re.fullmatch(UUID_TEXT, data):
            self.fail("invalid", value=data)
        return UUID(data)


class StrictFlag(serializers.BooleanField):
    """true or false, and no text or number that could pass for either."""

    def to_internal_value(self, data: object) -> bool:
        """Refuses everything but the two."""
        if not isinstance(data, bool):
            self.fail("invalid")
        return bool(data)


class StrictInteger(serializers.IntegerField):
    """A whole number that is written as one, as of every tool's parameters: no text, no flag."""

    def to_internal_value(self, data: object) -> int:
        """Refuses what could only be converted to one."""
        try:
            whole = check_whole(data)
        except ValueError:
            self.fail("invalid")
        if not isinstance(whole, int):
            self.fail("invalid")
        return whole


class WrittenInteger(serializers.IntegerField):
    """A whole number in a query, where everything is text: ASCII digits and no other script's."""

    def to_internal_value(self, data: object) -> int:
        """Refuses spaces, fractions and exponents too."""
        if not isinstance(data, str) or not re.fullmatch("-?[0-9]{1,18}", data):
            self.fail("invalid")
        return int(data)


class ListedChoice(serializers.ChoiceField):
    """One of a few words, which a refusal lists."""

    def to_internal_value(self, data: object) -> str:
        """Refuses everything else, by naming them all."""
        if not isinstance(data, str) or data not in self.choices:
            raise serializers.ValidationError(f"one of: {', '.join(map(str, self.choices))}")
        return data
