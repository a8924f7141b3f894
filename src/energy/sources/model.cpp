#include <array>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/core/units.hpp>
#include <bench/energy/sources/cpu_model.hpp>
#include <bench/energy/sources/gpu_model.hpp>
#include <bench/energy/sources/model.hpp>
#include <bench/energy/sources/nvml_devices.hpp>
#include <bench/energy/sources/source_method.hpp>

namespace bench::energy {
namespace {

struct ModelKey {
  std::string_view name;
  PowerModel::Device device;
};
constexpr std::array model_keys{ModelKey{"cpu=", PowerModel::Device::cpu},
                                ModelKey{"node=", PowerModel::Device::node},
                                ModelKey{"gpu=", PowerModel::Device::gpu}};

}  // namespace

PowerModel parse_model(const std::string& text) {
  constexpr std::string_view range = "..";
  for (const ModelKey& key : model_keys) {
    if (!text.starts_with(key.name))
      continue;
    const std::string power = text.substr(key.name.size());
    const auto dots = power.find(range);
    PowerModel model{.device = key.device};
    if (dots != std::string::npos)
      model.idle_w = parse_power_w(power.substr(0, dots));
    model.full_w =
        parse_power_w(dots == std::string::npos ? power : power.substr(dots + range.size()));
    if (model.idle_w > model.full_w)
      throw Error(fmt::format("model '{}' draws more when idle than when busy", text),
                  "write idle..full, like cpu=20W..65W");
    return model;
  }
  throw Error(fmt::format("unknown model '{}'", text),
              "model:cpu=65W, model:cpu=20W..65W, model:node=300W..900W or model:gpu=60W..400W");
}

std::unique_ptr<PowerSource> open_model(const PowerModel& model, const NvmlSettings& nvml) {
  return model.device == PowerModel::Device::gpu ? open_gpu_model(model, nvml)
                                                 : open_cpu_model(model);
}

extern const SourceMethod model_method{
    .name = "model",
    .open =
        [](const std::string& argument, const SourceSettings&) {
          return open_model(parse_model(argument), nvml_settings_of_environment());
        },
    .argument = "cpu=20W..65W",
    .check = [](const std::string& argument) { parse_model(argument); },
    .note = "(an estimate from utilisation; also model:node=300W..900W, model:gpu=60W..400W)",
};

}  // namespace bench::energy
