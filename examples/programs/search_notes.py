"""Keep texts of your own in a library, and search those of one day."""

from __future__ import annotations

import sys

from openbook import Filter, Library

NOTES = {
    "monday.md": "# Monday\n\nThe till was repaired. Refunds work again.\n",
    "tuesday.md": "# Tuesday\n\nRefunds above 100 crowns need two signatures.\n",
}


def main(query: str, day: str) -> None:
    with Library.open("notes") as library:
        for name, text in NOTES.items():
            library.add_text(text, name=name, metadata={"shop": "Vienna"})
        for result in library.search(query, limit=3, where=Filter(globs=(f"{day}.md",))):
            shop = library.metadata(result.chunk.span.path)["shop"]
            print(f"{result.score:.2f} {result.chunk.span} ({shop}) {result.chunk.text.strip()!r}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python search_notes.py QUERY DAY")
    main(sys.argv[1], sys.argv[2])
