// The worked examples of the paper's section 5 and appendix B: our numbers beside the paper's own,
// and its slips named where they differ. Everything is computed by the engines of this folder.
#pragma once

#include <string>
#include <vector>

#include "shellgame/automata/automaton_file.h"

namespace shellgame {

struct ExampleLine {
  std::string what;  // "H_2 after the reveal"
  std::string ours;
  std::string paper;  // as printed there; empty where the paper gives none
  bool agrees = true;
  std::string note;  // why they differ, or what is beside it
};

struct WorkedExample {
  std::string name, title;
  std::vector<ExampleLine> lines;
};

std::vector<WorkedExample> paper_examples();

// Small automata with a word that is one cycle: "halving" (one number, halved each cycle),
// "joint-cycle" and "marginal-cycle" (the paper's two figures on decay), "replenished-cycle" (the
// latter, with the other variable shown once every `every` cycles), "monty-hall".
std::vector<std::string> example_names();
AutomatonFile example_automaton(const std::string& name, std::uint64_t every = 8);

}  // namespace shellgame
