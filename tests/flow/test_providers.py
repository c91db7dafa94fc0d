"""docs/providers: each page's policy is one that Pawl takes, and says of its provider what the catalogue does."""
import os
import re

from harness import *

FOLDER = os.path.join(ROOT, "docs", "providers")
PARTS = ["## Where to click", "## Events", "## Policy", "## Repeats and ids", "## Oddities"]


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as f:
        return f.read()


def pages():
    return sorted(n for n in os.listdir(FOLDER) if n != "README.md")


def snippet(page):
    """The page's sources, indented as the policy's."""
    return "".join("  " + line + "\n" for line in re.search(r"```yaml\n(.*?)```", page, re.S)[1].splitlines())


def test_every_page_has_its_parts_and_a_policy_that_is_taken(t):
    w = t.pawl(t.cluster(), policy="example", setup=False)
    w.breaks["all"] = "no database is asked"
    eq(len(pages()), 10)
    for name in pages():
        page = read(name)
        eq([p for p in PARTS if p not in page], [], name)
        w.set_policy("example", edit=lambda text: re.sub(r"(?ms)^sources:\n.*?^orders:", lambda _: f"sources:\n{snippet(page)}orders:", text))
        status, out, err = w.run("policy", "check")
        eq((status, [line for line in out.splitlines() if "error" in line or "not active" in line and "timezone" not in line]), (0, []), f"{name}: {out}{err}")


def test_the_index_names_every_page_and_the_horizon_of_the_catalogue(t):
    w = t.pawl(t.cluster(), setup=False)
    w.breaks["all"] = "no database is asked"
    rows = dict(re.findall(r"^\| \[[^]]+\]\((\w+)\.md\) \| `\1` \| ([^|]+) \|", read("README.md"), re.M))
    eq(sorted(n + ".md" for n in rows), pages())
    units = {"d": 86400, "h": 3600, "min": 60}
    for name, words in rows.items():
        said = re.match(r"(\d+) (d|h|min)", words)
        told = w.json("schemes", "show", name)
        eq(int(said[1]) * units[said[2]] if said else 0, told["repeats_s"], name)
        eq("NOT signed" in told["event_id"], f"| `{name}` | {words} | no" in read("README.md"), name)
