#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <bench/document/node.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::workspace {

/// A workpackage of JUBE's with what bench keeps in its own tables.
struct JubeWorkpackage {
  Workpackage row;
  EnvironmentChanges environment;
  std::optional<double> ended_unix_s;
};

/// A run that JUBE has made, as bench knows its own.
struct JubeRun {
  std::map<std::string, std::string> facts;
  std::vector<JubeWorkpackage> workpackages;             ///< Ascending by id.
  std::map<std::string, std::vector<Finding>> findings;  ///< By analyser, those of `analyse.xml`.
  bool analysed_since = false;  ///< Nothing has changed after the analysis.
};

/// Reads `configuration.xml`, `workpackages.xml`, `analyse.xml`, `timestamps` and the files `done`
/// and `error` of the workpackages. Changes nothing.
/// @throws Error with the place if one of them is not what JUBE writes
JubeRun read_jube_run(const std::filesystem::path& run_directory);

/// The workpackages of a run directory, ascending by id.
/// @param document of `workpackages.xml`
std::vector<JubeWorkpackage> jube_workpackages(const std::filesystem::path& run_directory,
                                               const document::Node& document);

}  // namespace bench::workspace
