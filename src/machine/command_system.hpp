#pragma once

#include <string>
#include <vector>

#include <bench/base/regex.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {

/// Any batch system that has commands to submit, to list and to cancel. Its jobs are known by their
/// names, which hold a part of the submission's UUID. An array is `12[]`, its tasks are `12[1]`.
class CommandSystem : public BatchSystem {
 public:
  /// @throws Error for a pattern that is not a regular expression or lacks a group
  explicit CommandSystem(CommandTable table);

  std::string name() const override { return table_.system; }
  SubmitResult submit(const Submission& submission) override;
  QueryResult ask(const std::vector<std::string>& ids) override;
  QueryResult ask_for_all() override;
  /// There is no accounting.
  QueryResult query_accounting(const std::vector<std::string>&) override { return {}; }
  std::string cancel(const std::vector<std::string>& ids) override;
  /// No more than 1 where the lines of `poll` do not tell tasks apart.
  int max_array_size() override { return line_.has_group("index") ? table_.most_of_array : 1; }

 private:
  CommandTable table_;
  Regex id_;
  Regex line_;
};

}  // namespace bench::machine
