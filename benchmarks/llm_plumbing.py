"""Asks a scripted model over HTTP, which answers with another strategy's gold resolutions.

    python benchmarks/llm_plumbing.py --dataset DIR --repos DIR [--task NAME/ID ...] [--careless]

Each conflicting pair that `structured` and `tokens` resolve in turn, without changing
other lines, is resolved again by `llm`: litellm asks a server on loopback that answers
with their texts. The merged trees must have the same bytes, which shows that nothing is
lost between question and tree. Exits with status 1 if they differ.

With --careless, the first answer to each question is the lines of ours, as of a model that
forgets the other feature. The right texts only follow when that answer is sent back.
"""

import argparse
import json
import re
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from attrs import evolve, field, frozen
from repositories import add_dataset_options, tasks_with_bases

from cooperbench_eval import (
    LLMStrategy,
    MergeInput,
    MergeStatus,
    Snapshot,
    Task,
    apply_patch,
    cascade,
    get_strategy,
)
from cooperbench_eval.git.merging.conflicts import ModelUsage
from cooperbench_eval.git.merging.locating_resolutions import find_between
from cooperbench_eval.git.merging.tree_merge import merge_changes
from cooperbench_eval.git.patching import TestFileFilter
from cooperbench_eval.strategies.run import run_strategy

DEFAULT = ("samuelcolvin_dirty_equals_task/43",)
_PATH = re.compile(r"File: (.*) \(.*\)$", re.MULTILINE)
_SIDES = re.compile(
    r"^Side A:\n(?P<fa>`{3,})\n(?P<a>.*?)^(?P=fa)\nSide B:\n(?P<fb>`{3,})\n(?P<b>.*?)^(?P=fb)$",
    re.MULTILINE | re.DOTALL,
)

Place = tuple[str, str, str]
"""A path, and the lines of both sides of a conflict in it."""


class Script(ThreadingHTTPServer):
    """A server that answers questions with given texts."""

    daemon_threads = True

    def __init__(self, *, is_careless: bool) -> None:
        """Listen on a free port of loopback."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.is_careless = is_careless
        self.texts: dict[Place, str] = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def answer(self, question: str, *, is_first: bool) -> str:
        """Write a fenced block for each conflict of a question."""
        path = _PATH.search(question)
        blocks = []
        for number, sides in enumerate(_SIDES.finditer(question), start=1):
            text = self.texts[path[1] if path else "", sides["a"], sides["b"]]
            if is_first and self.is_careless:
                text = sides["a"]
            fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`{3,}", text))])
            blocks.append(f"{fence}conflict-{number}\n{text}{fence}\n")
        return "".join(blocks)


class _Handler(BaseHTTPRequestHandler):
    server: Script

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_POST(self) -> None:
        """Answer as a chat completion."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        _, question, *answered = body["messages"]
        text = self.server.answer(question["content"], is_first=not answered)
        message = {"role": "assistant", "content": text}
        reply = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "script",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {
                "prompt_tokens": len(str(body["messages"])) // 4,
                "completion_tokens": len(text) // 4,
                "total_tokens": 0,
            },
        }
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@frozen(kw_only=True)
class Row:
    """The figures of one task.

    Attributes:
        pairs: Pairs that conflict.
        taught: Pairs that the other strategies resolve.
        same: Resolved pairs whose trees have the same bytes.
        conflicts: Conflicts of the resolved pairs.
        usage: Requests, tokens and cost.
        seconds: Time to merge with the model.
        refused: Reasons why answers were rejected.
    """

    pairs: int = 0
    taught: int = 0
    same: int = 0
    conflicts: int = 0
    usage: ModelUsage = field(factory=ModelUsage)
    seconds: float = 0.0
    refused: Counter[str] = field(factory=Counter)


def merge_input_of(task: Task, base: Snapshot, pair: tuple[int, int]) -> MergeInput:
    """Return the input of a strategy for a gold pair."""
    tests = [task.tests_patch(number) for number in pair]
    theirs, ours = (
        apply_patch(base, TestFileFilter().split(task.gold_patch(number), tests)[0]).changes
        for number in pair
    )
    merge = merge_changes(base, ours, theirs)
    return MergeInput(base=base, ours=ours, theirs=theirs, merge=merge)


def learn(merge_input: MergeInput, texts: dict[Place, str]) -> str | None:
    """Record how `structured` and `tokens` resolve each conflict; return the tree's id."""
    teacher = cascade(get_strategy("structured", resettles=False), "tokens")
    outcome = run_strategy(teacher, merge_input)
    if outcome.status is not MergeStatus.RESOLVED:
        return None
    for path in {conflict.path for conflict in merge_input.conflicts}:
        conflicts = [each for each in merge_input.conflicts if each.path == path]
        entry = outcome.changes[path]
        found = find_between(entry.data if entry else b"", merge_input.merge.settled_in(path))
        if found is None or len(found) != len(conflicts):
            return None
        for conflict, text in zip(conflicts, found, strict=True):
            sides = (lines(side or b"") for side in (conflict.ours, conflict.theirs))
            texts[path, *sides] = lines(text)  # type: ignore[index]
    return outcome.tree_id(merge_input.base)


def lines(text: bytes) -> str:
    """Write a text as it is shown in a question."""
    shown = text.decode().replace("\r\n", "\n")
    return shown if shown.endswith("\n") or not shown else shown + "\n"


def measure(task: Task, base: Snapshot, server: Script) -> Row:
    """Merge every pair of a task both ways."""
    strategy = LLMStrategy(
        "openai/script",
        api_base=f"http://127.0.0.1:{server.server_port}/v1",
        api_key="unused",
        max_attempts=2 if server.is_careless else 1,
        max_invented_lines=None,
    )
    row = Row()
    for pair in task.pairs:
        merge_input = merge_input_of(task, base, pair)
        if not merge_input.conflicts:
            continue
        row = evolve(row, pairs=row.pairs + 1)
        server.texts.clear()
        wanted = learn(merge_input, server.texts)
        if wanted is None:
            continue
        began = time.perf_counter()
        outcome = run_strategy(strategy, merge_input)
        seconds = time.perf_counter() - began
        is_same = (
            outcome.status is MergeStatus.RESOLVED and outcome.tree_id(merge_input.base) == wanted
        )
        reasons = [each.reason for each in outcome.ledger if each.is_open]
        if not is_same:
            print(f"  f{pair[0]}+f{pair[1]} differs: {outcome.status} {'; '.join(reasons)}")
        used = outcome.usage[0]
        row = Row(
            pairs=row.pairs,
            taught=row.taught + 1,
            same=row.same + is_same,
            conflicts=row.conflicts + outcome.conflicts_met,
            usage=ModelUsage(
                requests=row.usage.requests + used.requests,
                prompt_tokens=row.usage.prompt_tokens + used.prompt_tokens,
                completion_tokens=row.usage.completion_tokens + used.completion_tokens,
            ),
            seconds=row.seconds + seconds,
            refused=row.refused + Counter(reasons),
        )
    return row


def main() -> None:
    """Print the figures of each task."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_dataset_options(parser, required=True)
    parser.add_argument("--task", action="append", help=f"{DEFAULT[0]} if none is named")
    parser.add_argument("--careless", action="store_true", help="take ours in first answers")
    options = parser.parse_args()
    server = Script(is_careless=options.careless)
    is_lost = False
    for name, task, base in tasks_with_bases(options, options.task or DEFAULT):
        row = measure(task, base, server)
        is_lost = is_lost or row.same < row.taught
        print(
            f"{name}: {row.pairs} pairs conflict, {row.taught} resolved by structured+tokens, "
            f"{row.same} of these the same bytes by llm; {row.conflicts} conflicts, "
            f"{row.usage.requests} requests, about {row.usage.prompt_tokens} tokens in and "
            f"{row.usage.completion_tokens} out, {row.seconds:.1f} s"
        )
    server.shutdown()
    sys.exit(is_lost)


if __name__ == "__main__":
    main()
