"""A policy behind OpenAI's responses API that answers A to everything."""

import contextlib
import http.server
import json
import threading
from collections.abc import Iterator

TEXT = {"type": "output_text", "text": "\\boxed{A}", "annotations": []}
ANSWER = {
    "id": "r",
    "object": "response",
    "created_at": 0,
    "model": "policy",
    "output": [{"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [TEXT]}],
    "parallel_tool_calls": False,
    "tool_choice": "none",
    "tools": [],
}


class AlwaysA(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the driver's output is what counts."""


@contextlib.contextmanager
def serve_policy() -> Iterator[str]:
    """Serve it while the block runs; yields the base address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), AlwaysA)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
