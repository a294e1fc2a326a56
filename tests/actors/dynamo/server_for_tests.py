"""A small chat server with faults: ``server_for_tests.py PORT FOLDER NAME``.

Files in FOLDER rule it: ``crash`` ends it with exit code 3 at its start, ``hang`` lets it start without listening,
``ill`` makes its health check fail, ``deaf`` makes it ignore SIGTERM. It starts a child, in a session of its own, that
sleeps, and writes a line for each start.
"""

import http.server
import json
import pathlib
import signal
import subprocess
import sys
import time

PORT, FOLDER, NAME = int(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(503 if (FOLDER / "ill").exists() else 200, {})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        last = request["messages"][-1]["content"]
        if last == "refuse":
            return self.answer(400, {"error": "refused on purpose"})
        if last == "nonsense":
            return self.answer(200, {"choices": []})
        choice = {
            "message": {"role": "assistant", "content": f"{NAME}: {last} as {request['messages'][-1]['role']}"},
            "finish_reason": "length" if request["max_tokens"] == 1 else "stop",
            "logprobs": {"content": [{"logprob": -0.5}, {"logprob": -0.25}]},
        }
        return self.answer(200, {"choices": [choice], "request": request})

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def main():
    with open(FOLDER / "starts", "a") as file:
        file.write(f"{NAME}\n")
    print("the server says hello", flush=True)
    if (FOLDER / "crash").exists():
        raise SystemExit(3)
    if (FOLDER / "deaf").exists():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, lambda *_: ((FOLDER / "asked").touch(), sys.exit(0)))
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", str(FOLDER)], start_new_session=True)
    while (FOLDER / "hang").exists():
        time.sleep(0.05)
    http.server.ThreadingHTTPServer.allow_reuse_address = True
    http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()


main()
