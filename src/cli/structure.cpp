#include "topics.hpp"

#include <span>

namespace bench::cli {
namespace {

constexpr Topic of_structure[] = {
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

}  // namespace

std::span<const Topic> structure_topics() {
  return of_structure;
}

}  // namespace bench::cli
