"""The family of the `intel_*` reads."""

from __future__ import annotations

from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily

intel = ToolFamily(prefix="intel", category=Category.INTELLIGENCE)
