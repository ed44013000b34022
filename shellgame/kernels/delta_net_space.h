// Working space of DeltaNet's fused core, and the parts of it that are not worth vectors: states of
// the convolution, sums over the batch.
#pragma once

#include <cstddef>
#include <vector>

#include "shellgame/kernels/delta_chunk.h"
#include "shellgame/kernels/delta_net_core.h"

namespace shellgame {

inline constexpr std::size_t kWidestConvolution = 16;  // no wider than a chunk

// One of q, k, v on its way through the convolution.
struct CoreSide {
  std::size_t width, distance;
  const float** x;    // [W-1+C] pointers to rows: those before the chunk, then those of the chunk
  float* taps;        // [W,distance]
  float* before;      // [W-1,distance], the rows before the first token
  float *dtaps, *dy;  // [W,distance]; [C+W-1,distance]
  float** dx;         // [C]
};

// What backward keeps of a chunk besides its Chunk: derivatives of the activations and norms.
struct CoreChunk {
  float *dq, *dk, *dv, *q_norms, *k_norms;
};

struct CoreSpace {
  std::size_t W;  // at least 1: without convolution it has one tap, 1
  CoreSide q, k, v;
  float *o, *norms, *dots, *norm_weight, *dnorm_weight;
  std::vector<CoreChunk> chunks;
};

class CoreMemory {
 public:
  // For the item (b, h): space for `chunk_count` chunks, taps and rows before the first token.
  void set(const ChunkShape& shape, const DeltaSizes& sizes, const DeltaNetCoreInput<float>& input,
           std::size_t b, std::size_t h, std::size_t chunk_count, bool backward);
  const CoreSpace& space() const { return space_; }
  const ChunkSpace& chunks() const { return chunks_; }

 private:
  ChunkSpace chunks_;
  CoreSpace space_{};
  std::vector<const float*> rows_;
  std::vector<float*> gradient_rows_;
};

// Sets side.x for the chunk of `count` tokens from t on.
void point_at_rows(const RowView<const float>& view, const DeltaSizes& sizes, std::size_t b,
                   std::size_t h, std::size_t t, std::size_t count, std::size_t W,
                   const CoreSide& side);

// The last W inputs of each channel.
void write_conv_states(const DeltaSizes& sizes, const DeltaNetCoreInput<float>& input,
                       const DeltaNetCoreOutput<float>& output);

// An item's gradients of the weights: taps of q, k, v and the norm.
std::size_t core_sums_size(const DeltaSizes& sizes, const DeltaNetCoreInput<float>& input);
// Fills them, and what goes through the convolution's states.
void finish_core_item(const ChunkShape& shape, const DeltaSizes& sizes,
                      const DeltaNetCoreInput<float>& input,
                      const DeltaNetCoreGradients<float>& gradients, const CoreSpace& space,
                      std::size_t b, std::size_t h, float* sums);
// Adds up all items', batch by batch and head by head.
void add_core_sums(const DeltaSizes& sizes, const DeltaNetCoreInput<float>& input,
                   const float* sums, const DeltaNetCoreGradients<float>& gradients);

}  // namespace shellgame
