#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bench::machine {

/// Values of the variables of a job template, by name.
using TemplateVariables = std::map<std::string, std::string, std::less<>>;

/// Reads each job template once, however many scripts are made of it.
class JobTemplates {
 public:
  struct Template {
    std::string text;
    std::filesystem::path file;
  };
  /// @throws Error as `read_job_template`
  const Template& read(const std::string& name,
                       const std::vector<std::filesystem::path>& directories) const;

 private:
  mutable std::map<std::pair<std::string, std::vector<std::filesystem::path>>, Template> known_;
};

/// A job template: a file in one of these directories, or in the first `templates` of
/// `data_directories`.
/// @throws Error if there is none
JobTemplates::Template read_job_template(const std::string& name,
                                         const std::vector<std::filesystem::path>& directories);

/// The names of the variables in a job template.
std::set<std::string> variables_in(const std::string& text);

/// Fills a job template. `{{name}}` is replaced by its value; a line with `{{name?}}` is dropped if
/// the value is empty. Some batch systems combine several values in one directive: `{{:n=|name?}}`
/// is the text before the bar with the value, `{{:x|name!}}` that text alone, both empty if the
/// value is empty, and the line stays; `{{a*b}}` is the product of the integers that are not empty.
/// Pure: same input, same text.
/// @param name of the file in messages
/// @throws Error with the place: an unknown variable, `{{name}}` with an empty value, a value with
/// a newline in a directive (a line that begins with `#`), a `{{` without its `}}`, a factor that
/// is not an integer
std::string fill(const std::string& text, const std::string& name,
                 const TemplateVariables& variables);

}  // namespace bench::machine
