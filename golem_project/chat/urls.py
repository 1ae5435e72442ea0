"""The pages stand inside the admin: its login, its look."""

from __future__ import annotations

from django.contrib import admin
from django.urls import path

from golem_project.chat import views

_wrap = admin.site.admin_view

urlpatterns = [
    path("<uuid:golem_id>/", _wrap(views.show_chat), name="chat"),
    path("<uuid:golem_id>/parts/", _wrap(views.show_chat_parts), name="chat_parts"),
    path("<uuid:golem_id>/say/", _wrap(views.say_words), name="chat_say"),
    path("<uuid:golem_id>/stop/", _wrap(views.stop_answer), name="chat_stop"),
]
