# Read by ctest: adds every suite of a GoogleTest program as one test, so that the program starts
# once per suite and not once per case. The list is made again when the program is newer.
#   program  path of the program
#   prefix   of the tests' names
#   label, timeout_s
#   list     file that keeps the tests
if(NOT EXISTS ${program})
  add_test(${prefix}not_built ${program})
  return()
endif()
if(NOT EXISTS ${list} OR ${program} IS_NEWER_THAN ${list})
  execute_process(COMMAND ${program} --gtest_list_tests OUTPUT_VARIABLE output
                  RESULT_VARIABLE failed TIMEOUT 600)
  if(failed)
    message(FATAL_ERROR "${program} --gtest_list_tests: ${failed}")
  endif()
  string(REGEX MATCHALL "(^|\n)[A-Za-z_][A-Za-z0-9_/]*[.]" suites "${output}")
  # Nothing passed, and nothing follows the list of what was skipped: no failure.
  set(all_skipped "PASSED  \\] 0 tests\\.\n(\\[  SKIPPED \\][^\n]*\n)+$")
  set(tests "")
  foreach(suite IN LISTS suites)
    string(REGEX REPLACE "[\n.]" "" suite "${suite}")
    if(NOT suite MATCHES "DISABLED_")
      string(APPEND tests "add_test([==[${prefix}${suite}]==] [==[${program}]==] "
                          "[==[--gtest_filter=${suite}.*]==])\n"
                          "set_tests_properties([==[${prefix}${suite}]==] PROPERTIES LABELS ${label} "
                          "TIMEOUT ${timeout_s} ENVIRONMENT OMP_WAIT_POLICY=passive "
                          "SKIP_REGULAR_EXPRESSION [==[${all_skipped}]==])\n")
    endif()
  endforeach()
  file(WRITE ${list} "${tests}")
endif()
include(${list})
