#include "command.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/cli/output/output.hpp>
#include <bench/cli/output/platform_sheet.hpp>
#include <bench/platform/machine.hpp>
#include <bench/platform/platform.hpp>
#include <bench/platform/words.hpp>

namespace bench::cli {
namespace {

using platform::Machine;
using platform::MaybeFact;
using platform::Platform;

std::string marked(const MaybeFact& fact) {
  return fact ? fmt::format("{}{}", fact->value, fact->unconfirmed ? "?" : "") : "";
}

/// `4 NVIDIA A100`, or `8 (4 AMD MI250)` where one that is sold shows as two.
std::string devices_text(const Machine& machine) {
  const std::string devices = marked(machine.devices_per_node);
  const std::string modules = marked(machine.modules_per_node);
  const std::string& name = machine.accelerator.name;
  if (devices == modules)
    return devices.empty() ? "" : devices + " " + name;
  return fmt::format("{} ({} {})", devices, modules, name);
}

void list_platforms() {
  std::vector<std::vector<std::string>> rows;
  bool doubtful = false;
  for (const std::string& name : platform::platform_names()) {
    const Platform platform = platform::load_platform(name);
    const bool sure = !platform.unconfirmed.contains("status");
    rows.push_back({name, platform.site, platform.scheduler, devices_text(platform.machine),
                    marked(platform.machine.accelerator.peak_fp16_tflops),
                    word_of(platform::status_words(), platform.status) + (sure ? "" : "?")});
    for (const std::string& cell : rows.back())
      doubtful |= cell.find('?') != std::string::npos;
  }
  print(text_table({"tag", "site", "scheduler", "devices per node", "FP16 peak[TFLOP/s]", "status"},
                   rows));
  if (doubtful)
    print("? unconfirmed; `bench platforms show TAG` shows the sources\n");
}

}  // namespace

std::function<int()> declare_platforms(CLI::App& app) {
  const auto tag = std::make_shared<std::string>();
  CLI::App* show =
      app.add_subcommand("show", "show everything known about one machine, with sources");
  show->add_option("NAME", *tag, "its name, one of its tags, or its file")->required();
  show->fallthrough();
  app.require_subcommand(0, 1);
  return [tag, show] {
    if (!show->parsed()) {
      list_platforms();
      return 0;
    }
    const std::string name =
        platform::is_platform_file(*tag) ? "" : platform::platform_of_tag(*tag);
    print(platform_sheet(platform::load_platform(name.empty() ? *tag : name)));
    return 0;
  };
}

}  // namespace bench::cli
