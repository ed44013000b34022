#include "shellgame/tokens/batch.h"

#include <algorithm>

#include "shellgame/system/error.h"
#include "shellgame/system/threads.h"

namespace shellgame {
namespace {

void fill_row(const BatchView& view, std::size_t row, const TokenTrace& trace, LossOn loss,
              std::int64_t padding) {
  const std::size_t length = trace.ids.size();
  const std::uint32_t* ids = trace.ids.data();
  if (view.inputs != nullptr) {
    std::int64_t* inputs = view.inputs + row * view.width;
    std::copy_n(ids, length, inputs);
    std::fill(inputs + length, inputs + view.width, padding);
  }
  const bool all = loss == LossOn::kAllTokens;
  const std::size_t predicted = length == 0 ? 0 : length - 1;
  if (view.targets != nullptr) {
    std::int64_t* targets = view.targets + row * view.width;
    if (all) std::copy_n(ids + (length == 0 ? 0 : 1), predicted, targets);
    std::fill(targets + (all ? predicted : 0), targets + view.width, kIgnored);
  }
  if (view.loss_mask != nullptr) {
    std::uint8_t* mask = view.loss_mask + row * view.width;
    std::fill(mask, mask + view.width, std::uint8_t{0});
    if (all) std::fill(mask, mask + predicted, std::uint8_t{1});
  }
  if (all) return;
  for (const RevealMark& mark : trace.reveals) {
    for (std::uint64_t at = mark.offset; at < mark.offset + mark.length; ++at) {
      if (at == 0) continue;  // nothing predicts the first token
      if (view.targets != nullptr) view.targets[row * view.width + at - 1] = ids[at];
      if (view.loss_mask != nullptr) view.loss_mask[row * view.width + at - 1] = 1;
    }
  }
}

}  // namespace

BatchReport fill_batch(const TokenMaker& maker, std::uint64_t seed, std::uint64_t first_index,
                       LossOn loss, std::int64_t padding, const BatchView& view) {
  struct Row {
    std::size_t tokens = 0;
    std::vector<RevealPlace> reveals;
  };
  std::vector<Row> rows(view.rows);
  parallel_for(view.rows, [&](std::size_t row) {
    static thread_local TokenTrace trace;
    maker.make(seed, first_index + row, trace, true);
    std::erase_if(trace.reveals,
                  [](const RevealMark& mark) { return !shows_value(trace.trace.program, mark); });
    if (trace.ids.size() > view.width) {
      wrong_use("a row must hold the longest trace: trace {} has {} tokens, the row {} places",
                first_index + row, trace.ids.size(), view.width);
    }
    fill_row(view, row, trace, loss, padding);
    rows[row].tokens = trace.ids.size();
    for (const RevealMark& mark : trace.reveals) {
      for (std::uint64_t at = std::max<std::uint64_t>(mark.offset, 1);
           at < mark.offset + mark.length; ++at) {
        rows[row].reveals.push_back({static_cast<std::uint32_t>(row),
                                     static_cast<std::uint32_t>(at - 1), mark.command,
                                     mark.variable, mark.value});
      }
    }
  });
  BatchReport report;
  for (const Row& row : rows) {
    report.tokens += row.tokens;
    report.longest = std::max(report.longest, row.tokens);
    report.reveals.insert(report.reveals.end(), row.reveals.begin(), row.reveals.end());
  }
  return report;
}

}  // namespace shellgame
