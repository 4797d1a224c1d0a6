"""Keeps secrets that a provider echoes out of everything that is stored or shown.

A provider may echo a key in another form. So only the letters and digits are compared, in
lower case, both of the text as it is and of the text with its escapes decoded. Base64 is
not decoded. Instead, the secret's base64 form at each of the three alignments is also
searched for. Any run of several such characters is found, so a shortened key is found too.
"""

import base64
import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from attrs import evolve, field, frozen

from cooperbench_eval.strategies.llm.chat import (
    ChatClient,
    ChatError,
    ChatFault,
    ChatReply,
    ChatRequest,
)

_SECRET_NAME = re.compile(
    r"(?i)key|secret|passw|credential|header|auth(?!or(?!i[sz]ation))|cookie|token(?!s)"
)
_PUBLIC_HEADER = re.compile(
    r"(?i)accept(-.*)?|content-.*|user-agent|(http-)?referer|x-title|.*-(version|beta)"
)
"""Headers that providers ask for and that are not secret."""
_SHORTEST_IN_ENVIRONMENT = 12
"""The minimum length of a secret in a variable; a shorter value may be an ordinary word."""
_PATH = re.compile(r"[~.]{0,2}/[\w./ -]*")


def is_secret(name: str) -> bool:
    """Whether an option or variable of this name may hold a secret."""
    return bool(_SECRET_NAME.search(name))


def without_secrets(value: Any) -> Any:
    """Return a JSON value without the object members that may hold secrets."""
    if isinstance(value, Mapping):
        return {
            name: without_secrets(each) for name, each in value.items() if not is_secret(str(name))
        }
    if isinstance(value, list | tuple):
        return [without_secrets(each) for each in value]
    return value


def secrets_in(value: Any, *, named: bool = False) -> Iterator[str]:
    """Yield the strings in a JSON value that may be secrets, and each of their words."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            if not (named and _PUBLIC_HEADER.fullmatch(str(name))):
                yield from secrets_in(each, named=named or is_secret(str(name)))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from secrets_in(each, named=named)
    elif named and isinstance(value, str):
        yield from (value, *value.split())


def known_secrets(
    api_key: str | None, api_base: str | None, options: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the secrets of a client, those in the environment, and those set in litellm.

    A key that litellm reads from a file, such as `~/.aws/credentials`, is not known.
    """
    yield api_key or ""
    yield from secrets_in(options)
    yield from _secrets_in_address(api_base or "")
    named = [(name, value) for name, value in os.environ.items() if is_secret(name)]
    litellm = vars(sys.modules.get("litellm") or object)
    named += [(name, value) for name, value in litellm.items() if name.endswith(("key", "token"))]
    for _, value in named:
        is_long = isinstance(value, str) and len(value) >= _SHORTEST_IN_ENVIRONMENT
        if is_long and not _PATH.fullmatch(value):
            yield value


def _secrets_in_address(address: str) -> Iterator[str]:
    """Yield the login and the values of the query; any of them may be a key."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return
    yield from (unquote(each) for each in (parts.username, parts.password) if each)
    yield from (value for _, value in parse_qsl(parts.query))


_SHORTEST: Final = 8
"""How many letters and digits of a secret in a row suffice to find it."""
_SHORTEST_WORD: Final = 16
"""As `SHORTEST`, for letters of one case, which may be ordinary words."""
_SHORTEST_PHRASE: Final = 10
"""As `SHORTEST_WORD`, if the secret has something else between the letters."""
_SHORTEST_END: Final = 6
"""As `SHORTEST`, for the first and the last 8 characters, some of which may be punctuation."""
_SHORTEST_WHOLE: Final = 6
"""The minimum length of a secret that is replaced where it occurs unchanged."""
_LEAST_DIFFERENT: Final = 4
"""How many different characters a run must have; rows of zeros occur in any text."""
_MOST_ROUNDS: Final = 3
"""How many layers of escapes are decoded."""
_HIDDEN: Final = "***"

_TOKEN = re.compile(
    r"(?i:\b(bearer\s+|sk-)[A-Z0-9._~+/=*-]{6,})"
    r"|\b(AKIA|AIza|gh[a-z]_|gsk_|hf_|xai-|eyJ)[A-Za-z0-9._-]{12,}"
)
"""What looks like a key of a well-known provider."""
_USER = re.compile(r"(?<=://)[^/\s@]+@")
_MASK = re.compile(r"\s?(?:\*{2,}|\.{2,}|…+|•{2,}|\bx{3,}\b)\s?")
"""What may stand for the middle of a shortened key."""
_UNMASKED: Final = range(12, 3, -1)
"""How many characters beside a mask are compared with the ends of a secret."""
_ESCAPE = re.compile(
    r"%([0-9a-f]{2})|\\{1,4}u([0-9a-f]{4})|\\{1,4}x([0-9a-f]{2})|&#x([0-9a-f]{1,6});"
    r"|&\#([0-9]{1,7});|(\\{1,4}[abfnrtv])",
    re.IGNORECASE,
)
_PLAIN = re.compile("[A-Za-z0-9]+")


@frozen
class _View:
    """A text, and for each character the span of the original text that it stands for."""

    text: str
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, text: str) -> "_View":
        return cls(text, list(range(len(text))), list(range(1, len(text) + 1)))

    def decoded(self) -> "_View":
        """Replace each escape with its character, and an escaped line end with a space."""
        pieces, starts, ends = [], list[int](), list[int]()
        last = 0
        for match in _ESCAPE.finditer(self.text):
            at, to = match.span()
            code = _code(match)
            pieces += [self.text[last:at], chr(code)]
            starts += [*self.starts[last:at], self.starts[at]]
            ends += [*self.ends[last:at], self.ends[to - 1]]
            last = to
        return _View(
            "".join([*pieces, self.text[last:]]),
            starts + self.starts[last:],
            ends + self.ends[last:],
        )

    def squeezed(self) -> "_View":
        runs = [match.span() for match in _PLAIN.finditer(self.text)]
        return _View(
            "".join(self.text[at:to] for at, to in runs).lower(),
            [start for at, to in runs for start in self.starts[at:to]],
            [end for at, to in runs for end in self.ends[at:to]],
        )


def _code(match: re.Match[str]) -> int:
    *coded, decimal, control = match.groups()
    if control:
        return ord(" ")
    number = int(decimal) if decimal else int(next(filter(None, coded)), 16)
    return number if number < 0x110000 else ord(" ")  # noqa: PLR2004 - the end of Unicode


def _views(text: str) -> Iterator[_View]:
    view = _View.of(text)
    for _ in range(_MOST_ROUNDS):
        yield view.squeezed()
        decoded = view.decoded()
        if decoded.text == view.text:
            return
        view = decoded


def _as_set(secrets: Iterable[str]) -> frozenset[str]:
    return frozenset(secrets)


@frozen
class Redactor:
    """Finds some secrets in texts.

    Any 8 letters and digits in a row are found. Letters of one case may be ordinary words: 10
    in a row are found if the secret has something else between them, and otherwise 16. A
    shorter secret is found only as a whole, and only by `redact`.
    """

    _secrets: frozenset[str] = field(converter=_as_set, repr=False)
    _runs: dict[int, frozenset[str]] = field(init=False, repr=False)

    @_runs.default
    def _make_runs(self) -> dict[int, frozenset[str]]:
        runs = defaultdict[int, set[str]](set)
        for secret in self._secrets:
            for form in _forms(secret):
                for run in _runs_of(form):
                    runs[len(run)].add(run)
        return {size: frozenset(each) for size, each in runs.items()}

    def finds(self, text: str, *, apart_from: str = "") -> bool:
        """Whether a text contains part of a secret that *apart_from* does not contain."""
        found = self._found(text)
        return bool(found and found - self._found(apart_from))

    def redact(self, text: str) -> str:
        """Replace the secrets, and everything that looks like a bearer token or a login."""
        spans = sorted({*self._spans(text), *self._masked(text)})
        pieces, last = [], 0
        for start, end in spans:
            if start > last:
                pieces += [text[last:start], _HIDDEN]
            elif not pieces:
                pieces.append(_HIDDEN)
            last = max(last, end)
        text = "".join([*pieces, text[last:]])
        for secret in sorted(self._secrets, key=len, reverse=True):
            if len(secret) >= _SHORTEST_WHOLE:
                text = re.sub(re.escape(secret), _HIDDEN, text, flags=re.IGNORECASE)
        text = _TOKEN.sub(lambda match: f"{match[1] or match[2]}{_HIDDEN}", text)
        return _USER.sub(f"{_HIDDEN}@", text)

    def _found(self, text: str) -> set[str]:
        found = {view.text[at:to] for view in _views(text) for at, to in self._places(view)}
        return found | {text[start:end] for start, end in self._masked(text)}

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        for view in _views(text):
            for at, to in self._places(view):
                yield view.starts[at], view.ends[to - 1]

    def _places(self, view: _View) -> Iterator[tuple[int, int]]:
        for size, runs in self._runs.items():
            for at in range(len(view.text) - size + 1):
                if view.text[at : at + size] in runs:
                    yield at, at + size

    def _masked(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where a text has the beginning or the end of a secret beside a mask."""
        secrets = [each.lower() for each in self._secrets if len(each) >= _SHORTEST_WORD]
        begins = {each[:size] for each in secrets for size in _UNMASKED}
        ends = {each[-size:] for each in secrets for size in _UNMASKED}
        for match in _MASK.finditer(text) if secrets else ():
            at, to = match.span()
            before = text[max(at - _UNMASKED[0], 0) : at].lower()
            after = text[to : to + _UNMASKED[0]].lower()
            begun = next((n for n in _UNMASKED if before[-n:] in begins), 0)
            ended = next((n for n in _UNMASKED if after[:n] in ends), 0)
            if begun or ended:
                yield at - begun, to + ended


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret as it is, reversed, in hexadecimal digits, and in base64 at each alignment."""
    data = secret.encode("utf-8", "surrogateescape")
    yield from (secret, secret[::-1], data.hex())
    for offset in range(3):
        coded = base64.b64encode(bytes(offset) + data).decode("ascii")
        # Characters at the ends also depend on the neighbours of the secret.
        yield coded[-(-offset * 8 // 6) : (offset + len(data)) * 8 // 6]


def _runs_of(form: str) -> Iterator[str]:
    """Yield the runs of a form that are found, in lower case."""
    places = [at for at, character in enumerate(form) if _PLAIN.fullmatch(character)]
    letters = "".join(form[at] for at in places)

    def runs(size: int) -> Iterator[tuple[int, str]]:
        return ((at, letters[at : at + size]) for at in range(len(letters) - size + 1))

    ends = ("".join(_PLAIN.findall(end)) for end in (form[:_SHORTEST], form[-_SHORTEST:]))
    for run in (*dict(runs(_SHORTEST)).values(), *(e for e in ends if len(e) >= _SHORTEST_END)):
        if not _is_word(run):
            yield run.lower()
    for at, run in runs(_SHORTEST_PHRASE):
        if places[at + len(run) - 1] - places[at] >= len(run) and not _is_repeated(run):
            yield run.lower()
    for _, run in runs(_SHORTEST_WORD):
        if not _is_repeated(run):
            yield run.lower()


def _is_word(run: str) -> bool:
    """Whether a run can occur by chance."""
    return (run.isalpha() and (run.islower() or run.isupper())) or _is_repeated(run)


def _is_repeated(run: str) -> bool:
    return len(set(run)) < _LEAST_DIFFERENT


_MOST_READ = 20_000
"""How much of a provider's message is searched for secrets."""
_MOST_SAID = 500
"""The longest message of a provider that is kept."""
_MOST_NAMED = 200
"""The longest name of a model or of a finish reason that is kept."""


@frozen(kw_only=True)
class RedactingClient:
    """Asks another client, and keeps secrets out of its replies and errors.

    An answer that contains a secret is refused, because a mask in its place would be merged
    as code. It is not refused if the question contains the secret too, because then the
    repository does. In messages and names a secret is masked.

    Attributes:
        secrets: Returns the secrets, when a request is made.
    """

    client: ChatClient
    secrets: Callable[[], Iterable[str]] = field(repr=False)

    def complete(self, request: ChatRequest) -> ChatReply:
        """Return the client's reply, or raise `ChatError`, also if it contains a secret."""
        answer = self._answer(request, Redactor(self.secrets()))
        if isinstance(answer, ChatError):
            raise answer  # not in the `except` block: its context could hold a secret
        return answer

    def _answer(self, request: ChatRequest, redactor: Redactor) -> ChatReply | ChatError:
        try:
            reply = self.client.complete(request)
        except ChatError as exc:
            problem = redactor.redact(exc.problem[:_MOST_READ])[:_MOST_SAID]
            return ChatError(exc.fault, problem, exc.retry_after_seconds)
        question = "\n".join(message.text for message in request.messages)
        if redactor.finds(reply.text, apart_from=question):
            return ChatError(ChatFault.MALFORMED, "the answer contains part of a secret")
        return evolve(
            reply,
            model=redactor.redact(reply.model[:_MOST_READ])[:_MOST_NAMED],
            finish_reason=redactor.redact(reply.finish_reason[:_MOST_READ])[:_MOST_NAMED],
        )
