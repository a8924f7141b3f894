#include <cstddef>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <pugixml.hpp>

#include <bench/base/markdown.hpp>
#include <bench/base/text.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/share/export_formats.hpp>
#include <bench/space/metadata.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::formats {
namespace {

using workspace::Attempt;
using workspace::State;
using workspace::StepCounts;
using workspace::Workpackage;

constexpr const char* iteration_name = "iteration";

/// Names of parameters that vary, by step.
std::map<std::string, std::set<std::string>> varying_names(const Subject& subject) {
  std::map<std::pair<std::string, std::string>, std::string> first;
  std::map<std::string, std::set<std::string>> varying;
  const auto take = [&](const std::string& step, const std::string& name,
                        const std::string& value) {
    if (first.try_emplace({step, name}, value).first->second != value)
      varying[step].insert(name);
  };
  for (const Workpackage& one : subject.tidy.workpackages) {
    for (const auto& [name, value] : one.parameters)
      take(one.step, name, value);
    take(one.step, iteration_name, std::to_string(one.iteration));
  }
  return varying;
}

/// For each workpackage, what distinguishes it from the others of its step: the parameters that
/// vary, and the iteration if there are several. Texts such as `size=1`.
std::vector<std::vector<std::string>> distinctions(const Subject& subject) {
  const auto varying = varying_names(subject);
  std::vector<std::vector<std::string>> all;
  for (const Workpackage& one : subject.tidy.workpackages) {
    std::vector<std::string>& texts = all.emplace_back();
    const auto names = varying.find(one.step);
    if (names == varying.end())
      continue;
    for (const auto& [name, value] : one.parameters)
      if (names->second.contains(name))
        texts.push_back(fmt::format("{}={}", name, one_line(value)));
    if (names->second.contains(iteration_name))
      texts.push_back(fmt::format("{}={}", iteration_name, one.iteration));
  }
  return all;
}

/// XML allows no control characters, not even escaped.
std::string xml_text(const std::string& text) {
  std::string clean = to_valid_utf8(text);
  std::erase_if(clean,
                [](unsigned char c) { return (c < ' ' && c != '\n' && c != '\t') || c == '\x7f'; });
  return clean;
}

void set(pugi::xml_node element, const char* name, const std::string& value) {
  element.append_attribute(name).set_value(xml_text(value).c_str());
}

double seconds_of(const Attempt* attempt) {
  return attempt ? attempt->run_time_s().value_or(0) : 0;
}

/// Totals of a suite, or of all suites.
struct Totals {
  int tests = 0;
  int failures = 0;
  int errors = 0;
  int skipped = 0;
  double seconds = 0;

  void write(pugi::xml_node element) const {
    set(element, "tests", std::to_string(tests));
    set(element, "failures", std::to_string(failures));
    set(element, "errors", std::to_string(errors));
    set(element, "skipped", std::to_string(skipped));
    set(element, "time", fmt::format("{:.3f}", seconds));
  }
};

void add_problem(pugi::xml_node test, const char* kind, const std::string& message,
                 const std::string& type) {
  pugi::xml_node problem = test.append_child(kind);
  set(problem, "message", split(message, "\n").front());
  if (!type.empty())
    set(problem, "type", type);
  problem.text().set(xml_text(message).c_str());
}

/// Adds the reason why a workpackage is not done.
void add_outcome(const Workpackage& one, const Attempt* attempt, pugi::xml_node test,
                 Totals& totals) {
  if (one.state == State::done)
    return;
  if (one.state == State::failed) {
    ++totals.failures;
    add_problem(test, "failure", one.reason.empty() ? "failed" : one.reason,
                attempt && !attempt->outcome.empty() ? attempt->outcome : "failed");
  } else if (one.state == State::skipped) {
    ++totals.skipped;
    set(test.append_child("skipped"), "message", one.reason);
  } else {
    ++totals.errors;
    add_problem(test, "error", fmt::format("not finished: {}", name_of(one.state)), "unfinished");
  }
}

/// Unique in its suite: CI systems match tests between runs by name.
std::string name_of_test(const Workpackage& one, const std::vector<std::string>& distinction,
                         std::set<std::string>& taken) {
  std::string name = distinction.empty() ? one.step : join(distinction, " ");
  if (!taken.insert(name).second)
    taken.insert(name += fmt::format(" (workpackage {})", one.id));
  return name;
}

class Report {
 public:
  explicit Report(const Subject& subject)
      : subject_(subject), attempts_(attempts_by_row(subject)), names_(distinctions(subject)) {}

  std::string text() {
    pugi::xml_node declaration = document_.append_child(pugi::node_declaration);
    declaration.append_attribute("version").set_value("1.0");
    declaration.append_attribute("encoding").set_value("UTF-8");
    pugi::xml_node suites = document_.append_child("testsuites");
    Totals all;
    int id = 0;
    for (const model::Step& step : subject_.run.benchmark.steps)
      add_suite(step.name, id++, suites, all);
    set(suites, "name", subject_.run.metadata.benchmark);
    all.write(suites);
    std::ostringstream text;
    document_.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
    return text.str();
  }

 private:
  void add_suite(const std::string& step, int id, pugi::xml_node suites, Totals& all) {
    const space::RunMetadata& metadata = subject_.run.metadata;
    pugi::xml_node suite = suites.append_child("testsuite");
    set(suite, "name", step);
    set(suite, "package", metadata.benchmark);
    set(suite, "id", std::to_string(id));
    // JUnit's schema allows neither a time zone nor fractions of a second.
    set(suite, "timestamp", space::start_for_programs(metadata).substr(0, 19));
    const auto host = metadata.provenance.find("host");
    set(suite, "hostname", host == metadata.provenance.end() ? "unknown" : host->second);
    add_properties(suite);
    Totals totals;
    std::set<std::string> taken;
    for (std::size_t row = 0; row < subject_.tidy.workpackages.size(); ++row)
      if (const Workpackage& one = subject_.tidy.workpackages[row]; one.step == step) {
        pugi::xml_node test = suite.append_child("testcase");
        set(test, "classname", metadata.benchmark + "." + step);
        set(test, "name", name_of_test(one, names_[row], taken));
        set(test, "time", fmt::format("{:.3f}", seconds_of(attempts_[row])));
        ++totals.tests;
        totals.seconds += seconds_of(attempts_[row]);
        add_outcome(one, attempts_[row], test, totals);
      }
    suite.append_child("system-out");
    suite.append_child("system-err");
    totals.write(suite);
    all.tests += totals.tests;
    all.failures += totals.failures;
    all.errors += totals.errors;
    all.skipped += totals.skipped;
    all.seconds += totals.seconds;
  }

  void add_properties(pugi::xml_node suite) const {
    const space::RunMetadata& metadata = subject_.run.metadata;
    pugi::xml_node properties = suite.append_child("properties");
    const auto add = [&](const char* name, const std::string& value) {
      if (value.empty())
        return;
      pugi::xml_node property = properties.append_child("property");
      set(property, "name", name);
      set(property, "value", value);
    };
    add("run", metadata.id);
    add("uuid", metadata.uuid);
    add("platform", metadata.platform);
    add("bench_version", metadata.bench_version);
    for (const char* fact : {"cpu", "gpus", "gpu_driver", "git_revision"})
      if (const auto found = metadata.provenance.find(fact); found != metadata.provenance.end())
        add(fact, found->second);
  }

  const Subject& subject_;
  std::vector<const Attempt*> attempts_;
  std::vector<std::vector<std::string>> names_;
  pugi::xml_document document_;
};

constexpr std::size_t most_failures = 20;

std::string cell(const std::string& text) {
  return markdown_text(with_visible_controls(one_line(text)));
}

std::string state_of(const std::vector<StepCounts>& counts) {
  long long failed = 0;
  long long open = 0;
  for (const StepCounts& one : counts) {
    failed += one.failed;
    open += one.all() - one.ended();
  }
  return open > 0 ? "not finished" : failed > 0 ? "failed" : "done";
}

std::vector<StepCounts> counts_of(const Subject& subject) {
  std::vector<StepCounts> counts;
  for (const model::Step& step : subject.run.benchmark.steps) {
    StepCounts one{.step = step.name};
    for (const Workpackage& workpackage : subject.tidy.workpackages)
      if (workpackage.step == step.name)
        ++one.of(workpackage.state);
    if (one.all() > 0)
      counts.push_back(one);
  }
  return counts;
}

std::string counts_table(const std::vector<StepCounts>& counts) {
  std::string text = "| step | done | failed | skipped | open |\n|---|--:|--:|--:|--:|\n";
  for (const StepCounts& one : counts)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", cell(one.step), one.done, one.failed,
                        one.skipped, one.all() - one.ended());
  return text;
}

std::string failures_table(const Subject& subject) {
  const auto names = distinctions(subject);
  std::string rows;
  std::size_t count = 0;
  for (std::size_t k = 0; k < subject.tidy.workpackages.size(); ++k) {
    const Workpackage& one = subject.tidy.workpackages[k];
    if (one.state == State::failed && ++count <= most_failures)
      rows += fmt::format("| {} | {} | {} | {} |\n", one.id, cell(one.step),
                          cell(join(names[k], " ")), cell(one.reason));
  }
  if (count == 0)
    return "";
  std::string text =
      "\n### Failures\n\n| workpackage | step | parameters | reason |\n|--:|---|---|---|\n" + rows;
  if (count > most_failures)
    text += fmt::format("\n{} more failed.\n", count - most_failures);
  return text;
}

}  // namespace

std::string junit(const Subject& subject) {
  return Report(subject).text();
}

std::string summary(const Subject& subject) {
  const space::RunMetadata& metadata = subject.run.metadata;
  const auto counts = counts_of(subject);
  std::string text =
      fmt::format("## {}: run {} {}\n\n", cell(metadata.benchmark), metadata.id, state_of(counts));
  text += fmt::format("Started {} on platform {}", space::start_in_utc(metadata),
                      cell(metadata.platform));
  if (const auto host = metadata.provenance.find("host"); host != metadata.provenance.end())
    text += fmt::format(", host {}", cell(host->second));
  text += ".\n\n" + counts_table(counts) + failures_table(subject);
  if (!subject.baseline.empty())
    text += "\n### Baseline\n\n" + subject.baseline;
  if (!subject.tables.empty())
    text += "\n### Results\n\n" + subject.tables;
  return text;
}

}  // namespace bench::formats
