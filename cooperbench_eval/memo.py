"""A bounded memory of answers, for questions that come again."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["Memo"]

_Question = TypeVar("_Question", bound=Hashable)
_Answer = TypeVar("_Answer")


class Memo(Generic[_Question, _Answer]):
    """Remembers the last answers that were worked out.

    Threads may share one: at worst two of them work out the same answer. A pickled
    one comes back empty.

    Example:
        >>> lengths = Memo[str, int](size=2)
        >>> lengths.recall("tea", lambda: 3), lengths.recall("tea", lambda: 4)
        (3, 3)
    """

    def __init__(self, size: int) -> None:
        """Start with nothing remembered.

        Args:
            size: How many answers to keep; the oldest one goes first.
        """
        self._size = size
        self._answers: dict[_Question, _Answer] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[type["Memo[_Question, _Answer]"], tuple[int]]:
        return Memo, (self._size,)

    def recall(self, question: _Question, work_out: Callable[[], _Answer]) -> _Answer:
        """Return the answer to *question*, worked out unless it is remembered.

        `None` is no answer to remember, nor is what *work_out* raises.
        """
        answer = self._answers.get(question)
        if answer is None:
            answer = work_out()
            with self._lock:
                self._answers[question] = answer
                if len(self._answers) > self._size:
                    del self._answers[next(iter(self._answers))]
        return answer
