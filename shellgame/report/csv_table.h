// The numbers behind a figure as CSV: a header, then rows. Fields with commas, quotes or line ends
// are quoted; numbers are written so that they read back as they were.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace shellgame {

class CsvTable {
 public:
  using Field = std::variant<std::string, double>;

  explicit CsvTable(std::vector<std::string> header);
  // Throws UsageError if it has not as many fields as the header.
  void row(const std::vector<Field>& fields);
  const std::vector<std::vector<Field>>& rows() const { return rows_; }
  std::string text() const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<Field>> rows_;
};

}  // namespace shellgame
