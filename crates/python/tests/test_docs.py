"""The Python examples of the documentation, which are run as they stand there."""

import importlib
import os
import re
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "python.md"
SITE = "https://docs.example/"


def sections() -> dict[str, str]:
    """The code of each section; parts of one section go on with each other's names."""
    found = {}
    for section in PAGE.read_text().split("\n## ")[1:]:
        blocks = re.findall(r"^```python\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
        if blocks:
            found[section.splitlines()[0]] = "\n".join(blocks)
    return found


@pytest.mark.parametrize("name", sections())
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: str) -> None:
    code = sections()[name]
    for module in set(re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE)):
        # Spark needs Java and 400 MB; it is tested where it is installed.
        if os.environ.get("NDCRAWL_REQUIRE_ALL") == "1" and module != "pyspark":
            importlib.import_module(module)
        else:
            pytest.importorskip(module)
    # The site of the page is one on loopback here.
    monkeypatch.setenv("NDCRAWL_SECURITY_ALLOW_PRIVATE", "true")
    monkeypatch.setenv("NDCRAWL_POLITENESS_DELAY", "0")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.chdir(tmp_path)
    opening = "" if name == "Near-duplicates" else "import ndcrawl\nndcrawl.Deduplicator().save('corpus.ndc')\n"
    exec(compile(opening + code.replace(SITE, site), f"{PAGE.name}, {name}", "exec"), {"__name__": "__main__"})
