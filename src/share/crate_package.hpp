#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <bench/results/tidy.hpp>
#include <bench/share/crate_archive.hpp>
#include <bench/share/secrets.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::crate {

/// A file of the export.
struct PackedFile {
  std::string path;  ///< Relative to the export, with `/`.
  std::uintmax_t bytes = 0;
  std::string sha256;
};

/// A file that was left out of the export.
struct LeftOut {
  std::string path;
  std::string reason;
};

/// Adds files to an archive. Scrubs secrets from texts, and lists the files that are left out with
/// the reason. If a path is added twice, the first file is kept.
class Package {
 public:
  /// @param interrupted stops adding files when it becomes true; may be null
  Package(Archive& archive, Scrubber& scrubber, std::uintmax_t most_bytes,
          const std::atomic<bool>* interrupted)
      : archive_(archive),
        scrubber_(scrubber),
        most_bytes_(most_bytes),
        interrupted_(interrupted) {}

  /// Adds a text written by bench.
  void add_text(const std::string& path, const std::string& text);
  /// Adds a file that is scrubbed already, or contains no text of the run.
  void add_as_is(const std::string& path, std::string_view content);
  /// Adds a regular file in `directory`. Leaves it out if it is not regular, lies behind a link out
  /// of the directory, is too large, or contains a secret that cannot be replaced.
  void add_file(const std::string& path, const std::filesystem::path& directory,
                const std::filesystem::path& file);
  void leave_out(const std::string& path, const std::string& reason);

  bool is_interrupted() const { return interrupted_ && *interrupted_; }
  const std::vector<PackedFile>& files() const { return files_; }
  const std::vector<LeftOut>& left_out() const { return left_out_; }
  Scrubber& scrubber() const { return scrubber_; }

 private:
  Archive& archive_;
  Scrubber& scrubber_;
  std::uintmax_t most_bytes_;
  const std::atomic<bool>* interrupted_;
  std::vector<PackedFile> files_;
  std::vector<LeftOut> left_out_;
  std::set<std::string> paths_;
};

/// A property of the environment that may affect measurements.
struct EnvironmentItem {
  std::string name;
  std::string value;          ///< Empty if unknown.
  std::string absent_reason;  ///< Why it is unknown.
};

/// In the order of the list in docs/reference/export.md.
std::vector<EnvironmentItem> environment_of(const space::Run& run);

/// As a JSON object of objects with `value` or `absent`.
std::string environment_json(const std::vector<EnvironmentItem>& items);

/// Paths in an export that are used in several places.
inline constexpr const char* input_directory = "input";
inline constexpr const char* resolved_file = "input/resolved.xml";
inline constexpr const char* run_directory = "run";

/// Path of the original input file in the export; it may have been left out.
std::string input_path_of(const space::Run& run);

/// Adds the resolved input, which `bench run` runs again.
void add_resolved_input(const space::Run& run, Package& package);

/// Adds the other files that a run was made from, where `bench run` finds them beside
/// `resolved_file`: the original input, the sources of file sets, the platform's files and the job
/// templates.
void add_input(const space::Run& run, const std::vector<workspace::Workpackage>& workpackages,
               Package& package);

/// Everything that the metadata of a crate describes.
struct CrateSource {
  const space::Run& run;
  const results::TidyTable& tidy;  ///< Of this run alone.
  const std::vector<EnvironmentItem>& environment;
  const std::vector<PackedFile>& files;
  const std::string& license;  ///< Empty: none was given.
};

/// `ro-crate-metadata.json`: a Workflow Run RO-Crate 0.6 with the profile Provenance Run Crate.
/// Source: https://w3id.org/ro/wfrun/provenance/0.6.
std::string metadata_json(const CrateSource& described);

}  // namespace bench::crate
