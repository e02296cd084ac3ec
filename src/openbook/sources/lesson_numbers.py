"""Numbers lessons by a table of contents, by file names, or by the order of pages."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from openbook.sources.contents import Entry, Pages, first_heading, linked_pages
from openbook.sources.front_matter import front_matter
from openbook.sources.lesson_names import (
    INDEXES,
    NameNumber,
    can_be_lesson,
    clean_title,
    date_in,
    is_aside_folder,
    is_transparent,
    name_of_page,
    number_in,
    readable,
)

_PAGES = (".md", ".markdown", ".mdx", ".qmd", ".rmd", ".rst", ".html")
_POSITIONS = ("nav_order", "weight", "order", "sidebar_position", "position", "lesson", "chapter")
_OFF = ("draft", "phony", "nav_exclude", "hidden")
_NOTEBOOK_TITLE = re.compile(r"\"#\s+([^\"\\]+)")
_DIGITS = re.compile(r"(\d+)")

# The index packs both numbers into 32 bits; longer ones would collide with other lessons.
_LABEL = re.compile(r"(\d{1,6})(?:\.(\d{1,3}))?", re.ASCII)
_MAX_PARTS = 999


@dataclass(frozen=True, slots=True, order=True)
class LessonNumber:
    """The number of a lesson and, in a module, of its part: 1 and 3 for lesson 1.3."""

    number: int
    part: int | None = None

    @classmethod
    def parse(cls, label: str) -> Self | None:
        """Parse a number such as `4` or `1.3`; None if it is invalid.

        Example:
            >>> LessonNumber.parse("1.3"), LessonNumber.parse("one")
            (LessonNumber(number=1, part=3), None)
        """
        found = _LABEL.fullmatch(label.strip())
        return cls(int(found[1]), int(found[2]) if found[2] else None) if found else None

    @property
    def following(self) -> LessonNumber:
        """The next number: of the module for a part, else of the course."""
        return LessonNumber(self.number + 1) if self.part is None else LessonNumber(self.number, self.part + 1)

    def __str__(self) -> str:
        return str(self.number) if self.part is None else f"{self.number}.{self.part}"


@dataclass(frozen=True, slots=True)
class Listed:
    """A file of a lesson."""

    place: LessonNumber
    title: str = ""
    """Empty if the file itself has the title."""


Numbers = Mapping[str, Listed]
"""Lesson files by path."""


def number_entries(entries: Sequence[Entry]) -> Numbers:
    """Number the entries of a table of contents: by their own numbers or file names, else in order.

    A top entry with children is a module. All pages below it, at any depth, are its lessons.

    Example:
        >>> module = Entry("Knots", "", (Entry("Bowline", "a.md"), Entry("Hitch", "b.md")))
        >>> {path: listed.place for path, listed in number_entries([module, Entry("End", "c.md")]).items()}
        ... # doctest: +NORMALIZE_WHITESPACE
        {'a.md': LessonNumber(number=1, part=1), 'b.md': LessonNumber(number=1, part=2),
         'c.md': LessonNumber(number=2, part=None)}
    """
    while len(entries) == 1 and entries[0].children and not entries[0].path:
        entries = entries[0].children
    if len(entries) > 1 and not entries[0].children and _stem(entries[0].path).lower() in INDEXES:
        entries = entries[1:]  # the front page
    named = _named_in_full(entries)
    if named:
        return named
    found: dict[str, Listed] = {}
    for entry, number in zip(entries, _running([_written(entry) for entry in entries]), strict=True):
        if entry.path:
            found.setdefault(entry.path, Listed(LessonNumber(number), clean_title(entry.title)))
        inner = [one for one in _flat(entry.children) if one.path]
        parts = _running([_written(one) for one in inner])
        is_one = max(parts, default=0) > _MAX_PARTS  # reference pages; labels do not have enough numbers for them
        for one, part in zip(inner, parts, strict=True):
            title = clean_title(entry.title if is_one else one.title)
            found.setdefault(one.path, Listed(LessonNumber(number, None if is_one else part), title))
    return found


def _named_in_full(entries: Sequence[Entry]) -> dict[str, Listed]:
    """Return the numbers in file names if all have two, such as `01.02-names.ipynb`."""
    flat = [entry for entry in _flat(entries) if entry.path]
    numbers = {entry.path: number_in(_stem(entry.path)) for entry in flat}
    places = [LessonNumber(one.number, one.part) for one in numbers.values() if one and one.part is not None]
    if len(set(places)) < len(flat):
        return {}
    return {entry.path: Listed(place, clean_title(entry.title)) for entry, place in zip(flat, places, strict=True)}


def _flat(entries: Iterable[Entry]) -> list[Entry]:
    return [one for entry in entries for one in (entry, *_flat(entry.children))]


def _written(entry: Entry) -> int | None:
    """Return the number of an entry in its title, its file name or, for a module, the folder of its files."""
    inner = next((one.path for one in _flat(entry.children) if one.path), "")
    folder = posixpath.basename(posixpath.dirname(inner))
    found = map(number_in, (entry.title, _stem(entry.path), folder if not entry.path else ""))
    return next((one.number for one in found if one), None)


def _running(written: Sequence[int | None]) -> list[int]:
    """Return ascending numbers: the written ones if most entries have one, else 1, 2, 3 and so on."""
    known = [number for number in written if number is not None]
    by_order = list(range(1, len(written) + 1))
    if 2 * len(known) <= len(written) or known != sorted(set(known)):
        return by_order
    leading = next(place for place, number in enumerate(written) if number is not None)
    reached = known[0] - leading - 1
    found = []
    for number in written:
        if number is not None and number <= reached:
            return by_order
        reached = reached + 1 if number is None else number
        found.append(reached)
    return found if found[0] >= 0 else by_order


def number_files(folder: str, pages: Pages) -> Numbers:
    """Number the files below a folder by their names or, if none has a number, in order.

    If numbers restart in each numbered folder, folders are modules: `week2/03 splicing.pdf` is lesson 2.3. If they are
    consecutive, they are not. A file without a number in a numbered folder belongs to the module. If no file has a
    number, pages are ordered by front matter, dates, links in the README, or names.
    """
    files = [_File(path, folder) for path in pages.below(folder)]
    material = [file for file in files if file.is_material]
    if any(file.number or file.module_number is not None for file in material):
        return _by_names(files, material, pages)
    return _by_order(folder, material, pages)


class _File:
    """A file and the folders that contain it, below the course folder."""

    def __init__(self, path: str, root: str) -> None:
        self.path = path
        inside = path if root in ("", ".") else path.removeprefix(f"{root}/")
        *self.folders, name = inside.split("/")
        self.stem, self.suffix = posixpath.splitext(name)
        self.number = number_in(self.stem)
        numbers = [number_in(part) for part in self.folders]
        places = [place for place, found in enumerate(numbers) if found]
        self.is_index = self.stem.lower() in INDEXES
        self.is_material = can_be_lesson(inside)
        self.module: tuple[str, ...] = ()
        """The folders down to its module, without those named after a kind of file only."""
        self.module_number: int | None = None
        self.module_name = ""
        self.depth = 0
        """Depth of the outermost numbered folder; 0 without one."""
        if places:
            nearest = numbers[places[-1]]
            self.module = tuple(self.folders[: places[-1] + 1])
            self.module_number = nearest.number if nearest else None
            self.module_name = nearest.rest if nearest else ""
            self.depth = 1 + sum(not is_transparent(part) for part in self.folders[: places[0]])
        else:
            self.module = tuple(part for part in self.folders if not is_transparent(part))


def _by_names(files: Sequence[_File], material: Sequence[_File], pages: Pages) -> Numbers:
    # Deeper folders that repeat the modules, such as those of an earlier year, are not part of the course.
    depth = min((file.depth for file in material if file.depth), default=0)
    within = [file for file in material if file.depth == depth or (not file.depth and not file.module)]
    groups: dict[tuple[str, ...], list[_File]] = defaultdict(list)
    for file in within if depth else material:
        groups[file.module].append(file)
    modules = _modules(groups)
    found: dict[str, Listed] = {}
    restarts = _do_restart(groups)
    for module, members in groups.items():
        number = modules.get(module)
        numbered = _lessons_among([file for file in members if file.number])
        for file in numbered:
            found[file.path] = Listed(_place(file.number, number if restarts else None), "")
        if number is not None and (restarts or not numbered):
            found.update(
                _of_module(number, module, [file for file in members if file not in numbered], numbered, pages)
            )
    return {**found, **_beside(files, modules, found, pages, restarts=restarts)}


def _lessons_among(numbered: Sequence[_File]) -> list[_File]:
    """Drop notebooks with a separate numbering, if another folder has the lesson pages."""
    prose = [file for file in numbered if file.suffix.lower() in _PAGES]
    stems, folders = {file.stem for file in prose}, {tuple(file.folders) for file in prose}
    return [
        file
        for file in numbered
        if file.suffix.lower() != ".ipynb" or not prose or file.stem in stems or tuple(file.folders) in folders
    ]


def _place(number: NameNumber | None, module: int | None) -> LessonNumber:
    assert number is not None
    if module is None or (number.part is not None and number.number == module):
        return LessonNumber(number.number, number.part)
    return LessonNumber(module, number.number)  # "1.2" in module 14 is part 2 of its first lesson


def _modules(groups: Mapping[tuple[str, ...], Sequence[_File]]) -> dict[tuple[str, ...], int]:
    """Number the folders that are modules: by their own numbers or, if ambiguous, in order."""
    numbers = {module: members[0].module_number for module, members in groups.items() if module}
    known = [number for number in numbers.values() if number is not None]
    if len(set(known)) == len(known) and known:
        return {module: number for module, number in numbers.items() if number is not None}
    ordered = sorted(numbers, key=lambda module: [_natural_key(part) for part in module])
    return {module: place for place, module in enumerate(ordered, start=1)}


def _do_restart(groups: Mapping[tuple[str, ...], Sequence[_File]]) -> bool:
    """Return whether lesson numbers restart in each module."""
    by_module = {
        module: {file.number.number: file.stem for file in members if file.number and file.number.part is None}
        for module, members in groups.items()
    }
    numbered = {module: found for module, found in by_module.items() if found and module}
    if not numbered:
        return not any(file.number for members in groups.values() for file in members)
    if len(numbered) == 1 and not groups[next(iter(numbered))][0].depth:
        return False  # a single folder without a number
    is_numbered = all(groups[module][0].depth for module in numbered)
    seen: dict[int, str] = {}
    for found in numbered.values():
        for number, stem in found.items():
            if number in seen and (is_numbered or seen[number] != stem):
                return True
            seen[number] = stem
    is_copied = len(numbered) > 1 and sum(map(len, numbered.values())) > len(seen)
    return not is_copied and all(min(found) <= 1 for found in numbered.values())


def _of_module(
    number: int, module: tuple[str, ...], rest: Sequence[_File], numbered: Sequence[_File], pages: Pages
) -> dict[str, Listed]:
    """Number the unnumbered files of a module: in order if no file of it has a number, else like the module itself.

    Files beyond the largest label are also numbered like the module.
    """
    title = _module_title(module, [*rest, *numbered], pages)
    suffixes = [file.suffix.lower() for file in rest if not file.is_index]
    whole = Listed(LessonNumber(number), title)
    if numbered or len(set(suffixes)) == len(suffixes):
        # Slides and a transcript of one folder are one lesson, whose title is in the file.
        return {file.path: whole if numbered or file.is_index else Listed(whole.place, "") for file in rest}
    ordered = _ordered([one for one in rest if not one.is_index], pages)
    stems = {stem: part for part, stem in enumerate(dict.fromkeys(file.stem for file in ordered), start=1)}
    if len(stems) > _MAX_PARTS:
        return {file.path: whole for file in rest}
    return {file.path: whole if file.is_index else Listed(LessonNumber(number, stems[file.stem])) for file in rest}


def _module_title(module: tuple[str, ...], members: Sequence[_File], pages: Pages) -> str:
    index = next((file for file in members if file.is_index and len(file.folders) == len(module)), None)
    start = members[0].path.split("/")[: -len(members[0].folders) - 1 + len(module)]
    path = index.path if index else pages.find("/".join(start), "README")
    title = page_title(path, pages) if path.lower().endswith(_PAGES) else ""
    rest = number_in(module[-1]) if module else None
    return title or readable(rest.rest if rest else module[-1] if module else "")


def page_title(path: str, pages: Pages) -> str:
    """Return the title of a page by its front matter or first heading, without its number; empty without one."""
    text = pages.read(path)
    return clean_title(str(front_matter(text).get("title") or "") or first_heading(text))


def told_apart(numbers: Numbers, pages: Pages) -> Numbers:
    """Give lessons of one module file names as titles if their own titles are equal, as in copies."""
    stated = {
        path: (listed.place.number, _stated_title(path, pages)) for path, listed in numbers.items() if not listed.title
    }
    places: dict[tuple[int, str], set[LessonNumber]] = defaultdict(set)
    for path, known in stated.items():
        places[known].add(numbers[path].place)
    alike = {path for path, known in stated.items() if known[1] and len(places[known]) > 1 and name_of_page(path)}
    return {
        path: replace(listed, title=name_of_page(path)) if path in alike else listed for path, listed in numbers.items()
    }


def _stated_title(path: str, pages: Pages) -> str:
    if path.lower().endswith(_PAGES):
        return page_title(path, pages)
    found = _NOTEBOOK_TITLE.search(pages.read(path)) if path.lower().endswith(".ipynb") else None
    return found[1].strip() if found else ""


def _beside(
    files: Sequence[_File], modules: Mapping[tuple[str, ...], int], found: Numbers, pages: Pages, *, restarts: bool
) -> dict[str, Listed]:
    """Assign code, data and other files to the lesson or module of their folder."""
    titles = {
        one.place: one.title or (page_title(path, pages) if path.lower().endswith(_PAGES) else "") or name_of_page(path)
        for path, one in reversed(list(found.items()))
    }
    beside: dict[str, Listed] = {}
    for file in files:
        if file.path in found or any(map(is_aside_folder, file.folders)):
            continue
        module = modules.get(file.module)
        places = [_place(file.number, module if restarts else None)] if file.number else []
        if module is not None and (restarts or not file.number):
            places.append(LessonNumber(module))
        place = next((one for one in places if one in titles), None)
        if file.is_index and file.module and module is not None and restarts:
            beside[file.path] = Listed(LessonNumber(module), _module_title(file.module, [file], pages))
        elif place is not None and not file.is_index:
            beside[file.path] = Listed(place, titles[place])
    return beside


def _by_order(folder: str, material: Sequence[_File], pages: Pages) -> Numbers:
    """Number the pages of a course without numbers. A folder with several pages is a module."""
    written = [file for file in material if file.suffix.lower() in _PAGES]
    stating = {file.path for file in written if front_matter(pages.read(file.path))}
    if 2 * len(stating) > len(material):  # a site, whose lessons are the pages with front matter
        material = [file for file in material if file.path in stating]
    groups: dict[str, list[_File]] = defaultdict(list)
    for file in material:
        groups[file.module[0] if file.module else ""].append(file)
    own = [file for file in groups.pop("", []) if not (file.is_index and not file.folders)]
    units = [[file] for file in _ordered(own, pages, folder)]
    units += [members for _, members in sorted(groups.items(), key=lambda one: _natural_key(one[0]))]
    if len(units) == 1 and len(units[0]) > 1:
        units = [[file] for file in _ordered(units[0], pages, folder)]
    found: dict[str, Listed] = {}
    number = 0
    for members in units:
        shown = [file for file in members if not _is_off(file.path, pages)]
        number += bool(shown)
        pages_of = [file for file in shown if not file.is_index]
        if len(pages_of) < 2 and len(shown) < 2:
            found.update({file.path: Listed(LessonNumber(number)) for file in shown})
            continue
        title = _module_title(members[0].module[:1], members, pages)
        stems = list(dict.fromkeys(file.stem for file in _ordered(pages_of, pages)))
        for file in shown:
            part = None if file.is_index else stems.index(file.stem) + 1
            found[file.path] = Listed(LessonNumber(number, part), title if file.is_index else "")
    return found


def _ordered(files: Sequence[_File], pages: Pages, folder: str = "") -> list[_File]:
    """Order pages by front matter, dates, links in an index page, and names."""
    indexes = [pages.find(folder, name) for name in ("README", "index")]
    linked = [path for index in indexes if index for path in linked_pages(pages.read(index), folder, pages)]
    places = {path: place for place, path in reversed(list(enumerate(linked)))}

    def key(file: _File) -> tuple[Any, ...]:
        values = front_matter(pages.read(file.path)) if file.suffix.lower() in _PAGES else {}
        positions = (values.get(name) for name in _POSITIONS)
        position = next((one for one in positions if isinstance(one, (int, float))), float("inf"))
        date = str(values.get("date") or "")[:10] or date_in(file.stem)
        return (position, date or "9999", places.get(file.path, len(places)), file.folders, _natural_key(file.stem))

    return sorted(files, key=key)


def _is_off(path: str, pages: Pages) -> bool:
    if not path.lower().endswith(_PAGES):
        return False
    values = front_matter(pages.read(path))
    return values.get("published") is False or any(values.get(name) is True for name in _OFF)


def _natural_key(name: str) -> list[Any]:
    """Return a sort key that places `part10` after `part9`."""
    return [(int(part), "") if part.isdigit() else (-1, part.casefold()) for part in _DIGITS.split(name)]


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]
