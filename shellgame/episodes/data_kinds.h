// The kinds of data that come with the library, each a function of its own file.
#pragma once

#include <vector>

#include "shellgame/episodes/data_kind.h"

namespace shellgame {

DataKind traces_kind();              // trace_source.cpp
DataKind parity_kind();              // sequence_source.cpp
DataKind modular_arithmetic_kind();  // sequence_source.cpp
DataKind word_problem_kind();        // sequence_source.cpp
DataKind counters_kind();            // counters.cpp
DataKind file_kind();                // file_source.cpp
DataKind schedule_kind();            // schedule_kind.cpp

inline std::vector<DataKind> built_in_data_kinds() {
  return {traces_kind(),       parity_kind(),   modular_arithmetic_kind(),
          word_problem_kind(), counters_kind(), file_kind(),
          schedule_kind()};
}

}  // namespace shellgame
