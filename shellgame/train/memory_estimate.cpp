#include "shellgame/train/memory_estimate.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace shellgame {

MemoryEstimate estimate_memory(const Model& model, std::int64_t B, std::int64_t T) {
  const ModelSpec& spec = model.config().spec();
  const auto size = static_cast<std::int64_t>(model.parameters().front().value.element_size());
  MemoryEstimate estimate;
  constexpr std::int64_t kCopies = 4;  // value, gradient, two moments
  estimate.parameters = kCopies * size * model.parameter_count();
  const std::int64_t hidden = spec.channel_options.has("intermediate_size")
                                  ? spec.channel_options.size_or("intermediate_size", 0)
                                  : 4 * spec.width;
  std::int64_t numbers = 0;  // for a token
  for (const LayerSpec& layer : spec.layers) {
    const double expand = layer.options.number_or("expand_v", 1);
    const auto inner = static_cast<std::int64_t>(expand * static_cast<double>(spec.width));
    numbers += 5 * spec.width + 6 * inner + 2 * hidden;
    // Attention composed of Torch's operations keeps its weights.
    if (layer.mixer == "attention")
      numbers += 2 * std::min(T, layer.options.size_or("window_size", T)) *
                 layer.options.size_or("num_heads", 1);
  }
  estimate.activations = B * T * numbers * size;
  return estimate;
}

namespace {

std::int64_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  return file >> number ? number : 0;  // "max" is no number
}

}  // namespace

std::int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  std::int64_t kibibytes = 0, available = 0;
  while (file >> key >> kibibytes) {
    std::getline(file, unit);
    if (key == "MemAvailable:") available = kibibytes * 1024;
  }
  // A container may have less than its machine.
  const std::int64_t most = number_in("/sys/fs/cgroup/memory.max"),
                     used = number_in("/sys/fs/cgroup/memory.current");
  if (most > 0) available = std::min(available, std::max<std::int64_t>(1, most - used));
  return available;
}

}  // namespace shellgame
