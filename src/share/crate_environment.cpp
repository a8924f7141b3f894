#include "crate_package.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>

namespace bench::crate {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* not_found = "not set, or not found when the run began";
constexpr const char* of_the_meter =
    "recorded only for steps with `energy` and programs that run for at least 1 s";

/// An item, the fact that holds it, and why it may be absent.
struct Item {
  const char* name;
  const char* fact;
  const char* absent_reason = not_found;
};
constexpr std::array known_items{
    Item{"host", "host"},
    Item{"system", "system"},
    Item{"cpu", "cpu"},
    Item{"cpus_usable", "cpus_usable"},
    Item{"topology", "topology"},
    Item{"clocks", "clocks"},
    Item{"memory_bytes", "memory_bytes"},
    Item{"gpus", "gpus"},
    Item{"gpu_driver", "gpu_driver"},
    Item{"firmware", "firmware"},
    Item{"nodes", "nodes", of_the_meter},
    Item{"modules", "modules"},
    Item{"environment", "environment"},
    Item{"compiler", "compiler", of_the_meter},
    Item{"libraries", "libraries", of_the_meter},
    Item{"container", "jube_platform_container"},
    Item{"container_digest", "container_digest", "no container, or its image is unknown"},
    Item{"git_revision", "git_revision"},
    Item{"git_difference", "git_difference", "no difference, or no git"},
    Item{"bench_version", "bench_version"},
    Item{"platform", "platform"},
    Item{"partition", "partition"},
    Item{"qos", "qos"},
    Item{"launcher", "launcher"},
    Item{"power_source", "power_source"},
};

}  // namespace

std::vector<EnvironmentItem> environment_of(const space::Run& run) {
  const auto facts = space::facts_of(run.metadata);
  std::vector<EnvironmentItem> all;
  for (const Item& item : known_items) {
    const auto fact = facts.find(item.fact);
    if (fact == facts.end() || fact->second.empty())
      all.push_back({item.name, "", item.absent_reason});
    else
      all.push_back({item.name, fact->second, ""});
  }
  // Facts recorded by newer versions of bench.
  for (const auto& [name, value] : run.metadata.provenance)
    if (std::ranges::none_of(known_items,
                             [&known = name](const Item& item) { return known == item.fact; }) &&
        name != "filters") {
      const auto same = std::ranges::find(all, name, &EnvironmentItem::name);
      if (same == all.end())
        all.push_back({name, value, ""});
      else
        *same = {name, value, ""};
    }
  return all;
}

std::string environment_json(const std::vector<EnvironmentItem>& items) {
  Json json = Json::object();
  for (const EnvironmentItem& item : items)
    json[item.name] =
        item.value.empty() ? Json{{"absent", item.absent_reason}} : Json{{"value", item.value}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace bench::crate
