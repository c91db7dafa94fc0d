#!/usr/bin/python3
"""Makes docs/performance.md and docs/performance.svg from tests/bench/results/*.json and from nothing else.

  tests/bench/report.py [RESULTS [DOCS]]      other folders than tests/bench/results and docs
"""
import glob
import html
import json
import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ORDER = ["receive", "verify", "dispatch", "long", "send", "caps"]  # of the benchmarks; others follow by name
MACHINE = [("cpu", "processor"), ("cores", "cores"), ("ram_gib", "memory, GiB"), ("huge_pages", "huge pages"), ("kernel", "kernel"),
           ("system", "system"), ("file_system", "file system"), ("postgresql", "PostgreSQL")]


def number(value):
    """Three digits that count: 12,300  48.1  0.52"""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        digits = len(str(int(abs(value)))) - 3
        return f"{round(value, -digits):,.0f}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def results(folder):
    docs = []
    for path in glob.glob(os.path.join(folder, "*.json")):
        with open(path, encoding="utf-8") as f:
            docs.append(json.load(f))
    return sorted(docs, key=lambda d: (ORDER.index(d["name"]) if d["name"] in ORDER else len(ORDER), d["name"]))


# --- docs/performance.md


def spread(row, unit=""):
    return f"{number(row['median'])}{unit}", f"{number(row['min'])} .. {number(row['max'])}"


def target(row):
    """(what is demanded, how it is)"""
    if row.get("at_least") is None and row.get("at_most") is None:
        return "", ""
    demanded = f"at least {row['at_least']:g}" if row.get("at_least") is not None else f"at most {row['at_most']:g}"
    return demanded, "yes" if row["met"] else "**no**"


def ratio_table(doc):
    lines = ["| what | median | from .. to | target | met |", "|---|---:|---:|---|---|"]
    for row in doc["targets"]:
        median, extent = spread(row, "" if row["unit"] == "x" else " " + row["unit"])
        lines.append(f"| {row['text']} | {'×' if row['unit'] == 'x' else ''}{median} | {extent} | " + " | ".join(target(row)) + " |")
    return lines


def group_table(group):
    metrics = list(dict.fromkeys(m for c in group["contestants"].values() for m in c["summary"]))
    lines = ["| | " + " | ".join(metrics) + " |", "|---" + "|---:" * len(metrics) + "|"]
    for key, side in group["contestants"].items():
        cells = []
        for metric in metrics:
            found = side["summary"].get(metric)
            median, extent = spread(found) if found else ("", "")
            cells.append(f"{median}<br><sub>{extent}</sub>" if found else "")
        lines.append(f"| {key} | " + " | ".join(cells) + " |")
    return lines


def section(doc):
    rounds = f"{doc['rounds']} rounds of {doc['seconds']:g} s each" + (" (a quick look: the figures mean nothing)" if doc["quick"] else "")
    lines = [f"## {doc['title']}", "", f"{rounds}, {doc['at']}, commit {doc['commit']}. Again: `tests/bench/run {doc['name']}`.", ""]
    lines += ratio_table(doc) + [""]
    lines += [f"- **{key}**: {text.rstrip('.')}." for key, text in doc["contestants"].items()] + [""]
    for group in doc["groups"].values():
        lines += [f"### {group['title'][0].upper()}{group['title'][1:]}", ""] + group_table(group) + [""]
    if doc["notes"]:
        lines += ["How it was done:", ""] + [f"- {note}" for note in doc["notes"]] + [""]
    return lines


def machine_lines(docs):
    lines = []
    for machine in {json.dumps(d["machine"], sort_keys=True): d["machine"] for d in docs}.values():
        facts = "; ".join(f"{label} {machine[key]}" for key, label in MACHINE if key in machine)
        lines.append(f"- {facts}; 8 KiB and fdatasync {machine['fdatasync_median_ms']} ms (99 %: {machine['fdatasync_p99_ms']} ms)")
    settings = {key: value for d in docs for key, value in d["settings"].items()}
    lines.append("- PostgreSQL's settings other than as shipped: " + ", ".join(f"`{k} = {v}`" for k, v in sorted(settings.items())))
    loads = ", ".join(f"{d['name']} {d['load_before']:.1f}" for d in docs)
    lines.append(f"- load of the machine before each benchmark: {loads}")
    return lines


def page(docs):
    lines = ["# Performance", "",
             "Made by `tests/bench/report.py` from `tests/bench/results/*.json`; nothing here is written by hand.", "",
             "Contestants run in turn, A B C, A B C, .., on one cluster; the median of the rounds is told, and from where to where they "
             "went. A ratio is formed round by round: ratios travel to another machine, the figures do not. Durability is on "
             "everywhere: an event counts once its commit is on the disk.", "", "![the medians as bars](performance.svg)", ""]
    lines += machine_lines(docs) + [""]
    for doc in docs:
        lines += section(doc)
    return "\n".join(lines).rstrip() + "\n"


# --- docs/performance.svg

WIDTH, LEFT, RIGHT, BAR, GAP = 860, 190, 150, 16, 8
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f } .h { font-weight: 600 } .s { fill: #57606a; font-size: 12px }
  .own { fill: #0969da } .other { fill: #8c959f } .line { stroke: #24292f; stroke-width: 1 } .back { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .s { fill: #9198a1 } .own { fill: #4493f8 } .other { fill: #656c76 } .line { stroke: #e6edf3 }
    .back { fill: #0d1117 }
  }"""


def rate_of(group):
    """The group's first figure that is a rate; None when it has none."""
    first = next(iter(group["contestants"].values()))["summary"]
    return next((m for m in first if m.endswith("/s")), None)


def bars(group, metric, top):
    """(svg lines, height) of one group."""
    sides = {k: c["summary"][metric] for k, c in group["contestants"].items() if metric in c["summary"]}
    scale = (WIDTH - LEFT - RIGHT) / max(s["max"] for s in sides.values())
    out, y = [f'<text class="h" x="12" y="{top + 13}">{html.escape(group["title"])} ({html.escape(metric)})</text>'], top + 22
    for key, side in sides.items():
        length, mid = side["median"] * scale, y + BAR / 2
        low, high = LEFT + side["min"] * scale, LEFT + side["max"] * scale
        kind = "own" if key.startswith("pawl") else "other"
        out += [f'<text x="{LEFT - 10}" y="{mid + 4.5}" text-anchor="end">{html.escape(key)}</text>',
                f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2"/>',
                f'<path class="line" d="M{low:.1f} {mid}H{high:.1f}M{low:.1f} {mid - 4}v8M{high:.1f} {mid - 4}v8"/>',
                f'<text class="s" x="{high + 8:.1f}" y="{mid + 4.5}">{number(side["median"])}</text>']
        y += BAR + GAP
    return out, y - top + 12


def picture(docs):
    out, y = [], 12
    for doc in docs:
        out.append(f'<text class="h" style="font-size:15px" x="12" y="{y + 15}">{html.escape(doc["title"])}</text>')
        y += 30
        for group in doc["groups"].values():
            metric = rate_of(group)
            if metric:
                lines, height = bars(group, metric, y)
                out += lines
                y += height
        y += 10
    out.append(f'<text class="s" x="12" y="{y + 4}">bars: medians; lines: from the least to the most of the rounds</text>')
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 18}" width="{WIDTH}" height="{y + 18}" role="img" '
                      'aria-label="Medians of the benchmarks">', f"<style>{STYLE}\n</style>",
                      f'<rect class="back" width="{WIDTH}" height="{y + 18}"/>', *out, "</svg>"]) + "\n"


def main(argv):
    folder = argv[1] if len(argv) > 1 else os.path.join(HERE, "results")
    target_folder = argv[2] if len(argv) > 2 else os.path.join(ROOT, "docs")
    docs = results(folder)
    if not docs:
        print(f"report: no results in {folder}: run tests/bench/run", file=sys.stderr)
        return 1
    for name, text in (("performance.md", page(docs)), ("performance.svg", picture(docs))):
        with open(os.path.join(target_folder, name), "w", encoding="utf-8") as f:
            f.write(text)
        print(f"wrote {os.path.join(target_folder, name)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
