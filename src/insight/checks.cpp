#include "check_functions.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/insight/checks.hpp>

namespace bench::doctor {

std::string word_of(Health health) {
  constexpr std::array words{"ok", "warning", "error"};
  return words[static_cast<std::size_t>(health)];
}

std::span<const Check> checks() {
  static const std::array all{
      Check{"kernel", check_kernel},
      Check{"libc", check_libc},
      Check{"clock", check_clock},
      Check{"file-system", check_file_system},
      Check{"space", check_space},
      Check{"locks", check_locks},
      Check{"database", check_database},
      Check{"small-files", check_small_files},
      Check{"python", check_python},
      Check{"perl", check_perl},
      Check{"shell", check_shell},
      Check{"bash", check_bash},
      Check{"platforms", check_platforms},
      Check{"scheduler", check_scheduler},
      Check{"partitions", check_partitions},
      Check{"accounting", check_accounting},
      Check{"accounts", check_accounts},
      Check{"limits", check_limits},
      Check{"gpus", check_gpus},
      Check{"power", check_power},
      Check{"steps", check_steps},
  };
  return all;
}

const Check& check_named(const std::string& name) {
  std::vector<std::string> known;
  for (const Check& check : checks()) {
    if (check.name == name)
      return check;
    known.push_back(check.name);
  }
  throw Error(fmt::format("unknown check '{}'", name), suggestion(name, known));
}

}  // namespace bench::doctor
