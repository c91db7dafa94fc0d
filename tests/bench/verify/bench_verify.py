"""Verify: one request's signature, by the engine, beside OpenSSL's HMAC of the same body; one source beside a thousand."""
import json
import os

from frame import run as told_by, tool

TITLE = "Verify: a signature by the engine"
MANY = 1000
# On one core, and where root asks for it without a switch to others, which would empty the caches that are measured.
ALONE = (["chrt", "-f", "1"] if os.geteuid() == 0 else []) + ["taskset", "-c", "0"]


def contestant(*what):
    def play(seconds):
        told = json.loads(told_by([*ALONE, tool("tests/bench/verify/engine"), *map(str, what), str(seconds)]))
        figures = {"verified/s": told["per_s"], "allocations each": told["mallocs"]}
        return figures | ({"against one": told["against_one"]} if MANY in what else {})
    return play


def run(bench):
    bench.about("hmac", "OpenSSL's `EVP_MAC` alone, its key set once, over 512 bytes")
    bench.about("pawl-github", "the source looked up by name and a request of GitHub verified: `HMAC(body)`, 512 bytes, ten headers")
    bench.about("pawl-stripe", "the same of Stripe: a list with a time, `HMAC(time.body)`")
    bench.about("pawl-stripe-many", f"the same among {MANY:,} sources, each asked in turn")
    bench.interleave("512", "bodies of 512 bytes on one core", {
        "hmac": contestant("hmac", 1),
        "pawl-github": contestant("github", 1),
        "pawl-stripe": contestant("stripe", 1),
        "pawl-stripe-many": contestant("stripe", MANY)})
    for key in ("pawl-github", "pawl-stripe"):
        bench.ratio(f"{key} against OpenSSL's HMAC alone", ("512", key), ("512", "hmac"), "verified/s", at_least=0.5)
    bench.value(f"{MANY:,} sources against one", bench.figures("512", "pawl-stripe-many", "against one"), "x", at_least=0.95)
    bench.value("allocations a verification", max(bench.figures("512", "pawl-stripe", "allocations each")), "", below=0)
    bench.note(f"{MANY:,} sources and one are asked in turns of some milliseconds; the median of all turns' ratios is a round's."
               " By SCHED_FIFO nothing else comes between: a switch to another process empties the caches that this is about.")
    bench.note("Seconds are of processor time. Allocations are counted by a `malloc` of the program's own, which libcrypto calls too.")
