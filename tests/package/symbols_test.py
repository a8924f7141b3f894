"""Names of glibc that a program uses have to be those of the release archive: `symbols_test.py
PROGRAM...`.

The programs of a usual build are linked with a newer glibc. What they take from it has to exist in
glibc 2.28, in packaging/archive, or in the part of Debian 11's glibc that is linked statically.
"""

import re
import subprocess
import sys

NEWEST = (2, 28)

# In glibc 2.28 under an older version, since their libraries became one in 2.34.
MOVED = {"pthread_" + name for name in (
    "sigmask", "create", "detach", "join", "mutex_trylock", "once", "key_create", "key_delete",
    "setspecific", "getspecific", "rwlock_rdlock", "rwlock_wrlock", "rwlock_unlock", "kill",
    "attr_setstacksize", "attr_getstack", "getattr_np", "setattr_default_np", "setname_np",
    "cond_broadcast")}
MOVED |= {"__" + name for name in MOVED} | {
    "__libc_start_main", "dlerror", "dlopen", "dlsym", "dlclose", "dladdr", "sem_wait", "sem_post",
    "shm_open", "shm_unlink"}
# In its static part up to 2.32.
STATIC = {"stat", "fstat", "lstat", "fstatat", "stat64", "fstat64", "lstat64", "fstatat64", "mknod"}
# Their older versions, or what stands in for them: packaging/archive.
BROUGHT = {"exp", "exp2", "log", "log2", "pow", "__libc_single_threaded", "_dl_find_object",
           "arc4random", "pthread_cond_clockwait"}


def newer_symbols(program):
    text = subprocess.run(["objdump", "-T", program], check=True, capture_output=True,
                          text=True).stdout
    for version, name in re.findall(r"\(?GLIBC_([0-9.]+)\)? +(\w+)$", text, re.MULTILINE):
        if tuple(map(int, version.split("."))) > NEWEST:
            yield name, version


def main():
    failed = False
    for program in sys.argv[1:]:
        for name, version in sorted(set(newer_symbols(program))):
            if name not in MOVED | STATIC | BROUGHT:
                print(f"{program}: {name} is of glibc {version}; programs have to run with "
                      f"{'.'.join(map(str, NEWEST))}, see packaging/archive")
                failed = True
    sys.exit(failed)


main()
