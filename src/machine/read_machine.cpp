#include "read_platform.hpp"
#include "section.hpp"

#include <string>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/machine/machine.hpp>

namespace bench::platform {
namespace {

using document::Node;

/// The source of everything in a group without its own source.
using CommonSource = std::string;

Key fact_key(MaybeFact& member, const CommonSource& common) {
  return {.noted = false,
          .read =
              [&member, &common](const Stated& stated) {
                const std::string& source = stated.source.empty() ? common : stated.source;
                if (source.empty())
                  throw Error(Id::missing_key, fmt::format("'{}' needs a source", stated.key),
                              "write {value: ..., source: ...}, or `source: ...` for the group",
                              stated.value().text_place);
                member = Fact{number_of(stated), source, stated.unconfirmed};
              },
          .enter = {}};
}

/// A text of the machine, by default with the group's source.
Key fact_key(std::string& member, const CommonSource& common, Machine& machine) {
  return {.read =
              [&member, &common, &machine](const Stated& stated) {
                member = one_line(stated.value().text);
                if (stated.source.empty() && !common.empty())
                  machine.sources[stated.key] = common;
              },
          .enter = {}};
}

CommonSource common_source(const Node& group) {
  const Node* source = group.first("source");
  return source ? one_line(source->text) : "";
}

/// Read by `common_source`, before the others.
Key source_key() {
  return {.noted = false, .read = [](const Stated&) {}, .enter = {}};
}

}  // namespace

Key machine_key(Machine& machine) {
  return {.kind = Key::Kind::group,
          .read = {},
          .enter = [&machine](const Node& group, const std::string& path) {
            const CommonSource common = common_source(group);
            const Keys keys{
                {"source", source_key()},
                {"nodes", fact_key(machine.nodes, common)},
                {"modules_per_node", fact_key(machine.modules_per_node, common)},
                {"devices_per_node", fact_key(machine.devices_per_node, common)},
                {"sockets", fact_key(machine.sockets, common)},
                {"cores_per_node", fact_key(machine.cores_per_node, common)},
                {"threads_per_core", fact_key(machine.threads_per_core, common)},
                {"numa_domains", fact_key(machine.numa_domains, common)},
                {"memory_gb", fact_key(machine.memory_gb, common)},
                {"processor", fact_key(machine.processor, common, machine)},
                {"network", fact_key(machine.network, common, machine)},
                {"local_disk", fact_key(machine.local_disk, common, machine)},
            };
            read_keys(group, path, keys, {machine.sources, machine.unconfirmed});
          }};
}

Key accelerator_key(Machine& machine) {
  return {.kind = Key::Kind::group,
          .read = {},
          .enter = [&machine](const Node& group, const std::string& path) {
            const CommonSource common = common_source(group);
            Accelerator& device = machine.accelerator;
            const auto scope = [&device](const Stated& stated) {
              device.power_scope = stated.text();
              if (device.power_scope != "device" && device.power_scope != "module" &&
                  device.power_scope != "package")
                refuse_word(stated, {"device", "module", "package"});
            };
            const Keys keys{
                {"source", source_key()},
                {"name", fact_key(device.name, common, machine)},
                {"memory_gb", fact_key(device.memory_gb, common)},
                {"memory_bandwidth_tb_per_s", fact_key(device.memory_bandwidth_tb_per_s, common)},
                {"peak_fp16_tflops", fact_key(device.peak_fp16_tflops, common)},
                {"peak_bf16_tflops", fact_key(device.peak_bf16_tflops, common)},
                {"peak_fp32_tflops", fact_key(device.peak_fp32_tflops, common)},
                {"power_limit_w", fact_key(device.power_limit_w, common)},
                {"power_scope", {.read = scope, .enter = {}}},
            };
            read_keys(group, path, keys, {machine.sources, machine.unconfirmed});
          }};
}

}  // namespace bench::platform
