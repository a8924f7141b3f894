#include "news.hpp"

#include "pages.hpp"

#include <string>

#include <nlohmann/json.hpp>

#include <bench/workspace/workpackage.hpp>

namespace bench::serve {

nlohmann::json json_of(const workspace::StepCounts& counts) {
  nlohmann::json json{{"ended", counts.ended()}, {"all", counts.all()}, {"text", text_of(counts)}};
  for (const workspace::State state : workspace::all_states)
    json[std::string(name_of(state))] = counts.of(state);
  return json;
}

std::string text_of(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace bench::serve
