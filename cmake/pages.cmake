# The files that the pages of `bench report` and `bench serve` are made of, in a build directory as
# links to the sources.
set(report_directory ${PROJECT_BINARY_DIR}/share/bench/report)
set(page_sources ${PROJECT_SOURCE_DIR}/src/pages)
set(report_files page.html page.css figure.js cards.js report.js serve.js draw.mjs)
file(MAKE_DIRECTORY ${report_directory})
foreach(file ${report_files})
  file(CREATE_LINK ${page_sources}/report/${file} ${report_directory}/${file} SYMBOLIC)
endforeach()

# What draws their figures: fetched once per lock file, and again by the target
# fetch_vega. Without npm or network bench builds all the same.
set(fetch_vega ${CMAKE_COMMAND} -Dsource=${page_sources}/report
               -Dwork=${PROJECT_BINARY_DIR}/report_packages -Ddestination=${report_directory}
               -Dstamp=${PROJECT_BINARY_DIR}/fetched_vega
               -P ${PROJECT_SOURCE_DIR}/cmake/fetch_vega.cmake)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/fetched_vega COMMAND ${fetch_vega}
                   DEPENDS ${page_sources}/report/package-lock.json
                           ${page_sources}/report/collect.mjs
                   COMMENT "Fetching Vega for reports" VERBATIM)
add_custom_target(vega ALL DEPENDS ${PROJECT_BINARY_DIR}/fetched_vega)
add_custom_target(fetch_vega COMMAND ${fetch_vega} COMMENT "Fetching Vega for reports" VERBATIM)

list(TRANSFORM report_files PREPEND ${page_sources}/report/)
install(FILES ${report_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/bench/report COMPONENT bench)
install(FILES ${report_directory}/vega.js ${report_directory}/THIRD_PARTY_LICENSES
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bench/report COMPONENT bench OPTIONAL)
