#include "shellgame/train/batch_tensors.h"

#include <ATen/Functions.h>

#include <algorithm>

namespace shellgame {
namespace {

SoftTargets soft_targets_of(const Batch& batch, at::Device device) {
  if (batch.soft.empty()) return {};
  std::vector<std::int64_t> places, truths, owners;
  for (const SoftTarget& soft : batch.soft) {
    owners.insert(owners.end(), soft.count, static_cast<std::int64_t>(places.size()));
    places.push_back(soft.place);
    truths.push_back(soft.truth);
  }
  const auto whole = [&](const std::vector<std::int64_t>& numbers) {
    return at::tensor(numbers, at::kLong).to(device);
  };
  return {.places = whole(places),
          .truths = whole(truths),
          .owners = whole(owners),
          .tokens = whole(batch.soft_tokens),
          .weights = at::tensor(batch.soft_weights, at::kFloat).to(device)};
}

// Where a token of a value is the target.
at::Tensor value_places_of(const Batch& batch) {
  at::Tensor values = at::zeros({batch.rows, batch.time}, at::kBool);
  bool* const at_place = values.data_ptr<bool>();
  for (const AnswerPlaces& answer : batch.answers)
    std::fill_n(at_place + answer.place, answer.length, true);
  return values;
}

}  // namespace

at::Tensor tensor_of(const std::vector<std::int64_t>& numbers, const Batch& batch) {
  return at::from_blob(const_cast<std::int64_t*>(numbers.data()), {batch.rows, batch.time},
                       at::kLong);
}

LossTargets targets_of(const Batch& batch, const AskedTargets& asked, at::Device device) {
  return {tensor_of(batch.targets, batch).to(device), soft_targets_of(batch, device),
          asked.marks ? value_places_of(batch).to(device) : at::Tensor()};
}

}  // namespace shellgame
