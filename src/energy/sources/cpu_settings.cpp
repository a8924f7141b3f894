#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/sources/setting.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {
namespace {

/// Source: Linux Documentation/admin-guide/pm/cpufreq.rst, policy interface in sysfs.
class Governor : public Setting {
 public:
  Governor(std::filesystem::path policy, std::string wanted)
      : policy_(std::move(policy)), wanted_(std::move(wanted)) {}

  std::string device() const override { return name(); }
  std::string device_id() const override { return policy_.string(); }

  void set() override {
    const std::string before = current();
    const std::string available = first_line(policy_ / "scaling_available_governors");
    if (const auto words = split_names(available, " "); std::ranges::count(words, wanted_) == 0)
      throw Error(fmt::format("{} has no governor '{}'", name(), wanted_),
                  "available: " + join(words, ", "));
    before_ = before;
    if (before != wanted_)
      write(wanted_);
  }

  void restore() override {
    if (!before_.empty() && current() != before_)
      write(before_);
  }

 private:
  std::string name() const { return policy_.filename().string(); }
  std::string file() const { return (policy_ / "scaling_governor").string(); }
  std::string current() const { return first_line(file()); }

  void write(const std::string& governor) const {
    const UniqueFd fd(::open(file().c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    const auto size = static_cast<ssize_t>(governor.size());
    if (!fd.valid() || ::write(fd.get(), governor.data(), governor.size()) != size)
      throw Error::of_system(
          fmt::format("cannot set the governor of {} to {}", name(), governor), errno,
          "setting it needs root; in a Slurm job `srun --cpu-freq=performance` may be allowed");
    if (const std::string now = current(); now != governor)
      throw Error(
          fmt::format("the governor of {} is {} after it was set to {}", name(), now, governor));
  }

  std::filesystem::path policy_;
  std::string wanted_;
  std::string before_;
};

}  // namespace

Settings cpu_settings(const std::string& governor, const std::filesystem::path& sysfs) {
  Settings settings;
  if (governor.empty())
    return settings;
  const auto directory = sysfs / "devices/system/cpu/cpufreq";
  for (const auto& policy : entries(directory, "policy"))
    settings.push_back(std::make_unique<Governor>(policy, governor));
  if (settings.empty())
    throw Error(fmt::format("no CPU has a governor: {} is empty", directory.string()),
                "virtual machines have none; remove cpu_governor");
  return settings;
}

}  // namespace bench::energy
