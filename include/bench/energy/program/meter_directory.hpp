#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::energy {

/// The suffix in the name of a meter's file: `n1` of `power.n1.csv`, empty for `power.csv`; nothing
/// for any other name.
/// @param stem `power`
/// @param extension `.csv`
std::optional<std::string> suffix_of(std::string_view file_name, std::string_view stem,
                                     std::string_view extension);

/// Whether these are the samples of a meter, ours or jpwr's. Those of one that was killed before it
/// wrote the header are empty.
bool holds_samples(const std::filesystem::path& file);

/// The files of the meters that had a directory as `--out`, all at the same time.
struct MeterDirectory {
  std::vector<std::filesystem::path> summaries;  ///< `energy.SUFFIX.txt`, one per meter.
  /// The samples, or else the record, of each meter that wrote no summary: it was killed, or runs.
  std::vector<std::filesystem::path> unfinished;
};

/// Looks for them. `energy.txt` beside `energy.SUFFIX.txt` is what `combine` made of those, and not
/// the summary of a meter. A `power.SUFFIX.csv` with other columns than ours is not a meter's.
/// @throws bench::Error if the directory cannot be read
MeterDirectory meter_directory(const std::filesystem::path& directory);

/// Removes the results, samples, marks and records, so that they do not pass for those of the
/// meters that will have the directory next. Other files stay, and a missing directory is fine.
void remove_meter_files(const std::filesystem::path& directory);

}  // namespace bench::energy
