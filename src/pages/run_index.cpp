#include "run_index.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/stat.h>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::pages {
namespace {

namespace fs = std::filesystem;
using workspace::RunDirectory;
using workspace::Workspace;

constexpr std::array records{"workspace.db", "workspace.db-wal", "configuration.xml",
                             "workpackages.xml", "analyse.xml"};

/// A home directory may have hundreds of thousands of directories, and a user waits for the page.
constexpr std::size_t most_directories = 20'000;

bool has_linked_records(const fs::path& directory) {
  return std::ranges::any_of(records, [&](const char* name) {
    std::error_code absent;
    return fs::is_symlink(fs::symlink_status(directory / name, absent));
  });
}

class Search {
 public:
  explicit Search(const fs::path& root) : root_(root) {
    std::vector<fs::path> waiting{root};
    while (!waiting.empty()) {
      const fs::path directory = std::move(waiting.back());
      waiting.pop_back();
      if (++seen_ > most_directories)
        return;
      if (workspace::is_run(directory))
        add(directory);
      else
        add_directories(directory, waiting);
    }
  }

  std::map<std::string, RunDirectory> found;
  bool is_cut_short() const { return seen_ > most_directories; }

 private:
  void add(const fs::path& directory) {
    if (has_linked_records(directory))
      return;
    const auto id = parse_integer(directory.filename().string());
    found.emplace(directory.lexically_relative(root_).generic_string(),
                  RunDirectory{id ? static_cast<int>(*id) : 0, directory});
  }

  static void add_directories(const fs::path& directory, std::vector<fs::path>& waiting) {
    std::error_code failed;
    for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
         entry.increment(failed)) {
      std::error_code gone;
      if (fs::is_directory(entry->symlink_status(gone)) &&
          !entry->path().filename().string().starts_with('.'))
        waiting.push_back(entry->path());
    }
  }

  const fs::path& root_;
  std::size_t seen_ = 0;
};

void read_into(RunSummary& summary) {
  const Workspace workspace = Workspace::open(summary.directory.path, Workspace::Access::read);
  space::RunMetadata metadata = space::metadata_from(workspace.facts());
  metadata.started_unix_s = space::start_unix_s(metadata, workspace);
  summary.benchmark = metadata.benchmark;
  summary.comment = metadata.comment;
  summary.platform = metadata.platform;
  summary.started = space::start_for_people(metadata);
  summary.started_unix_s = metadata.started_unix_s;
  summary.steps = workspace.counts();
  summary.last_change_unix_s = insight::last_change_unix_s(workspace);
  summary.last_change = summary.last_change_unix_s ? local_time_at(*summary.last_change_unix_s)
                                                   : insight::last_change(workspace);
  if (!summary.last_change_unix_s)
    summary.last_change_unix_s = summary.started_unix_s;
}

}  // namespace

std::string RunSummary::outpath() const {
  return fs::path(name).parent_path().generic_string();
}

workspace::StepCounts RunSummary::counts() const {
  return workspace::sum_of(steps);
}

std::string state_of(const RunSummary& run) {
  if (!run.unreadable.empty())
    return "unreadable";
  return std::string(name_of(insight::run_state(run.directory, run.steps)));
}

bool is_final(const std::string& state) {
  return state == "finished" || state == "failed";
}

std::string elapsed_text(const RunSummary& run, const std::string& state) {
  const auto& started = run.started_unix_s;
  const auto ended = state == "running" ? std::optional(unix_time_now()) : run.last_change_unix_s;
  return started && ended && *ended >= *started ? human_duration(*ended - *started) : "";
}

std::string reason_of_failure(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.hint().empty() ? error.message() : error.message() + "; " + error.hint();
  }
  return "";
}

std::string stamp_of(const fs::path& run_directory) {
  std::string stamp;
  for (const char* name : records) {
    struct stat info {};
    if (::lstat((run_directory / name).c_str(), &info) == 0)
      stamp += fmt::format("{}:{}:{}.{} ", info.st_ino, info.st_size, info.st_mtim.tv_sec,
                           info.st_mtim.tv_nsec);
    stamp += ";";
  }
  return stamp;
}

const std::map<std::string, RunDirectory>& RunIndex::directories() {
  const auto begin = Clock::now();
  if (begin < next_look_)
    return directories_;
  Search search(root_);
  directories_ = std::move(search.found);
  cut_short_ = search.is_cut_short();
  std::erase_if(known_, [&](const auto& known) { return !directories_.contains(known.first); });
  // Limits the load on a slow file system.
  const auto end = Clock::now();
  next_look_ = end + std::max<Clock::duration>(std::chrono::milliseconds(500), 10 * (end - begin));
  return directories_;
}

std::shared_ptr<const RunSummary> RunIndex::read(const std::string& name,
                                                 const RunDirectory& directory) {
  std::string stamp = stamp_of(directory.path);
  Known& known = known_[name];
  if (known.summary && known.stamp == stamp)
    return known.summary;
  auto summary = std::make_shared<RunSummary>();
  summary->name = name;
  summary->directory = directory;
  summary->unreadable = reason_of_failure([&] { read_into(*summary); });
  known = {std::move(stamp), summary};
  return summary;
}

std::vector<std::shared_ptr<const RunSummary>> RunIndex::all() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const RunSummary>> summaries;
  for (const auto& [name, directory] : directories())
    summaries.push_back(read(name, directory));
  return summaries;
}

std::shared_ptr<const RunSummary> RunIndex::find(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto known = directories_.find(name);
  if (known != directories_.end() && workspace::is_run(known->second.path))
    return read(known->first, known->second);
  const auto& all = directories();
  const auto found = all.find(name);
  return found == all.end() ? nullptr : read(found->first, found->second);
}

bool RunIndex::is_cut_short() const {
  const std::lock_guard lock(mutex_);
  return cut_short_;
}

}  // namespace bench::pages
