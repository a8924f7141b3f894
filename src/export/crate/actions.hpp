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
/// Of the formal parameters: all, or those that the workpackages of a step have.
std::vector<std::string> parameter_ids(const Described& described);
std::vector<std::string> parameter_ids_of(const std::string& step, const Described& described);
/// Of the values that analysers look for.
std::vector<std::string> output_ids(const Described& described);

/// UTC in the form of ISO 8601.
std::string start_of_run(const Described& described);
/// None: nothing has ended.
std::optional<std::string> end_of_run(const Described& described);

void add_size_and_hash(const PackedFile& file, Json& entity);

/// The run, what bench did for it, and every workpackage, with parameters and values.
void add_actions(const Described& described, EntityList& graph);

}  // namespace bench::crate
