#include "shellgame/kernels/recurrent.h"

#include <algorithm>
#include <cstdint>

#include "shellgame/kernels/delta_forms.h"

namespace shellgame {

std::size_t recurrent_segment(const DeltaSizes& sizes) {
  return sizes.K * sizes.V >= 64 * 64 ? 32 : 16;
}

RecurrentShape recurrent_shape(const DeltaSizes& sizes, std::size_t lanes) {
  RecurrentShape s;
  s.K = sizes.K;
  s.V = sizes.V;
  s.N = std::min(sizes.T, recurrent_segment(sizes));
  s.width = sizes.V > 2 * lanes ? 4 * lanes : 2 * lanes;
  s.tiles = (sizes.V + s.width - 1) / s.width;
  s.kr = (sizes.K + 15) / 16 * 16;
  s.vr = s.tiles * s.width;
  return s;
}

const RecurrentRows& RecurrentSpace::set(const RecurrentShape& s, bool backward) {
  constexpr std::size_t kAlignment = 64 / sizeof(float);
  std::size_t used = 0;
  float* begin = nullptr;
  const auto take = [&](std::size_t count) {
    const std::size_t place = used;
    used += (count + kAlignment - 1) / kAlignment * kAlignment;
    return begin ? begin + place : nullptr;
  };
  const auto lay_out = [&] {
    RecurrentRows& r = rows_;
    used = 0;
    for (float** row : {&r.q, &r.k, &r.a, &r.b, &r.alpha}) *row = take(s.N * s.kr);
    for (float** row : {&r.v, &r.c, &r.o, &r.y, &r.u}) *row = take(s.N * s.vr);
    r.beta = take(s.N);
    r.S = take(s.state());
    if (!backward) return;
    for (float** row : {&r.dq, &r.dk, &r.dlog_a, &r.db, &r.dalpha}) *row = take(s.N * s.kr);
    for (float** row : {&r.dv, &r.dlog_c, &r.d_o}) *row = take(s.N * s.vr);
    r.dbeta = take(s.N);
    r.dS = take(s.state());
    r.states = take((s.N + 1) * s.kr * s.width);
  };
  rows_ = {};
  lay_out();
  memory_.assign(used + kAlignment, 0.0f);
  const auto place = reinterpret_cast<std::uintptr_t>(memory_.data());
  begin = memory_.data() + (64 - place % 64) % 64 / sizeof(float);
  lay_out();
  return rows_;
}

void pack_tiles(const RecurrentShape& s, const float* tiles, float* packed) {
  for (std::size_t tile = 0; tile < s.tiles; ++tile)
    for (std::size_t i = 0; i < s.K; ++i)
      std::copy_n(tiles + (tile * s.kr + i) * s.width, std::min(s.width, s.V - tile * s.width),
                  packed + i * s.V + tile * s.width);
}

void unpack_tiles(const RecurrentShape& s, const float* packed, float* tiles) {
  for (std::size_t tile = 0; tile < s.tiles; ++tile)
    for (std::size_t i = 0; i < s.K; ++i)
      std::copy_n(packed + i * s.V + tile * s.width, std::min(s.width, s.V - tile * s.width),
                  tiles + (tile * s.kr + i) * s.width);
}

}  // namespace shellgame
