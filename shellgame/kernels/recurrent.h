// Working space of the recurrent form (recurrent-inl.h), which goes token by token:
//   S1 = Diag(a) S Diag(c);  y = c o (S^T b);
//   delta:  S <- S1 + k (beta (v - y))^T        else:  S <- S1 + alpha y^T + k v^T;   o = S^T q.
// A state lies in tiles of value columns [tile][K][width], each small enough for the first-level
// cache. Rows are padded with zeros.
#pragma once

#include <cstddef>
#include <vector>

#include "shellgame/kernels/delta_rule.h"

namespace shellgame {

struct RecurrentShape {
  std::size_t K = 0, V = 0;
  std::size_t N = 0;      // tokens of a segment; states are saved once a segment
  std::size_t width = 0;  // columns of a tile
  std::size_t tiles = 0;
  std::size_t kr = 0, vr = 0;  // distance of rows; kr is K in fours
  bool delta = true, row_decay = false, column_decay = false;
  std::size_t state() const { return tiles * kr * width; }
};

// `lanes` of the target in use.
RecurrentShape recurrent_shape(const DeltaSizes& sizes, std::size_t lanes);

// Rows of one segment. Gradients are there in backward only.
struct RecurrentRows {
  float *q, *k, *a, *b, *alpha;           // [N,K], q scaled
  float *v, *c, *o, *d_o, *y;             // [N,V]
  float* u;                               // [N,V], beta (v - y)
  float* beta;                            // [N]
  float *dq, *dk, *dlog_a, *db, *dalpha;  // [N,K]
  float *dv, *dlog_c;                     // [N,V]
  float* dbeta;                           // [N]
  float *S, *dS;                          // all tiles
  float* states;                          // [N+1,K,width], one tile
};

class RecurrentSpace {
 public:
  const RecurrentRows& set(const RecurrentShape& shape, bool backward);

 private:
  std::vector<float> memory_;
  RecurrentRows rows_{};
};

// Between a packed state [K,V] and one in tiles.
void pack_tiles(const RecurrentShape& shape, const float* tiles, float* packed);
void unpack_tiles(const RecurrentShape& shape, const float* packed, float* tiles);

}  // namespace shellgame
