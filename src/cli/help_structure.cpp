#include "help_topics.hpp"

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

A key is an element or an attribute; `_` is the text of an element that has attributes, too. Several
elements of one kind are a list. The order of the keys does not matter. A file of several benchmarks has
them under `benchmark`. Beside them stand `tags`, `selection`, `include-path`, and sets for all.
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

`<` and `&` in a text are written `&lt;` and `&amp;`, or the text stands in <![CDATA[ ]]>. Entities that
the file declares itself are replaced. UTF-8, UTF-16 and Latin-1 are read.
See also: include, general_structure_yaml.)xml"},
    {"parameter_space", "which workpackages a step has",
     R"(One for each combination of the values of its parameters: with {n: [1, 2], size: [8, 16, 32]} six.
The parameter that is defined last varies fastest. Parameters that are computed from others add none,
unless what they give has the separator in it. A step that depends on another has each combination of that
step, times its own new parameters; a parameter that both have is the same in both. `iterations` repeats
each combination, `where` drops some before anything is prepared.
`bench check FILE` counts them, `bench run FILE -n` lists them.
See also: parameter, dependencies, iterations, where, update_mode.)"},
    {"types", "int, float and string",
     R"(`type` of a parameter or a pattern; string where there is none. Tables sort and format `int` and
`float` as numbers, and only those have statistics. A parameter whose value is not of its type ends the
command; a match that is not is left out, with a warning. In commands and files a parameter stays as it is
written: 007 is 007 there, and 7 in a table.
See also: parameter, pattern, statistical_values.)"},
    {"workpackage", "one run of a step: its unit of work",
     R"(A step with one combination of parameters and one iteration. Its number, $jube_wp_id, counts from 0
in the run; its directory is <run>/<number>_<step>, its commands run in `work` there. It is `ready`, then
`running`, `submitted` (a scheduler has it) or `pending` (it waits for a file or for others), at last
`done` or `failed`. Steps that depend on it go on when it is done.
`bench info DIR -w 3` shows one, `bench output DIR -w 3` its files, `bench why DIR 3` what is wrong
with it, and `bench remove DIR -w 3` lets `bench continue` make it again.
See also: parameter_space, iterations, pending, directory_structure.)"},
    {"tagging", "one file for several cases",
     R"(An element with a `tag` is there only if its condition holds for the active tags. They come from
`-t`, for example `bench run FILE -t gpu debug`, and from `selection` in the file.
  parameter:
    - {name: nodes, tag: "!large", _: 1}
    - {name: nodes, tag: large, _: "16,32"}
A tag with the name of a machine chooses its platform, too. `bench tag FILE` lists the tags of a file,
`bench check FILE -t ...` shows what they select.
See also: tag_expression, tag, tags, check_tags, selection, platform.)"},
    {"update", "new versions of bench",
     R"(There is no command `update`: bench opens no connection to ask for a newer version. `bench --version`
says which one this is, and CHANGELOG.md of the sources what the newer ones bring. Patterns and tables of
a run are updated from a file by `bench result DIR -u FILE`.
See also: update_mode.)"},
};

}  // namespace

std::span<const Topic> structure_topics() {
  return of_structure;
}

}  // namespace bench::cli
