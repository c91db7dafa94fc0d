"""Rules that no compiler checks. Each rule is shown a bad sample too, so that it can fail."""
import json
import os
import re
import shutil
import subprocess
import sys

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import rules  # noqa: E402

TIDY_SECONDS_MAX = 1200  # it has what other suites leave of the processors


def nothing_found(rule):
    count, found = rules.findings(ROOT, rule)
    check(count > 20, f"only {count} files were read")
    check(not found, "\n" + "\n".join(found))


def test_include_rules(t):
    nothing_found(rules.include_rules)


def test_headers_are_contracts(t):
    nothing_found(rules.headers_are_contracts)


def test_no_banned_calls(t):
    nothing_found(rules.banned_calls)


def test_files_stay_short(t):
    nothing_found(rules.file_length)


def test_no_unfinished_words(t):
    nothing_found(rules.unfinished_words)


def test_sql_casts_its_parameters_and_says_what_it_returns(t):
    nothing_found(rules.sql_statements)


def test_layout(t):
    nothing_found(rules.layout)


def test_python_parses(t):
    nothing_found(rules.python_parses)


def test_shell_scripts_parse(t):
    scripts = [p for p in rules.files(ROOT) if p.startswith(("deploy/", "tests/", ".ci/")) and is_shell(p)]
    check(len(scripts) >= 4, f"only {scripts}")
    for path in scripts:
        done = subprocess.run(["bash", "-n", os.path.join(ROOT, path)], capture_output=True, text=True, check=False)
        eq(done.returncode, 0, path + ": " + done.stderr)


def is_shell(path):
    with open(os.path.join(ROOT, path), "rb") as f:
        return bool(re.match(rb"#!.*\b(ba)?sh\n", f.read(80)))


BAD = [  # rule, path, text, a word of the finding
    (rules.include_rules, "receiver/http/x.c", '#include "dispatcher/delivery.h"\n', "must not include"),
    (rules.include_rules, "dispatcher/x.c", '#include "receiver/arrival.h"\n', "must not include"),
    (rules.include_rules, "common/x.c", '#include "receiver/arrival.h"\n', "must not include"),
    (rules.include_rules, "receiver/http/x.c", '#include "receiver/accept/accept.h"\n', "stage"),
    (rules.include_rules, "receiver/http/x.c", '#include "../arrival.h"\n', "include root"),
    (rules.include_rules, "receiver/http/x.c", '#include "loop.h"\n', "include root"),
    (rules.include_rules, "cli/x.c", "#include <common/err.h>\n", "is ours"),
    (rules.include_rules, "receiver/accept/x.c", "#include <h2o.h>\n", "belongs in"),
    (rules.include_rules, "dispatcher/send/smtp.c", "#include <curl/curl.h>\n", "belongs in"),
    (rules.include_rules, "cli/x.c", "  #  include <libpq-fe.h>\n", "belongs in"),
    (rules.include_rules, "cli/x.c", "#include <yaml.h>\n", "belongs in"),
    (rules.headers_are_contracts, "common/x.h", "#pragma once\n", "first line"),
    (rules.headers_are_contracts, "common/x.h", "// x.h: says\n", "pragma"),
    (rules.banned_calls, "common/x.c", "strcpy (a, b);\n", "strcpy"),
    (rules.banned_calls, "common/x.c", "if (a)\n    goto out;\n", "goto"),
    (rules.banned_calls, "common/x.c", "int n = atoi(text);\n", "atoi"),
    (rules.banned_calls, "receiver/verify/x.c", "return memcmp(a, b, 32) == 0;\n", "CRYPTO_memcmp"),
    (rules.banned_calls, "receiver/http/x.c", "return slice_eq(given, secret->value);\n", "CRYPTO_memcmp"),
    (rules.file_length, "common/x.c", "int a;\n" * 400, "more than"),
    (rules.unfinished_words, "common/x.c", "// TO" "DO later\n", "unfinished"),
    (rules.unfinished_words, "docs/x.md", "This is not yet imple" "mented, a stu" "b.\n", "unfinished"),
    (rules.sql_statements, "receiver/accept/x.sql", "-- Takes. returns: n\nSELECT $1::int4, $2;\n", "$2 has no cast"),
    (rules.sql_statements, "receiver/accept/x.sql", "-- Takes.\nSELECT $1::int4;\n", "returns"),
    (rules.sql_statements, "migrations/0001_x.sql", "SELECT 1;\n", "purpose"),
    (rules.sql_statements, "migrations/0001_x.sql", "-- Does.\nDO LANGUAGE plpgsql 'x';\n", "plpgsql"),
    (rules.layout, "common/x.c", "int a; \n", "blanks"),
    (rules.layout, "common/x.c", "\tint a;\n", "tab"),
    (rules.layout, "common/x.c", "int a;", "line end"),
    (rules.python_parses, "tools/x.py", "def f(:\n", "invalid syntax"),
]

GOOD = [  # rule, path, text
    (rules.include_rules, "receiver/main.c", '#include "receiver/accept/accept.h"\n#include "receiver/http/http.h"\n'),
    (rules.include_rules, "receiver/http/x.c", '#include "receiver/arrival.h"\n#include <h2o.h>\n'),
    (rules.include_rules, "cli/x.c", '#include "receiver/verify/verify.h"\n#include "dispatcher/delivery.h"\n'),
    (rules.banned_calls, "common/x.c", '// strcpy(a, b) is banned\nputs("goto atoi(1)");\nsnprintf(a, 1, "x");\n'),
    (rules.banned_calls, "receiver/verify/x.c", "return CRYPTO_memcmp(mac, want, 32) == 0;\n"),
    (rules.sql_statements, "common/pg/x.sql", "-- Takes $1. returns: n\nSELECT $1::int4, $12::text[];\n"),
]


def test_each_rule_goes_red_on_a_bad_sample(t):
    for rule, path, text, word in BAD:
        found = rule(path, text)
        check(any(word in f for f in found), f"{rule.__name__} lets {path} pass: {text[:60]!r}; found {found}")
    eq({r for r, *_ in BAD}, set(rules.RULES), "rules with a bad sample")


def test_no_rule_goes_red_on_a_good_sample(t):
    for rule, path, text in GOOD:
        eq(rule(path, text), [], f"{rule.__name__} {path}")


def test_a_bad_file_in_a_tree_is_found(t):
    root = scratch()
    os.makedirs(os.path.join(root, "common"))
    with open(os.path.join(root, "common", "x.c"), "w", encoding="utf-8") as f:
        f.write("int a;\nvoid f(char *a) { gets(a); }\n")
    eq(rules.findings(root, rules.banned_calls), (1, ["common/x.c:2: gets is banned"]))


def c_files():
    return [p for p in rules.files(ROOT) if rules.is_c(p)]


def test_clang_format_has_nothing_to_change(t):
    if not shutil.which("clang-format"):
        t.skip("clang-format is not installed")
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", *c_files()], cwd=ROOT, capture_output=True, text=True, check=False)
    bad = sorted(set(re.findall(r"^([^:\n]+):\d+:\d+: error", done.stderr, re.M)))
    check(done.returncode == 0, "run clang-format -i on: " + " ".join(bad) + "\n" + done.stderr[:1000 if not bad else 0])
    sample = subprocess.run(["clang-format", "--dry-run", "-Werror", "--assume-filename=common/x.c"], cwd=ROOT, input="int  a ;\n",
                            capture_output=True, text=True, check=False)
    check(sample.returncode != 0, "clang-format lets a bad sample pass")


def tidy(build, paths, options=()):
    """clang-tidy over paths, two at a time: (exit status, its text). 123 = some file had a finding."""
    done = subprocess.run(["xargs", "-P2", "-n3", "clang-tidy", "--quiet", "-p", build, "--extra-arg=-Wno-unknown-warning-option", *options],
                          cwd=ROOT, input="\n".join(paths), capture_output=True, text=True, check=False, timeout=TIDY_SECONDS_MAX)
    return done.returncode, done.stdout


def analyzer(setting):
    return [f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", setting)]


@timeout(TIDY_SECONDS_MAX + 60)
def test_clang_tidy_has_no_findings(t):
    if not shutil.which("clang-tidy"):
        t.skip("clang-tidy is not installed")
    build = build_dir()
    if not os.path.exists(os.path.join(build, "compile_commands.json")):
        t.skip(f"{build} is not set up")
    # The programs; tests are left to the compiler, since cmocka's macros are findings of their own.
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        compiled = {os.path.relpath(os.path.join(c["directory"], c["file"]), ROOT) for c in json.load(f)}
    paths = [p for p in c_files() if p in compiled and not p.startswith("tests/")]
    check(paths, f"no source file of {ROOT} is compiled in {build}")
    # The analyzer's own limit of 225,000 states a function takes four times as long.
    status, said = tidy(build, paths, [] if t.long else analyzer("max-nodes=30000"))
    check(status == 0, "\n" + said)


def fault_labels(path):
    """Which texts of the fault labels are in a program."""
    with open(path, "rb") as f:
        program = f.read()
    return [word for word in (b"PAWL_FAULT", b"PAWL_TEST_NOW") if word in program]


def test_the_shipped_build_holds_no_fault_label(t):
    shipped = os.path.join(os.environ.get("PAWL_RELEASE_BUILD", os.path.join(ROOT, "build")), "cli", "pawl")
    if not os.path.exists(shipped):
        t.skip(f"{shipped} is not built")
    eq(fault_labels(shipped), [])
    if has_faults():
        eq(len(fault_labels(binary())), 2, "labels in the build that has them")
