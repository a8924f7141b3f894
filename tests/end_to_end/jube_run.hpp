#pragma once

#include "bench_program.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench::end_to_end {

/// A workpackage as JUBE stores it.
struct JubeWorkpackage {
  int id = 0;
  std::string step;
  std::string parameters;  ///< Its own, as XML.
  std::string parents;
  std::string siblings;
  int iteration = 0;
  std::string standard_output;
  /// `done` or `error` with its text; none: it waits.
  std::optional<std::pair<std::string, std::string>> marker =
      std::pair{"done", "2026-01-31 13:05:09"};
  bool started = true;
};

/// The parameter n of a template, as it is stored.
inline std::string jube_parameter(int index, const std::string& value) {
  return R"(<parameter name="n" type="int" separator="," duplicate="none" mode="text">)"
         "\n        <value>1,2,4</value>\n"
         "        <selection idx=\"" +
         std::to_string(index) + "\">" + value + "</selection>\n      </parameter>";
}

/// Three squares, twice each, and a step that depends on them.
inline std::string jube_configuration(const std::string& name = "squares") {
  return R"(<?xml version="1.0" encoding="UTF-8"?>
<jube version="2.7.1">
  <selection>
    <tag>fast</tag>
  </selection>
  <benchmark name=")" +
         name + R"(" file_path_ref="../.." outpath="..">
    <comment>made by JUBE</comment>
    <parameterset name="sweep" duplicate="replace">
      <parameter name="n" type="int" separator="," duplicate="none" mode="text">1,2,4</parameter>
      <parameter name="word" type="string" separator="," duplicate="none" mode="shell">echo w$n</parameter>
    </parameterset>
    <patternset name="found">
      <pattern name="square" type="int" unit="u" mode="pattern" dotall="False">square=$jube_pat_int</pattern>
      <pattern name="twice" type="int" mode="python" dotall="False">2 * $square</pattern>
    </patternset>
    <step name="compute" iterations="2" cycles="1">
      <use>sweep</use>
      <do>echo square=$(($n * $n))</do>
    </step>
    <step name="check" depend="compute" iterations="1" cycles="1">
      <do stdout="seen">cat compute/stdout</do>
    </step>
    <analyser name="output" reduce="True">
      <use>found</use>
      <analyse step="compute">
        <file>stdout</file>
      </analyse>
    </analyser>
    <result>
      <use>output</use>
      <table name="table" style="csv" separator="," transpose="False" sort="n">
        <column>n</column>
        <column>word</column>
        <column>square</column>
        <column>square_cnt</column>
        <column>twice</column>
        <column>jube_wp_status</column>
      </table>
    </result>
  </benchmark>
</jube>
)";
}

/// Those of `jube_configuration`: the square of 2 is wrong in one iteration, the one of 4 has
/// failed, and what depends on it is not there; the last waits.
inline std::vector<JubeWorkpackage> jube_workpackages() {
  const auto compute = [](int id, int index, const std::string& n, const std::string& output) {
    const std::string first = std::to_string(id - id % 2);
    return JubeWorkpackage{
        .id = id,
        .step = "compute",
        .parameters = jube_parameter(index, n) +
                      R"(<parameter name="word" type="string" separator="," duplicate="none" )"
                      R"(mode="shell"><value>echo w$n</value><selection>w)" +
                      n + "\n</selection></parameter>",
        .parents = "",
        .siblings = first + "," + std::to_string(id - id % 2 + 1),
        .iteration = id % 2,
        .standard_output = output};
  };
  const auto check = [](int id, int parent) {
    return JubeWorkpackage{.id = id,
                           .step = "check",
                           .parameters = "",
                           .parents = std::to_string(parent),
                           .siblings = std::to_string(id),
                           .iteration = parent % 2,
                           .standard_output = ""};
  };
  std::vector<JubeWorkpackage> all{compute(0, 0, "1", "square=1\n"),
                                   compute(1, 0, "1", "square=1\n"),
                                   compute(2, 1, "2", "square=4\n"),
                                   compute(3, 1, "2", "square=5\n"),
                                   compute(4, 2, "4", ""),
                                   compute(5, 2, "4", "square=16\n"),
                                   check(6, 0),
                                   check(7, 1)};
  all[4].marker = std::pair{"error", "exit code 3\nin step compute"};
  all[6].marker = std::nullopt;
  all[7].started = false;
  return all;
}

inline std::string padded(int id) {
  const std::string digits = std::to_string(id);
  return std::string(6 - digits.size(), '0') + digits;
}

/// Writes a run as JUBE leaves it.
inline void write_jube_run(const Playground& here, const std::string& directory,
                           const std::vector<JubeWorkpackage>& workpackages,
                           const std::string& configuration = jube_configuration()) {
  here.write(directory + "/configuration.xml", configuration);
  here.write(directory + "/timestamps",
             "start: 2026-01-31 13:05:07\nchange: 2026-01-31 13:05:09\n");
  here.write(directory + "/run.log", "[2026-01-31 13:05:07,123]:INFO: started by JUBE\n");
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<workpackages>\n";
  for (const JubeWorkpackage& one : workpackages) {
    xml += "  <workpackage id=\"" + std::to_string(one.id) + "\">\n    <step iteration=\"" +
           std::to_string(one.iteration) + "\" cycle=\"0\">" + one.step +
           "</step>\n    <parameterset>" + one.parameters + "</parameterset>\n    <parents>" +
           one.parents + "</parents>\n    <iteration_siblings>" + one.siblings +
           "</iteration_siblings>\n    <environment>\n      <env name=\"MODE\">'it\\'s\\n'</env>\n"
           "      <nonenv name=\"HOME\"/>\n    </environment>\n  </workpackage>\n";
    const std::string own = directory + "/" + padded(one.id) + "_" + one.step;
    if (!one.started)
      continue;
    here.write(own + "/work/stdout", one.standard_output);
    if (one.marker)
      here.write(own + "/" + one.marker->first, one.marker->second);
  }
  here.write(directory + "/workpackages.xml", xml + "</workpackages>\n");
}

/// What JUBE has found, with numbers that the output does not have.
inline std::string jube_analysis() {
  const auto found = [](int id, const std::string& square) {
    return "      <workpackage id=\"" + std::to_string(id) +
           "\">\n        <pattern name=\"square\" type=\"int\">" + square +
           "</pattern>\n        <pattern name=\"square_cnt\" type=\"int\">2</pattern>\n"
           "        <pattern name=\"twice\" type=\"int\">7</pattern>\n      </workpackage>\n";
  };
  // As for JUBE any of its iterations stands for a row.
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<analyse>\n  <analyser name=\"output\">\n"
         "    <step name=\"compute\">\n" +
         found(1, "100") + found(2, "400") + found(5, "1600") +
         "    </step>\n  </analyser>\n</analyse>\n";
}

}  // namespace bench::end_to_end
