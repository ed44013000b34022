#include "shellgame/models/exact_recall.h"

#include <cmath>

namespace shellgame {
namespace {

constexpr int kCurrentTap = 3;

}  // namespace

void write_recall(HandWritten& model, const TraceReader& reader, const RecallHead& recall) {
  const int width = model.width() / reader.heads(), first = recall.head * width;
  const Matrix q = model.matrix(0, "attn.q_proj.weight"), k = model.matrix(0, "attn.k_proj.weight");
  const Matrix v = model.matrix(0, "attn.v_proj.weight"), o = model.matrix(0, "attn.o_proj.weight");
  const Matrix b = model.matrix(0, "attn.b_proj.weight");
  const Matrix key_taps = model.matrix(0, "attn.k_conv1d.weight");
  const Matrix value_taps = model.matrix(0, "attn.v_conv1d.weight");
  for (const int channel : reader.tokens()) b(recall.head, channel) = -kSaturated;
  for (const int channel : recall.written) b(recall.head, channel) = 0;
  int row = first;
  for (const RecallRow& one : recall.rows) {
    q(row, reader.constant) = kStrong;
    for (const Term& term : one.key) k(row, term.channel) = kStrong * term.weight;
    key_taps(row, kCurrentTap) = 0;
    key_taps(row, kCurrentTap - one.tokens) = 1;
    ++row;
  }
  // The output norm makes the squares' mean 1.
  const double height = kOne / std::sqrt(static_cast<double>(width) / recall.lit);
  int column = first;
  for (const RecallColumn& one : recall.columns) {
    for (const Term& term : one.sources) v(column, term.channel) = kStrong * term.weight;
    value_taps(column, kCurrentTap) = 0;
    for (const RecallTap& tap : one.taps) value_taps(column, kCurrentTap - tap.tokens) = tap.weight;
    o(one.to, column) = height;
    ++column;
  }
}

LastPair::LastPair(TraceReader& reader)
    : moved(reader.channels().many(static_cast<int>(reader.variable.size()))),
      nothing(reader.channels().one()) {}

RecallHead LastPair::head(const TraceReader& reader) const {
  const int equals = reader.word.at(ReaderWord::kEquals);
  RecallHead head{.head = kPairHead,
                  .written = {equals},
                  .rows = {{.key = {{equals, 1}}}},
                  .columns = {},
                  .lit = 2};
  Terms others;
  for (const int channel : reader.tokens()) others.push_back({channel, 1});
  for (const int channel : reader.variable) others.push_back({channel, 0});
  for (std::size_t x = 0; x < moved.size(); ++x)
    head.columns.push_back({{{reader.variable[x], 1}}, {{1}, {3}}, moved[x]});
  head.columns.push_back({others, {{3}}, nothing});
  return head;
}

}  // namespace shellgame
