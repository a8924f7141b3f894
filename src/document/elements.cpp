#include "elements.hpp"

#include <algorithm>

#include <bench/document/read.hpp>

namespace bench::document {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

const std::vector<Key> of_a_file = {
    {"source_dir", "directory in front of every path"},
    {"directory", "the old name of source_dir"},
    {"target_dir", "directory in front of every new name; made if missing"},
    {"name", "new names, as many as paths"},
    {"separator", "what separates the paths (default: comma)"},
    {"rel_path_ref", "external: from the input file; internal: from `work`"},
    {"file_path_ref", "another base of relative paths"},
    {"active", "a condition; false: leave it out"}};

const std::vector<Element> of_files = {
    {.name = "jube",
     .meaning = "an input file: benchmarks, and what they share",
     .children = {"benchmark", "parameterset", "fileset", "substituteset", "patternset",
                  "selection", "include-path", "check_tags", "tags"},
     .attributes = {{"version", "the version of the language that the file is written for"}}},
    {.name = "selection",
     .meaning = "which benchmarks run, and tags that are always active",
     .children = {"only", "not", "tag"}},
    {.name = "only", .meaning = "benchmarks that run, the others do not", .has_text = true},
    {.name = "not", .meaning = "benchmarks that do not run", .has_text = true},
    {.name = "tag",
     .meaning = "in `selection`: active tags; in `tags`: the description of one",
     .has_text = true,
     .attributes = {{"name", "the tag that the text describes"}}},
    {.name = "include-path",
     .meaning = "directories in which other files are looked for",
     .has_text = true,
     .children = {"path"}},
    {.name = "path",
     .meaning = "a directory, relative to the input file; ~ and $NAME are expanded",
     .has_text = true},
    {.name = "tags",
     .meaning = "what the tags mean and which of them go together",
     .children = {"check_tags", "tag"},
     .attributes = {{"forced", "true: every tag that is used must be described"}}},
    {.name = "check_tags",
     .meaning = "a tag expression that must hold, or nothing runs",
     .has_text = true},
    {.name = "fileset",
     .meaning = "files that a workpackage needs in its work directory",
     .children = {"copy", "link", "prepare"},
     .attributes = {{"name", "how a step names it"},
                    {"init_with", "FILE[:NAME]: a set of another file that this one extends"}}},
    {.name = "copy",
     .meaning = "files to copy; shell patterns",
     .has_text = true,
     .attributes = of_a_file},
    {.name = "link",
     .meaning = "files to link to; shell patterns",
     .has_text = true,
     .attributes = of_a_file},
    {.name = "prepare",
     .meaning = "a shell command that runs before the step's own",
     .has_text = true,
     .attributes = {{"stdout", "file of the output"},
                    {"stderr", "file of the error output"},
                    {"work_dir", "where it runs"},
                    {"active", "a condition; false: leave it out"}}},
    {.name = "substituteset",
     .meaning = "texts to replace in files of the work directory",
     .children = {"iofile", "sub"},
     .attributes = {{"name", "how a step names it"},
                    {"init_with", "FILE[:NAME]: a set of another file that this one extends"}}},
    {.name = "iofile",
     .meaning = "a file in which the texts are replaced",
     .attributes = {{"in", "the file that is read"},
                    {"out", "the file that is written"},
                    {"out_mode", "w: write anew; a: append"}}},
    {.name = "sub",
     .meaning = "one replacement; its text is the new one where there is no dest",
     .has_text = true,
     .attributes = {{"source", "what to replace"},
                    {"dest", "the new text"},
                    {"mode", "text, or regex"}}},
};

const std::vector<Element> of_benchmarks = {
    {.name = "benchmark",
     .meaning = "one benchmark",
     .children = {"comment", "parameterset", "fileset", "substituteset", "patternset", "step",
                  "analyser", "result"},
     .attributes = {{"name", "its name"},
                    {"outpath", "where its runs are stored, relative to the input file"},
                    {"file_path_ref", "base of relative file names, relative to the input file"}}},
    {.name = "comment", .meaning = "what it is for; shown with the run", .has_text = true},
    {.name = "parameterset",
     .meaning = "parameters that steps use together",
     .children = {"parameter"},
     .attributes = {{"name", "how a step names it"},
                    {"init_with", "FILE[:NAME]: a set of another file that this one extends"},
                    {"duplicate", "replace, concat or error: a parameter that stands here twice"}}},
    {.name = "parameter",
     .meaning = "a value, or several that span the parameter space",
     .has_text = true,
     .attributes = {{"name", "how texts name it: $name"},
                    {"type", "int, float or string"},
                    {"mode", "text, python, perl, shell, env or tag: how the text is evaluated"},
                    {"separator",
                     "what separates its values; empty: there is one (default: comma)"},
                    {"export", "true: it goes to the environment of the commands"},
                    {"unit", "shown with it in results"},
                    {"update_mode", "never, use, step, cycle or always: when it is made anew"},
                    {"duplicate", "none, replace, concat or error: if it stands twice in the set"},
                    {"selection", "fixes the value to this text"}}},
    {.name = "value", .meaning = "one value of a list", .has_text = true},
    {.name = "step",
     .meaning = "commands that run once for each combination of the parameters",
     .children = {"use", "do", "batch", "energy", "retry"},
     .attributes = {{"name", "its name"},
                    {"depend", "steps that must be done before"},
                    {"iterations", "how often each combination runs"},
                    {"cycles", "how often the commands are repeated in place"},
                    {"procs", "how many workpackages run at a time; default: one"},
                    {"max_async", "how many may be unfinished at a time; 0: no limit"},
                    {"active", "a condition; false: no workpackage"},
                    {"where", "a condition that drops combinations of parameters"},
                    {"timeout", "the longest time a command may take"},
                    {"shared", "name of a directory that all workpackages share"},
                    {"work_dir", "where the commands run instead of `work`"},
                    {"suffix", "appended to the name of the workpackage's directory"},
                    {"export", "true: the environment goes to dependent steps"},
                    {"do_log_file", "file that records what was executed"}}},
    {.name = "use",
     .meaning = "sets, or analysers in a result",
     .has_text = true,
     .attributes = {{"from", "FILE[:SET...]: another file that holds the sets"}}},
    {.name = "do",
     .meaning = "a shell command",
     .has_text = true,
     .attributes = {{"stdout", "file of the output"},
                    {"stderr", "file of the error output"},
                    {"active", "a condition; false: leave it out"},
                    {"work_dir", "where it runs"},
                    {"shared", "true: once for all workpackages, in the shared directory"},
                    {"done_file", "it is finished once this file exists"},
                    {"error_file", "it failed if this file exists"},
                    {"break_file", "if this file exists, what remains is skipped"}}},
    {.name = "batch",
     .meaning = "the commands become a job of the batch system",
     .has_text = true,
     .attributes = {{"nodes", "number of nodes"},
                    {"tasks_per_node", "processes on each node"},
                    {"threads_per_task", "cores of each process"},
                    {"gpus_per_node", "GPUs on each node"},
                    {"time_limit", "longest run time"},
                    {"template", "job template"},
                    {"array", "false: each workpackage is a job of its own"},
                    {"pack", "how many workpackages share a job, side by side"},
                    {"kill_on_bad_exit", "false: tasks outlive one that fails"}}},
    {.name = "retry",
     .meaning = "a workpackage that failed is made again; the text is the number of times",
     .has_text = true,
     .children = {"on"},
     .attributes = {{"times", "how often at most"},
                    {"timelimit_factor", "longer time limit after each timeout"}}},
    {.name = "on",
     .meaning = "ends after which it is made again, such as node_fail, preempted or timeout",
     .has_text = true},
    {.name = "energy",
     .meaning = "measure energy around the commands",
     .has_text = true,
     .attributes = {{"methods", "sources of power readings"},
                    {"interval", "time between two samples"},
                    {"baseline", "how long to measure the idle node before"},
                    {"per_node", "one meter on each node, not one for each task"}}},
};

const std::vector<Element> of_results = {
    {.name = "patternset",
     .meaning = "patterns that find values in output files",
     .children = {"pattern"},
     .attributes = {{"name", "how an analyser names it"},
                    {"init_with", "FILE[:NAME]: a set of another file that this one extends"}}},
    {.name = "pattern",
     .meaning = "a regular expression, or a value made of others",
     .has_text = true,
     .attributes = {{"name", "name of the value"},
                    {"mode", "pattern, text, python, perl or shell"},
                    {"type", "int, float or string"},
                    {"unit", "shown with it in results"},
                    {"default", "the value where nothing is found"},
                    {"dotall", "true: a dot matches a newline"}}},
    {.name = "analyser",
     .meaning = "which patterns are looked for in which files",
     .children = {"use", "analyse"},
     .attributes = {{"name", "how a result names it"},
                    {"reduce", "true: all iterations make one row"}}},
    {.name = "analyse",
     .meaning = "the files of one step",
     .children = {"file"},
     .attributes = {{"step", "the step"}}},
    {.name = "file",
     .meaning = "files that are read; shell patterns",
     .has_text = true,
     .attributes = {{"use", "more pattern sets for these files"}}},
    {.name = "result",
     .meaning = "what is made of the values",
     .children = {"use", "table", "syslog", "database"},
     .attributes = {{"result_dir", "where the results are written"}}},
    {.name = "table",
     .meaning = "a table",
     .children = {"column"},
     .attributes = {{"name", "its name, also that of its file"},
                    {"style",
                     "how the table is written",
                     {"csv", "pretty", "aligned", "json", "markdown", "latex"}},
                    {"separator", "between two cells"},
                    {"sort", "columns to sort by"},
                    {"filter", "a condition that rows must fulfil"},
                    {"transpose", "true: rows and columns are exchanged"}}},
    {.name = "column",
     .meaning = "a parameter or pattern",
     .has_text = true,
     .attributes = {{"title", "what stands above it"},
                    {"format", "format of the numbers, such as .2f"},
                    {"colw", "the least width"}}},
    {.name = "syslog",
     .meaning = "rows as messages to a syslog server",
     .children = {"key"},
     .attributes = {{"name", "its name"},
                    {"address", "path of the server's socket"},
                    {"host", "the server"},
                    {"port", "its port"},
                    {"format", "format of a message"},
                    {"sort", "columns to sort by"},
                    {"filter", "a condition that rows must fulfil"}}},
    {.name = "database",
     .meaning = "rows in an SQLite database",
     .children = {"key"},
     .attributes = {{"name", "name of the table"},
                    {"file", "the database, relative to the current directory"},
                    {"filter", "a condition that rows must fulfil"},
                    {"primekeys", "the old form of primekey: titles of the primary key"}}},
    {.name = "key",
     .meaning = "a parameter or pattern",
     .has_text = true,
     .attributes = {{"title", "name of its column"},
                    {"format", "format of the numbers, such as .2f"},
                    {"primekey", "true: part of the primary key"}}},
};

std::vector<Element> joined() {
  std::vector<Element> all = of_files;
  all.insert(all.end(), of_benchmarks.begin(), of_benchmarks.end());
  all.insert(all.end(), of_results.begin(), of_results.end());
  return all;
}

}  // namespace

bool Element::has_child(std::string_view key) const {
  return contains(children, key);
}

bool Element::has_attribute(std::string_view key) const {
  return std::ranges::find(attributes, key, &Key::name) != attributes.end() ||
         (key == "tag" && name != "jube");
}

std::vector<std::string> Element::known() const {
  std::vector<std::string> names = children;
  for (const Key& key : attributes)
    names.push_back(key.name);
  if (name != "jube")
    names.emplace_back("tag");
  return names;
}

const Element& element(std::string_view name) {
  // `at` guards a row that was forgotten; a test looks every child up.
  const auto& all = all_elements();
  const auto found = std::ranges::find(all, name, &Element::name);
  return all.at(static_cast<std::size_t>(found - all.begin()));
}

const std::vector<Element>& all_elements() {
  static const std::vector<Element> all = joined();
  return all;
}

std::vector<std::string> words_of(const std::string& name, const std::string& attribute) {
  for (const Key& key : element(name).attributes)
    if (key.name == attribute)
      return key.words;
  return {};
}

}  // namespace bench::document
