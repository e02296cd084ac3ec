"""Invented courses in a library, for the tests of questions on them."""

from __future__ import annotations

from collections.abc import Sequence

from openbook.chunking.dispatch import chunk_course
from openbook.chunking.fixed import ChunkOptions
from openbook.sources.readers.course import read_course
from openbook.types import Document
from tests.unit.retrieval.material import Library

BREAD = (
    "Course Title: Baking Rye Bread\nCourse Link: https://bread.example\nCourse Instructor: Ada Miller\n\n"
    "Lesson 0: Welcome\nThis course shows you how to bake dark rye bread in an ordinary kitchen.\n"
    "You need flour, water, salt and a good deal of patience.\n\n"
    "Lesson 1: Sourdough\nIn this lesson we make a sourdough from flour and water and nothing else.\n"
    "Sourdough is fed every day with fresh flour until it doubles within four hours.\n"
    "Let's go.\nKeep the sourdough warm, at about thirty degrees, and stir it with a wooden spoon.\n\n"
    "Lesson 2: The Oven\nIn this lesson you learn how hot an oven must be for dark rye bread.\n"
    "Cold proofing in the fridge overnight makes the crust open evenly in the oven.\n"
    "Steam in the first ten minutes keeps the crust soft while the loaf rises.\n"
)
ROSES = (
    "Course Title: Growing Roses\nCourse Instructor: Ben Hill\n\n"
    "Lesson 1: Soil\nIn this lesson we dig the soil for roses and mix it with old compost.\n"
    "Roses dislike wet feet, so the soil must let the rain pass.\n\n"
    "Lesson 2: Pruning\nIn this lesson you learn how to prune roses in early spring.\n"
    "Cut every shoot above a bud that looks outwards, and burn what is ill.\n"
)


def put_course(library: Library, path: str, text: str, source: str = "src") -> None:
    """Store a course as its reader and its chunker make it."""
    document = Document(source, path, "course", "text", text, "", read_course(text, path).blocks)
    library.put_chunks(text, chunk_course(document, ChunkOptions()))


def put_courses(library: Library, texts: Sequence[str] = (BREAD, ROSES)) -> None:
    """Store courses as `a.txt`, `b.txt` and so on."""
    for letter, text in zip("abcdef", texts, strict=False):
        put_course(library, f"{letter}.txt", text)
