#include "crate_package.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <bench/base/files.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/machine/platform.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/input.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::crate {
namespace {

namespace fs = std::filesystem;
using document::Node;

/// Maps files to paths in `input/`: those below the input file's directory keep their relative
/// path, others go below `outside/` with their absolute path.
class Places {
 public:
  explicit Places(const fs::path& home) : home_(home.lexically_normal()) {}

  fs::path of(const fs::path& file) const {
    const fs::path normal = file.lexically_normal();
    return is_written_below(home_, normal) ? normal.lexically_relative(home_)
                                           : "outside" / normal.relative_path();
  }
  const fs::path& home() const { return home_; }

 private:
  fs::path home_;
};

void collect_files(const Node& node, std::set<std::string>& files) {
  files.insert(node.place.file);
  for (const Node& child : node.children)
    collect_files(child, files);
}

/// Makes relative paths start from the directories of the export.
void move_references(Node& node, const Places& places) {
  if (node.name == "benchmark")
    std::erase_if(node.attributes,
                  [](const document::Attribute& one) { return one.name == "file_path_ref"; });
  for (document::Attribute& attribute : node.attributes)
    if (attribute.name == "file_path_ref" && fs::path(attribute.value).is_absolute())
      attribute.value = places.of(attribute.value).string();
  for (Node& child : node.children)
    move_references(child, places);
}

/// A text with the parameters of each workpackage substituted; the text itself if it has none.
std::set<std::string> values_of(const std::string& text,
                                const std::vector<workspace::Workpackage>& workpackages) {
  if (text.find('$') == std::string::npos)
    return {text};
  std::set<std::string> values;
  const auto names = evaluate::names_in(text);
  std::set<std::vector<std::string>> seen;
  for (const workspace::Workpackage& one : workpackages) {
    std::map<std::string, std::string, std::less<>> known =
        workspace::values_of(one.parameters, {names.begin(), names.end()});
    std::vector<std::string> key;
    for (const auto& [name, value] : known)
      key.push_back(value);
    if (known.size() == names.size() && seen.insert(key).second)
      values.insert(evaluate::substitute(text, [&](std::string_view name) {
        const auto value = known.find(name);
        return value == known.end() ? nullptr : &value->second;
      }));
  }
  return values;
}

/// The existing sources of a copy or link.
std::set<fs::path> sources_of(const model::FileEntry& entry, const Places& places,
                              const std::vector<workspace::Workpackage>& workpackages) {
  std::set<fs::path> sources;
  if (entry.internal || entry.action == model::FileEntry::Action::prepare)
    return sources;
  for (const std::string& path : entry.paths)
    for (const std::string& named :
         values_of((fs::path(entry.source_dir) / path).string(), workpackages)) {
      for (const fs::path& file :
           files_matching(places.home() / entry.base, expand_user_and_environment(named)))
        sources.insert(file.has_filename() ? file : file.parent_path());
    }
  return sources;
}

/// A file, or all files of a directory. Follows only links that stay in it.
void add_source(const fs::path& source, const Places& places, Package& package) {
  const auto path_of = [&](const fs::path& file) {
    return (input_directory / places.of(file)).string();
  };
  std::error_code failed;
  if (!fs::is_directory(source, failed)) {
    package.add_file(path_of(source), fs::weakly_canonical(source, failed).parent_path(), source);
    return;
  }
  std::set<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(
           source, fs::directory_options::skip_permission_denied, failed))
    if (!entry.is_directory(failed))
      files.insert(entry.path());
  for (const fs::path& file : files)
    package.add_file(path_of(file), source, file);
}

/// Whether a source is inside of a directory both by name and after resolving links, which may lead
/// to a large data set or a private file.
bool lies_in(const fs::path& directory, const fs::path& source) {
  std::error_code failed;
  return is_written_below(directory, source) &&
         is_written_below(fs::weakly_canonical(directory, failed),
                          fs::weakly_canonical(source, failed));
}

void add_sources(const space::Run& run, const Places& places,
                 const std::vector<workspace::Workpackage>& workpackages, Package& package) {
  std::set<fs::path> sources;
  for (const model::FileSet& set : run.benchmark.file_sets)
    for (const model::FileEntry& entry : set.entries)
      sources.merge(sources_of(entry, places, workpackages));
  for (const fs::path& source : sources)
    if (lies_in(places.home(), source) ||
        std::ranges::any_of(run.benchmark.file_sets, [&](const model::FileSet& set) {
          return std::ranges::any_of(set.entries, [&](const model::FileEntry& entry) {
            return fs::path(entry.base).is_absolute() && lies_in(entry.base, source);
          });
        }))
      add_source(source, places, package);
    else
      package.leave_out(source.string(),
                        "is outside of the input file's directory, although a file set names it");
}

/// Adds the platform's files where `bench run` finds them beside the input.
void add_platform(const space::Run& run, Package& package) {
  std::string name = space::platform_source(run);
  const auto known = machine::platform_names(run.metadata.home);
  for (int k = 0; k < 8 && !name.empty(); ++k) {
    if (!machine::is_platform_file(name) && std::ranges::find(known, name) == known.end()) {
      package.leave_out("input/platforms/" + name + ".yaml", "platform not found");
      return;
    }
    const machine::Platform one = machine::load_platform(name, run.metadata.home);
    package.add_file("input/platforms/" + one.file.filename().string(), one.file.parent_path(),
                     one.file);
    name = one.extends;
    if (machine::is_platform_file(name))
      name = (one.file.parent_path() / name).string();
  }
}

void add_templates(const space::Run& run, Package& package) {
  std::set<std::string> names;
  const fs::path file = run.metadata.platform_file;
  std::error_code absent;
  if (fs::is_regular_file(file, absent))
    names.insert(machine::load_platform(file.string()).job_template);
  for (const model::Step& step : run.benchmark.steps)
    if (step.batch)
      names.insert(step.batch->job_template);
  names.erase("");
  const fs::path home = run.metadata.home;
  const fs::path beside = file.parent_path();
  std::vector<fs::path> directories{home, home / "templates", beside,
                                    beside.parent_path() / "templates"};
  for (const fs::path& directory : machine::data_directories())
    directories.push_back(directory / "templates");
  for (const std::string& name : names) {
    const auto found = std::ranges::find_if(directories, [&](const fs::path& directory) {
      return fs::is_regular_file(directory / name, absent);
    });
    const std::string path = "input/templates/" + fs::path(name).filename().string();
    if (found == directories.end())
      package.leave_out(path, "template not found");
    else
      package.add_file(path, fs::weakly_canonical(*found, absent), *found / name);
  }
}

/// The base directory of relative paths in the document. It is derived from the input file's name,
/// which is recorded as given and in full.
fs::path base_of_names(const fs::path& given, const fs::path& input_file) {
  fs::path base = input_file;
  fs::path up;
  for (const fs::path& part : given.lexically_normal())
    if (part == "..")
      up /= "any";  // `any/..` cancels out
    else
      base = base.parent_path();
  return given.is_absolute() ? fs::path("/") : base / up;
}

void add_as_read(const space::Run& run, const Node& document, const Places& places,
                 Package& package) {
  std::set<std::string> names;
  collect_files(document, names);
  names.erase("");
  const fs::path input = run.metadata.input_file;
  const fs::path base = base_of_names(document.place.file, input);
  std::set<fs::path> files{input};
  for (const std::string& name : names)
    files.insert((base / name).lexically_normal());
  std::error_code absent;
  for (const fs::path& file : files) {
    const std::string path = (input_directory / places.of(file)).string();
    if (file == input && space::input_state(run) == space::InputState::changed)
      package.leave_out(path, "has changed since the run began");
    else if (fs::is_regular_file(file, absent))
      package.add_file(path, fs::weakly_canonical(file, absent).parent_path(), file);
    else
      package.leave_out(path, "no longer exists");
  }
}

}  // namespace

std::string input_path_of(const space::Run& run) {
  return (input_directory / Places(run.metadata.home).of(run.metadata.input_file)).string();
}

void add_resolved_input(const space::Run& run, Package& package) {
  Node document = document::from_json(run.metadata.document);
  move_references(document, Places(run.metadata.home));
  package.add_text(resolved_file, document::to_xml(document));
}

void add_input(const space::Run& run, const std::vector<workspace::Workpackage>& workpackages,
               Package& package) {
  const Places places(run.metadata.home);
  add_as_read(run, document::from_json(run.metadata.document), places, package);
  add_sources(run, places, workpackages, package);
  add_platform(run, package);
  add_templates(run, package);
}

}  // namespace bench::crate
