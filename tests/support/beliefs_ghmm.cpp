// An oracle for Bayes filtering: GHMM (Debian's libghmm-dev 0.9~rc3), a C library of hidden Markov
// models.
//   beliefs_ghmm < cases.jsonl > answers.jsonl      (the form of cases and answers:
//   beliefs_fractions.py)
// survival and beliefs come from the switching model, whose transition class is chosen by the time
// step; smoothed and best_path_log from a plain model with time unrolled into its states, because
// the switching model's backward and Viterbi are broken (tests/support/README.md says how). Keys
// that GHMM refuses to give are left out.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

extern "C" {
#include <ghmm/foba.h>
#include <ghmm/ghmm.h>
#include <ghmm/model.h>
#include <ghmm/sdmodel.h>
#include <ghmm/viterbi.h>

// libghmm.so asks for these three of ATLAS when it is loaded, and Debian's dependencies do not
// bring them. Only multivariate normal emissions call them.
int clapack_dgetrf() { std::abort(); }
int clapack_dgetri() { std::abort(); }
int clapack_dpotrf() { std::abort(); }
}

namespace {

using Json = nlohmann::json;

struct Edge {
  int source, target;
  double probability;
};

struct Step {
  std::vector<double> weights;  // as given, divided by `scale`
  double scale;                 // GHMM wants probabilities: the largest weight, or 1
  std::vector<Edge> edges;
};

struct Case {
  std::vector<double> start;
  std::vector<Step> steps;
  int states() const { return static_cast<int>(start.size()); }
};

// A number, or a string "p/q".
double read_number(const Json& value) {
  if (!value.is_string()) return value.get<double>();
  const std::string text = value.get<std::string>();
  const auto slash = text.find('/');
  return std::stod(text) / (slash == std::string::npos ? 1.0 : std::stod(text.substr(slash + 1)));
}

std::vector<double> read_numbers(const Json& values) {
  std::vector<double> numbers;
  for (const Json& value : values) numbers.push_back(read_number(value));
  return numbers;
}

Case read_case(const Json& record) {
  Case result{read_numbers(record.at("start")), {}};
  for (const Json& record_step : record.at("steps")) {
    Step step{read_numbers(record_step.at("weights")), 1.0, {}};
    const double largest = *std::max_element(step.weights.begin(), step.weights.end());
    if (largest > 0) step.scale = largest;
    for (double& weight : step.weights) weight /= step.scale;
    const Json& columns = record_step.at("columns");
    if (step.weights.size() != result.start.size() || columns.size() != result.start.size())
      throw std::invalid_argument("weights and columns must have as many entries as start");
    for (int source = 0; source < result.states(); ++source)
      for (const Json& entry : columns[source])
        step.edges.push_back({source, entry.at(0).get<int>(), read_number(entry.at(1))});
    result.steps.push_back(std::move(step));
  }
  return result;
}

// Rows that GHMM fills.
struct Matrix {
  Matrix(int rows, int columns) : values(rows, std::vector<double>(columns, 0.0)) {
    for (auto& row : values) pointers.push_back(row.data());
  }
  std::vector<std::vector<double>> values;
  std::vector<double*> pointers;
};

// Time 2t shows nothing about q_t, time 2t + 1 shows the evidence of step t: so alpha is the belief
// before a step, and then after its reveal. Class 0 keeps the state, class t + 1 moves as step t
// does.
int class_at(int*, int time) { return time % 2 == 0 ? 0 : time / 2 + 1; }

Json filter(const Case& problem) {
  const int states = problem.states(), steps = static_cast<int>(problem.steps.size());
  const int length = 2 * steps + 1, symbols = steps + 1, nothing = steps, classes = steps + 1;
  std::vector<int> degrees(states, states);
  // kSilentStates, though no state is silent: the first step of forward reads `silent` without
  // looking whether it exists.
  ghmm_dsmodel* model = ghmm_dsmodel_calloc(
      symbols, states, GHMM_kDiscreteHMM | GHMM_kTransitionClasses | GHMM_kSilentStates, classes,
      degrees.data(), degrees.data());
  model->cos = classes;  // calloc takes the number of classes and forgets it
  model->get_class = class_at;
  for (int q = 0; q < states; ++q) {
    ghmm_dsstate& state = model->s[q];
    state.pi = problem.start[q];
    state.in_states = state.out_states = states;
    for (int other = 0; other < states; ++other) state.in_id[other] = state.out_id[other] = other;
    for (int t = 0; t < steps; ++t) state.b[t] = problem.steps[t].weights[q];
    state.b[nothing] = 1.0;
  }
  const auto add = [&](int kind, int source, int target, double probability) {
    model->s[source].out_a[kind][target] += probability;
    model->s[target].in_a[kind][source] += probability;
  };
  for (int q = 0; q < states; ++q) add(0, q, q, 1.0);
  for (int t = 0; t < steps; ++t)
    for (const Edge& edge : problem.steps[t].edges)
      add(t + 1, edge.source, edge.target, edge.probability);

  std::vector<int> seen(length, nothing);
  for (int t = 0; t < steps; ++t) seen[2 * t + 1] = t;
  Matrix alpha(length, states);
  std::vector<double> scale(length, 0.0);
  double log_probability = 0;
  if (ghmm_dsmodel_forward(model, seen.data(), length, alpha.pointers.data(), scale.data(),
                           &log_probability) != 0)
    throw std::runtime_error("ghmm_dsmodel_forward failed");
  ghmm_dsmodel_free(&model);

  // Forward returns success and goes on with NaN after impossible evidence; its scale is the only
  // witness.
  Json result{{"survival", Json::array()}, {"beliefs", Json::array()}};
  for (int t = 0; t < steps; ++t) {
    if (!(scale[2 * t + 1] > 0)) return {{"impossible_at", t}};
    result["survival"].push_back(scale[2 * t + 1] * problem.steps[t].scale * scale[2 * t]);
    result["beliefs"].push_back(alpha.values[2 * t + 2]);
  }
  return result;
}

// State t * m + q is q_t = q and always shows symbol 0; the last state is a sink that never does. A
// step's weight is part of the transition, w(q) T(target | q), and what is missing to 1 goes to the
// sink: as an emission it would be lost, since forward takes emissions below 1e-8 for zero.
ghmm_dmodel* unrolled(const Case& problem) {
  const int states = problem.states(), steps = static_cast<int>(problem.steps.size());
  const int sink = states * (steps + 1);
  std::vector<Edge> edges;
  for (int t = 0; t < steps; ++t) {
    const std::vector<double>& weights = problem.steps[t].weights;
    for (const Edge& edge : problem.steps[t].edges)
      edges.push_back({t * states + edge.source, (t + 1) * states + edge.target,
                       weights[edge.source] * edge.probability});
    for (int q = 0; q < states; ++q) edges.push_back({t * states + q, sink, 1.0 - weights[q]});
  }
  std::vector<int> into(sink + 1, 0), out_of(sink + 1, 0);
  for (const Edge& edge : edges) {
    ++out_of[edge.source];
    ++into[edge.target];
  }
  ghmm_dmodel* model =
      ghmm_dmodel_calloc(2, sink + 1, GHMM_kDiscreteHMM, into.data(), out_of.data());
  for (int i = 0; i <= sink; ++i) {
    ghmm_dstate& state = model->s[i];
    state.pi = i < states ? problem.start[i] : 0.0;
    state.b[0] = i == sink ? 0.0 : 1.0;
    state.b[1] = 1.0 - state.b[0];
    state.in_states = state.out_states = 0;
  }
  for (const Edge& edge : edges) {
    ghmm_dstate &from = model->s[edge.source], &to = model->s[edge.target];
    from.out_id[from.out_states] = edge.target;
    from.out_a[from.out_states++] = edge.probability;
    to.in_id[to.in_states] = edge.source;
    to.in_a[to.in_states++] = edge.probability;
  }
  return model;
}

void smooth(const Case& problem, Json& result) {
  const int states = problem.states(), steps = static_cast<int>(problem.steps.size());
  ghmm_dmodel* model = unrolled(problem);
  std::vector<int> seen(steps + 1, 0);
  Matrix alpha(steps + 1, model->N), beta(steps + 1, model->N);
  std::vector<double> scale(steps + 1, 0.0);
  double log_probability = 0;
  // A log probability of +1 is GHMM's word for impossible, and it says so of every step below 1e-8
  // too.
  if (ghmm_dmodel_forward(model, seen.data(), steps + 1, alpha.pointers.data(), scale.data(),
                          &log_probability) == 0 &&
      log_probability <= 0.5 &&
      ghmm_dmodel_backward(model, seen.data(), steps + 1, beta.pointers.data(), scale.data()) ==
          0) {
    result["smoothed"] = Json::array();
    for (int t = 0; t <= steps; ++t) {
      std::vector<double> posterior(states);
      for (int q = 0; q < states; ++q)
        posterior[q] = alpha.values[t][t * states + q] * beta.values[t][t * states + q];
      result["smoothed"].push_back(posterior);
    }
  }
  int path_length = 0;
  int* path = ghmm_dmodel_viterbi(model, seen.data(), steps + 1, &path_length, &log_probability);
  if (path != nullptr && log_probability <= 0.5) {
    for (const Step& step : problem.steps) log_probability += std::log(step.scale);
    result["best_path_log"] = log_probability;
  }
  std::free(path);
  ghmm_dmodel_free(&model);
}

}  // namespace

int main() {
  // GHMM prints remarks on stdout: the answers go to where stdout was, and all else to stderr.
  std::FILE* answers = fdopen(dup(STDOUT_FILENO), "w");
  dup2(STDERR_FILENO, STDOUT_FILENO);
  int number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    if (line.empty()) continue;
    try {
      const Case problem = read_case(Json::parse(line));
      Json result = filter(problem);
      if (!result.contains("impossible_at")) smooth(problem, result);
      std::fprintf(answers, "%s\n", result.dump().c_str());
      std::fflush(answers);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "case in line %d: %s\n", number, error.what());
      return 2;
    }
  }
  return 0;
}
