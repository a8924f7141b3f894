#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace bench::machine {

/// The processes of this machine and user that hand one of these submissions to a batch system
/// (BENCH_SUBMISSION), by submission: not the jobs themselves, which inherit it.
std::map<std::string, std::vector<int>> find_submitters(const std::set<std::string>& submissions);

}  // namespace bench::machine
