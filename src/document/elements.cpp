#include "elements.hpp"

#include <algorithm>

namespace bench::document {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

const std::vector<Element> elements = {
    {.name = "jube",
     .children = {"benchmark", "parameterset", "fileset", "substituteset", "patternset"},
     .attributes = {"version"},
     .later = {"selection", "include-path", "check_tags", "tags"}},
    {.name = "benchmark",
     .children = {"comment", "parameterset", "fileset", "substituteset", "step", "patternset",
                  "analyser", "result"},
     .attributes = {"name", "outpath"},
     .later = {"file_path_ref"}},
    {.name = "comment", .has_text = true},
    {.name = "parameterset",
     .children = {"parameter"},
     .attributes = {"name", "duplicate"},
     .later = {"init_with"}},
    {.name = "parameter",
     .has_text = true,
     .attributes = {"name", "type", "mode", "separator", "export", "unit", "update_mode",
                    "duplicate", "selection"}},
    {.name = "value", .has_text = true},
    {.name = "step",
     .children = {"use", "do", "batch", "energy"},
     .attributes = {"name", "depend", "iterations", "procs", "max_async", "active", "where",
                    "timeout", "cycles", "shared", "work_dir", "suffix", "export", "do_log_file"},
     .later = {"retry"}},
    {.name = "use", .has_text = true, .later = {"from"}},
    {.name = "do",
     .has_text = true,
     .attributes = {"stdout", "stderr", "active", "work_dir", "shared", "done_file", "error_file",
                    "break_file"}},
    {.name = "batch",
     .has_text = true,
     .attributes = {"nodes", "tasks_per_node", "threads_per_task", "gpus_per_node", "time_limit",
                    "template"},
     .later = {"array", "pack"}},
    {.name = "energy", .has_text = true, .attributes = {"methods", "interval"}},
    {.name = "fileset",
     .children = {"copy", "link", "prepare"},
     .attributes = {"name"},
     .later = {"init_with"}},
    {.name = "copy",
     .has_text = true,
     .attributes = {"name", "source_dir", "directory", "target_dir", "separator", "rel_path_ref",
                    "active", "file_path_ref"}},
    {.name = "link",
     .has_text = true,
     .attributes = {"name", "source_dir", "directory", "target_dir", "separator", "rel_path_ref",
                    "active", "file_path_ref"}},
    {.name = "prepare",
     .has_text = true,
     .attributes = {"stdout", "stderr", "work_dir", "active", "file_path_ref"}},
    {.name = "substituteset",
     .children = {"iofile", "sub"},
     .attributes = {"name"},
     .later = {"init_with"}},
    {.name = "iofile", .attributes = {"in", "out", "out_mode"}},
    {.name = "sub", .has_text = true, .attributes = {"source", "dest", "mode"}},
    {.name = "patternset", .children = {"pattern"}, .attributes = {"name"}, .later = {"init_with"}},
    {.name = "pattern",
     .has_text = true,
     .attributes = {"name", "mode", "type", "unit", "default", "dotall"}},
    {.name = "analyser", .children = {"use", "analyse"}, .attributes = {"name", "reduce"}},
    {.name = "analyse", .children = {"file"}, .attributes = {"step"}},
    {.name = "file", .has_text = true, .attributes = {"use"}},
    {.name = "result",
     .children = {"use", "table", "syslog", "database"},
     .attributes = {"result_dir"}},
    {.name = "table",
     .children = {"column"},
     .attributes = {"name", "style", "separator", "sort", "filter", "transpose"}},
    {.name = "syslog",
     .children = {"key"},
     .attributes = {"name", "address", "host", "port", "format", "sort", "filter"}},
    {.name = "database",
     .children = {"key"},
     .attributes = {"name", "file", "filter", "primekeys"}},
    {.name = "key", .has_text = true, .attributes = {"title", "format", "primekey"}},
    {.name = "column", .has_text = true, .attributes = {"title", "format", "colw"}},
};

}  // namespace

bool Element::has_child(std::string_view key) const {
  return contains(children, key);
}

bool Element::has_attribute(std::string_view key) const {
  return contains(attributes, key) || (key == "tag" && name != "jube");
}

bool Element::lacks(std::string_view key) const {
  return contains(later, key);
}

std::vector<std::string> Element::known() const {
  std::vector<std::string> names = children;
  names.insert(names.end(), attributes.begin(), attributes.end());
  names.insert(names.end(), later.begin(), later.end());
  if (name != "jube")
    names.emplace_back("tag");
  return names;
}

const Element& element(std::string_view name) {
  // `at` guards a row that was forgotten; a test looks every child up.
  const auto found = std::ranges::find(elements, name, &Element::name);
  return elements.at(static_cast<std::size_t>(found - elements.begin()));
}

}  // namespace bench::document
