"""The Python examples of the documentation, which are run as they stand there."""

import importlib
import os
import re
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[3] / "docs" / "guide"
SITE = "https://docs.example/"
#: Large; they are tested where they are installed.
LARGE = {"pyspark", "ray", "daft"}


def sections() -> dict[str, str]:
    """The code of each section; parts of one section go on with each other's names."""
    found = {}
    for page in ("python.md", "from-datasketch.md"):
        for section in (GUIDE / page).read_text().split("\n## ")[1:]:
            blocks = re.findall(r"^```python\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
            if blocks:
                found[section.splitlines()[0]] = "\n".join(blocks)
    return found


def need(code: str) -> None:
    """Skips, or fails, unless all modules that the code imports are there."""
    for module in set(re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE)):
        if os.environ.get("NDCRAWL_REQUIRE_ALL") == "1" and module not in LARGE:
            importlib.import_module(module)
        else:
            pytest.importorskip(module)


def test_a_migration_gives_the_same_result() -> None:
    """The two programs of the diff, as they stand there."""
    (diff,) = re.findall(r"^```diff\n(.*?)^```$", (GUIDE / "from-datasketch.md").read_text(), re.DOTALL | re.MULTILINE)
    lines = diff.splitlines()
    results = []
    for side in "-+":
        code = "\n".join(line[1:] for line in lines if line[:1] in (side, " ", ""))
        need(code)
        names: dict[str, object] = {}
        exec(compile(code, f"from-datasketch.md, {side}", "exec"), names)
        results.append((names["kept"], names["similar"]))
    assert results == [(["sun", "rain"], ["sun"])] * 2


@pytest.mark.parametrize("name", sections())
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: str) -> None:
    code = sections()[name]
    need(code)
    # The site of the page is one on loopback here.
    monkeypatch.setenv("NDCRAWL_SECURITY_ALLOW_PRIVATE", "true")
    monkeypatch.setenv("NDCRAWL_POLITENESS_DELAY", "0")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.chdir(tmp_path)
    opening = "" if name == "Near-duplicates" else "import ndcrawl\nndcrawl.Deduplicator().save('corpus.ndc')\n"
    exec(compile(opening + code.replace(SITE, site), f"{GUIDE.name}, {name}", "exec"), {"__name__": "__main__"})
