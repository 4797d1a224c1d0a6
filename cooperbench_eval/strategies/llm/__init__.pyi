# As in `cooperbench_eval/__init__.pyi`.
from .cassette import Replay as Replay
from .chat import ChatClient as ChatClient
from .chat import ChatError as ChatError
from .chat import ChatFault as ChatFault
from .chat import ChatReply as ChatReply
from .chat import ChatRequest as ChatRequest
from .prompts import Prompts as Prompts
from .strategy import LLMStrategy as LLMStrategy
