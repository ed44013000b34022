// Working space of the short convolution, and what is done with its states.
#pragma once

#include <cstddef>
#include <vector>

#include "shellgame/kernels/short_conv.h"

namespace shellgame {

inline constexpr std::size_t kConvChannels = 64, kConvTokens = 64;  // of a block

struct ConvSpace {
  const float** x;  // [W-1+kConvTokens] pointers to rows
  float** dx;       // [kConvTokens]
  float *taps, *dtaps, *before, *y, *derivatives, *dy, *dbias;  // rows of kConvChannels
  const float* bias;                                            // null without one
};

class ConvMemory {
 public:
  // For `width` channels of one batch: taps, bias, and the rows before the first token.
  const ConvSpace& set(const ShortConvSizes& sizes, const ShortConvInput<float>& input,
                       std::size_t b, std::size_t channel, std::size_t width);

 private:
  std::vector<float> memory_;
  std::vector<const float*> rows_;
  std::vector<float*> gradient_rows_;
  ConvSpace space_{};
};

// Sets space.x for `count` tokens from t on.
void point_at_conv_rows(const ShortConvSizes& sizes, const ShortConvInput<float>& input,
                        std::size_t b, std::size_t channel, std::size_t t, std::size_t count,
                        const ConvSpace& space);

// The last W inputs of each channel [B,channels,W]; those before the first token are in `before`.
void write_conv_state(const ShortConvSizes& sizes, const RowView<const float>& x,
                      const float* before, float* after);

// Taps of `width` channels from `channel` on as rows [W,distance], and the W-1 rows before the
// first token. Without weights: one tap, 1.
void fill_taps(const ShortConvSizes& sizes, std::size_t b, std::size_t channel, std::size_t width,
               const float* weights, const float* state, std::size_t distance, float* taps,
               float* before);

// Through the states: the gradient of the state at the begin, from dy of the first tokens
// [W-1,distance], and what that of the state at the end gives to the last inputs.
struct ConvStateGradients {
  const float* dafter;
  RowView<float> dx;
  float* dbefore;
};
void finish_conv_states(const ShortConvSizes& sizes, std::size_t b, std::size_t channel,
                        std::size_t width, const float* taps, const float* dy, std::size_t distance,
                        const ConvStateGradients& gradients);

// After the first block: sums of one batch [channels,W] and [channels], and the states.
void finish_conv_item(const ShortConvSizes& sizes, const ShortConvGradients<float>& gradients,
                      const ConvSpace& space, std::size_t b, std::size_t channel, std::size_t width,
                      float* sums);

}  // namespace shellgame
