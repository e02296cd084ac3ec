"""How much each signal counts. Written by `python -m benchmarks.fit`: change the training instead."""

from __future__ import annotations

QUESTION: dict[str, float] = {
    "closeness": 0.92,
    "closeness:foreign": 1.65,
    "closeness:prose": 2.55,
    "coverage": 2.09,
    "definition": 1.13,
    "definition:asked": 6.00,
    "dense": 2.63,
    "dense:file": 0.80,
    "dense:foreign": -1.10,
    "file": 2.26,
    "heading": 1.21,
    "lexical": 2.25,
    "lexical:long": 2.06,
    "path": 1.64,
    "role:changelog": 1.42,
    "role:configuration": 2.53,
    "role:documentation": 2.42,
    "role:documentation:how-to": 2.60,
    "role:documentation:personal": 2.04,
    "role:documentation:where": -1.23,
    "role:example": 1.22,
    "role:legal": 3.95,
    "role:source": 3.66,
    "sentence": 2.58,
}

TOPIC: dict[str, float] = {
    "definition": 1.77,
    "definition:asked": 6.00,
    "dense:three": 4.21,
    "file": 2.30,
    "heading": 2.00,
    "lexical": 1.59,
    "lexical:three": 1.17,
    "path": 5.14,
    "path:generic": 0.19,
    "role:changelog": 0.31,
    "role:configuration": 0.56,
    "role:documentation": 1.66,
    "role:example": 0.90,
    "role:legal": 0.82,
    "role:source": 4.23,
    "size": 0.43,
}
