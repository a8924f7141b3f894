#include "writer.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

const Writer& writer_of(const std::string& name) {
  for (const Writer* writer : writers())
    if (writer->style.name == name)
      return *writer;
  throw Error(Id::unknown_name, fmt::format("unknown table style '{}'", name),
              suggestion(name, style_names(Styles::all), "the styles are "));
}

}  // namespace

std::span<const Writer* const> writers() {
  static constexpr std::array all{&csv_writer,   &pretty_writer,     &aligned_writer,
                                  &json_writer,  &json_lines_writer, &markdown_writer,
                                  &latex_writer, &html_writer,       &parquet_writer};
  return all;
}

std::vector<std::string> style_names(Styles styles) {
  std::vector<std::string> names;
  for (const Writer* writer : writers())
    if (writer->style.is_text || styles == Styles::all)
      names.emplace_back(writer->style.name);
  return names;
}

const Style& style_of(const std::string& name) {
  return writer_of(name).style;
}

std::string style_of_file(const std::string& file) {
  const std::string ending = std::filesystem::path(file).extension().string();
  if (ending.empty() || ending == ".txt")
    return "";
  std::vector<std::string> known;
  for (const Writer* writer : writers()) {
    if (writer->style.ending == ending)
      return std::string(writer->style.name);
    if (!writer->style.ending.empty())
      known.emplace_back(writer->style.ending);
  }
  throw Error(
      Id::unknown_name, fmt::format("no style of tables has files that end in '{}'", ending),
      fmt::format("known: {}; `-s STYLE` writes any style under any name", join(known, ", ")));
}

std::string render(const Table& table, const std::string& style, Notes notes) {
  const Writer& writer = writer_of(style);
  std::vector<std::string> lines;
  if (notes == Notes::below && !writer.style.is_for_programs)
    lines = notes_of(table);
  if (notes == Notes::below && writer.style.shows_spreads)
    std::ranges::move(notes_of_spreads(table), std::back_inserter(lines));
  return writer.write(table, lines);
}

}  // namespace bench::results
