#include "slurm_associations.hpp"

#include "ask_program.hpp"
#include "slurm_program.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <pwd.h>
#include <unistd.h>

#include <bench/base/process.hpp>
#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/partition.hpp>

namespace bench::batch {
namespace {

/// The name of the user's own cluster; empty if it is not known.
std::string own_cluster() {
  const ProgramAnswer answer = ask_slurm({"scontrol", "show", "config"}, "");
  static const Regex line(R"(ClusterName\s*=\s*(\S+))");
  const auto found = line.search(answer.output);
  return found ? (*found)[1] : "";
}

}  // namespace

std::vector<Association> ask_slurm_associations(const std::vector<std::string>& clusters) {
  const passwd* user = ::getpwuid(::getuid());
  if (!user)
    return {};
  const ProgramAnswer answer =
      ask_program({"sacctmgr", "-n", "-P", "show", "associations",
                   std::string("user=") + user->pw_name, "format=cluster,account,qos"},
                  current_environment());
  if (!answer.ok())
    return {};
  std::vector<std::pair<std::string, Association>> rows;
  std::set<std::string> known;
  for (const std::string& line : split_names(answer.output, "\n"))
    if (const auto fields = split(line, "|"); fields.size() == 3) {
      rows.emplace_back(fields[0],
                        Association{.account = fields[1], .qos = split_names(fields[2])});
      known.insert(fields[0]);
    }
  std::set<std::string> wanted(clusters.begin(), clusters.end());
  wanted.erase("");
  // A site's accounting may serve many clusters, each with its own accounts.
  if (wanted.empty() && known.size() > 1)
    wanted.insert(own_cluster());
  std::vector<Association> associations;
  for (auto& [cluster, association] : rows)
    if (wanted.empty() || wanted.contains("") || wanted.contains(cluster))
      associations.push_back(std::move(association));
  return associations;
}

}  // namespace bench::batch
