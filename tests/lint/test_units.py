"""The systemd units: how exposed they are, and whether systemd understands them."""
import glob
import os
import re
import shutil
import subprocess

from harness import *
from kit.procs import scratch

EXPOSURE_MAX = 1.5
UNITS = os.path.join(ROOT, "deploy", "systemd")
SERVICES = ["pawl-receiver.service", "pawl-dispatcher.service"]


def analyze(t, *args):
    """(exit status, output) of systemd-analyze."""
    if not shutil.which("systemd-analyze"):
        t.skip("systemd-analyze is not here (deploy/packages, section test)")
    done = subprocess.run(["systemd-analyze", "--no-pager", *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def exposure(t, path):
    status, text = analyze(t, "security", "--offline=true", path)
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", text)
    check(status == 0 and found, text)
    return float(found[1])


def test_the_services_are_little_exposed(t):
    for name in SERVICES:
        level = exposure(t, os.path.join(UNITS, name))
        print(f"              {name}: {level}")
        check(level <= EXPOSURE_MAX, f"{name}: {level}")
    # It bites: without the walls the level is high.
    with open(os.path.join(UNITS, SERVICES[0]), encoding="utf-8") as f:
        bare = re.sub(r"(?m)^(Protect|Private|Restrict|SystemCall|Capability|IPAddress|NoNew|Memory|Lock|Remove|Device|UMask)\w*=.*\n", "", f.read())
    path = os.path.join(scratch("pawl-unit-"), "bare.service")
    with open(path, "w", encoding="utf-8") as f:
        f.write(bare)
    check(exposure(t, path) > 5, "a bare unit is exposed")


def test_systemd_understands_the_units(t):
    folder = scratch("pawl-unit-")
    paths = []
    for path in sorted(glob.glob(os.path.join(UNITS, "pawl-*.*"))):
        if os.path.isdir(path):
            shutil.copytree(path, os.path.join(folder, os.path.basename(path)))
            continue
        with open(path, encoding="utf-8") as f:
            text = f.read().replace("/usr/bin/pawl", "/bin/true")  # it is not installed here
        paths.append(os.path.join(folder, os.path.basename(path)))
        with open(paths[-1], "w", encoding="utf-8") as f:
            f.write(text)
    eq(len(paths), 3)
    eq(analyze(t, "verify", "--man=no", *paths), (0, ""))
    with open(paths[0], "a", encoding="utf-8") as f:
        f.write("[Service]\nNoSuchKey=yes\n")
    check("NoSuchKey" in analyze(t, "verify", "--man=no", *paths)[1], "a key that is none is told")


def test_users_and_folders_are_understood(t):
    root = scratch("pawl-root-")
    for program, args, name in (("systemd-sysusers", ["--dry-run"], "sysusers.d"),
                                ("systemd-tmpfiles", ["--create", "--root=" + root], "tmpfiles.d")):
        if not shutil.which(program):
            t.skip(f"{program} is not here")
        done = subprocess.run([program, *args, os.path.join(ROOT, "deploy", name, "pawl.conf")], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        eq(done.returncode, 0, f"{program}: {done.stdout}")
    made = {name: os.stat(os.path.join(root, "etc/pawl", name)).st_mode & 0o777 for name in (".", "templates", "credentials")}
    eq(made, {".": 0o755, "templates": 0o755, "credentials": 0o700})
