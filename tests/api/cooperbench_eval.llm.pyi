"""The public names of `cooperbench_eval.llm`; `python docs/tools/public_api.py` writes this."""

class ChatClient(Protocol):
    def complete(self, request: ChatRequest) -> ChatReply: ...

class ChatError(Exception):
    def __init__(
        self,
        fault: ChatFault,
        problem: str,
        retry_after_seconds: float | None = None,
    ) -> None: ...
    def __str__(self) -> str: ...
    fault: ChatFault
    problem: str
    retry_after_seconds: float | None

class ChatFault(StrEnum):
    MALFORMED = 'malformed'
    NOT_RECORDED = 'not recorded'
    RATE_LIMITED = 'rate limited'
    REJECTED = 'rejected'
    TIMED_OUT = 'timed out'
    UNAVAILABLE = 'unavailable'
    @property
    def is_transient(self) -> bool: ...

class ChatReply:
    def __init__(
        self,
        *,
        text: str,
        finish_reason: str = 'stop',
        model: str = '',
        prompt_tokens: int = 0,
        completion_tokens: int = 0,
        cached_tokens: int = 0,
        cost_usd: float | None = None,
        latency_seconds: float = 0.0,
    ) -> None: ...
    cached_tokens: int
    completion_tokens: int
    cost_usd: float | None
    finish_reason: str
    latency_seconds: float
    model: str
    prompt_tokens: int
    text: str

class ChatRequest:
    def __init__(
        self,
        *,
        model: str,
        messages: tuple[Message, ...],
        options: Mapping[str, Any] = dict(),
    ) -> None: ...
    def canonical(self) -> str: ...
    @property
    def key(self) -> str: ...
    messages: tuple[Message, ...]
    model: str
    options: Mapping[str, Any]

from cooperbench_eval import LLMStrategy as LLMStrategy

class Prompts:
    def __init__(
        self,
        *,
        version: str,
        system: str,
        question: str,
        excerpt: str,
        choice: str,
        retry: str,
    ) -> None: ...
    def __attrs_post_init__(self) -> None: ...
    @classmethod
    def built_in(cls) -> Prompts: ...
    choice: str
    excerpt: str
    def fill(self, name: str, **values: object) -> str: ...
    question: str
    @classmethod
    def read(cls, directory: str | Path) -> Prompts: ...
    retry: str
    system: str
    version: str

class Replay(StrEnum):
    AUTO = 'auto'
    LIVE = 'live'
    RECORD = 'record'
    REPLAY = 'replay'
