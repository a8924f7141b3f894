# What draws the figures of `bench report`: fetched once per lock file, and again by the target
# fetch_vega. Without npm or network bench builds all the same.
set(report_directory ${PROJECT_BINARY_DIR}/share/bench/report)
set(fetch_vega ${CMAKE_COMMAND} -Dsource=${PROJECT_SOURCE_DIR}/report
               -Dwork=${PROJECT_BINARY_DIR}/report_packages -Ddestination=${report_directory}
               -Dstamp=${PROJECT_BINARY_DIR}/fetched_vega
               -P ${PROJECT_SOURCE_DIR}/cmake/fetch_vega.cmake)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/fetched_vega COMMAND ${fetch_vega}
                   DEPENDS ${PROJECT_SOURCE_DIR}/report/package-lock.json
                           ${PROJECT_SOURCE_DIR}/report/collect.mjs
                   COMMENT "Fetching Vega for reports" VERBATIM)
add_custom_target(vega ALL DEPENDS ${PROJECT_BINARY_DIR}/fetched_vega)
add_custom_target(fetch_vega COMMAND ${fetch_vega} COMMENT "Fetching Vega for reports" VERBATIM)

install(FILES report/page.html report/page.css report/page.js report/figure.js report/draw.mjs
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bench/report COMPONENT bench)
install(FILES ${report_directory}/vega.js ${report_directory}/THIRD_PARTY_LICENSES
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bench/report COMPONENT bench OPTIONAL)
