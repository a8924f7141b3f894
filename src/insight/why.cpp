#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/insight/jobs.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/insight/why.hpp>
#include <bench/machine/sentinel.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/group.hpp>
#include <bench/results/workpackage_values.hpp>
#include <bench/run/step_jobs.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/nodes.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/run.hpp>
#include <bench/space/variables.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::insight {
namespace {

namespace fs = std::filesystem;
using workspace::Attempt;
using workspace::State;
using workspace::Workpackage;

std::string key_of(const RunView& view, const model::Batch& batch, const Workpackage& workpackage) {
  space::Variables variables;
  for (auto& [name, value] : view.internal_variables(workpackage))
    variables.emplace(name, value);
  const auto lookup = space::lookup_in(variables, workpackage.parameters);
  return space::same_nodes_key(
      batch, [&](const std::string& text) { return evaluate::substitute(text, lookup); });
}

/// On which nodes a ready workpackage of a step with `same_nodes` will run, as far as another one
/// decides that; else empty.
std::string same_nodes_text(const space::Run& run, const RunView& view,
                            const Workpackage& workpackage) {
  const auto& batch = run.benchmark.step(workpackage.step)->batch;
  if (!batch || !batch->same_nodes)
    return "";
  const std::string key = key_of(view, *batch, workpackage);
  const Workpackage* first = nullptr;
  for (const Workpackage& other : view.all()) {
    if (other.step != workpackage.step || other.state == State::ready || other.was_never_made() ||
        key_of(view, *batch, other) != key)
      continue;
    if (const std::string nodes = space::nodes_of(run, other); !nodes.empty())
      return fmt::format("{}, those of workpackage {} (`same_nodes`)", nodes, other.id);
    if (other.state == State::submitted && !first)
      first = &other;
  }
  return first ? fmt::format("those of workpackage {} (`same_nodes`), once its job has begun",
                             first->id)
               : "";
}

/// What can be done about an end of this kind.
std::string advice_on(Outcome outcome) {
  switch (outcome) {
    case Outcome::timeout:
      return "increase `timeout` or `time_limit` of the step, or add `retry` with `on: timeout` "
             "and a `timelimit_factor`";
    case Outcome::out_of_memory:
      return "it stays in the table as out of memory; request more memory, or use a smaller case";
    case Outcome::node_fail:
    case Outcome::boot_fail:
    case Outcome::preempted:
    case Outcome::lost:
      return fmt::format(
          "usually not the fault of the workpackage; `retry` with `on: {}` repeats it",
          name_of(outcome));
    case Outcome::launch_failure:
      return "nothing was executed; correct the request in `batch` or in the platform file";
    default:
      return "";
  }
}

/// Puts together what there is to say of one workpackage.
class Explainer {
 public:
  Explainer(const space::Run& run, const RunView& view, const Workpackage& workpackage)
      : run_(run),
        view_(view),
        workpackage_(workpackage),
        step_(*run.benchmark.step(workpackage.step)),
        attempt_(view.attempt(workpackage.id)),
        worker_(workspace::worker_of(run.directory.path)) {}

  Explanation explain() {
    say_deleted_directory();
    say_parents();
    if (run_.metadata.jube_version) {
      explain_run_of_jube();
      return std::move(explanation_);
    }
    switch (workpackage_.state) {
      case State::ready:
        say_ready();
        break;
      case State::running:
        say_running();
        break;
      case State::submitted:
        say_submitted();
        break;
      case State::waiting:
        say_waiting();
        break;
      case State::done:
        say_done();
        break;
      case State::failed:
        say_failed();
        break;
      case State::skipped:
        say("skipped", workpackage_.reason);
        say_commands();
        say("again", "`bench continue --failed` repeats it with what implies it");
        break;
    }
    return std::move(explanation_);
  }

 private:
  void say(const char* about, std::string text) {
    if (!text.empty())
      explanation_.remarks.push_back({about, std::move(text)});
  }

  /// Somebody has removed the files of a workpackage that ran.
  void say_deleted_directory() {
    std::error_code unknown;
    if (workpackage_.attempts > 0 && workpackage_.has_ended() && !workpackage_.directory.empty() &&
        !fs::exists(run_.directory.path / workpackage_.directory, unknown))
      say("deleted",
          "its directory does not exist any more; recorded values stay, but it cannot be "
          "analyzed again");
  }

  /// A workpackage exists only once those before it are done, or have a job where it is chained.
  void say_parents() {
    std::vector<std::string> texts;
    for (const long long id : workpackage_.parents) {
      const Workpackage& parent = view_.at(id);
      texts.push_back(fmt::format("workpackage {} ({}), {}", id, parent.step,
                                  workspace::name_of(parent.state)));
    }
    say("parents", join(texts, "\n"));
  }

  /// JUBE keeps less, and what is to be done is its own affair.
  void explain_run_of_jube() {
    if (workpackage_.has_ended())
      say("ended", end_text());
    say("reason", workpackage_.reason);
    say_commands();
    say_children();
    say("made by", "JUBE: bench can only read this run; resume it with `jube continue`");
    add_output();
  }

  /// @param otherwise what to say where no bench process is working on the run
  void say_worker(const char* otherwise) {
    if (worker_) {
      say("bench", worker_->name + (worker_->sure ? "" : ", or ended since"));
      return;
    }
    say("bench", otherwise);
    explanation_.remedy = Remedy::go_on;
  }

  void say_ready() {
    say("attempts",
        workpackage_.attempts == 0 ? "none yet" : std::to_string(workpackage_.attempts));
    if (attempt_ && attempt_->outcome == name_of(Outcome::interrupted))
      say("before",
          fmt::format("attempt {} was interrupted: {}", attempt_->number, attempt_->reason));
    else if (attempt_ && workpackage_.retries > 0)
      say("before", fmt::format("attempt {} failed: {}\n`retry` repeats it ({} of {})",
                                attempt_->number, attempt_->reason, workpackage_.retries,
                                step_.retry ? step_.retry->times : 0));
    say_failed_nodes();
    say("nodes", same_nodes_text(run_, view_, workpackage_));
    say_worker("no bench process is working on the run");
    if (const std::string parents = open_parents(); !parents.empty())
      say("waits for", parents);
    else if (worker_)
      say("waits for", "its turn: " + turn_text());
  }

  /// Those that have not ended, of a chained workpackage.
  std::string open_parents() const {
    std::vector<std::string> texts;
    for (const long long id : workpackage_.parents)
      if (const Workpackage& parent = view_.at(id); !parent.has_ended())
        texts.push_back(fmt::format(
            "workpackage {} ({}), which {}", id, parent.step,
            parent.state == State::submitted ? "has a job" : "is to be submitted again"));
    return join(texts, "\n");
  }

  std::string turn_text() const {
    std::size_t under_way = 0;
    std::size_t in_all = 0;
    for (const Workpackage& other : view_.all())
      if (!other.has_ended() && other.state != State::ready) {
        ++in_all;
        under_way += other.step == workpackage_.step ? 1 : 0;
      }
    std::string text = fmt::format("{} running, {} of step {}", plural(in_all, "workpackage"),
                                   under_way, step_.name);
    if (!step_.max_async.empty())
      text += fmt::format(", which has `max_async: {}`", step_.max_async);
    if (step_.procs > 0)
      text += fmt::format(", which has `procs: {}`", step_.procs);
    return text;
  }

  void say_running() {
    const double since = attempt_->started_unix_s.value_or(attempt_->claimed_unix_s);
    say("runs", fmt::format("on {} since {}, for {}", attempt_->host, local_time_at(since),
                            human_duration(std::max(0.0, unix_time_now() - since))));
    say_attempts();
    if (!attempt_->submission.empty())
      say("job", "on its way to the batch system");
    say_worker("no bench process monitors it; `bench continue` collects its result");
    add_output();
  }

  void say_attempts() {
    if (!attempt_ || attempt_->number == 1)
      return;
    say("attempt", std::to_string(attempt_->number) +
                       (workpackage_.retries == 0
                            ? ""
                            : fmt::format(", {} of them by `retry`", workpackage_.retries)));
  }

  void say_failed_nodes() {
    if (const auto nodes = view_.failed_nodes(workpackage_.id); !nodes.empty())
      say("avoids",
          fmt::format("{}, which failed before, as long as other nodes remain", join(nodes, ", ")));
  }

  void say_submitted() {
    say("submitted",
        fmt::format("at {}, as job {}", local_time_at(attempt_->claimed_unix_s), attempt_->job_id));
    if (const std::string& jobs = attempt_->waits_for; !jobs.empty())
      say("begins after", jobs.find(',') == std::string::npos
                              ? fmt::format("job {}, if it ends well", jobs)
                              : fmt::format("jobs {}, if they end well", jobs));
    say_attempts();
    say_failed_nodes();
    const auto sentinel =
        machine::read_sentinel(space::attempt_on_disk(run_, workpackage_, attempt_->uuid).sentinel);
    const bool begun = sentinel && sentinel->attempt == attempt_->uuid;
    if (begun && sentinel->started_unix_s)
      say("began",
          fmt::format("at {} on {}", local_time_at(*sentinel->started_unix_s), sentinel->host));
    if (begun && sentinel->exit_code) {
      say("ended", fmt::format("with exit code {}, not yet collected", *sentinel->exit_code));
      say_worker("no bench process is working on the run");
    } else {
      // The question would be put with the words of the run, by a program.
      const JobNews news =
          workspace::is_own(run_.directory.path)
              ? ask_about(run_, workpackage_.step, *attempt_)
              : JobNews{.text = "the batch system was not asked: the run belongs to another user"};
      say("job", news.text);
      if (news.may_end)
        say_worker("no bench process is working on the run");
    }
    if (begun)
      add_output();
  }

  void say_waiting() {
    const auto index = static_cast<std::size_t>(workpackage_.progress.command);
    const model::Command& command = step_.commands.at(index);
    if (!command.shared) {
      say("waits for", fmt::format("the file {}, after its command {}",
                                   substitute(command.done_file), index + 1));
      evaluate::Evaluator evaluator;
      if (workspace::is_own(run_.directory.path))
        for (const std::string& job : run::submitted_jobs({.run = run_,
                                      .step = step_,
                                      .workpackage = workpackage_,
                                      .variables = variables(),
                                      .evaluator = evaluator}))
          say("job", fmt::format("{}: {}", job, ask_about_job(run_, job).text));
      say_worker("no bench process is working on the run; `bench continue` checks the file");
      add_output();
      return;
    }
    long long waiting = 0;
    long long behind = 0;
    for (const Workpackage& other : view_.all())
      if (other.step == step_.name && !other.has_ended())
        ++(other.state == State::waiting && other.progress == workpackage_.progress ? waiting
                                                                                    : behind);
    say("waits for",
        fmt::format("command {}, which runs once for all of step {}: {} waiting there, {} to come",
                    index + 1, step_.name, waiting, behind));
    say("command", substitute(command.text));
    say_worker("no bench process is working on the run");
  }

  void say_done() {
    say("ended", end_text());
    say_attempts();
    say_commands();
    say_missed_patterns();
    say("again", "finished; to repeat it, delete it first with `bench remove`");
    say_input();
    say_children();
  }

  void say_missed_patterns() {
    evaluate::Evaluator evaluator;
    const space::Graph graph(run_, view_.all(), evaluator);
    std::vector<std::string> texts;
    for (const results::Miss& miss :
         results::WorkpackageValues(run_, graph, evaluator).misses(workpackage_)) {
      texts.push_back(fmt::format("{}: {}, for `{}`", miss.pattern->name, miss.reason,
                                  one_line(miss.pattern->text)));
      if (!miss.near_match.empty())
        texts.back() +=
            fmt::format("; `{}` would match, but {}", one_line(miss.near_match), miss.difference);
      for (const fs::path& file : miss.searched)
        if (std::ranges::find(explanation_.searched, file) == explanation_.searched.end())
          explanation_.searched.push_back(file);
    }
    say("no value", join(texts, "\n"));
  }

  void say_failed() {
    if (workpackage_.was_never_made()) {
      say("not created", workpackage_.reason);
      explanation_.remedy = Remedy::make_parent_again;
      return;
    }
    const Outcome outcome = outcome_of(attempt_->outcome).value_or(Outcome::failed);
    if (outcome != Outcome::failed)
      say("outcome", std::string(name_of(outcome)));
    say("ended", end_text());
    say("reason", workpackage_.reason);
    say("advice", outcome == Outcome::failed ? advice_on_failure() : advice_on(outcome));
    say_attempts();
    if (const int failed = failed_command(); failed > 0)
      say("command", substitute(step_.commands[static_cast<std::size_t>(failed - 1)].text));
    else
      say_commands();
    say_lost_children();
    add_output();
    explanation_.remedy = Remedy::make_again;
  }

  /// Mistakes that many beginners make: a program beside the input file, a question at the
  /// terminal.
  std::string advice_on_failure() {
    constexpr int not_found = 127;
    const int failed = failed_command();
    const std::string command =
        failed > 0 ? substitute(step_.commands[static_cast<std::size_t>(failed - 1)].text) : "";
    std::error_code unknown;
    if (attempt_->exit_code == not_found)
      for (const std::string& word : split_names(one_line(command), " ")) {
        const fs::path file = word.starts_with("./") ? word.substr(2) : word;
        if (!file.empty() && file.is_relative() &&
            fs::is_regular_file(fs::path(run_.metadata.home) / file, unknown))
          return fmt::format(
              "commands run in the directory of the workpackage, and {} lies beside the input "
              "file: "
              "add `fileset: {{name: files, copy: {}}}`, and `use: files` to step {}",
              file.string(), file.string(), step_.name);
      }
    constexpr std::string_view signs[] = {"/dev/tty", "not a tty", "could not read Username",
                                          "could not read Password", "a terminal is required"};
    for (const fs::path& file : view_.output_files(workpackage_, /*standard_error=*/true)) {
      constexpr std::size_t lines = 20;
      const std::string said = end_of_file(space::open_output(run_, file), lines).text;
      if (contains_any(said, signs))
        return "commands have no terminal, so that nothing can be asked: put the answer into the "
               "command, a file or a variable";
    }
    return "";
  }

  /// `at 2026-01-31 13:05:09, after 3.2 s, on node1, as job 17`
  std::string end_text() const {
    std::string text;
    if (attempt_->ended_unix_s)
      text = "at " + local_time_at(*attempt_->ended_unix_s);
    if (const auto run_time_s = attempt_->run_time_s())
      text += ", after " + human_duration(*run_time_s);
    if (!attempt_->host.empty())
      text += ", on " + attempt_->host;
    if (!attempt_->job_id.empty())
      text += ", as job " + attempt_->job_id;
    return text;
  }

  /// From 1 on, as the reason names it; 0: it names none.
  int failed_command() const {
    constexpr std::string_view head = "command ";
    const std::string_view reason = workpackage_.reason;
    if (!reason.starts_with(head))
      return 0;
    const std::string_view rest = reason.substr(head.size());
    const auto number = parse_integer(rest.substr(0, rest.find(' ')));
    const bool known =
        number && *number > 0 && static_cast<std::size_t>(*number) <= step_.commands.size();
    return known ? static_cast<int>(*number) : 0;
  }

  void say_commands() {
    std::vector<std::string> texts;
    for (const model::Command& command : step_.commands)
      texts.push_back(substitute(command.text) +
                      (command.active == "true"
                           ? ""
                           : fmt::format("  (where {})", substitute(command.active))));
    say(texts.size() == 1 ? "command" : "commands", join(texts, "\n"));
  }

  /// A run keeps what it was made from.
  void say_input() {
    if (space::input_state(run_) == space::InputState::changed)
      say("input", fmt::format("{} has changed since; `bench run` starts a new run of it",
                               fs::path(run_.metadata.input_file).filename().string()));
  }

  void say_children() {
    const auto& children = view_.children(workpackage_.id);
    std::map<std::string, long long> counts;
    for (const long long id : children)
      ++counts[view_.at(id).step];
    std::vector<std::string> texts;
    for (const auto& [step, count] : counts)
      texts.push_back(fmt::format("{} of step {}", count, step));
    say("children", join(texts, ", "));
  }

  void say_lost_children() {
    std::set<std::string> chained;
    for (const long long id : view_.children(workpackage_.id))
      chained.insert(view_.at(id).step);
    if (!chained.empty())
      say("so", fmt::format("its workpackages of {} are skipped",
                            join(std::vector(chained.begin(), chained.end()), ", ")));
    std::vector<std::string> names;
    for (const model::Step& step : run_.benchmark.steps)
      if (step.depends_on(step_.name) && !chained.contains(step.name))
        names.push_back(step.name);
    if (!names.empty())
      say("so", fmt::format("no workpackage of {} is created for it", join(names, ", ")));
  }

  void add_output() {
    for (const bool standard_error : {true, false})
      for (fs::path& file : view_.output_files(workpackage_, standard_error))
        explanation_.output.push_back(std::move(file));
  }

  const space::Variables& variables() {
    if (variables_.empty())
      for (auto& [name, value] : view_.internal_variables(workpackage_))
        variables_.emplace(name, value);
    return variables_;
  }

  std::string substitute(const std::string& text) {
    return evaluate::substitute(text, space::lookup_in(variables(), workpackage_.parameters));
  }

  const space::Run& run_;
  const RunView& view_;
  const Workpackage& workpackage_;
  const model::Step& step_;
  const Attempt* attempt_;
  std::optional<workspace::Worker> worker_;
  space::Variables variables_;
  Explanation explanation_;
};

}  // namespace

Explanation explain(const space::Run& run, const RunView& view, long long id) {
  return Explainer(run, view, view.at(id)).explain();
}

}  // namespace bench::insight
