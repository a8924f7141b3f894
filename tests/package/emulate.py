"""`emulate.py SYSROOT COMMAND...`: where programs of aarch64 start each other as if this machine were
one, with qemu-aarch64 and the C library of SYSROOT.

Linux asks its list of program formats for that. A user namespace has a list of its own since Linux
6.7, so nothing outside changes. 77, skipped, where there is none.
"""

import ctypes
import os
import shutil
import subprocess
import sys

NEW_USERS, NEW_MOUNTS = 0x10000000, 0x00020000  # of unshare(2)
LIST = "/proc/sys/fs/binfmt_misc"
# What a program of aarch64 begins with, and which of its bits count: little endian, 64 bits, a
# program or a shared object. `F` opens qemu now, so that a chroot needs none.
ENTRY = (rb":aarch64:M::\x7fELF\x02\x01\x01" + rb"\x00" * 9 + rb"\x02\x00\xb7\x00"
         rb":" + rb"\xff" * 7 + rb"\x00" + rb"\xff" * 8 + rb"\xfe\xff\xff\xff" + b":%b:F")


def become(sysroot, command):
    mounted = subprocess.run(["mount", "-t", "binfmt_misc", "binfmt_misc", LIST], check=False)
    if mounted.returncode != 0:
        print("this kernel has no program formats of a user namespace")
        os._exit(77)
    with open(f"{LIST}/register", "wb", buffering=0) as register:
        register.write(ENTRY % shutil.which("qemu-aarch64").encode())
    os.environ["QEMU_LD_PREFIX"] = os.path.abspath(sysroot)
    os.execvp(command[0], command)


def main():
    sysroot, *command = sys.argv[1:]
    ready, mapped = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        if ctypes.CDLL(None).unshare(NEW_USERS | NEW_MOUNTS) != 0:
            print("user namespaces are forbidden here")
            os._exit(77)
        os.write(ready[1], b"x")
        os.read(mapped[0], 1)
        become(sysroot, command)
    os.close(ready[1])
    if os.read(ready[0], 1):
        for users in ("uid_map", "gid_map"):
            with open(f"/proc/{child}/{users}", "w", encoding="ascii") as file:
                file.write("0 0 65536")
    os.write(mapped[1], b"x")
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xff)


main()
