#include "manual_page.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/energy/program/command_line.hpp>
#include <bench/energy/program/options.hpp>

namespace bench::cli {
namespace {

/// Not to be taken for requests, escapes or typographic dashes.
std::string escaped(std::string_view text) {
  std::string result;
  bool at_start = true;
  for (const char letter : text) {
    if (at_start && (letter == '.' || letter == '\''))
      result += "\\&";
    if (letter == '\\')
      result += "\\e";
    else if (letter == '-')
      result += "\\-";
    else if (letter == '\'')
      result += "\\(aq";
    else if (letter == '"')
      result += "\\(dq";
    else if (letter == '^')
      result += "\\(ha";
    else if (letter == '~')
      result += "\\(ti";
    else if (letter == '`')
      result += "\\(ga";
    else
      result += letter;
    at_start = letter == '\n';
  }
  return result;
}

std::string in_capitals(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char letter) { return std::toupper(letter); });
  return text;
}

std::string roff_of(const ManualPage::Section& section) {
  std::string roff = fmt::format(".SH {}\n", escaped(section.heading));
  if (!section.text.empty())
    roff += escaped(section.text) + "\n";
  for (const auto& [term, meaning] : section.entries)
    roff += fmt::format(".TP\n.B {}\n{}\n", escaped(term), escaped(meaning));
  if (!section.verbatim.empty())
    roff += fmt::format(".nf\n{}\n.fi\n", escaped(section.verbatim));
  return roff;
}

}  // namespace

std::string roff_of(const ManualPage& page, const std::string& version) {
  std::string roff = fmt::format(".TH {} 1 \"\" \"bench {}\" \"bench\"\n.SH NAME\n{} \\- {}\n",
                                 escaped(in_capitals(page.name)), version, escaped(page.name),
                                 escaped(page.summary));
  for (const ManualPage::Section& section : page.sections)
    roff += roff_of(section);
  return roff;
}

ManualPage meter_manual() {
  ManualPage page{
      .name = "bench-energy", .summary = "measures the energy that a program uses", .sections = {}};
  const auto helps = energy::helps();
  std::vector<std::string> usages;
  for (const energy::Help& help : helps)
    usages.emplace_back(help.usage);
  page.sections.push_back({.heading = "SYNOPSIS", .verbatim = join(usages, "\n")});
  for (const energy::Help& help : helps) {
    const std::string behind = *help.name ? fmt::format(" OF {}", in_capitals(help.name)) : "";
    page.sections.push_back({.heading = "DESCRIPTION" + behind, .verbatim = help.description});
    for (const auto& [heading, rows] : help.options) {
      ManualPage::Section options{.heading = in_capitals(heading) + behind};
      for (const energy::OptionRow& row : rows)
        options.entries.emplace_back(energy::left_of(row), row.help);
      page.sections.push_back(std::move(options));
    }
    if (*help.footer)
      page.sections.push_back({.heading = "NOTES" + behind, .verbatim = help.footer});
  }
  page.sections.push_back({.heading = "SEE ALSO", .text = "bench(1)"});
  return page;
}

}  // namespace bench::cli
