#include "shellgame/train/saved_place.h"

#include <ATen/Functions.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "shellgame/text/error.h"
#include "shellgame/train/state_rows.h"

namespace shellgame {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMostCount = std::numeric_limits<std::int64_t>::max();

class PlaceReader {
 public:
  explicit PlaceReader(const Json& place) : place_(place) {}

  const Json& at(const char* key) const {
    const auto found = place_.find(key);
    if (found == place_.end()) fail("its place must have '{}'", key);
    return *found;
  }

  std::int64_t count(const char* key, std::int64_t most = kMostCount) const {
    return checked(at(key), key, most);
  }

  double seconds(const char* key) const {
    const Json& value = at(key);
    if (!value.is_number() || !(value.get<double>() >= 0) || !std::isfinite(value.get<double>()))
      fail("'{}' of its place must be a number, 0 or more, not {}", key, shortened(value));
    return value.get<double>();
  }

  const Json& list(const char* key, std::size_t least, std::size_t most) const {
    const Json& value = at(key);
    if (!value.is_array() || value.size() < least || value.size() > most)
      fail("'{}' of its place must be a list of {} to {} entries", key, least, most);
    return value;
  }

  static std::int64_t checked(const Json& value, const char* key, std::int64_t most) {
    if (!value.is_number_unsigned() ||
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
      fail("'{}' of its place must be a whole number from 0 to {}, not {}", key, most,
           shortened(value));
    return value.get<std::int64_t>();
  }

 private:
  static std::string shortened(const Json& value) {
    const std::string text = value.dump(-1, ' ', true);
    return text.size() > 60 ? text.substr(0, 60) + "..." : text;
  }

  const Json& place_;
};

std::string text_of_shape(const at::Tensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.sizes(), ", "));
}

std::map<std::string, at::Tensor> state_after(const Model& model, std::int64_t rows,
                                              std::int64_t tokens) {
  ModelState state;
  model.logits(at::zeros({rows, tokens}, at::kLong).to(model.parameters()[0].value.device()),
               &state);
  return state_tensors(state);
}

// A tensor of a state against those that the model has after one and two tokens: where these
// differ, a side grows with the tokens (the keys of attention), alike in all tensors of the state.
void check_state_tensor(const std::string& name, const at::Tensor& tensor, const at::Tensor& one,
                        const at::Tensor& two, std::int64_t tokens, std::int64_t& grown) {
  const bool kind = tensor.scalar_type() == one.scalar_type() && tensor.dim() == one.dim();
  bool fits = kind;
  for (std::int64_t d = 0; fits && d < one.dim(); ++d) {
    const std::int64_t size = tensor.size(d);
    if (one.size(d) == two.size(d)) {
      fits = size == one.size(d);
    } else {
      if (grown < 0) grown = size;
      fits = size == grown && size >= 1 && size <= tokens;
    }
  }
  // How many tokens were seen.
  if (fits && one.dim() == 0 && one.scalar_type() == at::kLong)
    fits = tensor.item<std::int64_t>() == tokens;
  if (!fits)
    fail("the tensor {} must be one of this model after {} tokens, not of shape {}", name, tokens,
         text_of_shape(tensor));
}

}  // namespace

SavedPlace read_saved_place(const Json& json, std::int64_t step, const Experiment& experiment) {
  if (json.contains("cursor"))
    fail(
        "it is of shellgame 0.1.0, which drew its batches in another way: the run cannot go on "
        "with "
        "this version");
  const PlaceReader reader(json);
  SavedPlace saved;
  saved.place.step = step;
  saved.place.stage = static_cast<std::size_t>(
      reader.count("stage", static_cast<std::int64_t>(experiment.stages.size()) - 1));
  const StageSettings& stage = experiment.stages[saved.place.stage];
  saved.place.stage_step = reader.count("stage_step", stage.steps);
  std::int64_t before = 0;
  for (std::size_t i = 0; i < saved.place.stage; ++i) before += experiment.stages[i].steps;
  if (step < saved.place.stage_step || step > before + saved.place.stage_step)
    fail("step {} of the run cannot be step {} of stage {}", step, saved.place.stage_step,
         saved.place.stage + 1);
  saved.tokens = reader.count("tokens");
  saved.seconds = reader.seconds("seconds");
  if (json.contains("processor_seconds"))
    saved.processor_seconds = reader.seconds("processor_seconds");
  for (const Json& pair : reader.list("window", 0, static_cast<std::size_t>(stage.window))) {
    if (!pair.is_array() || pair.size() != 2)
      fail("'window' of its place must have pairs of whole numbers");
    const std::int64_t all = PlaceReader::checked(pair[1], "window", kMostCount);
    saved.window.emplace_back(PlaceReader::checked(pair[0], "window", all), all);
  }
  saved.optimiser_steps = reader.count("optimiser_steps", step);
  if (json.contains("average_steps")) {
    saved.average_steps =
        reader.count("average_steps", experiment.average.decay > 0 ? saved.place.stage_step : 0);
  }
  const std::size_t parts = stage.stream ? static_cast<std::size_t>(stage.accumulation) : 0;
  for (const Json& tokens : reader.list("state_tokens", parts, parts))
    saved.state_tokens.push_back(PlaceReader::checked(tokens, "state_tokens", kMostCount));
  return saved;
}

void copy_tensors(const std::map<std::string, at::Tensor>& saved, const std::string& prefix,
                  const std::map<std::string, at::Tensor>& into, std::set<std::string>& known) {
  for (const auto& [name, tensor] : into) {
    const auto found = saved.find(prefix + name);
    if (found == saved.end()) fail("it has no tensor {}{}", prefix, name);
    const at::Tensor& value = found->second;
    if (value.sizes() != tensor.sizes() || value.scalar_type() != tensor.scalar_type())
      fail(
          "the tensor {}{} must have the numbers and the shape {} of the experiment's model, not "
          "{}",
          prefix, name, text_of_shape(tensor), text_of_shape(value));
    tensor.copy_(value);
    known.insert(prefix + name);
  }
}

ModelState saved_state(const std::map<std::string, at::Tensor>& saved, const std::string& prefix,
                       std::int64_t tokens, const Model& model, std::int64_t rows,
                       std::set<std::string>& known) {
  std::map<std::string, at::Tensor> own;
  for (auto found = saved.lower_bound(prefix);
       found != saved.end() && found->first.starts_with(prefix); ++found)
    own[found->first.substr(prefix.size())] = found->second;
  if (own.empty() && tokens == 0) return {};
  const auto one = state_after(model, rows, 1), two = state_after(model, rows, 2);
  std::int64_t grown = -1;
  for (const auto& [name, tensor] : one) {
    const auto found = own.find(name);
    if (found == own.end()) fail("it has no tensor {}{}", prefix, name);
    check_state_tensor(prefix + name, found->second, tensor, two.at(name), tokens, grown);
    known.insert(prefix + name);
    found->second = found->second.to(tensor.device());
  }
  if (own.size() != one.size()) fail("the state {} must have {} tensors", prefix, one.size());
  return state_from_tensors(own, tokens);
}

}  // namespace shellgame
