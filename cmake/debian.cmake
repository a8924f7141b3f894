# `cpack` in a build directory makes Debian packages of what was built: bench and bench-steps.
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL)
if(BENCH_TOOL)
  list(APPEND CPACK_COMPONENTS_ALL bench)
endif()
if(BENCH_STEPS)
  list(APPEND CPACK_COMPONENTS_ALL bench-steps)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "the authors of bench <bench@localhost>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # what the programs are linked with
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_BENCH_PACKAGE_NAME bench)
set(CPACK_DEBIAN_BENCH_PACKAGE_RECOMMENDS python3)  # for parameters with mode: python
set(CPACK_DEBIAN_BENCH_PACKAGE_SUGGESTS bench-steps)
set(CPACK_COMPONENT_BENCH_DESCRIPTION "The orchestrator bench and the energy meter bench-energy.")
set(CPACK_DEBIAN_BENCH-STEPS_PACKAGE_NAME bench-steps)
set(CPACK_DEBIAN_BENCH-STEPS_PACKAGE_DEPENDS libopenblas0-openmp)  # another one is 16 times slower
set(CPACK_DEBIAN_BENCH-STEPS_PACKAGE_RECOMMENDS bench)
set(CPACK_COMPONENT_BENCH-STEPS_DESCRIPTION
    "Training programs, built with LibTorch: what the benchmarks of bench measure.")
include(CPack)
