#include "pages.hpp"
#include "reason.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/platform/platform.hpp>
#include <bench/serve/site.hpp>

namespace bench::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, PageMaker>, 3> pages{
    {{"", run_list_page}, {"news/runs", run_list_news}, {"compare", comparison_page}}};

constexpr std::array<std::pair<std::string_view, RunPageMaker>, 8> run_pages{
    {{"run", run_page},
     {"news/run", run_news},
     {"tables", tables_page},
     {"report", report_page},
     {"workpackage", workpackage_page},
     {"news/workpackage", workpackage_news},
     {"file", file_page},
     {"download", file_download}}};

/// What the installation holds, read once.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> installed{
    {{"page.css", "text/css; charset=utf-8"}, {"page.js", "text/javascript; charset=utf-8"}}};

fs::path served_directory(const fs::path& root) {
  std::error_code failed;
  fs::path canonical = fs::canonical(root, failed);
  if (failed || !fs::is_directory(canonical, failed))
    throw Error(fmt::format("{} is not a directory", root.string()),
                "give a directory that has runs in it or below it");
  return canonical;
}

}  // namespace

struct Site::Parts {
  explicit Parts(const fs::path& root) : shelf{root, RunIndex(root), {}, {}} {
    for (const auto& [name, type] : installed)
      files[std::string(name)] = {
          .type = std::string(type),
          .content = read_file(platform::data_directory() / "serve" / name)};
  }

  Answer made(const Question& question) {
    for (const auto& [path, make] : pages)
      if (path == question.path)
        return make(shelf, question);
    for (const auto& [path, make] : run_pages)
      if (path == question.path)
        return of_run(make, question);
    const auto file = files.find(question.path);
    return file == files.end() ? refusal(404, "Not found", "There is no such page.") : file->second;
  }

  Answer of_run(RunPageMaker make, const Question& question) {
    const std::string name = parameter_of(question, "name");
    const auto run = shelf.index.find(name);
    return run ? make(shelf, *run, question)
               : refusal(404, "Not found", fmt::format("There is no run {}.", name));
  }

  Shelf shelf;
  std::map<std::string, Answer> files;
};

Site::Site(const fs::path& root) : parts_(std::make_unique<Parts>(served_directory(root))) {}

Site::~Site() = default;

Answer Site::answer(const Question& question) const {
  Answer answer;
  const std::string reason = reason_of_failure([&] { answer = parts_->made(question); });
  return reason.empty() ? answer : refusal(500, "This cannot be shown", reason);
}

}  // namespace bench::serve
