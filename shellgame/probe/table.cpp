#include "shellgame/probe/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> columns_of(const Json& rows) {
  std::vector<std::string> columns;
  if (rows.empty()) return columns;
  for (const auto& [key, value] : rows.front().items()) {
    if (!value.is_structured()) columns.push_back(key);
  }
  return columns;
}

const Json& value_of(const Json& row, const std::string& column) {
  static const Json nothing;
  const auto found = row.find(column);
  return found == row.end() ? nothing : *found;
}

std::string plain(const Json& value, const char* nothing, bool rounded) {
  if (value.is_null()) return nothing;
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float()) {
    const double number = value.get<double>();
    // No "-0.000".
    return rounded ? fmt::format("{:.3f}", std::abs(number) < 5e-4 ? 0.0 : number) : value.dump();
  }
  return value.dump();
}

}  // namespace

std::string rows_as_csv(const Json& rows) {
  const std::vector<std::string> columns = columns_of(rows);
  std::string text = fmt::format("{}\n", fmt::join(columns, ","));
  for (const Json& row : rows) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string cell = plain(value_of(row, columns[c]), "", false);
      text += (c > 0 ? "," : "") + (cell.find(',') == std::string::npos ? cell : '"' + cell + '"');
    }
    text += '\n';
  }
  return text;
}

std::string rows_as_text(const Json& rows) {
  const std::vector<std::string> columns = columns_of(rows);
  std::vector<std::vector<std::string>> cells = {columns};
  for (std::string& title : cells[0]) std::ranges::replace(title, '_', ' ');
  std::vector<bool> words(columns.size());
  for (const Json& row : rows) {
    std::vector<std::string>& line = cells.emplace_back();
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const Json& value = value_of(row, columns[c]);
      words[c] = words[c] || value.is_string();
      line.push_back(plain(value, "-", true));
    }
  }
  std::vector<std::size_t> widths(columns.size());
  for (const auto& line : cells) {
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  }
  std::string text;
  for (const auto& line : cells) {
    std::string row;
    for (std::size_t c = 0; c < line.size(); ++c) {
      if (c > 0) row += "  ";
      row += words[c] ? fmt::format("{:<{}}", line[c], widths[c])
                      : fmt::format("{:>{}}", line[c], widths[c]);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + '\n';
  }
  return text;
}

double sorted_quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) wrong_use("a quantile needs at least one number");
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - std::floor(place)) * (sorted[above] - sorted[below]);
}

Json distribution_of(std::vector<double>& numbers) {
  std::ranges::sort(numbers);
  const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  return {{"count", numbers.size()},
          {"mean", sum / static_cast<double>(numbers.size())},
          {"min", sorted_quantile(numbers, 0)},
          {"q05", sorted_quantile(numbers, 0.05)},
          {"q25", sorted_quantile(numbers, 0.25)},
          {"median", sorted_quantile(numbers, 0.5)},
          {"q75", sorted_quantile(numbers, 0.75)},
          {"q95", sorted_quantile(numbers, 0.95)},
          {"max", sorted_quantile(numbers, 1)}};
}

}  // namespace shellgame
