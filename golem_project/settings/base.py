"""Django itself; every other concern has a file of its own beside this one."""

from __future__ import annotations

from pathlib import Path

import django_stubs_ext

from golem_project.settings.a2a import *  # noqa: F403
from golem_project.settings.admin_theme import *  # noqa: F403
from golem_project.settings.alerts import *  # noqa: F403
from golem_project.settings.celery import *  # noqa: F403
from golem_project.settings.chains import *  # noqa: F403
from golem_project.settings.coding import *  # noqa: F403
from golem_project.settings.database import *  # noqa: F403
from golem_project.settings.environment import BASE_DIR, VAR_DIR, read_flag, read_secret, read_text
from golem_project.settings.front import *  # noqa: F403
from golem_project.settings.golems import *  # noqa: F403
from golem_project.settings.heartbeat import *  # noqa: F403
from golem_project.settings.history import *  # noqa: F403
from golem_project.settings.logging import *  # noqa: F403
from golem_project.settings.logins import *  # noqa: F403
from golem_project.settings.memory import *  # noqa: F403
from golem_project.settings.metrics import *  # noqa: F403
from golem_project.settings.named_places import *  # noqa: F403
from golem_project.settings.orders import *  # noqa: F403
from golem_project.settings.outside import *  # noqa: F403
from golem_project.settings.read_ahead import *  # noqa: F403
from golem_project.settings.resources import *  # noqa: F403
from golem_project.settings.rest import *  # noqa: F403
from golem_project.settings.safety import *  # noqa: F403
from golem_project.settings.sdk import *  # noqa: F403
from golem_project.settings.signers import *  # noqa: F403
from golem_project.settings.stream import *  # noqa: F403
from golem_project.settings.thinking import *  # noqa: F403

django_stubs_ext.monkeypatch()  # lets ModelAdmin[Golem] and ModelForm[Golem] be written at run time

SECRET_KEY = read_secret("GOLEM_SECRET_KEY", fallback_file=VAR_DIR / "secret_key")
DEBUG = read_flag("GOLEM_DEBUG", False)
DEFAULT_EXCEPTION_REPORTER = "tools_app.core.redacted_debug_page.RedactingReporter"
DEFAULT_EXCEPTION_REPORTER_FILTER = "tools_app.core.redacted_debug_page.RedactingFilter"
ALLOWED_HOSTS = read_text("GOLEM_ALLOWED_HOSTS", "127.0.0.1,localhost,testserver,[::1]").split(",")

INSTALLED_APPS = [
    "unfold",  # first: it puts its admin site in place before anything registers with one
    "golem_project.apps.GolemConfig",
    "unfold.contrib.filters",
    "unfold.contrib.forms",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_celery_beat",
    "axes",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "tools_app.apps.ToolsConfig",
    "archetypes_app.apps.ArchetypesConfig",
    "memory_app.apps.MemoryConfig",
    "permits_app.apps.PermitsConfig",
    "golem_project.stream.apps.StreamConfig",
    "golem_project.a2a.apps.A2AConfig",
    "golem_project.alerts.apps.AlertsConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "golem_project.middleware.security_headers.PageHeaders",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "golem_project.middleware.request_id.RequestIdMiddleware",
    "golem_project.metrics.traced_requests.CarriedSpans",
    "golem_project.metrics.measured_requests.NamedEndpoints",
    "golem_project.middleware.audit_blocked_flows.WatchedRequests",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "golem_project.middleware.health_probe_requests.HostChecked",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "golem_project.front.known_sessions.KnownSessions",
    "golem_project.middleware.restore_form_after_login.KeptForms",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "golem_project.owner_pages.list_titles.PageTitles",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "golem_project.urls"
WSGI_APPLICATION = "golem_project.wsgi.application"
ASGI_APPLICATION = "golem_project.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.debug",
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "golem_project.help.help_links.link_help",
                "golem_project.owner_pages.leftover_dust_notice.tell_left",
            ],
        },
    },
]

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "admin:login"
CSRF_FAILURE_VIEW = "golem_project.pi.problem_pages.form_out_of_date"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True
FORMAT_MODULE_PATH = ["golem_project.formats"]

STATIC_URL = "static/"
STATIC_ROOT = Path(read_text("GOLEM_STATIC_DIR") or VAR_DIR / "static")  # an image brings its own
# Figures and proofs outlive the throw-away servers they were made on.
GOLEM_REPORT_DIR = BASE_DIR / "var"
WHITENOISE_USE_FINDERS = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Under which host name passkeys count, and on pages of which addresses: where none is named, of the page's own.
GOLEM_PASSKEY_RP_ID = read_text("GOLEM_PASSKEY_RP_ID", "localhost")
GOLEM_PASSKEY_ORIGINS = [each for each in read_text("GOLEM_PASSKEY_ORIGINS").split(",") if each] or None

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 262_144  # bytes; a tool call is a few hundred, 256 KiB leaves room for call data
