#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/ticks.hpp>

namespace bench::energy {

/// The file to which a program appends its marks, and the thread that reads them as they come. A
/// file and not a pipe: it cannot block the program or end it by SIGPIPE, whatever becomes of the
/// meter, processes that close their descriptors find it by its name, and it survives the meter.
class RegionFile {
 public:
  /// Called for every line, in order, by one thread at a time.
  using Listener = std::function<void(std::string_view line, Clock::time_point received)>;

  /// Empties the file, or creates it. Without a name it is a temporary one, which goes away with
  /// this.
  /// @throws bench::Error if it cannot be written or watched
  explicit RegionFile(const std::filesystem::path& file);
  RegionFile(const RegionFile&) = delete;
  RegionFile& operator=(const RegionFile&) = delete;
  ~RegionFile();

  /// Absolute.
  const std::filesystem::path& path() const { return path_; }
  void listen(Listener listener);
  /// Reads the rest and ends. A last line without its end counts.
  void stop();

 private:
  void read_new(Clock::time_point received);
  void run();

  std::filesystem::path path_;
  bool temporary_ = false;
  UniqueFd file_;
  UniqueFd watch_;
  UniqueFd stop_;
  Listener listener_;
  std::thread thread_;
  bool read_at_stop_ = false;  ///< No thread could be started.
  std::string pending_;
  long long offset_ = 0;
};

}  // namespace bench::energy
