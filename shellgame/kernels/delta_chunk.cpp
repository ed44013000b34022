#include "shellgame/kernels/delta_chunk.h"

#include <algorithm>
#include <cstdint>

namespace shellgame {
namespace {

constexpr std::size_t kAlignment = 64;  // bytes

}  // namespace

ChunkShape chunk_shape(const DeltaSizes& sizes, bool error, bool decay, std::size_t tokens,
                       std::size_t chunks) {
  ChunkShape s;
  s.K = sizes.K;
  s.V = sizes.V;
  s.Kp = padded_width(s.K);
  s.Vp = padded_width(s.V);
  s.kr = row_distance(s.Kp);
  s.vr = row_distance(s.Vp);
  // A few tokens, as in streaming, should not pay for many.
  s.C = tokens ? tokens : sizes.T <= 4 ? 4 : sizes.T <= 8 ? 8 : kChunkTokens;
  s.cr = padded_width(s.C);
  // Few saved states for their size; what is made again for them costs less than their traffic.
  s.chunks = chunks ? chunks : s.Kp * s.Vp <= 16 * 16 || s.Kp * s.Vp >= 64 * 64 ? 4 : 3;
  s.error = error;
  s.decay = decay;
  return s;
}

void pack_state(const ChunkShape& s, const float* padded, float* packed) {
  for (std::size_t i = 0; i < s.K; ++i) std::copy_n(padded + i * s.vr, s.V, packed + i * s.V);
}

void unpack_state(const ChunkShape& s, const float* packed, float* padded) {
  for (std::size_t i = 0; i < s.K; ++i) std::copy_n(packed + i * s.V, s.V, padded + i * s.vr);
}

void unpack_segment_state(const ChunkShape& s, const float* saved, const float* h0,
                          std::size_t item, std::size_t segment, std::size_t segments,
                          float* padded) {
  const std::size_t state = s.K * s.V;
  if (segment > 0)
    unpack_state(s, saved + (item * (segments - 1) + segment - 1) * state, padded);
  else if (h0)
    unpack_state(s, h0 + item * state, padded);
  else
    std::fill_n(padded, s.state(), 0.0f);
}

float* ChunkSpace::take(std::size_t count) {
  const std::size_t place = used_;
  used_ += padded_width(count);
  return begin_ ? begin_ + place : nullptr;
}

void ChunkSpace::set(const ChunkShape& shape, std::size_t chunk_count, bool backward,
                     std::size_t extra) {
  begin_ = nullptr;
  lay_out(shape, chunk_count, backward, extra);
  memory_.assign(used_ + kAlignment / sizeof(float), 0.0f);
  const auto place = reinterpret_cast<std::uintptr_t>(memory_.data());
  begin_ = memory_.data() + (kAlignment - place % kAlignment) % kAlignment / sizeof(float);
  lay_out(shape, chunk_count, backward, extra);
}

void ChunkSpace::lay_out(const ChunkShape& s, std::size_t chunk_count, bool backward,
                         std::size_t extra) {
  used_ = 0;
  chunks_.clear();
  const std::size_t C = s.C;
  for (std::size_t i = 0; i < chunk_count; ++i) {
    Chunk c{};
    c.kq = take(2 * C * s.kr);
    c.e = take(C * s.vr);
    c.u = take(C * s.vr);
    c.beta = take(C);
    c.decay = take(C);
    c.lp = take(2 * C * s.cr);
    c.kt = take(s.Kp * s.cr);
    c.state = take(s.state());
    c.kq_begin = s.decay ? take(2 * C * s.kr) : c.kq;
    c.k_end = s.decay ? take(C * s.kr) : c.kq;
    if (s.decay) {
      c.sums = take(C);
      c.from_begin = take(C);
      c.to_end = take(C);
      c.decays = take(C * s.cr);
    }
    chunks_.push_back(c);
  }
  extra_ = take(extra);
  if (!backward) return;
  BackwardSpace& w = backward_;
  w.y = take(C * s.vr);
  w.z = take(2 * C * s.vr);
  w.ut = take(s.Vp * s.cr);
  w.g = take(2 * C * s.cr);
  w.st = take(s.Vp * s.kr);
  w.dkq = take(2 * C * s.kr);
  w.t = take(C * s.kr);
  w.dS = take(s.state());
  w.dbeta = take(C);
  w.dg = take(C);
}

}  // namespace shellgame
