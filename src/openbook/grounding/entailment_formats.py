"""How entailment models want their input, and what their outputs mean: a table, and the JSON files of a model's folder.

Nothing here loads a model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openbook.errors import SettingsError
from openbook.grounding.protocol import EntailmentLabel

OWN_FILE = "openbook.json"
CONFIG_FILE = "config.json"

# What the encoders in docs/entailment.md read at once. Some can take more (DeBERTa has no absolute positions), but the
# time grows with the square of it, and a quote from a larger window says less. `max_tokens` raises it.
_MOST_TOKENS = 512
_FEWEST_TOKENS = 32

# Positions of these start behind the one of padding: of 514, text has 512.
_ROBERTAS = frozenset({"camembert", "roberta", "xlm-roberta", "xlm-roberta-xl"})

_MAX_JSON_BYTES = 1024 * 1024  # the largest config.json of the models in the documentation has 2 kB

# Names of labels as the models in the documentation have them.
_LABELS: Mapping[str, EntailmentLabel] = {
    "entailment": "entailed",
    "entailed": "entailed",
    "consistent": "entailed",
    "contradiction": "contradicted",
    "contradict": "contradicted",
    "neutral": "not said",
    "not entailment": "not said",
    "hallucinated": "not said",
}

_FIELDS = frozenset({"format", "labels", "max_tokens", "entailed_from", "contradicted_from", "elsewhere_from"})


@dataclass(frozen=True, slots=True)
class InputFormat:
    """How a family of models wants premise and claim."""

    name: str
    """As `format` in `openbook.json` names it."""
    template: str = ""
    """One text with `{premise}` before `{claim}`; `{end}` is the token that ends a text. Empty: the tokenizer pairs."""
    labels: tuple[EntailmentLabel, ...] = ()
    """What the logits mean, for models whose `config.json` does not say it in words."""
    marks: tuple[str, ...] = ()
    """Parts of `model_type` or `_name_or_path` in `config.json`, in lower case, that tell the family."""


FORMATS = (
    InputFormat("pair"),
    # minicheck/inference.py of Liyan06/MiniCheck, `batch_tokenize`: joined by the end token into one text, no pair.
    InputFormat("minicheck", "{premise}{end}{claim}", labels=("not said", "entailed"), marks=("minicheck",)),
    # The `prompt` in config.json of vectara/hallucination_evaluation_model, which is HHEM-2.1-Open.
    InputFormat(
        "hhem-2",
        "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {premise}\n\nHypothesis: {claim}",
        labels=("not said", "entailed"),
        marks=("hhemv2", "hhem-2"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """What has to be known of a model besides its weights and its tokenizer."""

    input_format: InputFormat
    labels: tuple[EntailmentLabel, ...]
    """What each logit means. A single one is the score of entailment."""
    max_tokens: int
    """Of premise and claim together, special tokens included."""
    pad_id: int | None = None
    entailed_from: float = 0.5
    """Least probability to be entailed. With two labels it is the larger one from here on; MiniCheck and HHEM cut there
    as well."""
    contradicted_from: float = 0.5
    """Least probability to be contradicted, for the same reason."""
    elsewhere_from: float = 0.9
    """Least probability to be entailed by a source outside of the cited text. Stricter, for the best of many windows
    is right by chance more often than the one that was cited. Chosen, not measured."""

    @property
    def contradicts(self) -> bool:
        """Whether the model tells a contradiction from what is not said. Models with two labels or one score cannot."""
        return len(self.labels) > 2 and "contradicted" in self.labels


def read_config(folder: Path) -> ModelConfig:
    """Read `config.json` and `openbook.json` of a model's folder; either may be missing. The second one wins.

    Raises:
        SettingsError: They cannot be understood, or leave open what the labels mean.
    """
    hub = _read_json(folder / CONFIG_FILE)
    own = _read_json(folder / OWN_FILE)
    unknown = sorted(own.keys() - _FIELDS)
    if unknown:
        raise _refused(folder / OWN_FILE, f"{unknown[0]!r} is no field", f"fields are {', '.join(sorted(_FIELDS))}")
    chosen = _format_of(folder, hub, own)
    thresholds = {name: _threshold(folder, own, name) for name in sorted(own) if name.endswith("_from")}
    pad = hub.get("pad_token_id")
    return ModelConfig(
        input_format=chosen,
        labels=_labels_of(folder, hub, own, chosen),
        max_tokens=_max_tokens_of(folder, hub, own),
        pad_id=pad if _is_count(pad) else None,
        **thresholds,
    )


def _read_json(path: Path) -> dict[str, Any]:
    try:
        if not path.exists():
            return {}
        if path.stat().st_size > _MAX_JSON_BYTES:
            raise _refused(path, "it is too large", f"it may have {_MAX_JSON_BYTES} bytes")
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as exc:
        raise _refused(path, str(exc.strerror), "check its permissions") from exc
    except (ValueError, RecursionError) as exc:
        raise _refused(path, "it is no JSON", "fetch or write the file again") from exc
    if not isinstance(found, dict):
        raise _refused(path, "it is no JSON object", "fetch or write the file again")
    return found


def _format_of(folder: Path, hub: Mapping[str, Any], own: Mapping[str, Any]) -> InputFormat:
    if "format" in own:
        named = [one for one in FORMATS if one.name == own["format"]]
        if not named:
            known = ", ".join(one.name for one in FORMATS)
            raise _refused(folder / OWN_FILE, f"there is no format {own['format']!r}", f"formats are {known}")
        return named[0]
    about = f"{hub.get('model_type', '')} {hub.get('_name_or_path', '')}".lower()
    return next((one for one in FORMATS if any(mark in about for mark in one.marks)), FORMATS[0])


def _labels_of(
    folder: Path, hub: Mapping[str, Any], own: Mapping[str, Any], chosen: InputFormat
) -> tuple[EntailmentLabel, ...]:
    hint = (
        f'name them in {OWN_FILE}, in the order of the logits: {{"labels": ["contradiction", "entailment", "neutral"]}}'
    )
    if "labels" in own:
        path, names = folder / OWN_FILE, own["labels"]
    else:
        path, names = folder / CONFIG_FILE, _in_order(hub.get("id2label"))
        if chosen.labels and not (names and all(_plain(name) in _LABELS for name in names)):
            return chosen.labels
        if names is None:
            raise _refused(path, "nothing says what the labels are", hint)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _refused(path, "the labels are no list of names", hint)
    if len(names) == 1 and _LABELS.get(_plain(names[0]), "entailed") == "entailed":
        return ("entailed",)  # a score: the hub calls it LABEL_0
    unknown = [name for name in names if _plain(name) not in _LABELS]
    if unknown:
        raise _refused(path, f"the label {unknown[0]!r} says nothing of entailment", hint)
    labels = tuple(_LABELS[_plain(name)] for name in names)
    if labels.count("entailed") != 1:
        raise _refused(path, "one label must be entailment", hint)
    return labels


def _in_order(id2label: object) -> list[object] | None:
    """Return the labels in the order of their numbers; None if that is not what they have."""
    if not isinstance(id2label, dict) or not id2label:
        return None
    try:
        numbered = {int(number): name for number, name in id2label.items()}
    except ValueError:
        return None
    return [numbered[number] for number in sorted(numbered)] if sorted(numbered) == [*range(len(numbered))] else None


def _plain(name: object) -> str:
    return str(name).strip().lower().replace("_", " ").replace("-", " ")


def _max_tokens_of(folder: Path, hub: Mapping[str, Any], own: Mapping[str, Any]) -> int:
    if "max_tokens" in own:
        path, found = folder / OWN_FILE, own["max_tokens"]
    else:
        path = folder / CONFIG_FILE
        found = hub.get("max_position_embeddings", hub.get("n_positions", _MOST_TOKENS))
        if _is_count(found):
            found = min(_MOST_TOKENS, found - 2 if hub.get("model_type") in _ROBERTAS else found)
    if not _is_count(found) or found < _FEWEST_TOKENS:
        hint = f'write "max_tokens", a whole number from {_FEWEST_TOKENS} up, into {OWN_FILE}'
        raise _refused(path, f"the model would read {found!r} tokens", hint)
    return int(found)


def _threshold(folder: Path, own: Mapping[str, Any], name: str) -> float:
    value = own[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1 or math.isnan(value):
        raise _refused(folder / OWN_FILE, f"{name!r} is {value!r}", "it must be above 0 and at most 1")
    return float(value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _refused(path: Path, reason: str, hint: str) -> SettingsError:
    return SettingsError(f"cannot use the entailment model in {str(path.parent)!r}: {path.name}: {reason}", hint=hint)
