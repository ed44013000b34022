// Which heads of a batch row go together. The values of heads lie side by side in a row of memory:
// heads that are read one after the other, far apart in time, fetch each row once for each of them.
#pragma once

#include <algorithm>
#include <cstddef>

#include "shellgame/kernels/delta_rule.h"
#include "shellgame/kernels/share_work.h"

namespace shellgame {

struct HeadRange {
  std::size_t first = 0, count = 0;
};

// Heads of an item: rows of up to so many floats, as long as every thread has several items.
inline std::size_t heads_together(const DeltaSizes& sizes) {
  constexpr std::size_t kRow = 128, kItemsOfThread = 8;
  const std::size_t items = kItemsOfThread * static_cast<std::size_t>(thread_count());
  std::size_t count = std::clamp<std::size_t>(kRow / std::max(sizes.K, sizes.V), 1, sizes.H);
  while (count > 1 && sizes.B * ((sizes.H + count - 1) / count) < items) --count;
  const std::size_t groups = (sizes.H + count - 1) / count;
  return (sizes.H + groups - 1) / groups;  // 2 and 2 rather than 3 and 1
}

// Calls work(b, heads) for all heads of all batch rows.
template <class Work>
void share_heads(const DeltaSizes& sizes, const Work& work) {
  const std::size_t together = heads_together(sizes);
  const std::size_t groups = (sizes.H + together - 1) / together;
  share_work(sizes.B * groups, sizes.work(), [&](std::size_t i) {
    const std::size_t first = i % groups * together;
    work(i / groups, HeadRange{first, std::min(together, sizes.H - first)});
  });
}

}  // namespace shellgame
