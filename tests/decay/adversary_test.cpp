// The adversary: what it finds from nothing, against brute force, its bound and other witnesses.
#include "shellgame/decay/adversary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numeric>

#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/decay/certificate.h"
#include "shellgame/decay/fastest_cycle.h"
#include "shellgame/numbers/number_kinds.h"
#include "shellgame/random/philox.h"
#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

Automaton maybe_swaps(const std::string& group, double probability) {
  Task task;
  task.group = group;
  task.moves = Moves::kSwaps;
  task.branching = true;
  task.probabilities = {probability};
  return automaton_of(Sampler(task));
}

AdversaryOptions search(Representation representation, std::size_t depth) {
  AdversaryOptions options;
  options.representation = representation;
  options.depth = depth;
  options.width = 2000;
  return options;
}

TEST(FastestCycle, LeastRatioOfCostToTimeIsFoundAndTheShortestWord) {
  // A loop of ratio -1, a cycle of two edges with ratio -3/2, the same ratio with four edges.
  const std::vector<TimedEdge> edges = {{0, 0, -1, 1}, {0, 1, -3, 1}, {1, 0, 0, 1},
                                        {1, 2, -3, 2}, {2, 3, 0, 0},  {3, 0, 0, 1}};
  EXPECT_EQ(fastest_cycles(4, edges, 10), (std::vector<std::vector<std::uint32_t>>{{1, 2}}));
  EXPECT_TRUE(fastest_cycles(2, {{0, 1, -5, 1}, {1, 1, 0, 1}}, 10).empty());
}

TEST(Adversary, FindsThePapersCycleForTheMarginalMatrixFromNothing) {
  const Automaton automaton = maybe_swaps("S3", 0.5);
  const Attack attack = find_attack(automaton, search(Representation::kMarginal, 8));
  ASSERT_EQ(attack.cycle.size(), 2u);
  EXPECT_TRUE(attack.before.empty());
  EXPECT_TRUE(automaton.symbol(attack.cycle[0]).is_transition_only());
  EXPECT_TRUE(automaton.symbol(attack.cycle[1]).is_reveal_only());
  EXPECT_EQ(attack.factor, Rational(1, 2));
  EXPECT_TRUE(attack.constant);
  EXPECT_TRUE(attack.complete);
  EXPECT_NEAR(attack.per_symbol(), attack.bound_per_symbol.value(), 1e-15);
}

TEST(Adversary, OneRevealAfterAChainOfMixingsShrinksTheJointFasterThanThePapersCycle) {
  for (int n = 3; n <= 4; ++n) {
    const Attack attack =
        find_attack(maybe_swaps("S" + std::to_string(n), 0.5), search(Representation::kJoint, 6));
    EXPECT_NEAR(attack.per_symbol(), std::pow(0.5, (n - 1.0) / n), 1e-12);
    EXPECT_NEAR(attack.per_mixing(), 0.5, 1e-12);
  }
}

TEST(Adversary, PerMixingBothRepresentationsReachTheBoundAndNeverPassIt) {
  for (double p : {0.1, 0.5, 0.75}) {
    for (Representation representation : {Representation::kJoint, Representation::kMarginal}) {
      AdversaryOptions options = search(representation, 5);
      options.pace = Pace::kMixing;
      const Attack attack = find_attack(maybe_swaps("S3", p), options);
      EXPECT_EQ(attack.bound_per_mixing, rational_from(std::min(p, 1 - p)));
      EXPECT_NEAR(attack.per_mixing(), std::min(p, 1 - p), 1e-12) << p;
    }
  }
}

TEST(Adversary, NormsAreThoseOfTheFilters) {
  for (Representation representation : {Representation::kJoint, Representation::kMarginal}) {
    const Automaton automaton = maybe_swaps("S4", 0.3);
    const Attack attack = find_attack(automaton, search(representation, 5));
    const auto filter = make_filter(
        automaton, {.kind = representation == Representation::kJoint ? FilterKind::kLinear
                                                                     : FilterKind::kMarginal});
    for (SymbolId symbol : attack.before) filter->step(symbol);
    for (std::size_t k = 1; k < attack.norms.size(); ++k) {
      for (SymbolId symbol : attack.cycle) EXPECT_EQ(filter->step(symbol).zero_reveals, 0u);
      EXPECT_NEAR(filter->log_norm(), NumberTraits<Rational>::log(attack.norms[k]), 1e-9);
    }
  }
}

// All words of the whole matrix at n = 3, rows and columns, with no idea of columns or symmetry.
class AllCycles {
 public:
  using Matrix = std::array<double, 9>;
  static constexpr int kOrders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                        {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

  explicit AllCycles(std::size_t longest) : longest_(longest) {
    extend(1, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  }
  double best_per_symbol() const { return best_; }
  std::uint64_t words() const { return words_; }

 private:
  // Symbols 0..2 mix two rows, 3..11 reveal. False if the reveal is impossible.
  static bool say(int symbol, unsigned& possible, Matrix& h) {
    if (symbol < 3) {
      const int a = symbol == 2 ? 1 : 0, b = symbol == 0 ? 1 : 2;
      unsigned after = possible;
      for (unsigned o = 0; o < 6; ++o) {
        if (((possible >> o) & 1) == 0) continue;
        int next[3] = {kOrders[o][0], kOrders[o][1], kOrders[o][2]};
        std::swap(next[a], next[b]);
        for (unsigned q = 0; q < 6; ++q)
          after |= unsigned(std::equal(next, next + 3, kOrders[q])) << q;
      }
      possible = after;
      for (int j = 0; j < 3; ++j) {
        double &x = h[std::size_t(3 * a + j)], &y = h[std::size_t(3 * b + j)];
        x = y = (x + y) / 2;
      }
      return true;
    }
    const int i = (symbol - 3) / 3, j = (symbol - 3) % 3;
    for (unsigned o = 0; o < 6; ++o) {
      if (kOrders[o][i] != j) possible &= ~(1u << o);
    }
    for (int k = 0; k < 3; ++k) h[std::size_t(3 * i + k)] = h[std::size_t(3 * k + j)] = 0;
    h[std::size_t(3 * i + j)] = 1;
    return possible != 0;
  }
  static double norm(const Matrix& h) {
    double least = 2;
    for (std::size_t i = 0; i < 3; ++i)
      least = std::min({least, h[3 * i] + h[3 * i + 1] + h[3 * i + 2], h[i] + h[i + 3] + h[i + 6]});
    return least;
  }
  void extend(unsigned possible, const Matrix& h) {
    if (word_.size() == longest_) return;
    for (int symbol = 0; symbol < 12; ++symbol) {
      unsigned next = possible;
      Matrix matrix = h;
      if (!say(symbol, next, matrix)) continue;
      word_.push_back(symbol);
      score(next, matrix);
      extend(next, matrix);
      word_.pop_back();
    }
  }
  // The word again and again: 12 times to settle, then 12 times to measure (periods 1, 2, 3, 4, 6).
  void score(unsigned possible, Matrix h) {
    ++words_;
    double settled = 0;
    for (int k = 1; k < 25; ++k) {
      for (int symbol : word_) {
        if (!say(symbol, possible, h)) return;
      }
      if (k == 12) settled = norm(h);
    }
    best_ = std::min(best_, std::pow(norm(h) / settled, 1.0 / (12.0 * double(word_.size()))));
  }

  std::size_t longest_;
  std::vector<int> word_;
  double best_ = 1;
  std::uint64_t words_ = 0;
};

TEST(Adversary, NoCycleOfUpToFiveSymbolsIsFasterOnTheWholeMatrix) {
  const char* longest = std::getenv("SHELLGAME_LONGEST_CYCLE");  // for a longer look
  const AllCycles all(longest == nullptr ? 5 : std::stoul(longest));
  EXPECT_GT(all.words(), 10'000u);
  EXPECT_NEAR(all.best_per_symbol(), std::sqrt(0.5), 1e-9);
  RecordProperty("words", std::to_string(all.words()));
}

// The potential of docs/adversary.md: V^2 = min over sets S of positions without the true one of
// q^-|S| times the sum of the squares outside S, of a column of H that is not revealed.
double potential(const std::vector<double>& column, std::size_t truth, double q) {
  double least = 2;
  for (unsigned set = 0; set < (1u << column.size()); ++set) {
    if ((set >> truth) & 1) continue;
    double sum = 0, scale = 1;
    for (std::size_t i = 0; i < column.size(); ++i) {
      if ((set >> i) & 1) {
        scale /= q;
      } else {
        sum += column[i] * column[i];
      }
    }
    least = std::min(least, scale * sum);
  }
  return least;
}

TEST(Adversary, NoSymbolTakesMoreThanQOfTheMarginalPotential) {
  RandomStream random(5, 0);
  double closest = 1;
  for (int trial = 0; trial < 2000; ++trial) {
    const std::size_t n = 2 + random.below(4);
    const double p = 0.05 + 0.9 * random.unit(), q = std::min(p, 1 - p);
    std::vector<double> column(n);
    std::size_t truth = random.below(static_cast<std::uint32_t>(n));
    column[truth] = 1;
    for (int step = 0; step < 30; ++step) {
      const double before = potential(column, truth, q);
      if (random.below(2) == 0) {  // any permutation, or not; the truth goes along
        const Permutation s = Permutation::unrank(
            static_cast<int>(n), random.below(static_cast<std::uint32_t>(factorial(int(n)))));
        const std::vector<double> old = column;
        for (std::size_t i = 0; i < n; ++i)
          column[i] = (1 - p) * old[i] + p * old[std::size_t(s(int(i)))];
        if (random.below(2) == 0) truth = std::size_t(s.inverse()(int(truth)));
      } else {  // some other value is seen at another position
        const std::size_t i = random.below(static_cast<std::uint32_t>(n));
        if (i != truth) column[i] = 0;
      }
      const double after = potential(column, truth, q);
      ASSERT_GE(after, q * before * (1 - 1e-12)) << "n " << n << " p " << p;
      closest = std::min(closest, after / before / q);
      const double sum = std::accumulate(column.begin(), column.end(), 0.0);
      ASSERT_GE(sum * sum, after * (1 - 1e-12));
      if (after < 1e-200) break;
    }
  }
  EXPECT_LT(closest, 1.001);  // the bound is reached
}

TEST(Adversary, WhatItCannotAttackIsRefusedInOneSentence) {
  Task task;
  task.group = "S3";
  task.moves = Moves::kSwaps;
  const Automaton certain = automaton_of(Sampler(task));
  EXPECT_THROW(find_attack(certain, search(Representation::kJoint, 4)), Error);
  EXPECT_THROW(find_attack(maybe_swaps("S8", 0.5), search(Representation::kJoint, 4)), UsageError);
}

class CertificateTest : public testing::TestWithParam<Representation> {
 protected:
  void SetUp() override {
    const Automaton automaton = maybe_swaps("S3", 0.1);
    const Attack attack = find_attack(automaton, search(GetParam(), 6));
    certificate_ = make_certificate(automaton, GetParam(), attack, "group = \"S3\"\n");
  }
  Certificate certificate_;
};
INSTANTIATE_TEST_SUITE_P(Both, CertificateTest,
                         testing::Values(Representation::kJoint, Representation::kMarginal));

TEST_P(CertificateTest, SurvivesItsFileAndIsConfirmedForEver) {
  const std::string text = write_certificate(certificate_);
  const Certificate read = parse_certificate(text, "test");
  EXPECT_EQ(write_certificate(read), text);
  const Confirmation confirmed = check_certificate(read);
  EXPECT_TRUE(confirmed.for_ever);
  EXPECT_GT(confirmed.reveals, 0u);
}

TEST_P(CertificateTest, AnyFalseClaimIsFound) {
  Certificate wrong = certificate_;
  wrong.norms.back() /= 2;
  EXPECT_THROW(check_certificate(wrong), Error);
  wrong = certificate_;
  wrong.factor /= 2;
  EXPECT_THROW(check_certificate(wrong), Error);
  wrong = certificate_;
  for (auto& [name, symbol] : wrong.symbols) {
    if (!symbol.mixture.empty()) symbol.mixture[0].probability += Rational(1, 10);
  }
  EXPECT_THROW(check_certificate(wrong), Error);
  wrong = certificate_;  // a reveal that contradicts the start
  wrong.symbols["no"] = {{}, 0, 1};
  wrong.before.insert(wrong.before.begin(), "no");
  EXPECT_THROW(check_certificate(wrong), Error);
  EXPECT_THROW(parse_certificate("{\"format\": 3}", "test"), InputError);
}

TEST_P(CertificateTest, PythonConfirmsItToo) {
  const ScratchFolder folder;
  const std::string path = folder / "certificate.json";
  const auto run = [&] {
    const std::string command = fmt::format(
        "python3 {}/tests/support/check_certificate.py {} 2>/dev/null", SHELLGAME_SOURCE_DIR, path);
    std::FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 64> line{};
    const bool any = std::fgets(line.data(), line.size(), pipe) != nullptr;
    pclose(pipe);
    return any ? std::string(line.data()) : std::string();
  };
  write_file(path, write_certificate(certificate_));
  EXPECT_EQ(run(), "confirmed\n");
  certificate_.norms.back() *= 2;
  write_file(path, write_certificate(certificate_));
  EXPECT_EQ(run(), "");
}

}  // namespace
}  // namespace shellgame
