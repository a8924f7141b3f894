#include "parameters_json.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::workspace {
namespace {

using Json = nlohmann::ordered_json;

/// Takes what nlohmann's parser meets; false ends it.
class Reader : public nlohmann::json_sax<Json> {
 public:
  Parameters take() { return std::move(parameters_); }

  bool start_object(std::size_t) override { return !std::exchange(inside_, true); }
  bool key(std::string& name) override {
    parameters_.emplace_back(std::move(name), std::string());
    return true;
  }
  bool string(std::string& value) override {
    if (!inside_)
      return false;
    parameters_.back().second = std::move(value);
    return true;
  }
  bool end_object() override { return true; }

  bool null() override { return false; }
  bool boolean(bool) override { return false; }
  bool number_integer(Json::number_integer_t) override { return false; }
  bool number_unsigned(Json::number_unsigned_t) override { return false; }
  bool number_float(Json::number_float_t, const std::string&) override { return false; }
  bool binary(Json::binary_t&) override { return false; }
  bool start_array(std::size_t) override { return false; }
  bool end_array() override { return false; }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;
  }

 private:
  Parameters parameters_;
  bool inside_ = false;
};

}  // namespace

std::string to_json(const Parameters& parameters) {
  Json object = Json::object();
  for (const auto& [name, value] : parameters)
    object[name] = to_valid_utf8(value);
  return object.dump();
}

std::optional<std::string> to_json(const EnvironmentChanges& changes) {
  if (changes.empty())
    return std::nullopt;
  Json object = Json::object();
  for (const auto& [name, value] : changes)
    object[to_valid_utf8(name)] = value ? Json(to_valid_utf8(*value)) : Json();
  return object.dump();
}

Parameters parameters_from(const std::string& json) {
  Reader reader;
  constexpr std::size_t shown = 200;
  if (!Json::sax_parse(json, &reader))
    throw Error("the workspace has parameters that are not an object of strings: " +
                    to_valid_utf8(json.substr(0, shown)),
                "it is damaged, or was not written by bench");
  return reader.take();
}

}  // namespace bench::workspace
