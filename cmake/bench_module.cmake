# bench_module(<name> USES <targets its headers need> PRIVATE_USES <the rest>)
#
# One module of the house: a static library bench_<name> of src/<name>/*.cpp with its headers in
# include/bench/<name>/. The link lines repeat the layer table that tests/architecture_test.cpp checks.
function(bench_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;PRIVATE_USES")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(NOT sources)
    return()
  endif()
  add_library(bench_${name} STATIC ${sources})
  set_target_properties(bench_${name} PROPERTIES UNITY_BUILD ${BENCH_UNITY})
  target_include_directories(bench_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(bench_${name} PUBLIC ${arg_USES} PRIVATE bench_flags ${arg_PRIVATE_USES})
endfunction()

# bench_test(<name> [LABEL <label>] USES <targets>)
#
# The tests of one folder, tests/<name>/*_test.cpp, as one program; every case is one CTest test.
function(bench_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT" "USES")
  if(NOT arg_LABEL)
    set(arg_LABEL unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${name}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(bench_${name}_test ${sources})
  set_target_properties(bench_${name}_test PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(bench_${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(bench_${name}_test PRIVATE bench_flags ${arg_USES} GTest::gmock_main)
  gtest_discover_tests(bench_${name}_test DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}."
                       NO_PRETTY_VALUES  # they hold addresses, so that names would change
                       DISCOVERY_TIMEOUT 120  # of a program that loads LibTorch on a busy machine
                       PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT}
                       # Tests run side by side: OpenMP's threads shall not spin while they wait.
                       ENVIRONMENT OMP_WAIT_POLICY=passive)
endfunction()
