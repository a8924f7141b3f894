# bench_module(<name> USES <targets its headers need> PRIVATE_USES <the rest>)
#
# One module of the house: a static library bench_<name> of src/<name>/*.cpp with its headers in
# include/bench/<name>/. The target of `energy/core` is bench_energy_core.
function(bench_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;PRIVATE_USES")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" target ${name})
  add_library(bench_${target} STATIC ${sources})
  set_target_properties(bench_${target} PROPERTIES UNITY_BUILD ${BENCH_UNITY}
                        UNITY_BUILD_BATCH_SIZE 45)
  # A module is few objects; programs are linked with what they need of them.
  target_compile_options(bench_${target} PRIVATE -ffunction-sections -fdata-sections)
  target_include_directories(bench_${target} PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(bench_${target} PUBLIC ${arg_USES} PRIVATE bench_flags ${arg_PRIVATE_USES})
  bench_headers(bench_${target})
endfunction()

# bench_headers(<target>): compiles it with the headers that most modules include, parsed once: without
# them it is two fifths of the time that a module takes. The meter's modules have other flags, so they
# have their own.
function(bench_headers target)
  set(first bench_module_headers)  # has no macros besides, which the others would have to have, too
  if(target MATCHES "^bench_energy")
    set(first bench_energy_core)
  else()
    target_link_libraries(${target} PRIVATE fmt::fmt)  # whose flags the headers are compiled with
  endif()
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <chrono> <cmath> <cstdint>
                              <cstdlib> <filesystem> <functional> <map> <memory> <optional> <set>
                              <span> <string> <string_view> <system_error> <unordered_map> <utility>
                              <variant> <vector> <fmt/core.h> <fmt/format.h>)
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
  # Without it ccache cannot keep what was compiled with a precompiled header.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()

set(bench_test_timeout_s 1500)  # for a test that hangs, on a machine that is busy

# What all tests link, and the headers that most include, parsed once. With -O0 below it takes 60 %
# off the time that a test takes to compile; what is tested is compiled as users run it.
if(BENCH_TESTS)
  configure_file(tests/support/source_directory.cpp.in source_directory.cpp @ONLY)
  add_library(bench_test_support STATIC ${PROJECT_BINARY_DIR}/source_directory.cpp)
  target_include_directories(bench_test_support PUBLIC ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(bench_test_support PRIVATE bench_flags GTest::gmock)
  target_compile_options(bench_test_support PRIVATE $<$<CONFIG:Release>:-O0>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A local name may be that of something at the top of its file, or of another in a unity build.
    target_compile_options(bench_test_support INTERFACE -Wno-shadow -Wshadow=local)
  endif()
  target_precompile_headers(bench_test_support PRIVATE <gmock/gmock.h> <gtest/gtest.h> <algorithm>
                            <chrono> <filesystem> <fstream> <map> <optional> <set> <string> <vector>)
endif()

# bench_test_headers(<target>): compiles a test's program with the precompiled headers.
function(bench_test_headers target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
  target_precompile_headers(${target} REUSE_FROM bench_test_support)
  # Without it ccache cannot keep what was compiled with a precompiled header.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()

# bench_test_starts(<test> <programs and fake libraries>...): builds them with the test. As dependencies
# of its link: with add_dependencies it would not be compiled before all of them are linked.
function(bench_test_starts test)
  list(TRANSFORM ARGN REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
  set_property(TARGET ${test} APPEND PROPERTY LINK_DEPENDS ${files})
endfunction()

# bench_test(<name> [LABEL <label>] [OWN_HEADERS] [EACH_CASE [SLOW <filter>]] [AT_ONCE <n>]
#            USES <targets>)
#
# The tests of one folder, tests/<name>/*_test.cpp, as one program; every suite is one CTest test.
# With BENCH_UNITY a few files are compiled as one, so names do not repeat within a folder.
# EACH_CASE: every case is, for tests that wait more than they compute.
# SLOW: those that match GoogleTest's filter have the label <label>-slow instead.
# AT_ONCE: so many suites are, for a program that takes long to start.
# OWN_HEADERS: its flags do not allow the precompiled headers of the others.
function(bench_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OWN_HEADERS;EACH_CASE" "LABEL;AT_ONCE;SLOW" "USES")
  if(NOT arg_AT_ONCE)
    set(arg_AT_ONCE 1)
  endif()
  if(NOT arg_LABEL)
    set(arg_LABEL unit)
  endif()
  set(processors 1)
  if(arg_LABEL MATCHES "^steps")
    set(processors 2)  # of ctest's --parallel: it computes, while most others wait
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${name}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(bench_${name}_test ${sources})
  set_target_properties(bench_${name}_test PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests
                        UNITY_BUILD ${BENCH_UNITY} UNITY_BUILD_BATCH_SIZE 30)
  target_link_libraries(bench_${name}_test PRIVATE bench_flags bench_test_support ${arg_USES}
                        GTest::gmock_main)
  if(arg_OWN_HEADERS)
    target_compile_options(bench_${name}_test PRIVATE $<$<CONFIG:Release>:-O0>)
  else()
    bench_test_headers(bench_${name}_test)
  endif()
  if(NOT arg_EACH_CASE)
    set(suites ${CMAKE_CURRENT_BINARY_DIR}/${name}_suites)
    file(GENERATE OUTPUT ${suites}.cmake CONTENT
"set(program [==[$<TARGET_FILE:bench_${name}_test>]==])
set(prefix ${name}.)
set(label ${arg_LABEL})
set(timeout_s ${bench_test_timeout_s})
set(processors ${processors})
set(at_once ${arg_AT_ONCE})
set(list [==[${suites}_list.cmake]==])
include([==[${PROJECT_SOURCE_DIR}/cmake/add_suites.cmake]==])
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${suites}.cmake)
    return()
  endif()
  function(discover label filter)
    gtest_discover_tests(bench_${name}_test DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}."
                         TEST_FILTER "${filter}"
                         NO_PRETTY_VALUES  # they hold addresses, so that names would change
                         DISCOVERY_TIMEOUT 600  # of a program that loads LibTorch on a busy machine
                         PROPERTIES LABELS ${label} TIMEOUT ${bench_test_timeout_s}
                         PROCESSORS ${processors}
                         # Tests run side by side: OpenMP's threads must not spin while they wait.
                         ENVIRONMENT OMP_WAIT_POLICY=passive)
  endfunction()
  if(arg_SLOW)
    discover(${arg_LABEL} "-${arg_SLOW}")
    discover(${arg_LABEL}-slow "${arg_SLOW}")
  else()
    discover(${arg_LABEL} "*")
  endif()
endfunction()
