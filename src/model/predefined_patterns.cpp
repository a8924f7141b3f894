#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <bench/model/benchmark.hpp>

namespace bench::model {
namespace {

struct Predefined {
  std::string_view name;
  std::string expression;
};

const std::array<Predefined, 7>& predefined() {
  static const std::array<Predefined, 7> all{{
      {"jube_pat_int", R"(([+-]?\d+))"},
      {"jube_pat_nint", R"((?:[+-]?\d+))"},
      {"jube_pat_fp", R"(([+-]?(?:\d*\.?\d+(?:[eE][-+]?\d+)?|\d+\.)))"},
      {"jube_pat_nfp", R"((?:[+-]?(?:\d*\.?\d+(?:[eE][-+]?\d+)?|\d+\.)))"},
      {"jube_pat_wrd", R"((\S+))"},
      {"jube_pat_nwrd", R"((?:\S+))"},
      {"jube_pat_bl", R"((?:\s+))"},
  }};
  return all;
}

}  // namespace

const std::string* predefined_pattern(std::string_view name) {
  const auto found = std::ranges::find(predefined(), name, &Predefined::name);
  return found == predefined().end() ? nullptr : &found->expression;
}

std::vector<std::string> predefined_pattern_names() {
  std::vector<std::string> names;
  for (const Predefined& one : predefined())
    names.emplace_back(one.name);
  return names;
}

}  // namespace bench::model
