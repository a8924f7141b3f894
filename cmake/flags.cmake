# Flags of our own code. An interface target, so that third-party code is never built with them.
add_library(bench_flags INTERFACE)
target_compile_options(bench_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
# Designated initializers leave members out on purpose: those have their defaults.
target_compile_options(bench_flags INTERFACE -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns about std::string's own operator+ (GCC bug 105329, fixed in 13).
  target_compile_options(bench_flags INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # The stable_sort of GCC 12's library calls what that library deprecates; clang-tidy 19 sees it.
  target_compile_options(bench_flags INTERFACE -Wno-deprecated-declarations)
endif()
if(BENCH_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC does not look for memory that it could free before it has 3 GiB: 9 % off the time of a module,
  # 15 % off that of its tests, for up to 1 GiB more.
  target_compile_options(bench_flags INTERFACE --param=ggc-min-heapsize=3145728)
  # Compiled as one, a source file is an included file, and its own types look like a header's.
  target_compile_options(bench_flags INTERFACE -Wno-subobject-linkage)
endif()
if(BENCH_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # What is local in one file is taken for what another has at its top.
  target_compile_options(bench_flags INTERFACE -Wno-shadow)
endif()
if(BENCH_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Through the sanitizers' code GCC does not see that LibTorch reads no optional that is empty.
  target_compile_options(bench_flags INTERFACE -Wno-maybe-uninitialized)
endif()
# Of directories: programs do not name the place of their sources. Debuggers want it.
set(bench_anywhere $<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
if(BENCH_WERROR)
  target_compile_options(bench_flags INTERFACE -Werror)
endif()
if(BENCH_SANITIZE)
  add_compile_options(-fsanitize=${BENCH_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BENCH_SANITIZE})
endif()
if(BENCH_FUZZ)
  # Every finding ends the program, so that the fuzzer keeps the input.
  add_compile_options(-fsanitize=fuzzer-no-link -fno-sanitize-recover=all)
endif()
