#include "key_outputs.hpp"

#include "calculation.hpp"
#include "read.hpp"

#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

using document::Node;

namespace {

constexpr int syslog_port = 514;  // RFC 5426, 3.3

Key build_key(const Node& node) {
  Key key;
  key.name = strip(node.text);
  key.title = node.get("title");
  key.format = attribute(node, "format");
  key.primary = node.flag("primekey", false);
  key.place = node.text_place;
  key.unit = attribute(node, "unit");
  key.unit_place = place_of(node, "unit");
  key.calculation = build_calculation(node);
  if (key.calculation)
    key.name = name_of(*key.calculation, key.title);
  if (key.name.empty())
    throw Error("this key is empty", "write the name of a parameter or pattern", node.place);
  return key;
}

std::vector<Key> build_keys(const Node& node) {
  std::vector<Key> keys;
  for (const Node* key : node.all("key"))
    keys.push_back(build_key(*key));
  return keys;
}

const std::string& column_of(const Key& key) {
  return key.title.empty() ? key.name : key.title;
}

/// The old way to say which keys are primary: a list of their columns.
void mark_primary(const Node& node, std::vector<Key>& keys) {
  for (const std::string& wanted : split_names(attribute(node, "primekeys"))) {
    std::vector<std::string> known;
    bool found = false;
    for (Key& key : keys) {
      known.push_back(column_of(key));
      if (known.back() == wanted)
        key.primary = found = true;
    }
    if (!found)
      throw Error(fmt::format("'{}' in primekeys is not a key of this database", wanted),
                  did_you_mean(wanted, known), place_of(node, "primekeys"));
  }
}

}  // namespace

Syslog build_syslog(const Node& node) {
  Syslog syslog;
  syslog.name = required_name(node);
  syslog.address = attribute(node, "address");
  syslog.host = attribute(node, "host");
  syslog.port = whole_number(node, "port", syslog_port, 1);
  syslog.format = node.get("format");
  syslog.sort = split_names(attribute(node, "sort"));
  syslog.filter = attribute(node, "filter");
  syslog.keys = build_keys(node);
  syslog.place = node.place;
  if (syslog.address.empty() == syslog.host.empty())
    throw Error(
        fmt::format("syslog '{}' has {}", syslog.name,
                    syslog.host.empty() ? "no address and no host" : "an address and a host"),
        "give either the `address` of a socket or `host` and `port`", node.place);
  return syslog;
}

Database build_database(const Node& node) {
  Database database;
  database.name = file_name(node);
  database.file = attribute(node, "file");
  database.filter = attribute(node, "filter");
  database.keys = build_keys(node);
  database.place = node.place;
  mark_primary(node, database.keys);
  return database;
}

}  // namespace bench::model
