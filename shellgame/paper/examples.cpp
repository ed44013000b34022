#include "shellgame/paper/examples.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "shellgame/automata/example_automata.h"
#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/paper/birkhoff.h"
#include "shellgame/tasks/moves.h"

namespace shellgame {
namespace {

using Matrix = std::vector<Rational>;  // n x n, one row after the other

std::string show(const std::vector<double>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}
std::string show_rows(const std::vector<double>& m, std::size_t n) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < n; ++i) {
    const auto first = m.begin() + static_cast<std::ptrdiff_t>(i * n);
    rows.push_back(show({first, first + static_cast<std::ptrdiff_t>(n)}));
  }
  return fmt::format("{}", fmt::join(rows, " "));
}

class Lines {
 public:
  Lines(std::string name, std::string title) : example_{std::move(name), std::move(title), {}} {}

  // A vector that must be the paper's, to the last bit.
  void vector(const std::string& what, const std::vector<double>& ours,
              const std::vector<double>& paper) {
    example_.lines.push_back({what, show(ours), show(paper), ours == paper, ""});
  }
  void matrix(const std::string& what, const std::vector<double>& ours,
              const std::vector<double>& paper, std::size_t n) {
    example_.lines.push_back({what, show_rows(ours, n), show_rows(paper, n), ours == paper, ""});
  }
  void text(const std::string& what, const std::string& ours, const std::string& paper,
            bool agrees = true, const std::string& note = "") {
    example_.lines.push_back({what, ours, paper, agrees, note});
  }
  WorkedExample done() { return std::move(example_); }

 private:
  WorkedExample example_;
};

WorkedExample two_values() {
  Lines lines("s2", "S_2: an unobserved swap, then print(a) (section 5.1)");
  const AutomatonFile file = parse_automaton(R"toml(
variables = ["a", "b"]
start = [1, 2]
[symbol.swap]
shuffle = "0.5 (1 2), 0.5 ()"
[symbol.reveal]
reveal = { a = 1 }
)toml",
                                             "s2");
  const auto filter = make_filter(file.automaton);
  filter->step(0);
  lines.vector("b after the swap", filter->belief(), {0.5, 0.5});
  filter->step(1);
  lines.vector("b after a is seen unmoved", filter->belief(), {1, 0});
  return lines.done();
}

// The paper's order of the six universes, as ranks.
std::vector<StateId> paper_order(const StateSpace& space) {
  std::vector<StateId> order;
  for (const char* name : {"[1,2,3]", "[2,1,3]", "[3,2,1]", "[1,3,2]", "[2,3,1]", "[3,1,2]"})
    order.push_back(*space.find(name));
  return order;
}

std::vector<double> in_order(const std::vector<double>& values, const std::vector<StateId>& order) {
  std::vector<double> result;
  for (StateId q : order) result.push_back(values[q]);
  return result;
}

WorkedExample three_values() {
  Lines lines("s3", "S_3: a fuzzy swap, then 'position 1 contains object 3' (appendix B)");
  const AutomatonFile file = parse_automaton(R"toml(
variables = ["a", "b", "c"]
start = [1, 2, 3]
[symbol.values]
shuffle = "0.5 (1 2), 0.5 (1 3)"
acts = "values"
[symbol.positions]
shuffle = "0.5 (1 2), 0.5 (1 3)"
[symbol.observe]
reveal = { a = 3 }
)toml",
                                             "s3");
  const StateSpace& space = file.automaton.space();
  const std::vector<StateId> order = paper_order(space);
  const auto transition = [&](SymbolId symbol) {
    std::vector<double> matrix(36);
    for (std::size_t column = 0; column < 6; ++column) {
      for (const auto& [to, weight] :
           successors(space, file.automaton.symbol(symbol), order[column])) {
        const auto row = static_cast<std::size_t>(std::ranges::find(order, to) - order.begin());
        matrix[row * 6 + column] = to_double(weight);
      }
    }
    return matrix;
  };
  const std::vector<double> paper = {0,  .5, .5, 0,  0, 0,  .5, 0, 0,  0,  .5, 0,
                                     .5, 0,  0,  0,  0, .5, 0,  0, 0,  0,  .5, .5,
                                     0,  .5, 0,  .5, 0, 0,  0,  0, .5, .5, 0,  0};
  lines.matrix("A_fuzzy, which swaps values", transition(0), paper, 6);
  const std::vector<double> positions = transition(1);
  const auto targets = [&](const std::vector<double>& matrix) {
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < 6; ++row) {
      if (matrix[row * 6 + 1] != 0) rows.push_back(row + 1);
    }
    return fmt::format("{}", fmt::join(rows, " and "));
  };
  lines.text("universe 2 [2,1,3] moves to", targets(paper), targets(transition(0)));
  lines.text("the same by swapping positions", targets(positions), "", positions != paper,
             "the paper's marginal section swaps positions, its appendix matrix swaps values");
  const auto filter = make_filter(file.automaton, {.kind = FilterKind::kLinear});
  filter->step(0);
  lines.vector("H_1", in_order(filter->state(), order), {0, .5, .5, 0, 0, 0});
  const double survival = filter->step(2).survival;
  lines.vector("H_2", in_order(filter->state(), order), {0, 0, .5, 0, 0, 0});
  lines.text("|H_2|", fmt::format("{}", survival), "0.5", survival == 0.5);
  return lines.done();
}

WorkedExample reveal_sizes() {
  Lines lines("reveal-sizes", "A reveal 'position i contains element j' allows (n-1)! states");
  for (std::size_t n = 3; n <= 7; ++n) {
    const StateSpace space = StateSpace::orders(std::make_shared<Names>(Names::standard(n)));
    Symbol symbol;
    symbol.reveal = Cells{{{static_cast<VariableId>(n - 1), {0}}}};
    std::uint64_t allowed = 0;
    for (StateId q = 0; q < space.size(); ++q) allowed += allows(space, symbol, q) ? 1 : 0;
    const std::uint64_t expected = factorial(static_cast<int>(n) - 1);
    lines.text(fmt::format("n = {}", n), fmt::format("{}", allowed), fmt::format("{}", expected),
               allowed == expected);
  }
  return lines.done();
}

WorkedExample norm_is_product() {
  Lines lines("norm", "|h_t| is the product of the survival probabilities");
  Task task;
  task.group = "S4";
  task.branching = true;
  task.commands = 40;
  task.spacing = 2;
  const ProgramWord read = word_of(Sampler(task).sample(0, 0));
  const auto linear = make_filter(read.automaton, {.kind = FilterKind::kLinear});
  const auto exact = make_filter(read.automaton, {.kind = FilterKind::kRational});
  double product = 0;
  for (SymbolId symbol : read.word) {
    linear->step(symbol);
    product += std::log(exact->step(symbol).survival);
  }
  lines.text("log |h_60| of an S_4 trace", fmt::format("{:.12f}", linear->log_norm()), "",
             std::abs(linear->log_norm() - product) < 1e-10,
             fmt::format("the sum of log s_t in exact fractions is {:.12f}", product));
  return lines.done();
}

WorkedExample joint_decay() {
  Lines lines("joint-decay", "Figure on the joint representation's instability");
  const AutomatonFile file = example_automaton("joint-cycle");
  const auto linear = make_filter(file.automaton, {.kind = FilterKind::kLinear});
  const auto exact = make_filter(file.automaton);
  double half = 0.5;
  for (int cycle = 1; cycle <= 2; ++cycle) {
    linear->step(0);
    exact->step(0);
    lines.vector(fmt::format("h, mix {}", cycle), linear->state(), {half, half / 2, half / 2});
    lines.vector(fmt::format("b, mix {}", cycle), exact->belief(), {0.5, 0.25, 0.25});
    linear->step(1);
    exact->step(1);
    half /= 2;
    lines.vector(fmt::format("h, reveal {}", cycle), linear->state(), {0, half, half});
    lines.vector(fmt::format("b, reveal {}", cycle), exact->belief(), {0, 0.5, 0.5});
  }
  return lines.done();
}

WorkedExample marginal_decay() {
  Lines lines("marginal-decay", "Figure on the marginal representation's decay");
  const AutomatonFile file = example_automaton("marginal-cycle");
  const auto filter = make_filter(file.automaton, {.kind = FilterKind::kMarginal});
  const std::vector<std::vector<double>> paper = {
      {1, 0, 0, 0, 1, 0, 0, 0, 1},   {1, 0, 0, 0, .5, .5, 0, .5, .5},
      {1, 0, 0, 0, 1, 0, 0, 0, .5},  {1, 0, 0, 0, .5, .25, 0, .5, .25},
      {1, 0, 0, 0, 1, 0, 0, 0, .25}, {1, 0, 0, 0, .5, .125, 0, .5, .125}};
  lines.matrix("H_0", filter->state(), paper[0], 3);
  for (std::size_t t = 1; t <= 5; ++t) {
    filter->step(t % 2 == 1 ? 0 : 1);
    lines.matrix(fmt::format("H_{}", t), filter->state(), paper[t], 3);
  }
  return lines.done();
}

Matrix permutation_matrix(const std::vector<std::size_t>& column) {
  const std::size_t n = column.size();
  Matrix matrix(n * n);
  for (std::size_t i = 0; i < n; ++i) matrix[i * n + column[i]] = 1;
  return matrix;
}
Matrix product(const Matrix& a, const Matrix& b, std::size_t n) {
  Matrix c(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
  }
  return c;
}
Matrix mixture(const Rational& share, const Matrix& a, const Matrix& b) {
  Matrix c;
  for (std::size_t i = 0; i < a.size(); ++i)
    c.emplace_back(share * a[i] + (Rational(1) - share) * b[i]);
  return c;
}

WorkedExample mixing() {
  Lines lines("mixing", "Mixing keeps the marginal matrix doubly stochastic");
  const Matrix identity = permutation_matrix({0, 1, 2, 3});
  const Matrix swaps = permutation_matrix({1, 0, 3, 2}), cycle = permutation_matrix({1, 2, 3, 0});
  Matrix h = mixture(Rational(1, 3), identity, cycle);
  h = product(mixture(Rational(2, 5), identity, swaps), h, 4);
  const std::vector<BirkhoffTerm> terms = birkhoff(h, 4);  // refuses what is not
  Matrix rebuilt(16);
  std::vector<std::string> weights;
  for (const BirkhoffTerm& term : terms) {
    weights.push_back(term.weight.get_str());
    for (std::size_t i = 0; i < 4; ++i) rebuilt[i * 4 + term.column[i]] += term.weight;
  }
  lines.text("Birkhoff-von Neumann terms of (2/5 I + 3/5 P)(1/3 I + 2/3 C)",
             fmt::format("{} permutations, weights {}", terms.size(), fmt::join(weights, ", ")),
             "a convex combination", rebuilt == h, "rows and columns sum to 1 exactly");
  return lines.done();
}

WorkedExample kronecker() {
  Lines lines("kronecker", "vec(A_l H A_r + B) = (A_r^T (x) A_l) vec(H) + vec(B)");
  constexpr std::size_t n = 3;
  Matrix h = mixture(Rational(1, 3), permutation_matrix({0, 1, 2}), permutation_matrix({1, 2, 0}));
  const Matrix identity = permutation_matrix({0, 1, 2});
  const Matrix mix = mixture(Rational(1, 2), identity, permutation_matrix({0, 2, 1}));
  Matrix left = identity, right = identity, inject(9);
  left[4] = 0;   // I - e_2 e_2^T
  right[8] = 0;  // I - e_3 e_3^T
  inject[5] = 1;
  const auto holds = [&](const Matrix& a_l, const Matrix& a_r, const Matrix& b) {
    Matrix direct = product(product(a_l, h, n), a_r, n);
    bool equal = true;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        // Row (j, i) of the Kronecker product, columns one after the other.
        Rational sum = b[i * n + j];
        for (std::size_t k = 0; k < n; ++k) {
          for (std::size_t l = 0; l < n; ++l) sum += a_r[l * n + j] * a_l[i * n + k] * h[k * n + l];
        }
        equal = equal && sum == Rational(direct[i * n + j] + b[i * n + j]);
      }
    }
    return equal;
  };
  const bool both = holds(mix, identity, Matrix(9)) && holds(left, right, inject);
  lines.text("mixing 2 <-> 3 and the reveal R(2,3), in fractions", both ? "equal" : "different",
             "equal", both);
  return lines.done();
}

WorkedExample noisy_identity() {
  Lines lines("noisy-identity", "A noisy identity that keeps the state with p = 0.9, 100 steps");
  double norm = 1;
  for (int step = 0; step < 100; ++step) norm *= 0.9;
  lines.text("|(0.9 I)^100 h|", fmt::format("{:.3e}", norm), "0.00002", false,
             "0.9^100 = 2.656e-5: the paper cuts it to 0.00002");
  const AutomatonFile file = parse_automaton(R"toml(
states = ["1", "2"]
start = "1"
[symbol.noise]
next = { "1" = { "1" = 0.9, "2" = 0.1 }, "2" = { "1" = 0.1, "2" = 0.9 } }
)toml",
                                             "noise");
  const auto filter = make_filter(file.automaton, {.kind = FilterKind::kLinear});
  for (int step = 0; step < 100; ++step) filter->step(0);
  lines.text("the true noisy identity (the rest goes elsewhere): |h|",
             fmt::format("{:.12f}", std::exp(filter->log_norm())), "", true,
             "0.9 I is not column-stochastic; a transition matrix loses no mass, reveals do");
  return lines.done();
}

WorkedExample resets() {
  Lines lines("resets", "Gated resets, DFAs and full reveals (appendix B and section 5.3)");
  const AutomatonFile file = parse_automaton(R"toml(
variables = ["a", "b", "c"]
start = [1, 2, 3]
[symbol.mix]
shuffle = "0.5 (1 2), 0.5 ()"
[symbol."a is 1"]
reveal = { a = 1 }
[symbol."full reveal"]
reveal = { a = 1, b = 2, c = 3 }
[symbol.reset]
reset = "uniform"
[symbol.rotate]
shuffle = "(1 2 3)"
)toml",
                                             "resets");
  const FilterOptions hard{.kind = FilterKind::kLinear, .hard_resets = true};
  const auto gated = make_filter(file.automaton, hard);
  gated->step(0);
  gated->step(1);
  gated->step(3);
  lines.vector("H after a gated reset", gated->state(), std::vector<double>(6, 1.0 / 6));

  const auto dfa = make_filter(file.automaton, {.kind = FilterKind::kLinear});
  for (int step = 0; step < 1000; ++step) dfa->step(4);
  double norm = 0;
  for (double x : dfa->state()) norm += x;
  lines.text("|h| of a DFA after 1000 steps", fmt::format("{}", norm), "1", norm == 1);

  const auto full = make_filter(file.automaton, hard);
  const auto masked = make_filter(file.automaton, {.kind = FilterKind::kLinear});
  bool always = true;
  for (int cycle = 0; cycle < 100; ++cycle) {
    for (SymbolId symbol : {0u, 2u}) {
      full->step(symbol);
      masked->step(symbol);
    }
    double sum = 0;
    for (double x : full->state()) sum += x;
    always = always && sum == 1;
  }
  lines.text("|h| of 100 mixes and full reveals, hard reset h <- e_q", always ? "1" : "not 1", "1",
             always);
  lines.text("the same as h <- T Z h", fmt::format("{:.4g}", std::exp(masked->log_norm())), "",
             true, "2^-100: a mask carries the lost mass on");

  constexpr int kEvery = 8;
  const auto bounded = make_filter(file.automaton, hard);
  double least = 1;
  for (int cycle = 1; cycle <= 400; ++cycle) {
    bounded->step(0);
    bounded->step(cycle % kEvery == 0 ? 2 : 1);
    double sum = 0;
    for (double x : bounded->state()) sum += x;
    least = std::min(least, sum);
  }
  lines.text("least |h| with a full reveal every 8 cycles, 400 cycles", fmt::format("{}", least),
             "", least == std::ldexp(1.0, -(kEvery - 1)),
             "bounded by 2^-(m-1) with a full reveal every m-th cycle");
  return lines.done();
}

WorkedExample counts() {
  Lines lines("counts", "States of a DFA that simulates finite precision");
  for (int n = 3; n <= 5; ++n) {
    mpz_class states;
    mpz_ui_pow_ui(states.get_mpz_t(), 2, factorial(n));
    lines.text(fmt::format("joint, binary entries, n = {}: 2^(n!)", n),
               fmt::format("2^{} ({} digits)", factorial(n), states.get_str().size()), "2^(n!)");
  }
  mpz_class states;
  mpz_ui_pow_ui(states.get_mpz_t(), 10, 81);
  std::string digits = "1";
  digits.append(81, '0');
  lines.text("marginal, k = 10 bins, n = 10: k^((n-1)^2)",
             fmt::format("10^{}", states.get_str().size() - 1), "10^81",
             states.get_str() == digits);
  return lines.done();
}

}  // namespace

std::vector<WorkedExample> paper_examples() {
  return {two_values(),     three_values(),   reveal_sizes(), norm_is_product(),
          joint_decay(),    marginal_decay(), mixing(),       kronecker(),
          noisy_identity(), resets(),         counts()};
}

}  // namespace shellgame
