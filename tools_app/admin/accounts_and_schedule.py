"""Accounts and the beat schedule in this admin's dress; operators only, since owners get no permission on them."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django_celery_beat.admin import ClockedScheduleAdmin as BeatClockedAdmin
from django_celery_beat.admin import CrontabScheduleAdmin as BeatCrontabAdmin
from django_celery_beat.admin import PeriodicTaskAdmin as BeatTaskAdmin
from django_celery_beat.admin import PeriodicTaskForm, TaskSelectWidget
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from tools_app.pages.opened_rows import OpenedRowAdmin, OpenedRowForm


class OpenedUserForm(OpenedRowForm, UserChangeForm):
    """An account, as it was opened; nothing of its password is sent along."""

    columns = (
        "username",
        "first_name",
        "last_name",
        "email",
        "is_active",
        "is_staff",
        "is_superuser",
        "groups",
        "user_permissions",
    )


class OpenedGroupForm(OpenedRowForm):
    """A group, as it was opened."""

    columns = ("name", "permissions")


class TaskSelect(UnfoldAdminSelectWidget, TaskSelectWidget):
    """The beat's chooser of tasks, styled."""


class ScheduledTaskForm(OpenedRowForm, PeriodicTaskForm):
    """The beat's form, styled, as it was opened."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.fields["task"].widget = UnfoldAdminTextInputWidget()
        self.fields["regtask"].widget = TaskSelect()


for model in (User, Group, PeriodicTask, IntervalSchedule, CrontabSchedule, SolarSchedule, ClockedSchedule):
    admin.site.unregister(model)


@admin.register(User)
class UserAdmin(OpenedRowAdmin, DjangoUserAdmin, ModelAdmin):
    """People. An owner is staff in the group Owners; an operator is a superuser."""

    form = OpenedUserForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm


@admin.register(Group)
class GroupAdmin(OpenedRowAdmin, DjangoGroupAdmin, ModelAdmin):
    """Groups of people."""

    form = OpenedGroupForm


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(OpenedRowAdmin, BeatTaskAdmin, ModelAdmin):
    """What the beat starts, and when."""

    form = ScheduledTaskForm


@admin.register(IntervalSchedule, SolarSchedule)
class ScheduleAdmin(OpenedRowAdmin, ModelAdmin):
    """Intervals and solar times."""

    form = OpenedRowForm


@admin.register(CrontabSchedule)
class CrontabScheduleAdmin(OpenedRowAdmin, BeatCrontabAdmin, ModelAdmin):
    """Cron lines."""

    form = OpenedRowForm


@admin.register(ClockedSchedule)
class ClockedScheduleAdmin(OpenedRowAdmin, BeatClockedAdmin, ModelAdmin):
    """One-off times."""

    form = OpenedRowForm
