"""A system behind HTTP, with the standard library alone: returns the newest messages that share a word with the question.

Run it with `python examples/http_system.py 8765`, then `memtrial systems check http://127.0.0.1:8765`.
The protocol is described in docs/http_protocol.md.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

INSTANCES = {}  # instance -> messages by id


def open_(body):
    INSTANCES[body["instance"]] = {}
    return {}


def ingest(body):
    INSTANCES[body["instance"]].update((m["id"], m) for m in body["messages"])
    return {}


def answer(body):
    query = body["query"]
    asked = set(query["text"].lower().split())
    own = [m for m in INSTANCES[body["instance"]].values() if m["tenant_id"] == query["tenant_id"]]
    found = [m for m in reversed(own) if asked & set(m["content"].lower().split())][:50]
    if not found:
        return {"abstained": True}
    items = [{"message_ids": [m["id"]], "score": 1 / rank} for rank, m in enumerate(found, 1)]
    return {"text": found[0]["content"], "citations": [found[0]["id"]], "retrieved": items, "context": items[:8]}


def close(body):
    INSTANCES.pop(body["instance"], None)
    return {}


def info(body):
    return {"name": "newest-with-a-shared-word", "version": "1"}


ROUTES = {"/info": info, "/open": open_, "/ingest": ingest, "/answer": answer, "/close": close}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = json.dumps(ROUTES[self.path](body)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *args):
        pass


def serve(port):
    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    serve(int(sys.argv[1]) if len(sys.argv) > 1 else 8765).serve_forever()
