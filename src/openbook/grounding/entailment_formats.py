"""Input formats and labels of entailment models: a table, and the configuration files of model folders.

Nothing here loads a model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openbook.errors import SettingsError
from openbook.grounding.protocol import EntailmentLabel
from openbook.onnx_encoder import CONFIG_FILE, OWN_FILE, ModelFolder

# Label names used by the models in the documentation.
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
    """The input format of a family of models."""

    name: str
    """Its name in `format` of `openbook.json`."""
    template: str = ""
    """Template with `{premise}`, `{claim}` and the end token `{end}`. Empty: the tokenizer encodes a pair."""
    labels: tuple[EntailmentLabel, ...] = ()
    """Meaning of the logits, for models whose `config.json` does not name the labels."""
    marks: tuple[str, ...] = ()
    """Lower-case substrings of `model_type` or `_name_or_path` in `config.json` that identify the family."""


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
    """The configuration of a model, apart from weights and tokenizer."""

    input_format: InputFormat
    labels: tuple[EntailmentLabel, ...]
    """Meaning of each logit. A single logit is the entailment score."""
    max_tokens: int
    """Maximum length of premise and claim together, special tokens included."""
    entailed_from: float = 0.5
    """Minimum probability of entailment. At 0.5 the label wins over the other of two; MiniCheck and HHEM use the same
    threshold."""
    contradicted_from: float = 0.5
    """Minimum probability of contradiction, for the same reason."""
    elsewhere_from: float = 0.9
    """Minimum probability of entailment by a source outside the cited text. Stricter, because the best of many
    windows passes by chance more often than the cited one. Chosen, not measured."""

    @property
    def contradicts(self) -> bool:
        """Whether the model separates contradiction from "not said". Models with two labels or one score do not."""
        return len(self.labels) > 2 and "contradicted" in self.labels


def entailment_folder(path: Path) -> ModelFolder:
    """Return the folder as that of an entailment model."""
    return ModelFolder(path, "entailment model", "nli")


def read_config(folder: Path) -> ModelConfig:
    """Read `config.json` and `openbook.json` of a model folder. Either may be missing; `openbook.json` wins.

    Raises:
        SettingsError: They are invalid, or do not define the labels.
    """
    model = entailment_folder(folder)
    hub, own = model.read_json(CONFIG_FILE), model.read_json(OWN_FILE)
    unknown = sorted(own.keys() - _FIELDS)
    if unknown:
        raise _refused(folder / OWN_FILE, f"unknown field {unknown[0]!r}", f"fields are {', '.join(sorted(_FIELDS))}")
    chosen = _format_of(folder, hub, own)
    thresholds = {name: _threshold(folder, own, name) for name in sorted(own) if name.endswith("_from")}
    return ModelConfig(
        input_format=chosen,
        labels=_labels_of(folder, hub, own, chosen),
        max_tokens=model.max_tokens(),
        **thresholds,
    )


def _format_of(folder: Path, hub: Mapping[str, Any], own: Mapping[str, Any]) -> InputFormat:
    if "format" in own:
        named = [one for one in FORMATS if one.name == own["format"]]
        if not named:
            known = ", ".join(one.name for one in FORMATS)
            raise _refused(folder / OWN_FILE, f"unknown format {own['format']!r}", f"formats are {known}")
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
            raise _refused(path, "the labels are not declared", hint)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _refused(path, "the labels are not a list of names", hint)
    if len(names) == 1 and _LABELS.get(_plain(names[0]), "entailed") == "entailed":
        return ("entailed",)  # a single score: the hub names it LABEL_0
    unknown = [name for name in names if _plain(name) not in _LABELS]
    if unknown:
        raise _refused(path, f"the label {unknown[0]!r} is not a label of entailment", hint)
    labels = tuple(_LABELS[_plain(name)] for name in names)
    if labels.count("entailed") != 1:
        raise _refused(path, "one label must be entailment", hint)
    return labels


def _in_order(id2label: object) -> list[object] | None:
    """Return the labels in numeric order; None if the keys are not numbers."""
    if not isinstance(id2label, dict) or not id2label:
        return None
    try:
        numbered = {int(number): name for number, name in id2label.items()}
    except ValueError:
        return None
    return [numbered[number] for number in sorted(numbered)] if sorted(numbered) == [*range(len(numbered))] else None


def _plain(name: object) -> str:
    return str(name).strip().lower().replace("_", " ").replace("-", " ")


def _threshold(folder: Path, own: Mapping[str, Any], name: str) -> float:
    value = own[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1 or math.isnan(value):
        raise _refused(folder / OWN_FILE, f"{name!r} is {value!r}", "it must be above 0 and at most 1")
    return float(value)


def _refused(path: Path, reason: str, hint: str) -> SettingsError:
    return entailment_folder(path.parent).refused(f"{path.name}: {reason}", hint)
