# Fetches what draws the figures of reports, by npm and the lock file with its hashes. A failure is
# told and is none of the build: `bench report` says what is missing.
#   source       the folder src/pages/report
#   work         where packages are unpacked
#   destination  where vega.js and THIRD_PARTY_LICENSES go
#   stamp        written in any case, so that a build without network asks once
file(TOUCH ${stamp})
find_program(npm npm)
find_program(node node)
if(NOT npm OR NOT node)
  message("note: no npm, so `bench report` cannot draw; with it: "
          "cmake --build <build directory> --target fetch_vega")
  return()
endif()
file(MAKE_DIRECTORY ${work} ${destination})
file(COPY ${source}/package.json ${source}/package-lock.json DESTINATION ${work})
execute_process(COMMAND ${npm} ci --ignore-scripts --no-audit --no-fund --fetch-retries=1
                        --fetch-timeout=30000
                        --loglevel=error
                WORKING_DIRECTORY ${work} RESULT_VARIABLE failed OUTPUT_VARIABLE output
                ERROR_VARIABLE output TIMEOUT 300)
if(NOT failed)
  execute_process(COMMAND ${node} ${source}/collect.mjs ${work}/node_modules ${destination}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
endif()
if(failed)
  message("note: npm could not fetch Vega, so `bench report` cannot draw; to try again: "
          "cmake --build <build directory> --target fetch_vega\n${output}")
endif()
