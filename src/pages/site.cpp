#include "html.hpp"
#include "pages.hpp"
#include "run_index.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/pages/report_page.hpp>
#include <bench/pages/site.hpp>

namespace bench::pages {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, PageMaker>, 3> pages{
    {{"", run_list_page}, {"news/runs", run_list_news}, {"compare", comparison_page}}};

constexpr std::array<std::pair<std::string_view, RunPageMaker>, 9> run_pages{
    {{"run", run_page},
     {"news/run", run_news},
     {"tables", tables_page},
     {"report", report_page},
     {"figures", figures_page},
     {"workpackage", workpackage_page},
     {"news/workpackage", workpackage_news},
     {"file", file_page},
     {"download", file_download}}};

constexpr const char* script_type = "text/javascript; charset=utf-8";

/// What the pages refer to, read once. Without Vega they have no figures.
std::map<std::string, PageResponse> installed_files() {
  std::map<std::string, PageResponse> files;
  files["page.css"] = {.type = "text/css; charset=utf-8",
                       .content = read_file(path_of("page.css"))};
  files["page.js"] = {.type = script_type, .content = script_with("serve.js")};
  if (reason_of_failure([&] { path_of("vega.js"); }).empty())
    files["vega.js"] = {.type = script_type, .content = read_file(path_of("vega.js"))};
  return files;
}

fs::path served_directory(const fs::path& root) {
  std::error_code failed;
  fs::path canonical = fs::canonical(root, failed);
  if (failed || !fs::is_directory(canonical, failed))
    throw Error(Id::unusable_file, fmt::format("{} is not a directory", root.string()),
                "name a directory that contains runs, directly or further down");
  return canonical;
}

}  // namespace

struct Site::Parts {
  explicit Parts(const fs::path& root)
      : context{root, RunIndex(root), {}, {}}, files(installed_files()) {}

  PageResponse respond(const PageRequest& request) {
    for (const auto& [path, make] : pages)
      if (path == request.path)
        return make(context, request);
    for (const auto& [path, make] : run_pages)
      if (path == request.path)
        return of_run(make, request);
    const auto file = files.find(request.path);
    return file == files.end() ? refusal(404, "Not found", "There is no such page.") : file->second;
  }

  PageResponse of_run(RunPageMaker make, const PageRequest& request) {
    const std::string name = parameter_of(request, "name");
    const auto run = context.index.find(name);
    return run ? make(context, *run, request)
               : refusal(404, "Not found", fmt::format("There is no run {}.", name));
  }

  PageContext context;
  std::map<std::string, PageResponse> files;
};

Site::Site(const fs::path& root) : parts_(std::make_unique<Parts>(served_directory(root))) {}

Site::~Site() = default;

PageResponse Site::answer(const PageRequest& request) const {
  PageResponse answer;
  const std::string reason = reason_of_failure([&] { answer = parts_->respond(request); });
  return reason.empty() ? answer : refusal(500, "This page cannot be shown", reason);
}

}  // namespace bench::pages
