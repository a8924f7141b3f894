#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/cli/output/log_file.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/cli/runs/each.hpp>
#include <bench/cli/runs/interruption.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {
namespace {

int isolate_errors(const workspace::RunDirectory& directory, const std::function<int()>& act) {
  try {
    return act();
  } catch (const Error& error) {
    tell(render(Error(fmt::format("{}: {}", short_path(directory.path), error.message()),
                      error.hint(), error.place())),
         Level::error);
    if (error.place().known() && !advice().empty())
      tell(advice());
    end_advice();
    command_log().close(1);
    return 1;
  }
}

}  // namespace

int act_on_each(const std::vector<workspace::RunDirectory>& runs,
                const std::function<int(const workspace::RunDirectory&)>& act) {
  int worst = 0;
  for (const workspace::RunDirectory& run : runs) {
    worst = std::max(worst,
                     runs.size() == 1 ? act(run) : isolate_errors(run, [&] { return act(run); }));
    if (is_interruption_code(worst))
      break;
  }
  return worst;
}

std::string why_unsound(const std::function<void()>& read) {
  try {
    read();
    return "";
  } catch (const Error& error) {
    return error.message();
  }
}

void skip_if_unsound(const workspace::RunDirectory& directory, const std::function<void()>& read) {
  if (const std::string why = why_unsound(read); !why.empty())
    tell(fmt::format("note: {} is left out: {}", short_path(directory.path), why));
}

}  // namespace bench::cli
