// Sizes and working space of the chunked delta rule (delta_chunk-inl.h), the same for all targets.
// Every row is padded with zeros to whole vectors, so that any K and V go through the same
// products; tokens after the end are rows of zeros, which change nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "shellgame/kernels/delta_rule.h"

namespace shellgame {

inline constexpr std::size_t kChunkTokens = 16;  // of a chunk, where there are so many

// No target of ours has longer vectors of floats.
inline constexpr std::size_t kMostLanes = 16;
constexpr std::size_t padded_width(std::size_t width) {
  return (width + kMostLanes - 1) / kMostLanes * kMostLanes;
}
// Rows that lie a large power of two apart share few sets of the cache: a little more distance.
constexpr std::size_t row_distance(std::size_t width) {
  return width >= 64 && width % 64 == 0 ? width + kMostLanes : width;
}

struct ChunkShape {
  std::size_t C = 0;           // tokens of a chunk, a multiple of 4
  std::size_t chunks = 0;      // chunks of a segment: states are saved once a segment
  std::size_t K = 0, V = 0;    // widths
  std::size_t Kp = 0, Vp = 0;  // widths in whole vectors
  std::size_t kr = 0, vr = 0;  // distance of rows of width Kp, Vp
  std::size_t cr = 0;          // distance of rows of width C
  bool error = true, decay = false;

  std::size_t segment() const { return C * chunks; }  // tokens
  std::size_t state() const { return Kp * vr; }       // floats of a padded state
};

// `tokens` of a chunk: 0 takes the measured best for the widths.
ChunkShape chunk_shape(const DeltaSizes& sizes, bool error, bool decay, std::size_t tokens = 0,
                       std::size_t chunks = 0);

// Between a packed state [K,V] and a padded one.
void pack_state(const ChunkShape& shape, const float* padded, float* packed);
void unpack_state(const ChunkShape& shape, const float* packed, float* padded);
// The padded state at the begin of a segment of an item: what forward saved, before the first one
// that of the item in h0 (null: zero).
void unpack_segment_state(const ChunkShape& shape, const float* saved, const float* h0,
                          std::size_t item, std::size_t segment, std::size_t segments,
                          float* padded);

// What forward knows of a chunk.
struct Chunk {
  float* kq;            // [2C,K], k then scaled q
  float *e, *u;         // [C,V], v and then the errors; beta times the errors
  float *beta, *decay;  // [C], decay is the logarithm g
  float* lp;            // [2C,C], L then P
  float* kt;            // [K,C], the transpose of k
  // Under a decay with sums G: kq e^{G_i} and k e^{G_C-G_i}. Otherwise the same as kq and k.
  float *kq_begin, *k_end;
  float *sums, *from_begin, *to_end;  // [C], G, e^{G_i}, e^{G_C-G_i}
  float* decays;                      // [C,C], e^{G_i-G_j} for j <= i, 0 above
  float* state;                       // [K,V] at its begin
};

struct BackwardSpace {
  float *y, *z;       // [C,V] dU and then y; [2C,V] -dv then d_o
  float* ut;          // [V,C], the transpose of u
  float* g;           // [2C,C], gradients of L and P
  float* st;          // [V,K], a transposed state
  float *dkq, *t;     // [2C,K]; [C,K]
  float* dS;          // [K,V]
  float *dbeta, *dg;  // [C]
};

// One thread's memory for chunks; it is kept for the next item.
class ChunkSpace {
 public:
  // `chunk_count` chunks (a segment for backward, one for forward) and `extra` floats, all zero.
  void set(const ChunkShape& shape, std::size_t chunk_count, bool backward, std::size_t extra = 0);
  const Chunk& chunk(std::size_t i) const { return chunks_[i]; }
  const BackwardSpace& backward() const { return backward_; }
  float* extra() const { return extra_; }

 private:
  float* take(std::size_t count);
  void lay_out(const ChunkShape& shape, std::size_t chunk_count, bool backward, std::size_t extra);

  std::vector<float> memory_;
  float* begin_ = nullptr;  // the first aligned place; null while sizes are counted
  std::size_t used_ = 0;
  std::vector<Chunk> chunks_;
  BackwardSpace backward_{};
  float* extra_ = nullptr;
};

}  // namespace shellgame
