#pragma once

#include "crate_environment.hpp"
#include "crate_package.hpp"

#include <string>
#include <vector>

#include <bench/results/tidy.hpp>
#include <bench/space/run.hpp>

namespace bench::crate {

/// Everything that the metadata of a crate describes.
struct CrateSource {
  const space::Run& run;
  const results::TidyTable& tidy;  ///< Of this run alone.
  const std::vector<EnvironmentItem>& environment;
  const std::vector<PackedFile>& files;
  const std::string& license;  ///< Empty: none was given.
};

/// `ro-crate-metadata.json`: a Workflow Run RO-Crate 0.6 with the profile Provenance Run Crate.
/// Source: https://w3id.org/ro/wfrun/provenance/0.6.
std::string metadata_json(const CrateSource& described);

}  // namespace bench::crate
