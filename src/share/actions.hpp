#pragma once

#include "json_ld.hpp"
#include "metadata.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench::crate {

inline constexpr const char* run_action_id = "#run";
inline constexpr const char* engine_action_id = "#bench-run";

std::string step_id(const std::string& step);
/// What a step executes.
std::string program_id(const std::string& step);
/// Ids of the formal parameters: all, or those of a step's workpackages.
std::vector<std::string> parameter_ids(const CrateSource& described);
std::vector<std::string> parameter_ids_of(const std::string& step, const CrateSource& described);
/// Ids of the values that analysers search for.
std::vector<std::string> output_ids(const CrateSource& described);

/// UTC in the form of ISO 8601; none if no workpackage has ended.
std::optional<std::string> end_of_run(const CrateSource& described);

void add_size_and_hash(const PackedFile& file, Json& entity);

/// Adds the run, bench's part in it, and every workpackage with parameters and values.
void add_actions(const CrateSource& described, EntityList& graph);

}  // namespace bench::crate
