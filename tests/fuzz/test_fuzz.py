"""Fuzz targets, built with clang's libFuzzer under ASan and UBSan and run for some seconds each (--long: 10,000,000 executions).

Every tests/fuzz/NAME_fuzz.c is a target; tests/fuzz/corpus/NAME holds what it begins with, a file a branch."""
import atexit
import glob
import os
import shutil
import subprocess
import tempfile

from harness import *
from kit.npm import locked  # noqa: E402

SECONDS, RUNS_LONG = 8, 10_000_000
# Strangers' bytes and people's files get longer.
SECONDS_LONGER, LONGER = 30, ("head", "json", "mime", "template", "verify", "yaml")
INPUT_SECONDS_MAX = 200  # by the clock on the wall: at idle priority an input may have to stand for a minute
FLAGS = ["-std=gnu17", "-D_GNU_SOURCE", "-g", "-O1", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"]


# What a target may use: code without sockets and databases. The linker takes what each one needs.
POOL = ["common/*.c", "common/json/*.c", "common/template/*.c", "common/config/*.c", "receiver/verify/*.c",
        "receiver/arrival.c", "receiver/pubkey.c", "receiver/accept/read*.c", "receiver/http/head.c", "receiver/http/inflate.c",
        "dispatcher/attachment.c", "dispatcher/delivery.c", *(f"dispatcher/send/{name}.c" for name in ("address", "encode", "mime", "filename", "inlay", "reply", "smtp")),
        *(f"dispatcher/send/{name}.c" for name in (
            "http", "compose", "rules", "jwt", "segments", "sms", "twilio", "sinch", "vonage", "telnyx", "gateway", "push", "apns",
            "fcm", "fcm_reply", "webpush", "webpush_crypt", "ses", "sigv4", "mail_api"))]
CORPUS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "corpus")
CORPUS_BYTES_MAX = 200_000
LIBRARIES = ["-ljansson", "-lyaml", "-lcrypto", "-lpthread", "-lz", "-lexpat"]
BUILT = tempfile.mkdtemp(prefix="pawl-fuzz-")  # by the process that begins the run, for all its workers
atexit.register(shutil.rmtree, BUILT, ignore_errors=True)


def archive():
    """The pool as one archive, compiled with the fuzzer's instrumentation once a run."""
    with locked(BUILT):
        made = f"{BUILT}/pool.a"
        if not os.path.exists(made):
            compile_pool(made, scratch("pawl-fuzz-"))
    return made


def compile_pool(archive_path, folder):
    sources = sorted(os.path.join(ROOT, p) for pattern in POOL for p in glob.glob(pattern, root_dir=ROOT))
    # Numbered objects, since names repeat among the pool's folders.
    jobs = "".join(f"{s} {folder}/{i}.o\n" for i, s in enumerate(sources))
    clang(["xargs", "-P2", "-L1", "sh", "-c", 'exec clang "$@" -c "$0" -o "$1"'.replace('"$@"', " ".join(FLAGS + [f"-I{ROOT}"]))],
          jobs)
    clang(["ar", "rcs", f"{folder}/pool.a", *glob.glob(f"{folder}/*.o")])
    shutil.move(f"{folder}/pool.a", archive_path)


def clang(argv, given=None):
    done = subprocess.run(argv, cwd=ROOT, input=given, capture_output=True, text=True, check=False)
    eq(done.returncode, 0, done.stderr[-3000:])


def fuzz(t, target):
    if not shutil.which("clang"):
        t.skip("clang is not installed")
    name = os.path.basename(target)[:-len("_fuzz.c")]
    folder = scratch("pawl-fuzz-")
    program = os.path.join(folder, "fuzz")
    clang(["clang", *FLAGS, "-I.", target, archive(), *LIBRARIES, "-o", program])
    found, seeds = os.path.join(folder, "found"), os.path.join(CORPUS, name)
    os.mkdir(found)
    length = f"-runs={RUNS_LONG}" if t.long else f"-max_total_time={SECONDS_LONGER if name in LONGER else SECONDS}"
    ran = subprocess.run([program, length, "-max_len=4096", f"-timeout={INPUT_SECONDS_MAX}", "-rss_limit_mb=2000", f"-artifact_prefix={folder}/",
                          found, seeds], cwd=folder, capture_output=True, text=True, check=False)
    eq(ran.returncode, 0, ran.stderr[-3000:])
    check("Done" in ran.stderr, "the fuzzer ran to its end")


def target_test(path):
    @timeout(2000)
    def run(t):
        fuzz(t, path)
    return run


for _path in sorted(glob.glob(os.path.join(os.path.dirname(os.path.realpath(__file__)), "*_fuzz.c"))):
    globals()["test_" + os.path.basename(_path)[:-7] + "_holds"] = target_test(_path)


def test_every_target_has_a_small_corpus_of_distinct_files(t):
    targets = {os.path.basename(p)[:-len("_fuzz.c")] for p in glob.glob(os.path.join(os.path.dirname(CORPUS), "*_fuzz.c"))}
    eq(set(os.listdir(CORPUS)), targets)
    files = [os.path.join(CORPUS, target, name) for target in sorted(targets) for name in os.listdir(os.path.join(CORPUS, target))]
    bodies = {}
    for path in files:
        with open(path, "rb") as f:
            bodies.setdefault((os.path.dirname(path), f.read()), []).append(path)
    eq([paths for paths in bodies.values() if len(paths) > 1], [])
    total = sum(len(body) for _, body in bodies)
    check(total < CORPUS_BYTES_MAX, f"{total} bytes")
