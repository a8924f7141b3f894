#include "ask_program.hpp"

#include <pwd.h>
#include <unistd.h>

#include <bench/base/text.hpp>
#include <bench/execute/slurm_associations.hpp>

namespace bench::execute {

std::vector<Association> ask_associations() {
  const passwd* user = ::getpwuid(::getuid());
  if (!user)
    return {};
  const ProgramAnswer answer =
      ask_program({"sacctmgr", "-n", "-P", "show", "associations",
                   std::string("user=") + user->pw_name, "format=account,qos"},
                  current_environment());
  std::vector<Association> associations;
  if (!answer.ok())
    return associations;
  for (const std::string& line : split_names(answer.output, "\n"))
    if (const auto fields = split(line, "|"); fields.size() == 2)
      associations.push_back({.account = fields[0], .qos = split_names(fields[1])});
  return associations;
}

}  // namespace bench::execute
