"""Sets how often a password may be wrong (`golem_project/front/login_lock.py` on django-axes)."""

from __future__ import annotations

from datetime import timedelta

# Django's own hash, made in a process that gives way; what was stored by any of its others is still read.
PASSWORD_HASHERS = [
    "golem_project.front.password_hashing.GivingWayHasher",
    "django.contrib.auth.hashers.PBKDF2SHA1PasswordHasher",
    "django.contrib.auth.hashers.ScryptPasswordHasher",
]

AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AXES_HANDLER = "golem_project.front.login_lock.LoginLock"
# An account and an address together: nobody is kept out by what a stranger tries elsewhere.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=5)
# What is tried while it is locked changes nothing, so it ends when it says.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_CLIENT_IP_CALLABLE = "golem_project.front.login_lock.name_client"
AXES_USERNAME_CALLABLE = "golem_project.front.login_lock.name_account"
AXES_LOCKOUT_CALLABLE = "golem_project.front.login_lock.tell_locked"
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
