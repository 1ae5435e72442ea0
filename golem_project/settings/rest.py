"""The agent API: closed by default, one error format, a documented schema."""

from __future__ import annotations

from golem_project.settings.environment import read_flag, read_integer

# Requests that one server process works on at once; most of them wait for a worker, and a waiting one costs a stack.
GOLEM_WEB_THREADS = read_integer("GOLEM_WEB_THREADS", 200)

# The Model Context Protocol at /mcp, over the same manifest and the same rules.
GOLEM_MCP = read_flag("GOLEM_MCP", False)

REST_FRAMEWORK: dict[str, object] = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["golem_project.pi.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["golem_project.pi.permissions.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["golem_project.pi.parsers.StrictJsonParser"],
    "DEFAULT_SCHEMA_CLASS": "golem_project.pi.openapi.AgentSchema",
    "EXCEPTION_HANDLER": "golem_project.pi.exception_handler.answer_problem",
    "UNAUTHENTICATED_USER": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}

SPECTACULAR_SETTINGS: dict[str, object] = {
    "TITLE": "Golem agent API",
    "DESCRIPTION": "The eight tools a golem's language model sees, and the permits behind them.",
    "VERSION": "1.0.0",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    # Each of its values, written with a capital letter.
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "golem_project.pi.openapi_tools.close_bodies",
    ],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}
