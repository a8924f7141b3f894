#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace bench::analyse {
namespace {

struct Predefined {
  std::string_view name;
  std::string expression;
};

}  // namespace

const std::string* predefined_pattern(std::string_view name) {
  static const std::array<Predefined, 7> all{{
      {"jube_pat_int", R"(([+-]?\d+))"},
      {"jube_pat_nint", R"((?:[+-]?\d+))"},
      {"jube_pat_fp", R"(([+-]?(?:\d*\.?\d+(?:[eE][-+]?\d+)?|\d+\.)))"},
      {"jube_pat_nfp", R"((?:[+-]?(?:\d*\.?\d+(?:[eE][-+]?\d+)?|\d+\.)))"},
      {"jube_pat_wrd", R"((\S+))"},
      {"jube_pat_nwrd", R"((?:\S+))"},
      {"jube_pat_bl", R"((?:\s+))"},
  }};
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Predefined& known) { return known.name == name; });
  return found == all.end() ? nullptr : &found->expression;
}

}  // namespace bench::analyse
