#include "looks.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/doctor/checks.hpp>

namespace bench::doctor {

std::string word_of(Health health) {
  constexpr std::array words{"ok", "warning", "error"};
  return words[static_cast<std::size_t>(health)];
}

std::span<const Check> checks() {
  static const std::array all{
      Check{"kernel", look_at_kernel},
      Check{"libc", look_at_libc},
      Check{"clock", look_at_clock},
      Check{"file-system", look_at_file_system},
      Check{"space", look_at_space},
      Check{"locks", look_at_locks},
      Check{"database", look_at_database},
      Check{"small-files", look_at_small_files},
      Check{"python", look_at_python},
      Check{"perl", look_at_perl},
      Check{"shell", look_at_shell},
      Check{"bash", look_at_bash},
      Check{"platforms", look_at_platforms},
      Check{"scheduler", look_at_scheduler},
      Check{"partitions", look_at_partitions},
      Check{"accounting", look_at_accounting},
      Check{"accounts", look_at_accounts},
      Check{"limits", look_at_limits},
      Check{"gpus", look_at_gpus},
      Check{"power", look_at_power},
      Check{"steps", look_at_steps},
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
