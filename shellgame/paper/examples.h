// The worked examples of the paper's section 5 and appendix B: our numbers beside the paper's own,
// and its slips named where they differ. Everything is computed by the filters of beliefs/.
#pragma once

#include <string>
#include <vector>

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

}  // namespace shellgame
