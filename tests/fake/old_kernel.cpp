// Becomes a program on a kernel that lacks what came after Linux 4.18, or in a container that
// forbids it: `fake_old_kernel ENOSYS|EPERM PROGRAM [ARGUMENT...]`. Ends with 77, which CTest takes
// for a skipped test, where this kernel cannot filter system calls.
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

constexpr int cannot_filter = 77;

// The last system call of Linux 4.18 is rseq. Later ones have one number on all architectures.
#if defined __x86_64__
constexpr unsigned own_architecture = AUDIT_ARCH_X86_64;
constexpr unsigned rseq = 334;
#elif defined __aarch64__
constexpr unsigned own_architecture = AUDIT_ARCH_AARCH64;
constexpr unsigned rseq = 293;
#endif
constexpr unsigned clone3 = 435;
constexpr unsigned faccessat2 = 439;

bool install_filter(unsigned error) {
  std::array filter{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own_architecture, 0, 4),
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      // Where these are forbidden, a newer glibc makes no thread and finds no file: containers
      // answer that they do not exist.
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, clone3, 3, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, faccessat2, 2, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, rseq, 2, 0),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
  };
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3)
    return 2;
  if (!install_filter(std::strcmp(argv[1], "EPERM") == 0 ? EPERM : ENOSYS)) {
    std::fprintf(stderr, "fake_old_kernel: cannot filter system calls: %s\n", std::strerror(errno));
    return cannot_filter;
  }
  ::execv(argv[2], argv + 2);
  std::fprintf(stderr, "fake_old_kernel: cannot run %s: %s\n", argv[2], std::strerror(errno));
  return 1;
}
