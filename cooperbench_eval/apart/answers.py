"""What a worker has to say at the end, on its way to the host."""

import os
import pickle
from typing import Any, Final

from attrs import frozen

from cooperbench_eval.apart.pickling import shown
from cooperbench_eval.errors import WorkerError

__all__ = ["Answer", "read_answer", "write_answer"]

_HEAD: Final = 8


@frozen(kw_only=True)
class Answer:
    """The value of a call, or what it raised.

    Attributes:
        data: The value or the exception, pickled; `None` if that cannot be.
        is_value: Which of the two it is.
        problem: What went wrong in words, if it is no value.
        traceback: Where.
    """

    data: bytes | None = None
    is_value: bool = False
    problem: str = ""
    traceback: str = ""

    def value(self) -> Any:
        """Return the value, or raise what the call raised.

        Raises:
            WorkerError: That cannot be rebuilt here; says in words what it is.
        """
        found = None
        try:
            found = None if self.data is None else pickle.loads(self.data)  # noqa: S301 - a worker's
        except KeyboardInterrupt:
            raise
        # Whatever a class does when it is rebuilt.
        except BaseException as exc:
            problem = self.problem or f"the answer cannot be rebuilt here ({shown(exc)})"
            raise WorkerError(problem) from exc
        if self.is_value:
            return found
        # Others would end the host, or pass for its own: SystemExit, CancelledError ...
        raised = found if isinstance(found, Exception) else WorkerError(self.problem)
        if self.traceback:
            raised.add_note(f"In a process of its own:\n{self.traceback}")
        raise raised


def write_answer(answer: Answer, file: int) -> None:
    """Write *answer* to a descriptor; it counts when it is complete."""
    data = pickle.dumps(answer)
    with open(file, "wb", closefd=False) as stream:
        stream.write(bytes(_HEAD) + data)
        stream.flush()
    os.pwrite(file, len(data).to_bytes(_HEAD, "big"), 0)


def read_answer(file: int) -> Answer | None:
    """Read an answer from a descriptor; `None` if there is none, or not all of one."""
    with open(file, "rb", closefd=False) as stream:
        stream.seek(0)
        size = int.from_bytes(stream.read(_HEAD), "big")
        if not size:
            return None
        answer = pickle.load(stream)  # noqa: S301 - a worker's
    assert isinstance(answer, Answer)  # noqa: S101 - for mypy
    return answer
