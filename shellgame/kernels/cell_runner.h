// Takes non-linear recurrent cells through time: the products with their recurrent weights, several
// sequences at once, around a cell's own step on vectors. Sizes: G gates, S states (the first is
// the hidden one), H heads of E.
#pragma once

#include <cstdint>

namespace shellgame {

struct CellShape {
  std::int64_t batch = 0, time = 0, heads = 0, head_width = 0;
  std::int64_t x_stride = 0;  // between tokens of x and dx; 0 means G H E
};

inline constexpr int kMostCellStates = 4;

// One token of one head of one sequence. All states are changed in place.
struct CellForward {
  std::int64_t width, gate_stride;  // E; between the gates of x and of the bias
  const float* x;
  const float* bias;       // null: none
  const float* recurrent;  // [G][E]: R h
  float* states[kMostCellStates];
  float* saved;  // [kind's saved][E] or null
};
struct CellBackward {
  std::int64_t width, gate_stride;
  const float* saved;
  // The states before the step; null for those that are kept nowhere.
  const float* before[kMostCellStates];
  // In: of the states after the step. Out: of those before, as far as they do not go through R.
  float* d_states[kMostCellStates];
  float* d_x;     // [G], gate_stride apart
  float* d_back;  // the same for R h + bias, if the kind tells them apart; else null
  float* d_raw;   // [G][E]: of R h + bias, side by side
};

struct CellKind {
  int gates, states, saved;
  int saved_state[kMostCellStates];  // where `saved` has the new state; -1 where y has it, or
                                     // nobody needs it
  void (*forward)(const CellForward&);
  void (*backward)(const CellBackward&);
};

// x [B, T, G, H, E]; recurrent [H, G E, E] (rows: gate, out); bias [G, H, E] or null.
// state [S, B, H, E] at the start; null: zeros. final_state likewise, may be null.
// y [B, T, H, E]. saved [cell_saved_size()] is kept for the backward pass, or null.
std::int64_t cell_saved_size(const CellKind& kind, const CellShape& shape);
void run_cell(const CellKind& kind, const CellShape& shape, const float* x, const float* recurrent,
              const float* bias, const float* state, float* y, float* final_state, float* saved);

// dy [B, T, H, E]; d_final_state [S, B, H, E] or null. Written: dx, and d_recurrent, d_bias and
// d_state unless they are null. d_back is room for what dx is too, for kinds that need it, or null.
void run_cell_backward(const CellKind& kind, const CellShape& shape, const float* recurrent,
                       const float* state, const float* y, const float* saved, const float* dy,
                       const float* d_final_state, float* dx, float* d_back, float* d_recurrent,
                       float* d_bias, float* d_state);

}  // namespace shellgame
