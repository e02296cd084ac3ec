"""The measuring data as folders that Openbook can index, and the questions that go with them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_LANGUAGE_SIGNS = {
    "rs": re.compile(r"^\s*(pub )?(fn|impl|use|mod) ", re.MULTILINE),
    "py": re.compile(r"^(def|class|import|from) ", re.MULTILINE),
    "c": re.compile(r"^#include ", re.MULTILINE),
}
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True)
class Asked:
    """A question, and the text that answers it where that is known."""

    text: str
    path: str = ""
    start_char: int = 0
    """Of the answer, in the file at `path`."""
    end_char: int = 0


def xquad(data: Path, language: str, folder: Path) -> list[Asked]:
    """Write one text file per article, a paragraph a block; give all questions with their answers."""
    return xquad_articles(data / "span-qa" / f"xquad-{language}.json", folder)


def xquad_articles(file: Path, folder: Path) -> list[Asked]:
    """Do what `xquad` does, with any file in its format."""
    content = json.loads(file.read_text(encoding="utf-8"))
    folder.mkdir(exist_ok=True)
    questions = []
    for number, article in enumerate(content["data"]):
        name, text = f"article-{number:02}.txt", ""
        for paragraph in article["paragraphs"]:
            base = len(text)
            text += paragraph["context"].replace("\n", " ") + "\n\n"
            for item in paragraph["qas"]:
                answer = item["answers"][0]
                start = base + answer["answer_start"]
                questions.append(Asked(item["question"], name, start, start + len(answer["text"])))
        (folder / name).write_text(text, encoding="utf-8")
    return questions


def docs_qa(data: Path, folder: Path) -> list[Asked]:
    """Write one Markdown file per chunk of documentation; give all questions."""
    for number, item in enumerate(_load(data / "docs-qa" / "docs.json")):
        title = _UNSAFE.sub("-", item["chunk_heading"])[:60].strip("-").lower()
        text = f"# {item['chunk_heading']}\n\n{item['text']}\n"
        (folder / f"{number:03}-{title}.md").write_text(text, encoding="utf-8")
    return [Asked(item["question"]) for item in _load(data / "docs-qa" / "questions.json")]


def codebase_qa(data: Path, folder: Path) -> list[Asked]:
    """Write one file per document of a codebase; give all questions. The data does not tell file names."""
    for number, item in enumerate(_load(data / "codebase-qa" / "codebase_chunks.json")):
        suffix = next((suffix for suffix, sign in _LANGUAGE_SIGNS.items() if sign.search(item["content"])), "txt")
        (folder / f"file-{number:02}.{suffix}").write_text(item["content"], encoding="utf-8")
    lines = (data / "codebase-qa" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [Asked(json.loads(line)["query"]) for line in lines if line.strip()]


def _load(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))
