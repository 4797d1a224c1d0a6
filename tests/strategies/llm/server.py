"""A scripted server on loopback that speaks the OpenAI protocol and counts requests."""

import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cooperbench_eval.strategies.llm import ChatReply

SIDES = re.compile(
    r"^Side A:\n(?P<fa>`{3,})\n(?P<a>.*?)^(?P=fa)\nSide B:\n(?P<fb>`{3,})\n(?P<b>.*?)^(?P=fb)$",
    re.MULTILINE | re.DOTALL,
)


class ModelServer:
    """Answers each request with the next step of its script; the last step is repeated.

    A step is a text to answer, or a function that writes with the HTTP handler. A script
    that is a function returns the step for each request's body.
    """

    def __init__(self):
        """Start to listen at a free port."""
        self.script = [""]
        self.requests = []
        self.headers = []
        self.most_at_once = 0
        self.stopping = threading.Event()
        self._at_once = 0
        self._lock = threading.Lock()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.model = self
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def server_address(self):
        """Return the host and the port."""
        return self._http.server_address

    @property
    def address(self):
        """Return the value for `api_base`."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def questions(self):
        """Return the last turn of each request."""
        return [body["messages"][-1]["content"] for body in self.requests]

    def stop(self):
        """Stop listening, and let stalled answers end."""
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()

    def serve(self, handler):
        """Answer one request."""
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            self.requests.append(body)
            self.headers.append(dict(handler.headers))
            if callable(self.script):
                step = self.script(body)
            else:
                step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        try:
            (said(step) if isinstance(step, str) else step)(handler)
        finally:
            with self._lock:
                self._at_once -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_):
        """Do not report clients that disconnected."""


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        """Print nothing."""

    def do_POST(self):
        self.server.model.serve(self)


# --- steps ------------------------------------------------------------------------


def status(code, data=b"", **headers):
    """Answer with an HTTP status, a body and headers."""

    def step(handler):
        handler.send_response(code)
        for name, value in {"content_length": len(data), **headers}.items():
            handler.send_header(name.replace("_", "-"), str(value))
        handler.end_headers()
        handler.wfile.write(data)

    return step


def said(text, *, finish_reason="stop", model="served-model", **message):
    """Answer with a chat completion."""
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    data = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {
                "index": 0,
                "finish_reason": finish_reason,
                "message": {"role": "assistant", "content": text, **message},
            }
        ],
        "usage": usage | {"prompt_tokens_details": {"cached_tokens": 40}},
    }
    return status(200, json.dumps(data).encode(), content_type="application/json")


def error(code, message, **headers):
    """Answer with an error as OpenAI words it."""
    return status(code, json.dumps({"error": {"message": message}}).encode(), **headers)


def stalled(handler):
    """Send the beginning of an answer, then a space now and then, forever."""
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.end_headers()
    while not handler.server.model.stopping.wait(0.02):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def slowly(step, seconds=0.15):
    """Take a while before a step."""

    def slow(handler):
        time.sleep(seconds)
        (said(step) if isinstance(step, str) else step)(handler)

    return slow


# --- answers ------------------------------------------------------------------------


def fenced(*texts):
    """Write an answer with a fenced block for each conflict."""
    lines = []
    for number, text in enumerate(texts, start=1):
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`{3,}", text))])
        lines += [f"{fence}conflict-{number}", *text.splitlines(), fence]
    return "Here you are.\n" + "\n".join(lines) + "\n"


def answering(function):
    """Make a script that answers with a function of each conflict's path and sides."""

    def script(body):
        question = body["messages"][1]["content"]
        path = re.match(r"File: (.*) \(", question)[1]
        return fenced(*(function(path, each["a"], each["b"]) for each in SIDES.finditer(question)))

    return script


def both(_path, ours, theirs):
    """Keep both sides, ours first."""
    return ours + theirs


class BothSides:
    """A client that answers without a model: both sides of each conflict."""

    def complete(self, request):
        """Answer as a model would be asked to."""
        question = request.messages[1].text
        sides = [both("", each["a"], each["b"]) for each in SIDES.finditer(question)]
        letters = re.findall(r"^([A-Z])\) ", question, re.MULTILINE)
        return ChatReply(text=fenced(*sides) if sides else (letters or ["A"])[0])
