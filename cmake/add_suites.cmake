# Read by ctest: adds every suite of a GoogleTest program as one test, or every few, so that the
# program starts once for them and not once per case. The list is made again when the program is newer.
#   program  path of the program
#   prefix   of the tests' names
#   label, timeout_s, processors
#   at_once  suites in a test, whose name names all; neighbours, which take alike, are in several
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
  list(FILTER suites EXCLUDE REGEX "DISABLED_")
  list(TRANSFORM suites REPLACE "[\n.]" "")
  list(LENGTH suites suites_count)
  math(EXPR last "(${suites_count} + ${at_once} - 1) / ${at_once} - 1")
  foreach(at RANGE ${last})
    set(names_${at} "")
  endforeach()
  set(at 0)
  foreach(suite IN LISTS suites)
    list(APPEND names_${at} ${suite})
    if(at EQUAL last)
      set(at 0)
    else()
      math(EXPR at "${at} + 1")
    endif()
  endforeach()
  set(tests "")
  foreach(at RANGE ${last})
    list(JOIN names_${at} "," names)
    list(JOIN names_${at} ".*:" filter)
    string(APPEND tests "add_test([==[${prefix}${names}]==] [==[${program}]==] "
                        "[==[--gtest_filter=${filter}.*]==])\n"
                        "set_tests_properties([==[${prefix}${names}]==] PROPERTIES LABELS ${label} "
                        "TIMEOUT ${timeout_s} PROCESSORS ${processors} "
                        "ENVIRONMENT OMP_WAIT_POLICY=passive "
                        "SKIP_REGULAR_EXPRESSION [==[${all_skipped}]==])\n")
  endforeach()
  file(WRITE ${list} "${tests}")
endif()
include(${list})
