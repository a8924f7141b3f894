#pragma once

#include "environment.hpp"
#include "package.hpp"

#include <string>
#include <vector>

#include <bench/export/crate/export.hpp>
#include <bench/setup/run.hpp>
#include <bench/tabulate/tidy.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::crate {

/// Everything that the metadata of a crate describes.
struct CrateSource {
  const setup::Run& run;
  const std::vector<workspace::Workpackage>& workpackages;
  const std::vector<workspace::Attempt>& attempts;  ///< Ascending by workpackage.
  const tabulate::TidyTable& tidy;                  ///< A row for each workpackage.
  const std::vector<EnvironmentItem>& environment;
  const std::vector<PackedFile>& files;
  const std::string& license;  ///< Empty: none was given.
};

/// `ro-crate-metadata.json`: a Workflow Run RO-Crate 0.6 with the profile Provenance Run Crate.
/// Source: https://w3id.org/ro/wfrun/provenance/0.6.
std::string metadata_json(const CrateSource& described);

}  // namespace bench::crate
