#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/command_reader.hpp>
#include <bench/energy/sources/gcipu.hpp>
#include <bench/energy/sources/methods.hpp>

namespace bench::energy {
namespace {

constexpr double ipu_tick_s = 0.1;
constexpr std::string_view ipu_line_start = "ipus";
constexpr std::size_t fields_per_ipu = 5;

/// Prints `ipus`, and five fields per IPU, with tabs between them. Ends with its reader: its next
/// line then has nowhere to go.
constexpr const char* ipu_helper = R"(
import sys, time
import gcipuinfo
inventory = gcipuinfo.gcipuinfo()
inventory.setUpdateMode(True)
if not inventory.getDevices():
    sys.exit("gcipuinfo lists no IPU in the active partition")
names = ("id", "board type", "board serial number", "ipu power", "total board power")
tick_s = float(sys.argv[1])
due = time.monotonic()
while True:
    fields = ["ipus"]
    for device in inventory.getDevices():
        attributes = dict(device)
        fields += [str(attributes.get(name, "N/A")) for name in names]
    print("\t".join(fields), flush=True)
    due = max(due + tick_s, time.monotonic())
    time.sleep(max(0, due - time.monotonic()))
)";

bool is_ipu_line(std::string_view line) {
  return !parse_ipus(line).empty();
}

/// Whose value a channel shows.
struct IpuInput {
  std::string id;
  bool board;
};

class Gcipu : public PowerSource {
 public:
  explicit Gcipu(const GcipuSettings& settings)
      : reader_({.arguments = {settings.python, "-c", ipu_helper, fmt::format("{}", ipu_tick_s)},
                 .patience_s = settings.patience_s,
                 .start_patience_s = settings.patience_s,
                 .is_reading = is_ipu_line,
                 .expected = "the power of an IPU"}) {
    reader_.wait_for_first();
    std::string failure;
    const auto line = reader_.latest(failure);
    if (!line)
      throw Error(Id::no_meter, failure);
    const std::vector<Ipu> ipus = parse_ipus(*line);
    std::vector<std::string> boards;
    for (const Ipu& ipu : ipus)
      if (std::ranges::count(boards, ipu.board) == 0)
        boards.push_back(ipu.board);
    for (std::size_t i = 0; i < ipus.size(); ++i)
      add(ipus[i], i, static_cast<int>(std::ranges::find(boards, ipus[i].board) - boards.begin()));
    shortest_interval_s_ = ipu_tick_s;
  }

  void read(std::span<Reading> readings) override {
    std::string failure;
    const auto line = reader_.latest(failure);
    const std::vector<Ipu> ipus = line ? parse_ipus(*line) : std::vector<Ipu>();
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      readings[i] = reading(inputs_[i], ipus, failure);
  }

 private:
  void add(const Ipu& ipu, std::size_t index, int board) {
    Channel channel;
    channel.device = board;
    channel.scope = Scope::ipu;
    channel.name = fmt::format("gcipu:{}:ipu", index);
    channel.description = fmt::format("{} {} IPU {}", ipu.board_type, ipu.board, ipu.id);
    channels_.push_back(channel);
    inputs_.push_back({ipu.id, false});
    const std::string name = fmt::format("gcipu:{}:board", board);
    // One that has no value now would leave the total without one: its IPUs stand for it.
    if (!ipu_watts(ipu.board_power) ||
        std::ranges::any_of(channels_, [&](const Channel& other) { return other.name == name; }))
      return;
    channel.scope = Scope::board;
    channel.name = name;
    channel.description = fmt::format("{} {}", ipu.board_type, ipu.board);
    channels_.push_back(channel);
    inputs_.push_back({ipu.id, true});
  }

  static Reading reading(const IpuInput& input, const std::vector<Ipu>& ipus,
                         const std::string& failure) {
    Reading result;
    const auto ipu = std::ranges::find(ipus, input.id, &Ipu::id);
    if (ipu == ipus.end()) {
      result.failure = failure.empty() ? "gcipuinfo no longer lists it" : failure;
      return result;
    }
    const std::string& text = input.board ? ipu->board_power : ipu->power;
    result.power_w = ipu_watts(text);
    if (!result.power_w)
      result.failure = fmt::format("gcipuinfo says '{}'", text);
    return result;
  }

  CommandReader reader_;
  std::vector<IpuInput> inputs_;  ///< One per channel.
};

}  // namespace

std::vector<Ipu> parse_ipus(std::string_view line) {
  const std::vector<std::string> fields = split(line, "\t");
  if (fields[0] != ipu_line_start || (fields.size() - 1) % fields_per_ipu != 0)
    return {};
  std::vector<Ipu> ipus;
  for (std::size_t i = 1; i < fields.size(); i += fields_per_ipu)
    ipus.push_back({.id = fields[i],
                    .board_type = fields[i + 1],
                    .board = fields[i + 2],
                    .power = fields[i + 3],
                    .board_power = fields[i + 4]});
  return ipus;
}

std::optional<double> ipu_watts(std::string_view text) {
  text = strip(text);
  if (!text.ends_with('W'))
    return std::nullopt;
  const auto number = parse_number(strip(text.substr(0, text.size() - 1)));
  return number && *number > 0 ? number : std::nullopt;
}

std::unique_ptr<PowerSource> open_gcipu(const GcipuSettings& settings) {
  return std::make_unique<Gcipu>(settings);
}

extern const SourceMethod gcipu_method{
    .name = "gcipu",
    .open = [](const std::string&, const SourceSettings&) { return open_gcipu(); },
    .has_devices = true,
};

}  // namespace bench::energy
