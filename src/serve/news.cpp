#include "news.hpp"

#include "pages.hpp"

#include <string>

#include <nlohmann/json.hpp>

#include <bench/workspace/workpackage.hpp>

namespace bench::serve {

nlohmann::json json_of(const workspace::StepCounts& counts) {
  return {{"ready", counts.ready},         {"running", counts.running},
          {"submitted", counts.submitted}, {"pending", counts.pending},
          {"done", counts.done},           {"failed", counts.failed},
          {"skipped", counts.skipped},     {"ended", counts.ended()},
          {"all", counts.all()},           {"text", counts_text(counts)}};
}

std::string text_of(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace bench::serve
