#include "launches.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/energy/program/meter_directory.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/render_context.hpp>

namespace bench::space {
namespace {

namespace fs = std::filesystem;

constexpr const char* starter_name = "jube_starter";
constexpr const char* cycle_prefix = "energy_cycle_";

/// Where one would replace the files of another: those of the launches, and those of the cycles,
/// which have one directory.
bool has_several_meters(const model::Step& step, int launches) {
  return launches > 1 || step.cycles > 1;
}

/// Of the names of the directories of this cycle, which end with the number of the launch.
std::string directory_prefix(const RenderContext& context) {
  return context.step.cycles > 1
             ? fmt::format("{}{}_", cycle_prefix, context.workpackage.progress.cycle)
             : "energy_";
}

std::string directory_name(const RenderContext& context, int number) {
  return fmt::format("{}{}", directory_prefix(context), number);
}

}  // namespace

bool uses_launcher(const model::Step& step) {
  return std::ranges::any_of(step.commands, [](const model::Command& command) {
    return command.text.find(starter_name) != std::string::npos;
  });
}

int measured_launches(const RenderContext& context) {
  int count = 0;
  if (context.step.energy)
    for (const model::Command& command : context.step.commands) {
      int here = 0;
      with_numbered_launches(command.text, here);
      if (here > 0 && context.holds(command.active, command.place))
        count += here;
    }
  return count;
}

std::string with_numbered_launches(const std::string& text, int& count) {
  return evaluate::number_names(text, starter_name, count);
}

std::string launch_variable(int number) {
  return fmt::format("{}_{}", starter_name, number);
}

fs::path energy_directory(const RenderContext& context, int launches, int number) {
  if (has_several_meters(context.step, launches))
    return context.default_work() / directory_name(context, number);
  return context.default_work();
}

void remove_earlier_energy(const RenderContext& context) {
  if (!context.step.energy)
    return;
  const fs::path work = context.default_work();
  energy::remove_meter_files(work);
  const std::string prefix = directory_prefix(context);
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(work, absent)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && parse_integer(name.substr(prefix.size())) &&
        !entry.is_symlink(absent)) {
      energy::remove_meter_files(entry.path());
      fs::remove(entry.path(), absent);  // or it would be that of a meter that left nothing
    }
  }
}

std::string collect_energy(const RenderContext& context, int launches) {
  const std::string enter =
      context.work() == context.default_work()
          ? ""
          : fmt::format("cd {} || exit\n", shell_quote(context.default_work().string()));
  if (!has_several_meters(context.step, launches))
    return launches > 0 ? enter +
                              "if [ ! -e energy.txt ] && ls energy.*.txt > /dev/null 2>&1; then\n"
                              "  bench-energy combine --output energy.txt .\n"
                              "fi"
                        : "";
  std::string directories;
  if (context.step.cycles > 1)
    directories = fmt::format(" {}*", cycle_prefix);
  else
    for (int number = 1; number <= launches; ++number)
      directories += " " + directory_name(context, number);
  return fmt::format(
      "{}measured=$(ls -d{} 2> /dev/null)\n"
      "if [ -n \"$measured\" ]; then\n"
      "  bench-energy combine --in-sequence --output energy.txt $measured\n"
      "fi",
      enter, directories);
}

}  // namespace bench::space
