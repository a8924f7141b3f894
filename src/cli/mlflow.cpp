#include "command.hpp"
#include "evaluation.hpp"
#include "runs.hpp"

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/share/mlflow.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {
namespace {

namespace fs = std::filesystem;

struct MlflowOptions {
  std::vector<std::string> directories;
  std::vector<std::string> ids;
  std::string tracking_uri;
  std::string experiment;
  std::string directory;
};

/// An option, or the variable that MLflow's own clients read.
std::string option_or_variable(const std::string& option, const char* name) {
  const char* value = std::getenv(name);
  return option.empty() && value ? value : option;
}

/// A progress line with the number of MLflow runs, on a terminal.
class Counter {
 public:
  explicit Counter(std::string name) : name_(std::move(name)) {}
  ~Counter() { erase(); }
  void erase() {
    if (std::exchange(shown_, false))
      draw_over("");
  }
  void show(std::size_t done, std::size_t all) {
    constexpr std::size_t often_enough = 20;
    if (done % often_enough != 0 && done != all)
      return;
    draw_over(fmt::format("{}: {} of {}", name_, done, all));
    shown_ = true;
  }

 private:
  std::string name_;
  bool shown_ = false;
};

std::string summary_of(const mlflow::Sent& sent) {
  std::string text =
      sent.created + sent.updated + sent.obsolete == 0
          ? fmt::format("nothing new; {} up to date", plural(sent.unchanged, "run"))
          : fmt::format("{} created, {} updated, {} up to date; {}, {}, {}",
                        plural(sent.created, "run"), sent.updated, sent.unchanged,
                        plural(sent.params, "parameter"), plural(sent.metrics, "metric value"),
                        plural(sent.artifacts, "file"));
  if (sent.obsolete > 0)
    text += fmt::format("; {} of repeated or removed workpackages marked obsolete",
                        plural(sent.obsolete, "run"));
  return text;
}

void tell_what_is_left_out(const mlflow::Sent& sent, const std::string& run) {
  if (sent.open > 0)
    tell(fmt::format(
        "note: {} of {} {} not finished and {} left out; run the same command later to send {}",
        plural(sent.open, "workpackage"), run, sent.open == 1 ? "has" : "have",
        sent.open == 1 ? "is" : "are", sent.open == 1 ? "it" : "them"));
  if (!sent.artifact_uri.empty())
    tell(fmt::format(
        "note: the server stores files at {} and accepts no uploads, so no files were sent",
        sent.artifact_uri));
  constexpr std::size_t most = 5;
  for (std::size_t k = 0; k < sent.left_out.size() && k < most; ++k)
    tell(fmt::format(
        "note: {} was not sent: it is larger than 16 MiB or the server's limit, or unreadable",
        short_path(sent.left_out[k])));
  if (sent.left_out.size() > most)
    tell(fmt::format("note: {} were not sent either",
                     plural(sent.left_out.size() - most, "other file")));
}

void tell_of_secrets(const mlflow::Sent& sent) {
  for (const std::string& file : sent.with_secrets)
    tell(fmt::format("note: {} was not sent: it contains a secret, which cannot be replaced in it",
                     short_path(file)));
  for (const std::string& file : sent.unsearched)
    tell(fmt::format("note: {} was sent, but could not be searched for secrets", short_path(file)));
}

/// The commands that open a directory with MLflow.
std::string opening_of(const fs::path& store) {
  const std::string database =
      (fs::absolute(store).lexically_normal().parent_path() / "mlflow.db").string();
  return fmt::format(
      "To open it, with MLflow 3.10 or newer:\n"
      "  mlflow migrate-filestore --source {} --target {}\n"
      "  mlflow ui --backend-store-uri {}\n",
      shell_quote(short_path(store.lexically_normal())), shell_quote("sqlite:///" + database),
      shell_quote("sqlite:///" + database));
}

std::unique_ptr<mlflow::TrackingStore> store_of(const MlflowOptions& options,
                                                const std::string& uri, const fs::path& directory,
                                                const std::string& benchmark, Counter& counter) {
  const std::string named = option_or_variable(options.experiment, "MLFLOW_EXPERIMENT_NAME");
  const std::string experiment = named.empty() ? benchmark : named;
  if (!directory.empty())
    return mlflow::open_directory(directory, experiment);
  return mlflow::open_server(mlflow::settings_of(uri), experiment,
                             [&counter](const std::string& message) {
                               counter.erase();
                               tell("note: " + message);
                             });
}

void send_run(const Evaluated& one, const MlflowOptions& options, const std::string& uri,
              const fs::path& store) {
  const std::string name = short_path(one.run.directory.path);
  Counter counter(name);
  const auto tracking = store_of(options, uri, store, one.run.benchmark.name, counter);
  const mlflow::Sent sent =
      mlflow::send(one.run, one.workspace, one.analyses, one.own, *tracking,
                   [&](std::size_t done, std::size_t all) { counter.show(done, all); });
  counter.erase();
  print(fmt::format("{}: {}\n", name, summary_of(sent)));
  tell_what_is_left_out(sent, name);
  tell_of_secrets(sent);
  if (store.empty())
    print(fmt::format("{}/#/experiments/{}/runs/{}\n", mlflow::settings_of(uri).uri,
                      tracking->experiment_id(), sent.run_id));
}

int send_runs(const MlflowOptions& options) {
  const fs::path store =
      options.directory.empty() ? fs::path() : fs::path(options.directory) / "mlruns";
  const std::string uri = option_or_variable(options.tracking_uri, "MLFLOW_TRACKING_URI");
  if (store.empty() && uri.empty())
    throw Error(Id::usage, "no MLflow server was given",
                "set --tracking-uri URI or MLFLOW_TRACKING_URI, or write a directory with "
                "--directory DIR");
  bool any_sent = false;
  const int worst = for_each_run(
      chosen_runs(options.directories, options.ids), [&](const workspace::RunDirectory& run) {
        send_run(evaluate(run, {}, false, Found::in_workpackages), options, uri, store);
        any_sent = true;
      });
  if (any_sent && !store.empty())
    print(opening_of(store));
  return worst;
}

}  // namespace

std::function<int()> declare_mlflow(CLI::App& app) {
  const auto options = std::make_shared<MlflowOptions>();
  app.add_option("RUN", options->directories,
                 "run directories, or outpaths (the last run of each); default: the current "
                 "directory");
  app.add_option("-i,--id", options->ids, "these runs of each outpath")->type_name("ID");
  auto* uri = app.add_option("--tracking-uri", options->tracking_uri,
                             "address of the server; default: $MLFLOW_TRACKING_URI");
  uri->type_name("URI");
  app.add_option("--experiment", options->experiment,
                 "MLflow's experiment; default: $MLFLOW_EXPERIMENT_NAME, else the benchmark's name")
      ->type_name("NAME");
  app.add_option("--directory", options->directory,
                 "write DIR/mlruns in the layout of MLflow's file store; needs no server")
      ->type_name("DIR")
      ->excludes(uri);
  return [options] { return send_runs(*options); };
}

}  // namespace bench::cli
