#include "shellgame/train/run_sweep.h"

#include "shellgame/system/files.h"
#include "shellgame/train/side_by_side.h"

namespace shellgame {

SweepResults run_sweep(const SweepOptions& options, int threads) {
  std::vector<SweepRun> runs = plan_sweep(options);
  run_side_by_side("sweep", options, runs, threads);
  SweepResults results = gather_sweep(options, runs);
  write_file(options.run + "/sweep.json", sweep_json(results).dump(1) + "\n");
  return results;
}

}  // namespace shellgame
