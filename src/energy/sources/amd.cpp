#include <memory>
#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/source_method.hpp>

namespace bench::energy {

extern const SourceMethod amdgpu_method;
extern const SourceMethod rocm_method;
extern const SourceMethod amdsmi_method;

namespace {

/// All read the same of a GPU, each at more cost than the one before: the first that works.
std::unique_ptr<PowerSource> open_amd(const std::string& argument, const SourceSettings& settings) {
  std::vector<std::string> reasons;
  for (const SourceMethod* method : {&amdgpu_method, &rocm_method, &amdsmi_method}) {
    try {
      return method->open(argument, settings);
    } catch (const Error& absent) {
      reasons.push_back(absent.message());
    }
  }
  throw Error(join(reasons, "; "));
}

}  // namespace

extern const SourceMethod amd_method{
    .name = "amd",
    .open = open_amd,
    .automatic = true,
    .has_devices = true,
    .note = "(the first of amdgpu, rocm, amdsmi that works)",
};

}  // namespace bench::energy
