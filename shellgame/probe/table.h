// Rows of named numbers and words, as CSV and as a table for people. No Torch.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace shellgame {

// Every row is an object; columns are the keys of the first row. Lists and objects inside a row are
// left out.
std::string rows_as_csv(const nlohmann::ordered_json& rows);
std::string rows_as_text(const nlohmann::ordered_json& rows);

// The quantile `share` of sorted numbers, between neighbours by a line (as numpy.quantile).
double sorted_quantile(const std::vector<double>& sorted, double share);
// count, mean, min, q05, q25, median, q75, q95, max. Sorts the numbers, of which there must be one.
nlohmann::ordered_json distribution_of(std::vector<double>& numbers);

}  // namespace shellgame
