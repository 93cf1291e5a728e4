"""Server-sent events are decoded as the standard says, however the bytes are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smoke_monkey_nb.providers.sse import ErrorData, SSEDecoder


def decode(*chunks: bytes) -> list[bytes]:
    decoder = SSEDecoder()
    out = [data for chunk in chunks for data in decoder.feed(chunk)]
    return out + decoder.flush()


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a\n\n", [b" a"]),
        (b": comment\n\ndata: a\n\n", [b"a"]),
        (b": comment\ndata: a\n\n", [b"a"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"id: 1\nevent: message\ndata: a\nretry: 5\n\n", [b"a"]),
        (b"data: a\n\n\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a", [b"a"]),
        (b"data: a\n", [b"a"]),
        (b"data\n\ndata:\n\n", []),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"nonsense\n\ndata: a\n\n", [b"a"]),
        (b"", []),
    ],
)
def test_the_shapes_that_the_standard_allows(stream: bytes, expected: list[bytes]) -> None:
    assert decode(stream) == expected


def test_an_event_is_given_out_as_soon_as_it_is_complete() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\n") == []
    assert decoder.feed(b"\ndata: b") == [b"a"]
    assert decoder.feed(b"c\n\n") == [b"bc"]


def test_an_event_named_error_is_marked() -> None:
    (data,) = decode(b"event: error\ndata: {}\n\n")
    assert type(data) is ErrorData


PIECES = st.sampled_from(
    [
        "data: x\n\n",
        "data:y\n\n",
        "data: ä€😀\r\n\r\n",
        ": c\n",
        "data: 1\ndata: 2\n\n",
        "\n",
        "data: z\r\r",
        "event: error\n",
        "id: 7\r\n",
    ]
)


@given(st.lists(PIECES, max_size=8), st.lists(st.integers(0, 120), max_size=12))
def test_any_split_of_the_bytes_gives_the_same_events(pieces: list[str], cuts: list[int]) -> None:
    stream = "".join(pieces).encode()
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    parts = [stream[a:b] for a, b in pairwise(edges)]
    assert decode(*parts) == decode(stream)


def test_a_huge_event_in_many_reads_is_joined_once() -> None:
    body = b"x" * 2_000_000
    stream = b"data: " + body + b"\n\n"
    parts = [stream[at : at + 1000] for at in range(0, len(stream), 1000)]
    assert decode(*parts) == [body]
