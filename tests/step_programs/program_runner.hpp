#pragma once

// Runs a program as a job script does.

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench::steps {

/// A folder of its own for each test, since tests run side by side.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "steps_XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      throw std::runtime_error("cannot make " + pattern);
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string read_text(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// As it calls itself.
inline std::string program_name(const std::string& file) {
  return std::filesystem::path(file).filename().string();
}

struct Outcome {
  int exit_code;
  std::string out;
  std::string err;

  /// The value of the line `name=value`, or empty.
  std::string value(const std::string& name) const {
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(name + "="))
        return line.substr(name.size() + 1);
    return "";
  }
  double number(const std::string& name) const {
    const std::string text = value(name);
    return text.empty() ? std::nan("") : std::stod(text);
  }
  /// Of all such lines, in their order.
  std::vector<double> numbers(const std::string& name) const {
    std::vector<double> found;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(name + "="))
        found.push_back(std::stod(line.substr(name.size() + 1)));
    return found;
  }
};

/// The losses of the lines that the program `gpt` logs.
inline std::vector<double> losses(const Outcome& outcome) {
  std::vector<double> found;
  const std::string key = "lm loss: ";
  for (auto at = outcome.out.find(key); at != std::string::npos; at = outcome.out.find(key, at + 1))
    found.push_back(std::stod(outcome.out.substr(at + key.size(), 12)));
  return found;
}

/// @param before shell words in front of the program, for example a limit
inline Outcome run_in_shell(const std::string& program, const std::string& arguments,
                            const std::string& before = "") {
  const Folder folder;
  const std::string command = before + " '" + program + "' " + arguments + " >" +
                              folder.file("out") + " 2>" + folder.file("err");
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(folder.file("out")),
          read_text(folder.file("err"))};
}

}  // namespace bench::steps
