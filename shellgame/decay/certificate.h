// A certificate of a decay: a word and what it does to a linear recurrence, in exact numbers, so
// that whoever doubts can replay it. docs/adversary.md describes the JSON. The check shares no code
// with the search: it has recurrences of its own over explicit orders and fractions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/decay/adversary.h"

namespace shellgame {

struct Certificate {
  // A symbol: a mixture, whose outcome sets new[v] = old[from[v]], or a reveal.
  struct Outcome {
    Rational probability;
    std::vector<int> from;
  };
  struct Meaning {
    std::vector<Outcome> mixture;  // empty for a reveal
    int variable = 0, value = 0;
  };

  int n = 0;
  Representation representation = Representation::kMarginal;
  std::string task;                                          // TOML, for people
  std::vector<std::pair<std::vector<int>, Rational>> start;  // orders: the value of each variable
  std::map<std::string, Meaning> symbols;
  std::vector<std::string> before, cycle;
  std::vector<Rational> norms;  // before the cycle and after each repetition
  Rational factor;              // of each of the last repetitions
};

Certificate make_certificate(const Automaton& automaton, Representation representation,
                             const Attack& attack, const std::string& task);
std::string write_certificate(const Certificate& certificate);
// Throws InputError that names what is missing or wrong.
Certificate parse_certificate(std::string_view text, const std::string& file);

struct Confirmation {
  std::size_t reveals = 0;        // each had positive probability under the exact belief
  Rational rarest;                // the least of these probabilities
  std::size_t constant_from = 0;  // the factor is the claimed one from this repetition on
  // Joint: the state after a cycle is a multiple of the one before. Marginal: each column is, and
  // the same orders are possible. Then the cycle does the same for ever.
  bool for_ever = false;
  std::vector<std::string> sentences;
};

// Replays it. Throws Error with the first claim that does not hold.
Confirmation check_certificate(const Certificate& certificate);

}  // namespace shellgame
