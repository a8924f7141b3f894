#include <algorithm>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/csv.hpp>
#include <bench/energy/energy_file.hpp>
#include <bench/energy/jpwr.hpp>

namespace bench::energy {
namespace {

/// A cell as a number; nothing where it is empty.
template <typename Number>
std::optional<Number> number_in(const std::string& cell,
                                std::optional<Number> (*parse)(std::string_view),
                                const Place& place) {
  if (cell.empty())
    return std::nullopt;
  const auto number = parse(cell);
  if (!number)
    throw Error(fmt::format("'{}' is no number", cell), "", place);
  return number;
}

/// Our own file: finds cells by the names of their columns.
class OwnFile {
 public:
  OwnFile(const std::filesystem::path& file, std::vector<CsvLine> lines)
      : file_(file), lines_(std::move(lines)) {
    if (!has("energy_wh"))
      for (const std::string& name : lines_[0].cells)
        if (name.starts_with("energy_") && name.find('_', 7) == std::string::npos)
          throw Error(fmt::format("its energies are in {}, not in Wh", name.substr(7)), "",
                      place(lines_[0]));
    for (const char* name :
         {"channel", "energy_wh", "scope", "device", "device_id", "host", "rank"})
      if (!has(name))
        throw Error(fmt::format("it has no column {}", name),
                    "it is no energy.csv, or one of an older bench-energy", place(lines_[0]));
  }

  EnergyFile read() const {
    EnergyFile result;
    result.file = file_;
    for (const CsvLine& line : std::span(lines_).subspan(1)) {
      result.node = cell(line, "host");
      result.rank = number_in(cell(line, "rank"), parse_integer, place(line));
      if (cell(line, "channel") != "total")
        result.channels.push_back(record(line));
    }
    if (result.node.empty())
      throw Error("it does not tell its host", "", place(lines_[0]));
    return result;
  }

 private:
  bool has(const std::string& name) const { return std::ranges::count(lines_[0].cells, name) > 0; }

  const std::string& cell(const CsvLine& line, const std::string& name) const {
    const auto& names = lines_[0].cells;
    return line.cells[static_cast<std::size_t>(std::ranges::find(names, name) - names.begin())];
  }

  ChannelRecord record(const CsvLine& line) const {
    ChannelRecord result;
    result.channel.name = cell(line, "channel");
    result.channel.scope = scope_of(cell(line, "scope")).value_or(Scope::other);
    result.channel.device =
        static_cast<int>(number_in(cell(line, "device"), parse_integer, place(line)).value_or(-1));
    result.channel.device_id = cell(line, "device_id");
    result.energy_wh = number_in(cell(line, "energy_wh"), parse_number, place(line));
    return result;
  }

  Place place(const CsvLine& line) const { return {file_.string(), line.line, 0}; }

  std::filesystem::path file_;
  std::vector<CsvLine> lines_;
};

/// The node in `energy.<node>.<process>.csv`. Not with more dots: then part of the text may be a
/// suffix that somebody gave, another one for each rank.
std::string node_in_name(const std::filesystem::path& file) {
  const auto parts = split(file.filename().string(), ".");
  const bool plain = parts.size() == 4 && parts[0] == "energy" && parse_integer(parts[2]);
  return plain ? parts[1] : "";
}

EnergyFile read_jpwr_file(const std::filesystem::path& file, const std::vector<CsvLine>& lines) {
  EnergyFile result;
  result.file = file;
  for (const CsvLine& line : std::span(lines).subspan(1)) {
    const std::string& name = line.cells[0];
    const std::string& value = line.cells[1];
    const Place place{file.string(), line.line, 0};
    if (name == "nodename")
      result.node = value;
    else if (name == "rank")
      result.rank = number_in(value, parse_integer, place);
    else
      result.channels.push_back({channel_of_jpwr(name), number_in(value, parse_number, place)});
  }
  if (result.node.empty())
    result.node = node_in_name(file);
  if (result.node.empty())
    throw Error(fmt::format("{} does not tell its node", file.string()),
                "a line nodename,NAME does, as CARAML writes it, or the name "
                "energy.NODE.PROCESS.csv");
  return result;
}

}  // namespace

EnergyFile read_energy_file(const std::filesystem::path& file) {
  std::vector<CsvLine> lines = parse_csv(read_file(file), file);
  const std::vector<std::string> header =
      lines.empty() ? std::vector<std::string>{} : lines[0].cells;
  if (header == std::vector<std::string>{"", "0"})
    return read_jpwr_file(file, lines);
  if (!header.empty() && header[0] == "channel")
    return OwnFile(file, std::move(lines)).read();
  throw Error(fmt::format("{} is no energy file", file.string()),
              "it begins with the header of neither our energy.csv nor jpwr's");
}

}  // namespace bench::energy
