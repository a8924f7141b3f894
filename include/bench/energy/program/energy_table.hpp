#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/process.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/report.hpp>

namespace bench::energy {

/// What a result belongs to.
struct Provenance {
  std::string host;
  std::optional<int> rank;  ///< Of the process that was measured, see `global_rank`.
  std::vector<std::string> program;
  std::optional<ExitStatus> status = ExitStatus{};  ///< None where nobody saw how it ended.
  double interval_s = 0;
  /// The start of the program on two clocks, to place the samples among other records.
  double started_unix_s = 0;
  double started_monotonic_s = 0;
};

struct EnergyColumn {
  std::string
      name;  ///< Ends in the unit: `_wh`, `_w`, `_s`, `_percent`; none is a number or a text.
  bool text = false;
};

/// What every format holds: a row per channel and, last, one for the `total` of the additive ones.
/// docs/reference/energy.md says what each column means.
struct EnergyTable {
  std::vector<EnergyColumn> columns;
  std::vector<std::vector<EnergyCell>> rows;
};

EnergyTable energy_table(const Measurement& measurement, const Provenance& provenance);

/// The table as CSV; absent values are empty cells.
std::string render_csv(const EnergyTable& table);

/// A document with `provenance`, `channels`, `total`, `absences` and `warnings`. An absent value is
/// null, and `absent` says why.
std::string render_json(const EnergyTable& table, const Measurement& measurement,
                        const Provenance& provenance);

/// What `provenance` holds, by the names that it has in all formats.
std::vector<std::pair<std::string, EnergyCell>> provenance_values(const Measurement& measurement,
                                                                  const Provenance& provenance);

/// What an energy file says about one channel.
struct ChannelRecord {
  Channel channel;
  std::optional<double> energy_wh;
};

/// An energy file that was read again: of one process on one node.
struct EnergyFile {
  std::filesystem::path file;
  std::string node;
  std::optional<long long> rank;  ///< Nothing outside of a parallel program.
  std::vector<ChannelRecord> channels;
};

/// Reads our `energy.csv` or `energy.json`, which name node, rank and devices, or jpwr's, which has
/// lines `nodename` and `rank` if CARAML wrote it, and else tells its node by its name alone,
/// `energy.<node>.<process>.csv`.
/// @throws bench::Error, with the place, if it cannot be read, is neither, has energies in another
///         unit than Wh, or does not tell its node
EnergyFile read_energy_file(const std::filesystem::path& file);

/// @throws bench::Error if `output` is one of `files`, by whatever name
void require_unread(std::span<const std::filesystem::path> files,
                    const std::filesystem::path& output);

}  // namespace bench::energy
