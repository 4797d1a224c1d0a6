"""The documentation's blocks: none is skipped, and a wrong one is noticed."""

import re
import tomllib

import pytest
from blocks import ROOT, SYBIL, fences, pages
from needs import need_installed
from sybil import Document
from sybil.parsers.markdown import SkipParser

PAGES = {str(page.relative_to(ROOT)): page for page in pages()}
REASON = re.compile(r'(?:next|start) if\(.+, reason=".{10,}"\)|end')


@pytest.fixture
def run_page(tmp_path):
    """Return a function that runs a page, block by block."""

    def run(text):
        page = tmp_path / "page.md"
        page.write_text(text)
        document = SYBIL.parse(page)
        SYBIL.setup(document.namespace)
        try:
            for example in document:
                example.evaluate()
        finally:
            SYBIL.teardown(document.namespace)

    return run


def test_every_page_is_collected():
    """The paths that pytest is given contain every page, and pytest skips none."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    left_out = [each for each in options["norecursedirs"] if not each.startswith(".")]

    assert {"README.md", "CHANGELOG.md", "docs/index.md", "docs/tutorial.md"} <= PAGES.keys()
    for page in PAGES:
        assert any(page == each or page.startswith(f"{each}/") for each in options["testpaths"])
        assert not any(page.startswith(f"{each}/") for each in left_out)


@pytest.mark.parametrize("page", PAGES)
def test_every_fence_has_a_handler(page):
    """Its language is known, and a file that it writes is used later."""
    document = Document(PAGES[page].read_text(encoding="utf-8"), page)
    found = list(fences(document))

    assert document.text.count("\n```") == 2 * len(found)
    for region, language, title in found:
        assert language is not None, document.region_details(region)
        assert title is None or title in document.text[region.end :], title


@pytest.mark.parametrize("page", PAGES)
def test_a_skip_has_a_condition_and_a_reason(page):
    """No block is skipped unconditionally."""
    document = Document(PAGES[page].read_text(encoding="utf-8"), page)

    for region in SkipParser()(document):
        action, reason = region.parsed
        assert REASON.fullmatch(f"{action} {reason or ''}".strip())


def test_blocks_of_a_page_share_their_state(run_page):
    """They share names, files and hidden blocks, and output is compared."""
    run_page(
        "<!-- invisible-code-block: python\nhidden = 20\n-->\n"
        '```toml title="it.toml"\n[table]\nnumber = 22\n```\n'
        "```python\nimport pathlib\n\nprint(hidden, pathlib.Path('it.toml').read_text()[:7])\n```\n"
        "```text\n20 [table]\n```\n"
        "```python\n>>> hidden + 1\n21\n```\n"
        '```python title="say.py"\nprint("said")\n```\n'
        "```sh\npython say.py\n```\n\n```text\nsa...\n```\n"
        "```\na → b\n```\n"
    )


@pytest.mark.parametrize(
    ("block", "complaint"),
    [
        ("```python\n>>> 1 + 1\n3\n```", "Expected"),
        ("```python\nraise ValueError('no')\n```", "no"),
        ("```python\nimport sys\n\nsys.exit()\n```", ""),
        ("```python\nprint(1)\n```\n\n```text\n2\n```", "Expected"),
        ("```text\n2\n```", "no block before"),
        ("```python\nx = 1\n```\n```text\n2\n```", "Expected"),
        ('```python title="a.py"\nx = = 1\n```', "invalid syntax"),
        ("```sh\necho said; false\n```", "said"),
        ("```sh\nnonesuch\n```", "nonesuch: command not found"),
        ("```sh\npython benchmarks/parity.py --nonesuch\n```", "refuses"),
        ("```sh\npython benchmarks/repositories.py\n```", "reads no arguments"),
        ("```sh\npip install '.[nonesuch]'\n```", "nonesuch"),
        ("```sh\npip install 'a b'\n```", "a b"),
        ("```sh\n.venv/bin/pytest tests/nonesuch\n```", "nonesuch"),
        ("```sh\ndask scheduler --nonesuch\n```", "nonesuch"),
        ("```sh\npython -m llama_cpp.server --nonesuch\n```", "nonesuch"),
        ("```sh\npip install cooperbench-eval && echo done\n```", "two blocks"),
        ("```toml\na = \n```", "Invalid value"),
        ("```json\n{'a': 1}\n```", "Expecting"),
        ('```json\n{"merge_status": "clean"}\n```', "required property"),
        ("```\nimport os\n```", "name its language"),
        ('```\na = "b"\n```', "name its language"),
        ("```\ngit status\n```", "name their language"),
        ("```ruby\nputs 1\n```", "nothing runs"),
        ("```python notest\nx = 1\n```", "nothing runs"),
        ("<!-- invisible-code-block: python\nassert False, 'hidden'\n-->", "hidden"),
    ],
)
def test_a_wrong_block_is_noticed(run_page, block, complaint):
    """This holds for every language."""
    if "dask" in block:
        need_installed("distributed")
    with pytest.raises((Exception, SystemExit)) as caught:
        run_page(block + "\n")

    assert complaint in f"{type(caught.value).__name__}: {caught.value}"
