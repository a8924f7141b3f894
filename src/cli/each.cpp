#include "each.hpp"

#include "interruption.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/cli/output/log_file.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {
namespace {

/// The hint and the log of one run end with it.
int act_on_one_of_several(const workspace::RunDirectory& run, const RunAction& act) {
  int code = 1;
  try {
    code = act(run);
  } catch (const Error& error) {
    tell_errors({error}, short_path(run.path));
  }
  end_advice();
  command_log().close(code);
  return code;
}

}  // namespace

int act_on_each(const std::vector<workspace::RunDirectory>& runs, const RunAction& act) {
  if (runs.size() == 1)
    return act(runs.front());
  int worst = 0;
  for (const workspace::RunDirectory& run : runs) {
    worst = std::max(worst, act_on_one_of_several(run, act));
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
