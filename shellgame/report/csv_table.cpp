#include "shellgame/report/csv_table.h"

#include <fmt/format.h>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

std::string field_text(const CsvTable::Field& field) {
  if (const double* number = std::get_if<double>(&field)) return fmt::format("{}", *number);
  const std::string& text = std::get<std::string>(field);
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

CsvTable::CsvTable(std::vector<std::string> header) : header_(std::move(header)) {}

void CsvTable::row(const std::vector<Field>& fields) {
  if (fields.size() != header_.size())
    wrong_use("a row must have {} fields as the header has, not {}", header_.size(), fields.size());
  rows_.push_back(fields);
}

std::string CsvTable::text() const {
  std::string text;
  const auto add = [&](const auto& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i)
      text += (i == 0 ? "" : ",") + field_text(fields[i]);
    text += '\n';
  };
  add(header_);
  for (const auto& row : rows_) add(row);
  return text;
}

}  // namespace shellgame
