// The functions that glibc 2.29 gave a second version, which only differs in errno: the linker's
// --wrap sends all calls to the first one. See scripts/package.
#if defined __x86_64__
#define FIRST_VERSION "GLIBC_2.2.5"
#elif defined __aarch64__
#define FIRST_VERSION "GLIBC_2.17"
#endif

#define ONE_ARGUMENT(name)                                 \
  double first_##name(double);                             \
  asm(".symver first_" #name "," #name "@" FIRST_VERSION); \
  double __wrap_##name(double x) {                         \
    return first_##name(x);                                \
  }
#define TWO_ARGUMENTS(name)                                \
  double first_##name(double, double);                     \
  asm(".symver first_" #name "," #name "@" FIRST_VERSION); \
  double __wrap_##name(double x, double y) {               \
    return first_##name(x, y);                             \
  }

extern "C" {
ONE_ARGUMENT(exp)
ONE_ARGUMENT(exp2)
ONE_ARGUMENT(log)
ONE_ARGUMENT(log2)
TWO_ARGUMENTS(pow)
}
