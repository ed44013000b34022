// `shellgame bench belief`: what a step of an exact belief over S_n costs, beside a plain copy of
// the same vector and NumPy's gather through an index of n! entries.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "generated_bench_script.h"
#include "shellgame/passes/permutation_vector.h"
#include "shellgame/system/files.h"
#include "shellgame/system/process.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"
#include "shellgame/tool/measure.h"

namespace shellgame {
namespace {

struct BeliefOptions {
  int rounds = 5, largest = 12;
  std::string python = "python3", output = "-", csv;
};

constexpr int kSmallest = 3, kLargest = 12;
constexpr int kMostWithAllSwaps = 10;  // beyond, a few of them
constexpr int kMostInDouble = 11;
constexpr int kMostForNumpy = 10;

// A child that times one step for each line that it is sent.
class NumpyYardstick {
 public:
  NumpyYardstick(const std::string& python, int n)
      : child_({python, "-c", kNumpyBelief, std::to_string(n)}) {
    if (answer("") != "ready") fail("{} must have NumPy: {}", python, last_line(child_.errors()));
  }
  double seconds(const std::string& step) {
    const std::string said = answer(step + "\n");
    const double result = std::strtod(said.c_str(), nullptr);
    if (!(result > 0)) fail("the NumPy yardstick must print seconds, not \"{}\"", said);
    return result;
  }

 private:
  static std::string last_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  }
  std::string answer(const std::string& question) {
    std::string said;
    std::string_view unsent = question;
    while (!said.ends_with('\n') && child_.exchange(unsent, said, std::chrono::seconds(1))) {
    }
    if (!said.ends_with('\n')) child_.end(std::chrono::seconds(1));  // collects its errors
    return last_line(said);
  }
  Process child_;
};

// One thing that takes turns with the others; those of a kind are summed up together.
struct Job {
  std::string kind, name;
  std::function<void()> step;
  std::vector<double> seconds;
};

double time_of(const std::function<void()>& step) {
  return 1.0 / rate_of(0.002, [&] {
           step();
           return 1;
         });
}

std::string swap_name(Acts acts, Permutation s) {
  return fmt::format("{} {}", acts == Acts::kPositions ? "variables" : "values", s.to_cycles());
}

std::vector<Permutation> measured_swaps(int n) {
  std::vector<Permutation> swaps;
  const std::vector<std::pair<int, int>> few = {
      {0, 1}, {0, n - 1}, {1, n - 3}, {n / 2 - 2, n / 2}, {n - 2, n - 1}};
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j)
      if (n <= kMostWithAllSwaps || std::ranges::find(few, std::pair(i, j)) != few.end())
        swaps.push_back(Permutation::from_cycles(fmt::format("({} {})", i + 1, j + 1)));
  return swaps;
}

// Moves every variable, and leaves no two neighbours beside each other if n >= 4.
Permutation scattering(int n, int step) {
  std::vector<int> images;
  for (int start = 0; start < step; ++start)
    for (int i = n - 1 - start; i >= 0; i -= step) images.push_back(i);
  return Permutation::from_images(images);
}

template <class Real>
std::vector<Job> make_jobs(int n, std::vector<Real>& belief, std::vector<Real>& next) {
  std::vector<Job> jobs;
  const auto add = [&](std::string kind, std::string name, std::function<void()> step) {
    jobs.push_back({std::move(kind), std::move(name), std::move(step), {}});
  };
  add("copy", "memcpy", [&] {
    // Large parts: memcpy goes past the caches only then, and is the best copy there is.
    const auto parts = static_cast<std::size_t>(thread_count());
    parallel_for(parts, [&](std::size_t part) {
      const std::size_t from = next.size() * part / parts, to = next.size() * (part + 1) / parts;
      std::memcpy(next.data() + from, belief.data() + from, (to - from) * sizeof(Real));
    });
  });
  for (const Acts acts : {Acts::kPositions, Acts::kValues}) {
    const auto mixture = [&, acts](const std::vector<Permutation>& outcomes) {
      return [&, n, acts, outcomes] {
        const Real weights[] = {Real(0.5), Real(0.5)};
        mix<Real>(n, acts, outcomes, weights, belief.data(), next.data());
      };
    };
    const std::string suffix = acts == Acts::kPositions ? "variables" : "values";
    for (const Permutation s : measured_swaps(n)) {
      add("swap_of_" + suffix, swap_name(acts, s), mixture({Permutation(), s}));
      add("swap_of_" + suffix + "_in_place", swap_name(acts, s), [&, n, acts, s] {
        const Permutation outcomes[] = {Permutation(), s};
        const Real weights[] = {Real(0.5), Real(0.5)};
        mix_in_place<Real>(n, acts, outcomes, weights, belief.data());
      });
    }
    add("general_pair_of_" + suffix, suffix, mixture({scattering(n, 2), scattering(n, 3)}));
  }
  for (int v = 0; v < n; ++v) {
    // The steps above are over by then, and the copy does not mind zeroes.
    add("reveal", fmt::format("variable {}", v + 1),
        [&, n, v] { reveal<Real>(n, v, 1u << (n / 2), next.data()); });
    add("predict", fmt::format("variable {}", v + 1), [&, n, v] {
      std::vector<double> sums(static_cast<std::size_t>(n));
      predict<Real>(n, v, belief.data(), sums.data());
    });
  }
  add("marginals", "all", [&, n] {
    std::vector<double> sums(static_cast<std::size_t>(n * n));
    marginals<Real>(n, belief.data(), sums.data());
  });
  return jobs;
}

// Best, median and worst of a kind, in milliseconds and in copies of the same run.
Json summary_of(const std::vector<Job>& jobs, const std::string& kind, double copy) {
  std::vector<std::pair<double, std::string>> all;
  for (const Job& job : jobs)
    if (job.kind == kind) all.emplace_back(median(job.seconds), job.name);
  std::ranges::sort(all);
  const auto entry = [&](std::size_t i) {
    return Json{{"ms", all[i].first * 1e3}, {"copies", all[i].first / copy}, {"of", all[i].second}};
  };
  if (all.size() == 1) return entry(0);
  return {{"best", entry(0)}, {"median", entry(all.size() / 2)}, {"worst", entry(all.size() - 1)}};
}

// The most memory that this process had so far, in bytes; 0 where the system does not tell.
std::uint64_t memory_high_water() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") {
      std::uint64_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes * 1024;
    }
  return 0;
}

struct Numpy {
  std::unique_ptr<NumpyYardstick> yardstick;  // null for a reason
  std::string reason;
  std::vector<double> swap, reveal;
};

Numpy open_numpy(const BeliefOptions& options, int n) {
  Numpy numpy;
  if (n > kMostForNumpy) {
    numpy.reason = fmt::format("its index and temporaries of {}! entries would take too long", n);
    return numpy;
  }
  try {
    numpy.yardstick = std::make_unique<NumpyYardstick>(options.python, n);
  } catch (const Error& error) {
    numpy.reason = error.what();
  }
  return numpy;
}

template <class Real>
Json bench_group(const BeliefOptions& options, int n) {
  const std::size_t size = permutation_count(n);
  std::vector<Real> belief(size, Real(1) / static_cast<Real>(size)), next(size);
  std::map<int, std::vector<Job>> jobs;
  for (const int threads : {1, 2}) jobs[threads] = make_jobs(n, belief, next);
  for (const Job& job : jobs[1]) job.step();  // pages and tables are there before the clock runs
  Numpy numpy = open_numpy(options, n);
  const int rounds = n <= kMostWithAllSwaps ? options.rounds : std::min(options.rounds, 3);
  for (int round = 0; round < rounds; ++round) {
    for (auto& [threads, things] : jobs) {
      set_thread_count(threads);
      for (Job& job : things) job.seconds.push_back(time_of(job.step));
    }
    if (!numpy.yardstick) continue;
    numpy.swap.push_back(numpy.yardstick->seconds("swap"));
    numpy.reveal.push_back(numpy.yardstick->seconds("reveal"));
  }
  Json report = {{"n", n},
                 {"entries", size},
                 {"type", sizeof(Real) == 8 ? "float64" : "float32"},
                 {"bytes_of_a_vector", size * sizeof(Real)},
                 {"swaps_measured", measured_swaps(n).size()},
                 {"rounds", rounds}};
  for (const auto& [threads, things] : jobs) {
    const double copy = median(things[0].seconds);
    Json& part = report[fmt::format("threads_{}", threads)];
    for (const Job& job : things)
      if (!part.contains(job.kind)) part[job.kind] = summary_of(things, job.kind, copy);
  }
  if (numpy.swap.empty()) {
    report["numpy"] = nullptr;
    report["numpy_is_absent_because"] = numpy.reason;
  } else {
    const Json& one = report["threads_1"];
    const double swap = median(numpy.swap) * 1e3, mask = median(numpy.reveal) * 1e3;
    report["numpy"] = {
        {"swap_ms", swap},
        {"reveal_ms", mask},
        {"swap_over_our_median", swap / one["swap_of_variables"]["median"]["ms"].get<double>()},
        {"swap_over_our_worst", swap / one["swap_of_variables"]["worst"]["ms"].get<double>()},
        {"reveal_over_our_worst", mask / one["reveal"]["worst"]["ms"].get<double>()}};
  }
  report["memory_high_water_bytes"] = memory_high_water();
  double load = 0;  // of the last minute: more than our 2 threads is others' work
  if (getloadavg(&load, 1) == 1) report["load_average"] = load;
  return report;
}

// For bench/plot_belief.gp: nanoseconds for each state, on one thread.
std::string to_csv(const Json& groups) {
  std::string text =
      "n,states,copy,swap_median,swap_worst,swap_in_place_median,general_pair,reveal_worst,"
      "marginals,numpy_swap\n";
  for (const Json& group : groups) {
    const Json& one = group["threads_1"];
    const double states = group["entries"].get<double>();
    const auto cost = [&](const Json& ms) {
      return fmt::format("{:.5g}", ms.get<double>() * 1e6 / states);
    };
    const auto worse = [&](const char* which, const char* suffix) {
      const Json &a = one[std::string("swap_of_variables") + suffix][which]["ms"],
                 &b = one[std::string("swap_of_values") + suffix][which]["ms"];
      return cost(a > b ? a : b);
    };
    text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", group["n"].get<int>(),
                        group["entries"].get<std::uint64_t>(), cost(one["copy"]["ms"]),
                        worse("median", ""), worse("worst", ""), worse("median", "_in_place"),
                        cost(one["general_pair_of_variables"]["ms"]),
                        cost(one["reveal"]["worst"]["ms"]), cost(one["marginals"]["ms"]),
                        group["numpy"].is_null() ? "" : cost(group["numpy"]["swap_ms"]));
  }
  return text;
}

void bench_belief(const BeliefOptions& options) {
  Json groups = Json::array();
  for (int n = kSmallest; n <= options.largest; ++n)
    groups.push_back(n <= kMostInDouble ? bench_group<double>(options, n)
                                        : bench_group<float>(options, n));
  const Json filters = bench_filters(options.rounds, options.largest);
  const Json report = {{"bench", "belief"},
                       {"cores", default_thread_count()},
                       {"groups", groups},
                       {"filters", filters},
                       {"memory_high_water_bytes", memory_high_water()}};
  write_file(options.output, report.dump(2) + "\n");
  if (!options.csv.empty()) write_file(options.csv, to_csv(groups));
}

}  // namespace

void add_bench_belief(CLI::App& bench) {
  auto options = std::make_shared<BeliefOptions>();
  CLI::App* command = add_command(
      bench, "belief",
      "Steps of an exact belief over S_n (mixtures with a swap, reveals, sums) on 1 and 2 threads, "
      "beside a copy of the same vector and NumPy.",
      {"shellgame bench belief --largest 10",
       "shellgame bench belief --output bench/results/belief.json --csv bench/results/belief.csv"},
      [options] { bench_belief(*options); });
  add_rounds_and_output(command, *options);
  add_number(command, "--largest", options->largest, NumberBounds::whole(kSmallest, kLargest),
             "the largest n; S_12 takes 4 GB and some minutes");
  command->add_option("--csv", options->csv, "also nanoseconds for each state, for the plot")
      ->type_name("PATH");
  add_python(command, *options);
}

}  // namespace shellgame
