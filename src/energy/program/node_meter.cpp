#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/program/child.hpp>
#include <bench/energy/program/node_meter.hpp>
#include <bench/energy/program/options.hpp>
#include <bench/energy/sources/claims.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/energy/sources/nvml_library.hpp>
#include <bench/energy/sources/thermal.hpp>

namespace bench::energy {
namespace {

constexpr const char* node_claim = "node";

/// Whether something comes before the program that needs the node as it is, or changes it.
bool prepares_node(const Options& options) {
  return options.baseline.count() > 0 || options.settings.any() ||
         options.thermal.kind != ThermalCondition::Kind::nothing;
}

}  // namespace

std::shared_ptr<Claims> claims_of_node(const Options& options) {
  const std::filesystem::path directory = claims_directory();
  if (directory.empty())
    return nullptr;
  if (options.settings.any() && !options.per_node)
    throw Error(Id::unsupported, "several meters on a node cannot set its processors",
                "add --per-node: one of them sets, and restores, what all use");
  return std::make_shared<Claims>(directory, claims_rank());
}

bool is_meter_of_node(const Options& options) {
  return !options.per_node || !options.sources.claims || options.sources.claims->take(node_claim);
}

int wait_for_meter_of_node(const Options& options) {
  return prepares_node(options) ? wait_for_owners(*options.sources.claims) : 0;
}

void tell_start(const Options& options) {
  if (options.per_node && options.sources.claims && prepares_node(options))
    options.sources.claims->tell_start(node_claim);
}

std::string hidden_gpus(const Options& options) {
  const NvmlSettings gpus = nvml_settings_of_environment();
  const auto& methods = options.sources.methods;
  if (!options.per_node || !options.sources.claims || task_count().value_or(1) < 2 ||
      !gpus.visible_devices || !gpus.job_devices ||
      std::ranges::find(methods, "nvml", &Method::name) == methods.end())
    return "";
  const auto visible = split_names(*gpus.visible_devices).size();
  const auto of_job = split_names(*gpus.job_devices).size();
  if (visible >= of_job)
    return "";
  return fmt::format(
      "CUDA_VISIBLE_DEVICES shows this meter {} of the {} GPUs of its job step on this node; leave "
      "--per-node out, so that each rank measures its own",
      visible, of_job);
}

}  // namespace bench::energy
