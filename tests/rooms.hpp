#pragma once

#include <map>
#include <set>
#include <string>

namespace bench {

/// The rooms of the meter lie between 1 and 2: no other one needs to know how many they are.
inline const std::map<std::string, double> levels{
    {"base", 0},
    {"language", 0},
    {"unit", 0.5},
    {"metric", 1},
    {"statistics", 1},
    {"mlperf", 1},
    {"verdict", 1.1},
    {"document/parse", 0.5},
    {"document", 1},
    {"evaluate", 1},
    {"model", 2},
    {"execute", 2},
    {"batch", 2.1},
    {"expand", 3},
    {"platform", 3},
    {"workspace", 3},
    {"analyse", 3},
    {"result", 3},
    {"references", 3.1},
    {"setup", 4},
    {"workflow", 5},
    {"job", 6},
    {"store", 7},
    {"tabulate", 7},
    {"sweep", 7.1},
    {"scheduler", 7.2},
    {"inspect", 8},
    {"export/crate", 8.3},
    {"export/formats", 8.3},
    {"mlflow", 8.4},
    {"doctor", 8.5},
    {"site", 8.6},
    {"report/figures", 8.2},
    {"report/page", 8.3},
    {"engine", 9},
    {"plan", 9.1},
    {"cli/output", 9.1},
    {"cli/help", 9.2},
    {"cli/runs", 9.2},
    {"serve", 9.3},
    {"cli", 10},
    {"cli/inspect", 10.1},
    {"cli/results", 10.1},
    {"energy/regions", 1},
    {"energy/core", 1.1},
    {"energy/sources", 1.2},
    {"energy/program", 1.3},
};

/// The libraries that each room may include.
inline const std::map<std::string, std::set<std::string>> libraries{
    {"base", {"boost", "openssl", "pcre2", "utf8cpp", "zlib"}},
    {"document/parse", {"boost", "yaml-cpp"}},
    {"document", {"nlohmann", "pugixml"}},
    {"language", {"nlohmann"}},
    {"mlflow", {"httplib.h", "nlohmann"}},
    {"mlperf", {"nlohmann"}},
    {"workspace", {"SQLiteCpp", "nlohmann"}},
    {"analyse", {"pcre2"}},
    {"statistics", {"boost"}},
    {"verdict", {"boost"}},
    {"result", {"SQLiteCpp", "nlohmann"}},
    {"engine", {"nlohmann"}},
    {"export/crate", {"archive", "nlohmann"}},
    {"export/formats", {"pugixml"}},
    {"report/figures", {"nlohmann"}},
    {"report/page", {"nlohmann", "openssl"}},
    {"serve", {"httplib.h", "nlohmann"}},
    {"cli", {"CLI"}},
    {"cli/inspect", {"CLI"}},
    {"cli/results", {"CLI"}},
    {"energy/program", {"nlohmann"}},
    {"doctor", {"nlohmann"}},
};

}  // namespace bench
