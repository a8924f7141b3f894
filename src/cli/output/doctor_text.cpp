#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/cli/output/doctor_text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/doctor_checks.hpp>

namespace bench::cli {
namespace {

constexpr std::size_t health_width = 9;
constexpr std::size_t check_width = 13;
constexpr std::size_t indent = health_width + check_width;
/// A terminal with less room for the text than that gets lines as they are.
constexpr std::size_t least_width = 30;

/// Lines of at most so many columns, if no word is wider.
std::string wrapped(const std::string& text, std::size_t width) {
  std::string lines;
  std::size_t used = 0;
  for (const std::string& word : split(text, " ")) {
    const std::size_t needed = display_width(word);
    if (used > 0 && used + 1 + needed > width) {
      lines += "\n";
      used = 0;
    } else if (used > 0) {
      lines += " ";
      ++used;
    }
    lines += word;
    used += needed;
  }
  return lines;
}

}  // namespace

std::string finding_text(const doctor::Finding& finding, std::size_t columns) {
  const bool breaks = columns >= indent + least_width;
  const auto text_of = [&](const std::string& text) {
    const std::string line = one_line(text);
    return hanging(breaks ? wrapped(line, columns - indent) : line, indent);
  };
  std::string text = fmt::format("{:<{}}{:<{}}{}\n", word_of(finding.health), health_width,
                                 finding.check, check_width, text_of(finding.text));
  if (!finding.remedy.empty())
    text += fmt::format("{:{}}{}\n", "", indent, text_of("hint: " + finding.remedy));
  return text;
}

std::string findings_summary(const std::vector<doctor::Finding>& findings) {
  const auto count = [&](doctor::Health health) {
    return static_cast<std::size_t>(std::ranges::count(findings, health, &doctor::Finding::health));
  };
  return fmt::format("{} ok, {}, {}", count(doctor::Health::ok),
                     plural(count(doctor::Health::warning), "warning"),
                     plural(count(doctor::Health::error), "error"));
}

}  // namespace bench::cli
