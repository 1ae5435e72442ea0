"""Writes all of `docs/` as static HTML pages, which any web server or a browser alone can show."""

from __future__ import annotations

import shutil
from functools import partial
from os.path import relpath
from pathlib import Path, PurePosixPath

from django.template.loader import render_to_string

from golem_project.help.documents import DOCS, list_documents, render_document
from golem_project.settings.environment import BASE_DIR

_STYLE = BASE_DIR / "golem_project" / "static" / "golem" / "docs_site.css"


def write_pages(folder: Path) -> list[Path]:
    """Write a page for each document, the pictures and the style into `folder`; the pages."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(_STYLE, folder / "docs_site.css")
    shutil.copytree(DOCS / "images", folder / "images", dirs_exist_ok=True)
    return [_write_page(folder, name) for name in list_documents()]


def _write_page(folder: Path, name: str) -> Path:
    document = render_document(name, find_address=partial(_find_address, seen_from=name), keeps_pictures=True)
    if document is None:
        raise FileNotFoundError(name)
    page = folder / _name_file(name)
    page.parent.mkdir(parents=True, exist_ok=True)
    root = "../" * (len(PurePosixPath(name).parts) - 1)
    page.write_text(
        render_to_string("golem_project/help/static_page.html", {"document": document, "root": root}), encoding="utf-8"
    )
    return page


def _name_file(name: str) -> str:
    """`concepts` -> `concepts.html`; a README is its folder's `index.html`."""
    folder, _, last = name.rpartition("/")
    file = "index.html" if last == "README" else f"{last}.html"
    return f"{folder}/{file}" if folder else file


def _find_address(target: str, *, seen_from: str) -> str:
    return relpath(_name_file(target), PurePosixPath(seen_from).parent.as_posix())
