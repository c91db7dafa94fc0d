"""The rules of the tree as functions: rule(path, text) -> list of "line: what is wrong". path is relative to the root."""
import ast
import os
import re

SKIPPED_FOLDERS = re.compile(r"^(build.*|\.git|node_modules|__pycache__)$")
FILE_LINES_MAX = 400

# Which top folders a file of each top folder may include. cli/ and tests/ may include all.
MAY_INCLUDE = {
    "common": {"common"},
    "migrations": {"common", "migrations"},
    "receiver": {"common", "receiver"},
    "dispatcher": {"common", "dispatcher"},
    "console": {"common", "console"},
}
PROGRAMS = {"receiver", "dispatcher", "console"}
TOPS = {"common", "migrations", "receiver", "dispatcher", "console", "cli", "tests", "tools"}

# The only homes of each foreign header.
HOMES = {
    r"h2o(/.*)?\.h|h2o\.h": ("receiver/http/", "common/http/"),
    r"curl/.*\.h": ("dispatcher/send/carrier.h", "receiver/fetch/getter.c", "tests/bench/send/bare.c"),
    r"libpq-fe\.h|postgres.*\.h": ("common/pg/", "tests/bench/receive/bare.c"),
    r"yaml\.h": ("common/config/",),
    r"cmocka\.h": ("tests/test.h",),
    r"uv\.h": (),
}

BANNED_CALLS = re.compile(
    r"\b(strcpy|strcat|sprintf|vsprintf|strtok|gets|atoi|atol|alloca)\s*\(|\b(goto)\b")
SECRET_WORDS = r"\b\w*(?:secret|mac|digest|signature|token|expected)\b"
LEAKY_COMPARE = re.compile(r"(?<!CRYPTO_)\b(memcmp|strn?cmp|strn?casecmp|bcmp|slice_eq|slice_cmp)\s*\(([^;]*)")
# Written in halves, so that this file does not break its own rule.
UNFINISHED = re.compile(r"(?i:\b(TO" + r"DO|FIX" + r"ME|not imple" + r"mented|stu" + r"b(bed)?)\b)|\bX" + r"XX\b")

COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def files(root):
    """Every file of the tree, relative to root, without builds."""
    for folder, below, names in os.walk(root):
        below[:] = sorted(d for d in below if not SKIPPED_FOLDERS.match(d))
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), root)


def is_c(path):
    return path.endswith((".c", ".h"))


def is_text(path):
    return path.endswith((".c", ".h", ".def", ".py", ".sql", ".sh", ".md", ".yaml", ".build", ".mustache")) or (
        "." not in os.path.basename(path) and path.startswith(("deploy/", "tests/", ".ci/")) and not path.startswith("tests/fuzz/corpus/"))


def code_only(text):
    """C without comments and string contents; lines stay where they are."""
    def blank(m):
        return '""' if m[0][0] == '"' else "\n" * m[0].count("\n") or " "
    return COMMENT_OR_TEXT.sub(blank, text)


def _numbered(text):
    return enumerate(text.split("\n"), 1)


def _includes(text):
    for number, line in _numbered(text):
        m = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if m:
            yield number, m[1], m[2]


def _stage(path):
    """receiver/verify of receiver/verify/x.c; None for a file straight in its program's folder or elsewhere."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in PROGRAMS and len(parts) > 2 else None


def include_rules(path, text):
    """One include root; programs and stages don't include one another; foreign headers have one home."""
    if not is_c(path) or path.startswith("tests/lint/"):
        return []
    top, found = path.split("/")[0], []
    for number, kind, name in _includes(text):
        if kind == "<":
            if name.split("/")[0] in TOPS:
                found.append(f'{number}: <{name}> is ours: write "{name}"')
            for pattern, homes in HOMES.items():
                if re.fullmatch(pattern, name) and not path.startswith(homes or ("-",)):
                    found.append(f"{number}: <{name}> belongs in {' and '.join(homes) or 'no file'} only")
            continue
        there = name.split("/")[0]
        if there not in TOPS or ".." in name:
            found.append(f'{number}: "{name}" does not start at the include root')
        elif top in MAY_INCLUDE and there not in MAY_INCLUDE[top]:
            found.append(f'{number}: {top}/ must not include "{name}"')
        elif _stage(path) and _stage(name) and _stage(path) != _stage(name):
            found.append(f'{number}: stage {_stage(path)} must not include stage {_stage(name)}')
    return found


def headers_are_contracts(path, text):
    """A header starts with `// name.h: what it is for` and has #pragma once."""
    if not path.endswith(".h"):
        return []
    name = os.path.basename(path)
    found = [] if text.startswith(f"// {name}: ") else [f'1: the first line must be "// {name}: what it is for"']
    return found if "#pragma once" in text else found + ["1: #pragma once is missing"]


def banned_calls(path, text):
    """Calls without a bound, and goto; MACs and secrets are compared with CRYPTO_memcmp."""
    if not is_c(path):
        return []
    found = []
    for number, line in _numbered(code_only(text)):
        m = BANNED_CALLS.search(line)
        if m:
            found.append(f"{number}: {m[1] or m[2]} is banned")
        m = LEAKY_COMPARE.search(line)
        if m and (re.search(SECRET_WORDS, m[2], re.I) if path.startswith("receiver/") else False):
            found.append(f"{number}: {m[1]} on a secret: use CRYPTO_memcmp")
        elif m and m[1] in ("memcmp", "bcmp") and path.startswith("receiver/verify/"):
            found.append(f"{number}: {m[1]} in receiver/verify: use CRYPTO_memcmp")
    return found


def file_length(path, text):
    """Files stay under 400 lines; a migration is as long as its one transaction."""
    if path.startswith("migrations/") and path.endswith(".sql"):
        return []
    lines = text.count("\n")
    kinds = (".c", ".h", ".def", ".py", ".sql", ".build", ".sh")
    return [f"{lines}: more than {FILE_LINES_MAX - 1} lines"] if path.endswith(kinds) and lines >= FILE_LINES_MAX else []


def unfinished_words(path, text):
    """Nothing says that it is not finished."""
    if not is_text(path):
        return []
    return [f"{n}: unfinished: {m[0]}" for n, line in _numbered(text) for m in [UNFINISHED.search(line)] if m]


def sql_statements(path, text):
    """A statement says its purpose and what it returns, and casts every parameter; no plpgsql anywhere."""
    if not path.endswith(".sql"):
        return []
    code = re.sub(r"--[^\n]*", "", text)
    found = [f"{n}: ${m[1]} has no cast" for n, line in _numbered(code) for m in re.finditer(r"\$(\d+)(?!\d)(?!::)", line)]
    if re.search(r"\bplpgsql\b", code, re.I):
        found.append("1: plpgsql: judgement is in C, constraints are in migrations")
    if not text.startswith("-- "):
        found.append("1: the first line must be a comment that says its purpose")
    if path.split("/")[0] in PROGRAMS | {"common", "cli"} and not re.search(r"^--.*\breturns:", text, re.M):
        found.append("1: the comment does not say `returns:`")
    return found


def layout(path, text):
    """No tabs in C and SQL, no blanks at a line's end, a line end at the file's end."""
    if not is_text(path) or path.endswith((".md", ".mustache")):
        return []
    found = [f"{n}: blanks at the end of the line" for n, line in _numbered(text) if line != line.rstrip(" \t\r")]
    if is_c(path) or path.endswith(".sql"):
        found += [f"{n}: a tab" for n, line in _numbered(text) if "\t" in line]
    return found + ([] if text.endswith("\n") or not text else ["1: no line end at the end of the file"])


def python_parses(path, text):
    if not path.endswith(".py"):
        return []
    try:
        ast.parse(text)
        return []
    except SyntaxError as e:
        return [f"{e.lineno}: {e.msg}"]


RULES = [include_rules, headers_are_contracts, banned_calls, file_length, unfinished_words, sql_statements, layout, python_parses]


def findings(root, rule):
    """(number of files read, ["path:line: what"]) of one rule over the tree."""
    found, count = [], 0
    for path in files(root):
        try:
            with open(os.path.join(root, path), encoding="utf-8") as f:
                text = f.read()
        except (UnicodeDecodeError, OSError):
            continue
        count += 1
        found += [f"{path}:{what}" for what in rule(path, text)]
    return count, found
