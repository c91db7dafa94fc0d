#!/usr/bin/python3
"""confine.py UNIT COMMAND...: runs the command behind the walls of a systemd unit, without systemd.

What is kept as the unit says it: SystemCallFilter (by the same sets, with EPERM), RestrictAddressFamilies,
MemoryDenyWriteExecute, ProtectSystem=strict (no file system can be written), CapabilityBoundingSet=, NoNewPrivileges, LimitNOFILE.
Needs root and x86_64. Not kept: other views of /tmp, /home, /dev and /proc, and IPAddressDeny."""
import ctypes
import os
import re
import resource
import struct
import subprocess
import sys

CLONE_NEWNS = 0x00020000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 24, 38, 22
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10}
ALLOW, EPERM, EAFNOSUPPORT = 0x7fff0000, 0x00050001, 0x00050000 + 97
LD, JEQ, JSET, RET = 0x20, 0x15, 0x45, 0x06
AUDIT_ARCH_X86_64 = 0xc000003e
LIBC = ctypes.CDLL(None, use_errno=True)


def must(result, what):
    if result != 0:
        sys.exit(f"confine: {what}: {os.strerror(ctypes.get_errno())}")


def settings(path):
    """{key: [values]} of a unit's [Service]."""
    found = {}
    with open(path, encoding="utf-8") as f:
        for key, value in re.findall(r"(?m)^(\w+)=(.*)$", f.read()):
            found.setdefault(key, []).append(value)
    return found


def expand(name):
    """The system calls of a set, and of the sets in it."""
    if not name.startswith("@"):
        return {name}
    text = subprocess.run(["systemd-analyze", "--no-pager", "syscall-filter", name], capture_output=True, text=True, check=True).stdout
    members = [line.strip() for line in text.splitlines()[1:] if line.strip() and not line.strip().startswith("#")]
    return set().union(*(expand(m) for m in members))


def allowed(filters):
    names = set()
    for words in filters:
        mentioned = set().union(*(expand(w) for w in words.lstrip("~").split()))
        names = names - mentioned if words.startswith("~") else names | mentioned
    return names


def numbers():
    with open("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", encoding="ascii") as f:
        return {name: int(n) for name, n in re.findall(r"#define __NR_(\w+) (\d+)", f.read())}


def op(code, k, yes=0, no=0):
    return struct.pack("HBBI", code, yes, no, k)


def program(names, families, no_wx):
    known = numbers()
    arg = [16 + 8 * n for n in range(6)]  # the low words of seccomp_data.args
    code = [op(LD, 4), op(JEQ, AUDIT_ARCH_X86_64, 1, 0), op(RET, EPERM), op(LD, 0)]

    def special(name, body):
        code.append(op(JEQ, known[name], 0, len(body)))
        code.extend(body)

    check = [op(LD, arg[0])]
    for family in families:
        check += [op(JEQ, family, 0, 1), op(RET, ALLOW)]
    special("socket", check + [op(RET, EAFNOSUPPORT)])
    if no_wx:
        special("mmap", [op(LD, arg[2]), op(0x54, 6), op(JEQ, 6, 0, 1), op(RET, EPERM), op(RET, ALLOW)])
        for name in ("mprotect", "pkey_mprotect"):
            special(name, [op(LD, arg[2]), op(JSET, 4, 0, 1), op(RET, EPERM), op(RET, ALLOW)])
    for name in sorted(names & set(known)):
        code += [op(JEQ, known[name], 0, 1), op(RET, ALLOW)]
    return code + [op(RET, EPERM)]


def read_only():
    must(LIBC.unshare(CLONE_NEWNS), "unshare")
    must(LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "mount private")
    with open("/proc/self/mounts", encoding="ascii") as f:
        points = {line.split()[1].encode().decode("unicode_escape") for line in f}
    for point in sorted(points):
        if point.split("/")[1] not in ("proc", "dev", "sys"):
            must(LIBC.mount(b"none", point.encode(), None, MS_REMOUNT | MS_BIND | MS_RDONLY, None), "read-only " + point)


def main(unit, *command):
    says = settings(unit)
    code = program(allowed(says["SystemCallFilter"]), [FAMILIES[f] for f in says["RestrictAddressFamilies"][0].split()],
                   says.get("MemoryDenyWriteExecute") == ["yes"])
    if says["ProtectSystem"] == ["strict"]:
        read_only()
    files = int(says["LimitNOFILE"][0])
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    for capability in range(64):
        LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    must(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
    text = b"".join(code)
    buffer = ctypes.create_string_buffer(text, len(text))
    filters = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(buffer))
    must(LIBC.prctl(PR_SET_SECCOMP, 2, ctypes.c_char_p(filters), 0, 0), "seccomp")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
