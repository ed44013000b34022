// The texts of a table's cells: "{accuracy}", "{tokens:0.1/1e6|range} million".
#pragma once

#include <string>
#include <vector>

#include "shellgame/report/table_records.h"

namespace shellgame {

// Writes a number: ".3" (.996), "0.3" (0.996), "d" (16,384), "e1" (4.8e-6), each with "/1e6" or
// "*100" after it for other units. Without a format whole numbers are "d" and others ".3". Throws
// UsageError for what is no format.
std::string format_table_number(const nlohmann::ordered_json& value, const std::string& format);

// Fills in "{FIELD}", "{FIELD:FORMAT}", "{FIELD:FORMAT|HOW}" from records. A field's values are
// taken once a part: a run's tokens once, not once a cell. HOW: each (one after the other, the
// default), range ("39 to 41"), mean, min, max, spread ("mean ± deviation"), same (once; it is an
// error if they differ), count, size (of lists). Fields of `once` are the same in all records.
// Empty if there are no records. Throws UsageError if no record has the field.
std::string fill_template(const std::string& text, const std::vector<TableRecord>& records,
                          const std::vector<std::string>& once);

}  // namespace shellgame
