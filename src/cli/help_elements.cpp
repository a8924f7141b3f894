#include "help_topics.hpp"

namespace bench::cli {
namespace {

constexpr Topic of_elements[] = {
    {"benchmark", "what is run as one",
     R"(Holds parameter, file, substitute and pattern sets, steps, analysers and results.
Attributes: name, outpath (directory of the runs, relative to the file), comment.
A YAML file without the key `benchmark` is one benchmark; a list is several.)"},
    {"comment", "a text shown with the run",
     R"(Shown by `run` and `info`, changed by `run -m` and `bench comment`.)"},
    {"parameterset", "parameters under a name",
     R"(Attributes: name, init_with (FILE[:NAME], a set to begin with), duplicate.
Holds parameters. A step takes it with `use`.)"},
    Topic{
        "parameter", "a name and its values",
        R"(Attributes: name, type (int, float, string), mode, separator (default `,`), export, unit,
update_mode, duplicate. The text is split at the separator; each piece is a value, and a step is
made once per combination of all values. `$name` and `${name}` insert it elsewhere.
See also: parameter_modes, update_mode, duplicate, substitution, short_forms.)"},
    Topic{
        "fileset", "files that a workpackage begins with",
        R"(Attributes: name, init_with. Holds copy, link and prepare elements. They are executed in the order in
which they are written, before anything else of the workpackage.)"},
    {"copy", "copies files into the work directory",
     R"(Text: paths, also shell patterns, separated by `separator` (default `,`).
Attributes: source_dir, target_dir, name (new names, as many as paths), active,
rel_path_ref (external: relative to the input file; internal: to the work directory).
A file that is there already is left alone.)"},
    {"link", "links files into the work directory", R"(As copy, but makes symbolic links.)"},
    {"prepare", "a command that prepares files",
     R"(A shell command of a file set. Attributes: stdout, stderr, work_dir, active.)"},
    Topic{
        "substituteset", "replacements in files",
        R"(Attributes: name, init_with. Holds iofile and sub: every sub is applied to every file, one
after the other.)"},
    {"iofile", "a file in which a substitute set replaces",
     R"(Attributes: in, out (may be the same), out_mode (w replaces the file, a appends).)"},
    {"sub", "one replacement",
     R"(Attributes: source, dest (or the text), mode (text, or regex with \1 in dest).)"},
    Topic{
        "step", "commands that run once per combination",
        R"(Attributes: name, depend (steps that come first), iterations, cycles, active, procs (how
many run at a time; default: one), max_async (how many unfinished), work_dir, suffix, shared, export,
do_log_file; and bench's own where, timeout, retry, batch, energy. Holds use and do.
See also: shared, cycles, dependencies, where.)"},
    {"use", "names the sets that are used",
     R"(Text: names, separated by `,`; in a step they may hold parameters.
Attribute: from (FILE[:SET...], where the sets are taken from).)"},
    {"do", "a command of a step",
     R"(A shell command, run in the work directory. Exported variables live on in the next one.
Attributes: stdout, stderr (files), work_dir, active, shared, done_file (finished once it exists),
error_file (failed if it exists), break_file (skips what is left).)"},
    {"batch", "a step as a scheduler's job",
     R"(`batch: true`, or nodes, tasks_per_node, threads_per_task, gpus_per_node, time_limit,
template, array, pack, kill_on_bad_exit. The commands become one job script from the platform's
template; on platform `local` it runs here. Jobs with equal resources are submitted as arrays
(`array: false`: one by one);
`pack: 4` runs four workpackages side by side in one job. max_async is how many of the step's jobs
may run at once. $jube_starter starts a program on all tasks of the job; where one fails
the others are ended, unless kill_on_bad_exit is false.
See also: jobs, retry, platform.)"},
    {"retry", "repeats a workpackage that has failed",
     R"(`retry: 2`, or times, on, timelimit_factor; on any step. `on` names the outcomes after which it is
repeated: failed, timeout, node_fail, boot_fail, preempted, out_of_memory, cancelled, deadline,
launch_failure, lost; default: node_fail, boot_fail, preempted. timelimit_factor: 2 doubles the
time_limit of a batch step after each timeout. $jube_wp_attempts counts from 1; what the earlier
attempts left is in <run>/retried.)"},
    {"energy", "measures a step's energy",
     R"(`energy: true`, or methods, interval, baseline (measures the idle node before), per_node (false:
each task measures its own devices). Columns: energy_wh, power_mean_w, power_max_w, duration_s,
energy_<device>_wh; with a baseline power_idle_w and energy_net_wh; energy_region_<name>_wh,
power_region_<name>_w and duration_region_<name>_s of the regions that the program marks.)"},
    {"patternset", "patterns under a name",
     R"(Attributes: name, init_with. Holds patterns. An analyser takes it with `use`.)"},
    Topic{
        "pattern", "a value in the output",
        R"(Text: a regular expression (Python's), or for another mode an expression over found values.
Attributes: name, mode (pattern, text, python, perl, shell), type, unit, default, dotall.
See also: jube_pattern, statistics.)"},
    {"analyser", "which patterns are looked for where",
     R"(Attributes: name, reduce (all iterations in one row). Holds use and analyse.)"},
    {"analyse", "the files of one step", R"(Attribute: step. Holds file.)"},
    {"file", "a file that is analysed",
     R"(Text: names, also shell patterns, relative to the work directory, separated by `,`.
Attribute: use (more pattern sets for this file).)"},
    {"result", "what is shown",
     R"(Attribute: result_dir. Holds use (analysers), table, syslog and database.)"},
    Topic{
        "table", "a table of results",
        R"(Attributes: name, style (pretty, csv, aligned; also json, markdown, latex), separator, sort, filter,
transpose. Holds columns. It is also written to result/<name>.dat.)"},
    Topic{
        "column", "a column of a table",
        R"(Text: a parameter, pattern or variable. Attributes: title, format (Python's, as `.2f`), colw.)"},
    {"syslog", "results as log messages",
     R"(Attributes: name, address or host and port, format, sort, filter. Holds keys.)"},
    {"database", "results in an SQLite file",
     R"(Attributes: name (of the table), file, filter. Holds keys.)"},
    {"key", "a column of a syslog or database result",
     R"(Text: a parameter, pattern or variable. Attributes: title, format, primekey.)"},
    {"selection", "which benchmarks and tags are taken",
     R"(Holds only and not (names of benchmarks) and tag (tags that are always active).)"},
    {"only", "benchmarks that are run", R"(In `selection`: names, separated by `,`.)"},
    {"not", "benchmarks that are left out", R"(In `selection`: names, separated by `,`.)"},
    Topic{
        "tags", "describes the tags of a file",
        R"(Holds tag (attribute name, text the description) and check_tags. Attribute: forced (every
tag must be described). `bench tag FILE` shows them.)"},
    Topic{
        "tag", "a description, an active tag, or a condition",
        R"(In `tags` a described tag, in `selection` an active one; as an attribute of any element the
condition under which it is there. See also: tag_expression.)"},
    {"check_tags", "which tags may be combined",
     R"(A tag expression that must hold, else nothing runs.)"},
    Topic{
        "include-path", "where included files are looked for",
        R"(Holds path. Searched after --include-path and before JUBE_INCLUDE_PATH and the directory of
the file.)"},
    {"path", "a directory of the include path", R"(In `include-path`; relative to the file.)"},
    {"include", "takes in a part of another file",
     R"(XML: <include from="FILE" path="XPATH"/>. YAML: `!include FILE[:["key"][0]]`.)"},
};

}  // namespace

std::span<const Topic> element_topics() {
  return of_elements;
}

}  // namespace bench::cli
