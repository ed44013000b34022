// The two ways in which a permutation s acts on a state, the list value[variable].
#pragma once

namespace shellgame {

enum class Acts {
  kPositions,  // new[v] = old[s(v)]: a Python statement `a, b = b, a`; see assignment()
  kValues,     // new[v] = s(old[v]): the values are renamed, wherever they are
};

}  // namespace shellgame
