#pragma once

#include <map>
#include <string>

namespace bench::batch {

/// How to speak to a batch system by commands of the shell; see platform::Commands.
struct CommandTable {
  std::string system;  ///< Its name, for messages.
  std::string submit;  ///< `{{script}}` and `{{name}}` are replaced, quoted for the shell.
  std::string id_pattern;
  std::string poll;
  std::string line_pattern;
  std::string cancel;  ///< `{{id}}`: one call for each job.
  std::map<std::string, std::string> states;
  int most_of_array = 1;  ///< Tasks of an array; 1: the system has none.
};

}  // namespace bench::batch
