#include "elements.hpp"

#include <algorithm>

namespace bench::document {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

const std::vector<Element> elements = {
    {.name = "jube",
     .children = {"benchmark", "parameterset", "patternset"},
     .attributes = {"version"},
     .later = {"selection", "include-path", "check_tags", "tags", "fileset", "substituteset"}},
    {.name = "benchmark",
     .children = {"comment", "parameterset", "step", "patternset", "analyser", "result"},
     .attributes = {"name", "outpath"},
     .later = {"fileset", "substituteset", "file_path_ref"}},
    {.name = "comment", .has_text = true},
    {.name = "parameterset",
     .children = {"parameter"},
     .attributes = {"name"},
     .later = {"init_with", "duplicate"}},
    {.name = "parameter",
     .has_text = true,
     .attributes = {"name", "type", "mode", "separator", "export", "unit"},
     .later = {"update_mode", "duplicate", "selection"}},
    {.name = "value", .has_text = true},
    {.name = "step",
     .children = {"use", "do", "batch", "energy"},
     .attributes = {"name", "depend", "iterations", "procs", "max_async", "active", "where",
                    "timeout"},
     .later = {"cycles", "shared", "work_dir", "suffix", "export", "do_log_file", "retry"}},
    {.name = "use", .has_text = true, .later = {"from"}},
    {.name = "do",
     .has_text = true,
     .attributes = {"stdout", "stderr", "active"},
     .later = {"work_dir", "shared", "done_file", "error_file", "break_file"}},
    {.name = "batch",
     .has_text = true,
     .attributes = {"nodes", "tasks_per_node", "threads_per_task", "gpus_per_node", "time_limit",
                    "template"},
     .later = {"array", "pack"}},
    {.name = "energy", .has_text = true, .attributes = {"methods", "interval"}},
    {.name = "patternset", .children = {"pattern"}, .attributes = {"name"}, .later = {"init_with"}},
    {.name = "pattern",
     .has_text = true,
     .attributes = {"name", "mode", "type", "unit", "default", "dotall"}},
    {.name = "analyser", .children = {"use", "analyse"}, .attributes = {"name", "reduce"}},
    {.name = "analyse", .children = {"file"}, .attributes = {"step"}},
    {.name = "file", .has_text = true, .attributes = {"use"}},
    {.name = "result",
     .children = {"use", "table"},
     .attributes = {"result_dir"},
     .later = {"syslog", "database"}},
    {.name = "table",
     .children = {"column"},
     .attributes = {"name", "style", "separator", "sort", "filter", "transpose"}},
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
