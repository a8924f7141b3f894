#include "launches.hpp"

#include <algorithm>
#include <string>

#include <fmt/core.h>

#include <bench/evaluate/substitute.hpp>
#include <bench/job/render_context.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::job {
namespace {

constexpr const char* starter_name = "jube_starter";

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
  return std::max(count, 1);
}

std::string with_numbered_launches(const std::string& text, int& count) {
  return evaluate::number_names(text, starter_name, count);
}

std::string launch_variable(int number) {
  return fmt::format("{}_{}", starter_name, number);
}

std::string energy_directory(int number) {
  return fmt::format("energy_{}", number);
}

std::string collect_energy(int launches) {
  if (launches == 1)
    return "if [ ! -e energy.txt ] && ls energy.*.txt > /dev/null 2>&1; then\n"
           "  bench-energy combine --output energy.txt .\n"
           "fi";
  std::string directories;
  for (int number = 1; number <= launches; ++number)
    directories += " " + energy_directory(number);
  return fmt::format(
      "measured=$(ls -d{} 2> /dev/null)\n"
      "if [ -n \"$measured\" ]; then\n"
      "  bench-energy combine --in-sequence --output energy.txt $measured\n"
      "fi",
      directories);
}

}  // namespace bench::job
