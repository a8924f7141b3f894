option(BENCH_FETCH "Download the small libraries that this system lacks, or has too old" OFF)

# What is downloaded, by the name that find_package has for it.
set(bench_source_of_fmt https://github.com/fmtlib/fmt.git 10.2.1)
set(bench_source_of_yaml-cpp https://github.com/jbeder/yaml-cpp.git 0.8.0)
set(bench_source_of_CLI11 https://github.com/CLIUtils/CLI11.git v2.4.2)
set(bench_source_of_pugixml https://github.com/zeux/pugixml.git v1.14)
set(bench_source_of_nlohmann_json https://github.com/nlohmann/json.git v3.11.3)
set(bench_source_of_utf8cpp https://github.com/nemtrif/utfcpp.git v4.0.5)
set(bench_source_of_SQLiteCpp https://github.com/SRombauts/SQLiteCpp.git 3.3.1)

# bench_library(<name> <oldest version>): finds a library, or says what to do without it. A macro,
# since what find_package sets belongs to its caller.
macro(bench_library name oldest)
  find_package(${name} ${oldest} QUIET)
  if(NOT ${name}_FOUND AND BENCH_FETCH)
    bench_fetch(${name} ${bench_source_of_${name}})
  elseif(NOT ${name}_FOUND)
    if(NOT ${name}_CONSIDERED_VERSIONS)
      set(${name}_CONSIDERED_VERSIONS none)
    endif()
    list(JOIN ${name}_CONSIDERED_VERSIONS ", " bench_here)
    message(FATAL_ERROR "${name} ${oldest} or newer is needed. Found: ${bench_here}\n"
                        "Install it (docs/how-to/build.md has the packages), name its place with "
                        "-DCMAKE_PREFIX_PATH=DIR, or download it with -DBENCH_FETCH=ON.")
  endif()
endmacro()

# The same for utf8cpp, whose version file refuses a newer major version.
macro(bench_utf8cpp)
  if(NOT TARGET utf8cpp::utf8cpp)  # Debian's file can be read once only
    find_package(utf8cpp QUIET)
    if(NOT utf8cpp_FOUND)
      bench_library(utf8cpp 3.2)
    elseif(utf8cpp_VERSION VERSION_LESS 3.2)
      message(FATAL_ERROR "utf8cpp is ${utf8cpp_VERSION}, and 3.2 is needed")
    endif()
    if(NOT TARGET utf8cpp::utf8cpp)  # its name since version 4
      add_library(utf8cpp::utf8cpp ALIAS utf8cpp)
    endif()
  endif()
endmacro()

# Without network access: -DFETCHCONTENT_SOURCE_DIR_<NAME in capitals>=<its sources>.
function(bench_fetch name repository tag)
  include(FetchContent)
  message(STATUS "${name} ${tag} is built with bench")
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  set(UTF8_TESTS OFF)
  set(BUILD_SHARED_LIBS OFF)
  set(BUILD_TESTING OFF)
  set(SQLITECPP_INTERNAL_SQLITE OFF)
  set(SQLITECPP_RUN_CPPLINT OFF)
  set(YAML_CPP_BUILD_TOOLS OFF)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # their options are these variables
  FetchContent_Declare(${name} GIT_REPOSITORY ${repository} GIT_TAG ${tag} GIT_SHALLOW ON)
  FetchContent_GetProperties(${name})
  string(TOLOWER ${name} lower)
  if(NOT ${lower}_POPULATED)
    FetchContent_Populate(${name})
    # Nothing of it is installed, and its headers are no headers of ours.
    add_subdirectory(${${lower}_SOURCE_DIR} ${${lower}_BINARY_DIR} EXCLUDE_FROM_ALL SYSTEM)
  endif()
endfunction()
