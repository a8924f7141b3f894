#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <bench/workspace/workpackage.hpp>

namespace bench::serve {

/// The counts of a run or step as JSON, with `ended`, `all` and `text` for the page.
nlohmann::json json_of(const workspace::StepCounts& counts);

/// Serialises JSON whose strings may hold arbitrary bytes.
std::string text_of(const nlohmann::json& json);

}  // namespace bench::serve
