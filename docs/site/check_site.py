"""The site asks nobody else for anything: no script, style, picture or font from elsewhere.

check_site.py FOLDER
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

_LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data", "link": "href"}


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.foreign: list[str] = []

    def handle_starttag(self, tag, attrs):
        value = dict(attrs).get(_LOADS.get(tag, ""), "") or ""
        if value.startswith(("http:", "https:", "//")):
            self.foreign.append(f"<{tag}> {value}")


def main() -> int:
    site, gaps = Path(sys.argv[1]), []
    pages = sorted(site.rglob("*.html"))
    for path in pages:
        page = _Page()
        page.feed(path.read_text(encoding="utf-8"))
        gaps += [f"{path.relative_to(site)}: {what}" for what in page.foreign]
    for path in site.rglob("*.css"):
        for what in re.findall(
            r"(?:url\(|@import)\s*['\"]?((?:https?:)?//[^'\")\s]+)", path.read_text("utf-8")
        ):
            gaps.append(f"{path.relative_to(site)}: {what}")
    for gap in gaps:
        print(f"from elsewhere: {gap}")
    if not (site / "searchindex.js").exists():
        gaps.append("")
        print("there is no index to search")
    print(f"{len(pages)} pages of the site, {len(gaps)} that ask elsewhere")
    return 1 if gaps or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
