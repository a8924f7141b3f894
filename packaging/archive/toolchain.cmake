# For the programs of the release archive: GCC 12 with the sysroot that scripts/package makes.
# BENCH_SYSROOT and BENCH_ARCHITECTURE (x86_64 or aarch64) come from the command line.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BENCH_SYSROOT BENCH_ARCHITECTURE)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${BENCH_ARCHITECTURE})
set(triplet ${BENCH_ARCHITECTURE}-linux-gnu)
set(CMAKE_C_COMPILER ${triplet}-gcc-12)
set(CMAKE_CXX_COMPILER ${triplet}-g++-12)
set(CMAKE_SYSROOT ${BENCH_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
if(BENCH_ARCHITECTURE STREQUAL aarch64)
  set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64;-L;${BENCH_SYSROOT}")
endif()

# Else Debian's cross compiler would prefer the headers of its own C library, a newer one.
set(c_headers "")
set(cxx_headers "")
set(own /usr/${triplet}/include/c++/12)
if(EXISTS ${own})
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=include
                  OUTPUT_VARIABLE builtin OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(CONCAT c_headers "-nostdinc -isystem ${builtin} "
         "-isystem ${BENCH_SYSROOT}/usr/include/${triplet} -isystem ${BENCH_SYSROOT}/usr/include ")
  set(cxx_headers "-isystem ${own} -isystem ${own}/${triplet} -isystem ${own}/backward ${c_headers}")
endif()

# -B and -L: else the compiler would prefer the libc and the start files of this machine.
set(libraries ${BENCH_SYSROOT}/usr/lib/${triplet})
string(CONCAT CMAKE_C_FLAGS_INIT "${c_headers}-B${libraries} -ffunction-sections")
string(CONCAT CMAKE_CXX_FLAGS_INIT "${cxx_headers}-B${libraries} "
       "-ffile-prefix-map=${BENCH_SYSROOT}= -ffunction-sections -fdata-sections")
string(CONCAT CMAKE_EXE_LINKER_FLAGS_INIT
       "-L${libraries} -static-libstdc++ -static-libgcc -s -Wl,--gc-sections,--as-needed "
       "-Wl,--wrap=exp,--wrap=exp2,--wrap=log,--wrap=log2,--wrap=pow ${BENCH_SYSROOT}/old_glibc.o")
# Libraries that tests load: the sysroot has no libstdc++.
set(CMAKE_SHARED_LINKER_FLAGS_INIT
    "-L${libraries} -static-libstdc++ -static-libgcc ${BENCH_SYSROOT}/old_glibc.o")
# A static cpp-httplib does not say what it needs.
string(CONCAT CMAKE_CXX_STANDARD_LIBRARIES
       "-lssl -lcrypto -lbrotlienc -lbrotlidec -lbrotlicommon -lz "
       "${BENCH_SYSROOT}/libold_libm.a -ldl -lpthread -lm")
# CMake's own rule, and a list of what was linked.
string(CONCAT CMAKE_CXX_LINK_EXECUTABLE "<CMAKE_CXX_COMPILER> <FLAGS> <CMAKE_CXX_LINK_FLAGS> "
       "<LINK_FLAGS> <OBJECTS> -o <TARGET> -Wl,-Map=<TARGET>.map <LINK_LIBRARIES>")
