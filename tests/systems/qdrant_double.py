"""A scripted double of the part of Qdrant's REST interface that the store calls: brute force, in memory."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

_PATH = re.compile(r"/collections/([^/]+)(/.*)?")


@dataclass
class Collection:
    size: int
    config: dict[str, Any]
    points: dict[str, dict[str, Any]] = field(default_factory=dict)
    payload_indexes: list[str] = field(default_factory=list)
    indexed: int = 0
    polls_left: int = 0


@dataclass
class QdrantDouble:
    """What the server holds and was asked.

    ``key``: refuses requests without it; ``refuse``: path endings that are answered with status 400; ``slow``: how often
    a collection is yellow before its graph is built.
    """

    server: HTTPServer
    key: str = ""
    refuse: tuple[str, ...] = ()
    slow: int = 2
    collections: dict[str, Collection] = field(default_factory=dict)
    seen: list[tuple[str, str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.server.expect_request(re.compile(".*")).respond_with_handler(self._serve)

    def _serve(self, request: Request) -> Response:
        body = json.loads(request.data) if request.data else None
        self.seen.append((request.method, request.path, body))
        if self.key and request.headers.get("api-key") != self.key:
            return _reply({"status": {"error": "Invalid API key"}}, 401)
        if any(request.path.endswith(end) for end in self.refuse):
            return _reply({"status": {"error": "index required"}}, 400)
        if request.path == "/collections":
            return _ok({"collections": [{"name": name} for name in self.collections]})
        found = _PATH.fullmatch(request.path)
        assert found is not None, request.path
        return self._on(found[1], found[2] or "", request.method, body)

    def _on(self, name: str, what: str, method: str, body: Any) -> Response:
        if (what, method) == ("", "PUT"):
            self.collections[name] = Collection(body["vectors"]["size"], body)
            return _ok(True)
        held = self.collections.get(name)
        if held is None:
            return _reply({"status": {"error": f"Collection `{name}` doesn't exist!"}}, 404)
        if (what, method) == ("", "DELETE"):
            del self.collections[name]
            return _ok(True)
        if (what, method) == ("", "PATCH"):
            assert body["optimizers_config"]["indexing_threshold"] == 1
            held.polls_left = self.slow
            return _ok(True)
        if (what, method) == ("", "GET"):
            return _ok(self._info(held))
        if what == "/index":
            held.payload_indexes.append(body["field_name"])
            return _done()
        if (what, method) == ("/points", "PUT"):
            held.points |= {p["id"]: p for p in body["points"]}
            return _done()
        if what == "/points/delete":
            for id in body["points"]:
                held.points.pop(id, None)
            return _done()
        if what == "/points/scroll":
            return _ok(_page(held, body))
        assert what == "/points/query", what
        return _ok({"points": _nearest(held, body)})

    def _info(self, held: Collection) -> dict[str, Any]:
        status = "green"
        if held.polls_left:
            held.polls_left -= 1
            status = "yellow"
            if not held.polls_left:
                held.indexed = len(held.points)
        config = {
            "params": {"vectors": held.config["vectors"]},
            "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10},
            "optimizer_config": {
                "deleted_threshold": 0.2,
                "vacuum_min_vector_number": 1_000,
                "default_segment_number": 0,
                "flush_interval_sec": 5,
            },
        }
        return {
            "status": status,
            "optimizer_status": "ok",
            "segments_count": 1,
            "points_count": len(held.points),
            "indexed_vectors_count": held.indexed,
            "config": config,
            "payload_schema": {},
        }


def _page(held: Collection, body: Any) -> dict[str, Any]:
    ids = sorted(held.points)
    start = ids.index(body["offset"]) if body.get("offset") else 0
    end = start + body["limit"]
    points = [{"id": id, "payload": held.points[id]["payload"]} for id in ids[start:end]]
    return {"points": points, "next_page_offset": ids[end] if end < len(ids) else None}


def _nearest(held: Collection, body: Any) -> list[dict[str, Any]]:
    wanted = {c["key"]: c["match"]["value"] for c in (body.get("filter") or {}).get("must", [])}
    near = body["query"]["nearest"] if isinstance(body["query"], dict) else body["query"]
    scored = [
        {
            "id": id,
            "version": 0,
            "score": sum(a * b for a, b in zip(point["vector"], near, strict=True)),
            "payload": {"id": point["payload"]["id"]},
        }
        for id, point in held.points.items()
        if all(point["payload"][key] == value for key, value in wanted.items())
    ]
    return sorted(scored, key=lambda p: -p["score"])[: body["limit"]]


def _ok(result: Any) -> Response:
    return _reply({"result": result, "status": "ok", "time": 0.0}, 200)


def _done() -> Response:
    return _ok({"operation_id": 1, "status": "completed"})


def _reply(body: Any, code: int) -> Response:
    return Response(json.dumps(body), code, content_type="application/json")
