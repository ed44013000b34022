// The two ways in which a permutation s acts on a state, an assignment value[variable]. Positions
// are variables and elements are values. The paper's marginal section moves positions; the matrix
// of its S_3 appendix moves values.
#pragma once

#include <cstdint>

namespace shellgame {

enum class Acts : std::uint8_t {
  kPositions,  // new[v] = old[s(v)]: a Python statement such as `a, b = b, a`
  kValues,     // new[v] = s(old[v])
};

}  // namespace shellgame
