"""The documentation's blocks: none is skipped, and a wrong one is noticed."""

import re
import tomllib

import pytest
from blocks import NEEDS, ROOT, SYBIL, fences, pages
from needs import need_installed
from sybil import Document

PAGES = {str(page.relative_to(ROOT)): page for page in pages()}


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
        later = document.text[region.end :]
        assert not title or title in later or f"from {title.removesuffix('.py')} import" in later


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_no_code_that_a_reader_cannot_see(page):
    """What its blocks need is in blocks before them, or in a sentence that says what they need."""
    text = PAGES[page].read_text(encoding="utf-8")

    assert re.findall(r"<!-- *(?:invisible-code|clear-namespace|skip)", text) == []


def test_blocks_of_a_page_share_their_state(run_page):
    """They share names and files, and output is compared."""
    run_page(
        "```python\ntwenty = 20\n```\n"
        '```toml title="it.toml"\n[table]\nnumber = 22\n```\n'
        "```python\nimport pathlib\n\nprint(twenty, pathlib.Path('it.toml').read_text()[:7])\n```\n"
        "```text\n20 [table]\n```\n"
        "```python\n>>> twenty + 1\n21\n```\n"
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
        ("<!-- invisible-code-block: python\nx = 1\n-->\n```python\nx\n```", "'x' is not defined"),
        ("This section needs nonesuch.\n\n```python\nx = 1\n```", "KeyError"),
    ],
)
def test_a_wrong_block_is_noticed(run_page, block, complaint):
    """This holds for every language."""
    if "dask" in block:
        need_installed("distributed")
    with pytest.raises((Exception, SystemExit)) as caught:
        run_page(block + "\n")

    assert complaint in f"{type(caught.value).__name__}: {caught.value}"


def test_a_section_says_what_its_blocks_need(run_page, monkeypatch):
    """The sentence holds to the end of its section, and code in a fence is no heading."""
    asked = []
    monkeypatch.setitem(NEEDS, "litellm", asked.append)

    run_page(
        "# A\n\n```python\nx = 1\n```\n## B\n\nThis section needs litellm (an extra).\n"
        "```python\n# no heading\nx = 2\n```\n### C\n\n```python\n>>> x\n2\n```\n"
        "## D\n\n```python\nx = 3\n```\n"
    )

    assert len(asked) == 2


def test_a_page_may_be_about_a_checkout(run_page):
    """Its blocks after this sentence see the documentation."""
    run_page(
        "Run it in a checkout of this project:\n\n"
        "```python\nimport pathlib\n\nprint(pathlib.Path('docs/index.md').is_file())\n```\n"
        "```text\nTrue\n```\n"
    )
