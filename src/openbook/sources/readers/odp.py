"""Reads OpenDocument presentations: the text of their slides in order, with notes, anchored by slide."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from openbook.sources.readers.composing import Composer, remark_on
from openbook.sources.readers.odt import BodyText, open_body
from openbook.sources.readers.reading import Reading
from openbook.sources.readers.zipped import ZipPackage

_EVERYWHERE = frozenset({"date-time", "footer", "header", "page-number"})


def read_odp(raw: bytes, path: str) -> Reading:
    """Read a presentation.

    Anchors are `slide 1`, `slide 2` ... The title of a slide is a heading; then come its frames in order, and its
    notes. Slides that only show pictures are remarked on.
    """
    package = ZipPackage(raw, path)
    root, body = open_body(package, "presentation")
    composer = Composer()
    text = BodyText(root, composer)
    silent = set()
    try:
        for number, page in enumerate((child for child in body if child.tag == "page"), start=1):
            before = len(composer)
            composer.anchor(f"slide {number}")
            _add(page, composer, text)
            if len(composer) == before and next(page.iter("image"), None) is not None:
                silent.add(number)
    except RecursionError:
        package.refuse("nested too deeply")
    return composer.reading("odp", [remark_on("no text on slide", silent)] if silent else [])


def _add(page: Element, composer: Composer, text: BodyText) -> None:
    frames = [child for child in page if child.get("class") not in _EVERYWHERE and child.tag != "forms"]
    for title in (frame for frame in frames if frame.get("class") == "title"):
        composer.heading(" ".join("".join(title.itertext()).split()), 1)
    for frame in frames:
        if frame.get("class") != "title" and frame.tag != "notes":
            text.flow(frame)
    for notes in (frame for frame in frames if frame.tag == "notes"):
        text.flow(notes)
