"""A tiny ONNX model written byte by byte, so that no further package is needed to make one.

Its score of a pair is the sum of a weight for each token: ``Gather(weights, input_ids)`` and ``ReduceSum``.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

_INT64, _FLOAT = 7, 1


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _int(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _bytes(field: int, content: bytes | str) -> bytes:
    content = content.encode() if isinstance(content, str) else content
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _node(kind: str, inputs: Sequence[str], output: str, **attributes: int | list[int]) -> bytes:
    told = b"".join(_bytes(1, name) for name in inputs) + _bytes(2, output) + _bytes(4, kind)
    for name, value in attributes.items():
        if isinstance(value, int):
            told += _bytes(5, _bytes(1, name) + _int(3, value) + _int(20, 2))
        else:
            told += _bytes(5, _bytes(1, name) + b"".join(_int(8, v) for v in value) + _int(20, 7))
    return _bytes(1, told)


def _value(name: str, kind: int, *dims: str | int) -> bytes:
    shape = b"".join(_bytes(1, _bytes(2, d) if isinstance(d, str) else _int(1, d)) for d in dims)
    return _bytes(1, name) + _bytes(2, _bytes(1, _int(1, kind) + _bytes(2, shape)))


def model(weights: Sequence[float], *, columns: int = 1, input_name: str = "input_ids") -> bytes:
    """Return a model over a vocabulary with these weights.

    Args:
        weights: of the tokens, by id.
        columns: 1 for one score of a pair; 2 for logits of no (zero) and yes; more for what is no cross-encoder.
        input_name: of its input.
    """
    table = struct.pack(f"<{len(weights) * columns}f", *(w if c == 1 or columns == 1 else 0.0 for w in weights for c in range(columns)))  # fmt: skip
    initial = _int(1, len(weights)) + _int(1, columns) + _int(2, _FLOAT) + _bytes(8, "weights") + _bytes(9, table)
    graph = (
        _node("Gather", ["weights", input_name], "each", axis=0)  # [pairs, tokens, columns]
        + _node("ReduceSum", ["each"], "logits", axes=[1], keepdims=0)  # [pairs, columns]
        + _bytes(2, "tiny")
        + _bytes(5, initial)
        + _bytes(11, _value(input_name, _INT64, "pairs", "tokens"))
        + _bytes(12, _value("logits", _FLOAT, "pairs", columns))
    )
    return _int(1, 7) + _bytes(8, _bytes(1, "") + _int(2, 11)) + _bytes(7, graph)
