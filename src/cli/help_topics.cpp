#include "help.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/help.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unit.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/document/elements.hpp>
#include <bench/numbers/metric.hpp>

namespace bench::cli {
namespace {

/// What `bench help` shows of an element: everything that the table of elements holds.
std::string page_of(const document::ElementKind& element) {
  std::vector<std::string> parts;
  if (!element.details.empty())
    parts.push_back(element.details);
  if (!element.attributes.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const document::AttributeKind& attribute : element.attributes)
      rows.push_back(
          {attribute.name, attribute.type_text(),
           attribute.meaning + (attribute.otherwise.text().empty()
                                    ? ""
                                    : fmt::format(" (default: {})", attribute.otherwise.text()))});
    parts.emplace_back(strip("Attributes:\n" + aligned_lines(rows, "  ")));
  }
  std::string relations;
  if (!element.children.empty())
    relations += fmt::format("Contains: {}\n", join(element.children, ", "));
  if (const auto parents = document::parents_of(element); !parents.empty())
    relations += fmt::format("In: {}\n", join(parents, ", "));
  if (!element.see_also.empty())
    relations += fmt::format("See also: {}.\n", element.see_also);
  if (!relations.empty())
    parts.emplace_back(strip(relations));
  if (!element.example.empty())
    parts.push_back("Example:\n  " + hanging(element.example, 2));
  return join(parts, "\n\n");
}

using numbers::Form;
using numbers::Input;
using numbers::Metric;
using numbers::Quantity;

constexpr auto how_metrics_work =
    R"(A column or key that has one is calculated from other values of its row:
  {metric: speedup, of: time, baseline: {nodes: 1}, per: [model, precision]}
`of` are the inputs in their order: parameters, patterns, or numbers with a unit (312 TFLOP/s).
A pattern with several values, as over iterations, counts with its median; `time_avg` names
another statistic. `baseline` selects the row to compare with; a combination of values of `per`
has its own. {nodes: smallest} takes the smallest number whose row has a value. It is an error if
no row is the baseline, or several rows are.
The inputs need units, and the result has the one that follows from them (see: units).
A failed row has no value. `formula` calculates what no metric does: bandwidth / power.
`bench help metric NAME` shows formula, inputs and source.)";

constexpr auto how_units_work =
    R"(Parameters and patterns have a `unit`: GB/s, images/Wh, MJ*s. * or a blank stands between
factors, / before what divides, ^2 after a power. A calculated column has the unit that follows:
GB/s over W is GB/J. The `unit` of a column converts its values; one that does not fit is an error.
Other words are units of their own: tokens, images, EUR. These have a fixed meaning:)";

/// `bench help` indents them, and so does a page that shows what it prints.
std::string lines_of(std::string_view text, std::size_t indent) {
  constexpr std::size_t width = 92;
  return wrapped(text, indent, width) + "\n";
}

/// As an input file would have it.
std::string example_of(const Metric& metric) {
  std::vector<std::string> of;
  for (const Input& input : metric.forms.back().inputs)
    of.emplace_back(input.quantity == Quantity::flop_rate ? "312 TFLOP/s" : input.name);
  return fmt::format("{{metric: {}, of: {}{}}}", metric.name,
                     of.size() == 1 ? of.front() : "[" + join(of, ", ") + "]",
                     needs_baseline(metric) ? ", baseline: {nodes: 1}, per: model" : "");
}

std::string text_of(const Form& form) {
  std::string text = lines_of(form.formula, 4);
  for (const Input& input : form.inputs) {
    const bool counts = input.quantity == Quantity::number || input.quantity == Quantity::count;
    const std::string quantity(counts && !input.meaning.empty() ? "" : text_of(input.quantity));
    text += fmt::format("  {}: {}{}{}\n", input.name, quantity,
                        quantity.empty() || input.meaning.empty() ? "" : ", ", input.meaning);
  }
  return text;
}

std::string page_of(const Metric& metric) {
  std::string text;
  for (const Form& form : metric.forms)
    text += text_of(form);
  if (!metric.details.empty())
    text += lines_of(metric.details, 0);
  if (!metric.preferred_units.empty())
    text += fmt::format("Unit: {}.\n", join(std::vector<std::string>(metric.preferred_units.begin(),
                                                                     metric.preferred_units.end()),
                                            "*"));
  text += lines_of(fmt::format("Source: {}.", metric.source), 2);
  return text + lines_of("Example: " + example_of(metric), 2);
}

std::string overview() {
  std::vector<std::vector<std::string>> rows;
  for (const Metric& metric : numbers::metrics())
    rows.push_back({std::string(metric.name), std::string(metric.summary)});
  return fmt::format("{}\n\n{}", how_metrics_work, aligned_lines(rows, "  "));
}

/// JUBE's names of topics that have another one here, or are part of one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> names_of_jube{
    {{"directory_structure", "run_directory"}, {"statistical_values", "statistics"}}};

std::string own_name(const std::string& word) {
  for (const auto& [of_jube, own] : names_of_jube)
    if (word == of_jube)
      return std::string(own);
  // JUBE calls the topic of an element `<element>_tag`.
  return word.ends_with("_tag") ? word.substr(0, word.size() - 4) : word;
}

std::string text_of_ids() {
  std::vector<std::vector<std::string>> rows;
  for (const NamedId& named : ids())
    rows.push_back({std::string(named.name), std::string(named.meaning)});
  return std::string(strip(aligned_lines(rows)));
}

}  // namespace

const std::vector<Topic>& structure_topics() {
  static const std::vector<Topic> topics{
      {"general_structure_yaml", "an input file in YAML, from top to bottom",
       R"yaml(name: stream
outpath: stream_run
parameterset:
  - {name: sweep, parameter: {threads: [1, 2, 4]}}
step:
  - name: triad
    use: sweep
    iterations: 3
    do: echo "rate=$$((100 * $threads))"
patternset:
  - {name: output, pattern: {name: rate, type: float, unit: GB/s, _: 'rate=$jube_pat_fp'}}
analyser:
  - {name: rates, use: output, analyse: {step: triad, file: stdout}}
result:
  use: rates
  table: {name: bandwidth, style: pretty, column: [threads, rate_avg, rate_std]}

A key is an element or an attribute. The key `_` is the text of an element with attributes.
Several elements of one kind are a list. The order of the keys does not matter.
Several benchmarks are a list under `benchmark`, next to `tags`, `selection`, `include-path` and the
sets that they share.
See also: short_forms, include, `bench schema`.)yaml"},
      {"general_structure_xml", "an input file in XML, from top to bottom",
       R"xml(<?xml version="1.0" encoding="UTF-8"?>
<jube>
  <benchmark name="stream" outpath="stream_run">
    <parameterset name="sweep">
      <parameter name="threads" type="int">1,2,4</parameter>
    </parameterset>
    <step name="triad" iterations="3">
      <use>sweep</use>
      <do>echo "rate=$$((100 * $threads))"</do>
    </step>
    <patternset name="output">
      <pattern name="rate" type="float" unit="GB/s">rate=$jube_pat_fp</pattern>
    </patternset>
    <analyser name="rates">
      <use>output</use>
      <analyse step="triad">
        <file>stdout</file>
      </analyse>
    </analyser>
    <result>
      <use>rates</use>
      <table name="bandwidth" style="pretty">
        <column>threads</column>
        <column>rate_avg</column>
      </table>
    </result>
  </benchmark>
</jube>

Write `<` and `&` in a text as `&lt;` and `&amp;`, or enclose the text in <![CDATA[ ]]>. Entities
that the file declares are replaced. The encoding is UTF-8, UTF-16 or Latin-1.
See also: include, general_structure_yaml.)xml"},
      {"parameter_space", "the workpackages of a step",
       R"(A step has one workpackage for each combination of the values of its parameters. With {n: [1,
2], size: [8, 16, 32]} it has six. The parameter that is defined last varies fastest. A
parameter that is computed from others adds no combinations, unless its value contains the
separator. A step that depends on another has each combination of that step, times its own new
parameters. A parameter that both have is the same in both. `iterations` repeats each
combination. `where` drops some before anything is prepared. `bench check FILE` counts the
combinations, `bench run FILE -n` lists them.
See also: parameter, dependencies, iterations, where, update_mode.)"},
      {"types", "int, float and string",
       R"(`type` of a parameter or a pattern; the default is string. Tables sort and format `int` and
`float` as numbers. Statistics and comparisons take every text that is a number. A parameter whose
value does not have its type is an error. A match that does not have the type of its pattern is
dropped, with a warning.
In commands and files a parameter stays as written: 007 is 007 there, and 7 in a table.
See also: parameter, pattern, statistical_values.)"},
      {"workpackage", "one execution of a step: its unit of work",
       R"(A step with one combination of parameters and one iteration. Its number, $jube_wp_id, counts
from 0 in the run. Its directory is <run>/<number>_<step>, and its commands run in `work` in
that directory. The states are `ready`, `running`, `submitted` (it has a job), `waiting` (it
waits for a file or for other workpackages), and finally `done` or `failed`. When it is done,
the steps that depend on it start. `bench info DIR -w 3` shows one, `bench output DIR -w 3` its
files, and `bench why DIR 3` what went wrong. `bench remove DIR -w 3` deletes it, and `bench
continue` then repeats it.
See also: parameter_space, iterations, unfinished, directory_structure.)"},
      {"tagging", "one file for several cases",
       R"(An element with a `tag` exists only if its condition holds for the active tags. These come from
`-t`, for example `bench run FILE -t gpu debug`, and from `selection` in the file.
  parameter:
    - {name: nodes, tag: "!large", _: 1}
    - {name: nodes, tag: large, _: "16,32"}
A tag with the name of a machine also selects its platform. The name of the platform is always an
active tag: `local` if none is selected. `bench tag FILE` lists the tags of a file, `bench check
FILE -t ...` shows what they select.
See also: tag_expression, tag, tags, check_tags, selection, platform.)"},
      {"update", "new versions of bench",
       R"(There is no command `update`: bench never opens a connection to look for a newer version. `bench
--version` prints the version, and CHANGELOG.md in the source tree lists what changed. `bench
result DIR -u FILE` takes corrected patterns and tables of a run from a file.
See also: update_mode.)"},
  };
  return topics;
}

const std::vector<Topic>& element_topics() {
  static const std::vector<Topic> topics = [] {
    std::vector<Topic> made;
    for (const document::ElementKind& element : document::all_elements())
      made.push_back({element.name, element.meaning, page_of(element)});
    return made;
  }();
  return topics;
}

const std::vector<Topic>& metric_topics() {
  static const std::vector<Topic> topics = [] {
    std::vector<Topic> made{
        {"metric", "numbers calculated from the rows of a table", overview()},
        {"units", "units of values, and their arithmetic",
         fmt::format("{}\n{}\nPrograms also print FLOPS (FLOP/s), FPS (frames/s), sec and day.",
                     how_units_work, lines_of(join(unit::known_names(), " "), 0))}};
    for (const Metric& metric : numbers::metrics())
      made.push_back({std::string(metric.name), std::string(metric.summary), page_of(metric)});
    for (Topic& topic : made)
      topic.text = strip(topic.text);
    return made;
  }();
  return topics;
}

const std::vector<Topic>& concept_topics() {
  static const std::vector<Topic> topics{
      {"jube_variables", "names that are always defined",
       R"(jube_benchmark_name, _id, _padid, _home, _rundir, _start: of the run
jube_platform_name, _nodes, _devices_per_node, _cores_per_node, _threads_per_core, _memory_gb,
  _device_memory_gb, _device_fp16_tflops, _device_bf16_tflops, _device_fp32_tflops, _container:
  from the platform file; empty if the file has no confirmed value
jube_step_name, _iterations, _cycles: of the step
jube_wp_id, _padid, _iteration, _cycle, _attempts, _relpath, _abspath: of the workpackage
jube_wp_parent_<step>_id: id of a direct parent
jube_wp_envstr, jube_wp_envlist: the exported parameters, as `export` lines and as names
jube_wp_status (DONE, ERROR, RUNNING), jube_res_analyser: in results
jube_starter: starts a program on all tasks of a batch step)"},
      {"jube_pattern", "predefined regular expressions",
       R"(jube_pat_int, jube_pat_fp, jube_pat_wrd: an integer, a number, a word, captured
jube_pat_nint, jube_pat_nfp, jube_pat_nwrd: the same, not captured
jube_pat_bl: white space
Example: `time: $jube_pat_fp s`)"},
      {"statistics", "the values of a pattern with several matches",
       R"(<pattern>_first, _last, _cnt; for numbers _min, _max, _sum, _sum2 (sum of
squares), _avg, _std (n-1), _median, _ci_low and _ci_high (95 % confidence interval of the median),
_p5, _p25, _p75, _p95, _p99 (percentiles), _geomean, _cv (_std / _avg), _mad (median absolute
deviation), _outliers (their number), _elbow and _elbow_share (where a long tail begins; see:
elbow). They can be columns, and derived patterns can use them. Failed iterations are in none. A
pattern without a type has those of numbers if all of its matches are numbers. The plain name is the
first match. Where iterations are one row it is their median, for people with its interval
(`41.2 ± 0.3`).)"},
      {"verdicts", "what `bench compare` says of a metric",
       R"(faster, slower: the change is at least the margin (1 %, or --margin), and its interval excludes no
change. Metrics that are neither a time nor a rate are better or worse; where `better` is not set
and the unit does not tell, they are higher or lower.
equal: the interval lies within the margin
not finite: a value is nan or infinite
too few runs: neither, and more runs would tell
no evidence: neither; the change is about the margin, or may be chance or a drift of the machine)"},
      {"tag_expression", "the condition in a `tag` attribute",
       R"(a|b (or), a+b (and), !a (not), a^b (an odd number of these is true), parentheses.
Precedence, highest first: ^ ! + |. Blanks are ignored; `,` is not allowed.
Example: tag: "gpu+(A100|H100)+!debug". `-t` sets tags.)"},
      {"substitution", "how $name is replaced",
       R"($name and ${name} are replaced if the name is known. Otherwise they are left to the shell. $$
gives $. Names can be nested: ${p$n}. An inserted value is not searched again.)"},
      {"parameter_modes", "how a parameter gets its value",
       R"(text: the text as written
python: the value of a Python expression, which may import modules of PYTHONPATH
perl: what `print TEXT` prints
shell: what the command prints; it runs in the directory where bench was started
env: the value of an environment variable
tag: the text if it is an active tag, otherwise nothing)"},
      {"update_mode", "when a parameter is evaluated again",
       R"(never (default): never
use: in every step that uses the set
step: in every step
cycle: in every cycle
always: in every step and cycle; what was chosen from several values stays, unless the step uses
  the set
A step inherits the values of the steps that it depends on.)"},
      {"duplicate", "a parameter that is defined twice",
       R"(replace (default): the last definition wins. concat: the values of all are joined. error: an
error. The attribute can also be set on a parameter; then all its definitions must agree.)"},
      {"order", "in which order workpackages start",
       R"(`order: interleaved` on a step starts the first iterations of all combinations, then the second
ones. `order: random` draws an order; the run records its seed, `run --order-seed N` sets it. The
default is the order of the ids. Ids do not change.
See also: iterations; docs/how-to/repeat_until_known.md.)"},
      {"cycles", "repeats the commands in one directory",
       R"(`cycles: 3` repeats the commands; $jube_wp_cycle counts from 0. A break_file ends the repetition.)"},
      {"shared", "a directory for all workpackages of a step",
       R"(`shared: NAME` on a step: the directory <run>/<step>_NAME, linked as NAME in each work
directory. `shared: true` on a do: runs once, in that directory, when all workpackages have
reached it.)"},
      {"dependencies", "steps that follow other steps",
       R"(`depend: a,b`: one workpackage for every compatible set of parents, created when they are done.
The work directories of the parents are linked as `a` and `b`.)"},
      {"expressions", "active, filter and where",
       R"(true or false, or a Python expression after substitution: "$n > 4", "'$s' != 'x'". `active` of a
step can use variables of the workpackage: "$jube_wp_iteration == 0".)"},
      {"where", "drops combinations",
       R"(`where: "$n * $m <= 64"` on a step: all other combinations are dropped before anything is
prepared. bench prints how many.)"},
      {"short_forms", "parameters in fewer words",
       R"(parameter: {n: [1, 2], word: fp16, m: {type: int, _: "3,4"}}
One parameter per key; the items of a list are its values. Numbers without quotes make the type
int or float. `{name: n, type: int, _: [1, 2]}` has both values, too.)"},
      {"run_directory", "the files of a run",
       R"(<outpath>/000003/workspace.db: the state of the run, an SQLite database
<outpath>/000003/000000_<step>/work/: where the commands ran, with stdout and stderr
<outpath>/000003/000000_<step>/done or error: for people and scripts
<outpath>/000003/submissions/<uuid>/: script and list of an array or a pack of jobs
<outpath>/000003/retried/000000_<step>.1/: the files of an attempt before it was retried
<outpath>/000003/result/<table>.dat, run.log and other logs)"},
      {"ids", "how to choose a run",
       R"(-i takes numbers, last, all, and negative numbers counted from the newest (-1); several are
allowed. The default is the last run; `info` shows an overview of all. DIR is the outpath or a
run directory.)"},
      {"unfinished", "runs that are not finished",
       R"(A workpackage waits for its done_file, or for its job. `bench continue` collects finished jobs
and starts what became ready, also after a kill. It repeats failed workpackages only with
--failed, or if the step has a `retry`. `bench why DIR NUMBER` shows what a workpackage waits
for.)"},
      {"budget", "a limit on node hours",
       R"(`bench run --budget 50nh` refuses a run whose jobs may take more: nodes times time limit, with
all retries. The run keeps its budget, and a job that would exceed it is not submitted.
`continue --budget` changes it. Units: nh (node hours); ch, gh (core and GPU hours, if the
platform has the numbers per node).
See also: `bench run FILE -n`, docs/how-to/limit_node_hours.md.)"},
      {"jobs", "batch steps on a machine with a batch system",
       R"(`run` submits the jobs and ends. `continue` collects finished jobs and submits what became
ready. `--wait` waits for the jobs. `--chain` submits jobs that depend on others at once, so that
nobody has to wait. `status --watch` shows their states, `cancel` cancels them. After Ctrl-C the
jobs keep running, unless `--cancel-on-interrupt` is given. A job whose node failed has failed, with
the reason. A job that never started is submitted again.
See also: batch, retry, platform; docs/reference/batch.md.)"},
      {"platform", "the machine that a run is for",
       R"(--platform, or a tag of a platform, selects platforms/<name>.yaml. The default is `local`.
`bench platforms` lists the platforms, `bench platforms show NAME` shows one. --partition,
--account, --qos, --reservation and --launcher override the file. So do BENCH_PARTITION,
BENCH_ACCOUNT and BENCH_QOS if the option is missing.)"},
      {"environment", "environment variables of bench",
       R"(JUBE_BENCHMARK_OUTPATH: replaces the outpath of the file
JUBE_INCLUDE_PATH: directories of included files
JUBE_EXEC_SHELL: replaces /bin/sh
JUBE_VERBOSE: 1 to 3, as -v to -vvv of `run` and `continue`
JUBE_GROUP_NAME: the group that new runs are shared with
BENCH_PYTHON: replaces python3
BENCH_DATA: directories of platforms, templates and references
BENCH_PLATFORM_PATH: directories of platform files
BENCH_PARTITION, BENCH_ACCOUNT, BENCH_QOS: override the platform file
BENCH_PATIENCE_S: seconds to wait while a file system lets nothing be written; default: 60)"},
      {"exit_codes", "the exit codes of bench",
       R"(0: success. 1: a workpackage failed, the input is wrong, or standard output cannot be written.
2: the command line is wrong. 3: `baseline check` is undecided. 130, 143, 129: ended by Ctrl-C,
SIGTERM, SIGHUP; running commands were stopped first.)"},
      {"error_ids", "what `check --style json` calls errors and warnings", text_of_ids()},
  };
  return topics;
}

std::array<std::span<const Topic>, 4> all_topics() {
  return {structure_topics(), element_topics(), metric_topics(), concept_topics()};
}

const Topic* find_topic(const std::string& word) {
  const std::string name = own_name(word);
  for (const auto& topics : all_topics())
    for (const Topic& topic : topics)
      if (name == topic.name)
        return &topic;
  return nullptr;
}

std::vector<std::string> topic_names() {
  std::vector<std::string> names;
  for (const auto& topics : all_topics())
    for (const Topic& topic : topics)
      names.push_back(topic.name);
  for (const auto& [of_jube, own] : names_of_jube)
    names.emplace_back(of_jube);
  return names;
}

}  // namespace bench::cli
