#include "shellgame/report/page_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "shellgame/report/table_records.h"
#include "shellgame/report/table_template.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_toml.h"

namespace shellgame {
namespace {

using TableJson = nlohmann::ordered_json;
using Records = std::vector<TableRecord>;

constexpr std::string_view kBegin = "<!-- table", kEnd = "<!-- end table -->";

TableJson json_of(const toml::node& node) {
  TableJson json;
  if (const auto* table = node.as_table()) {
    json = TableJson::object();
    for (const auto& [key, item] : *table) json[std::string(key.str())] = json_of(item);
  } else if (const auto* array = node.as_array()) {
    json = TableJson::array();
    for (const toml::node& item : *array) json.push_back(json_of(item));
  } else if (const auto* text = node.as_string()) {
    json = text->get();
  } else if (const auto* whole = node.as_integer()) {
    json = whole->get();
  } else if (const auto* real = node.as_floating_point()) {
    json = real->get();
  } else if (const auto* flag = node.as_boolean()) {
    json = flag->get();
  }
  return json;
}

std::string text_in(const TableJson& object, const char* key, const std::string& otherwise = "") {
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  if (!found->is_string()) wrong_use("a table's '{}' must be text, not {}", key, found->dump());
  return found->get<std::string>();
}

// A text or a list of texts.
std::vector<std::string> texts_in(const TableJson& object, const char* key) {
  std::vector<std::string> texts;
  const auto found = object.find(key);
  if (found == object.end()) return texts;
  for (const TableJson& item : found->is_array() ? *found : TableJson::array({*found})) {
    if (!item.is_string()) wrong_use("a table's '{}' must be texts, not {}", key, item.dump());
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

void refuse_other_keys(const TableJson& object, const std::vector<std::string>& known,
                       const char* what) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) == known.end())
      wrong_use("{} has the keys {}, not '{}'", what, fmt::join(known, ", "), key);
  }
}

struct Column {
  std::string head, text;
  TableJson where = TableJson::object();
};

struct Row {
  Records records;
  std::vector<std::string> once, cells;  // texts instead of the columns' own
};

// Whether a record has the values that are asked for; a list is one of them.
bool fits(const TableRecord& record, const TableJson& where) {
  for (const auto& [field, wanted] : where.items()) {
    const TableJson* value = record.find(field).first;
    if (value == nullptr) return false;
    const bool equal =
        wanted.is_array() ? std::ranges::find(wanted, *value) != wanted.end() : *value == wanted;
    if (!equal) return false;
  }
  return true;
}

Records selected(const Records& records, const TableJson& where) {
  Records kept;
  for (const TableRecord& record : records) {
    if (fits(record, where)) kept.push_back(record);
  }
  return kept;
}

TableJson value_in(const TableRecord& record, const std::string& field) {
  const TableJson* value = record.find(field).first;
  return value == nullptr ? TableJson() : *value;
}

Records read_records(const TableJson& table, const std::string& folder) {
  Records all;
  for (const std::string& source : texts_in(table, "source")) {
    const Records records = read_table_records(folder + source, text_in(table, "at"));
    all.insert(all.end(), records.begin(), records.end());
  }
  return selected(all, table.value("where", TableJson::object()));
}

// Rows that are listed one by one.
std::vector<Row> listed_rows(const TableJson& table, const Records& common,
                             const std::string& folder) {
  std::vector<Row> rows;
  for (const TableJson& row : table["row"]) {
    refuse_other_keys(row, {"name", "source", "at", "where", "cells"}, "a row of a table");
    Row made{.records = row.contains("source")
                            ? read_records(row, folder)
                            : selected(common, row.value("where", TableJson::object())),
             .once = {"name"},
             .cells = texts_in(row, "cells")};
    if (made.records.empty())
      wrong_use("a row of a table must have records; '{}' has none", text_in(row, "name"));
    const auto name = std::make_shared<const TableJson>(TableJson{{"name", text_in(row, "name")}});
    for (TableRecord& record : made.records) record.parts.insert(record.parts.begin(), name);
    rows.push_back(std::move(made));
  }
  return rows;
}

// Rows by the values of fields, in the order in which they come.
std::vector<Row> grouped_rows(const TableJson& table, const Records& records) {
  const std::vector<std::string> fields = texts_in(table, "rows");
  std::vector<Row> rows;
  std::map<std::string, std::size_t> places;
  for (const TableRecord& record : records) {
    std::string key = fields.empty() ? std::to_string(rows.size()) : "";
    for (const std::string& field : fields) key += value_in(record, field).dump() + "\n";
    const auto [found, fresh] = places.emplace(key, rows.size());
    if (fresh) rows.push_back({.records = {}, .once = fields, .cells = {}});
    rows[found->second].records.push_back(record);
  }
  return rows;
}

// A column for each value of the field that it goes across.
void add_columns(std::vector<Column>& columns, const TableJson& column, const Records& records) {
  refuse_other_keys(column, {"head", "text", "where", "across", "of"}, "a column of a table");
  const TableJson where = column.value("where", TableJson::object());
  const std::string across = text_in(column, "across"), text = text_in(column, "text");
  if (across.empty()) {
    columns.push_back({text_in(column, "head"), text, where});
    return;
  }
  TableJson values = column.value("of", TableJson::array());
  if (values.empty()) {
    for (const TableRecord& record : selected(records, where)) {
      const TableJson value = value_in(record, across);
      if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    }
  }
  for (const TableJson& value : values) {
    TableJson narrower = where;
    narrower[across] = value;
    const Records those = selected(records, narrower);
    if (those.empty())
      wrong_use("a column of a table must have records; '{}' {} has none", across, value.dump());
    columns.push_back({fill_template(text_in(column, "head", "{" + across + "}"), those, {across}),
                       text, narrower});
  }
}

std::string line_of(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += (cell.empty() ? " |" : " " + cell + " |");
  return line + "\n";
}

std::string table_text(const TableJson& table, const std::string& folder) {
  refuse_other_keys(table, {"source", "at", "where", "rows", "row", "columns"}, "a table");
  const Records common = read_records(table, folder);
  const std::vector<Row> rows =
      table.contains("row") ? listed_rows(table, common, folder) : grouped_rows(table, common);
  if (rows.empty()) wrong_use("a table must have rows; nothing in its source fits 'where'");
  Records all;
  for (const Row& row : rows) all.insert(all.end(), row.records.begin(), row.records.end());
  std::vector<Column> columns;
  for (const TableJson& column : table.value("columns", TableJson::array()))
    add_columns(columns, column, all);
  if (columns.empty()) wrong_use("a table must have 'columns'");
  std::vector<std::string> cells;
  for (const Column& column : columns) cells.push_back(column.head);
  std::string text = line_of(cells);
  text += line_of(std::vector<std::string>(columns.size(), "---"));
  for (const Row& row : rows) {
    cells.clear();
    for (std::size_t i = 0; i < columns.size(); ++i)
      cells.push_back(fill_template(i < row.cells.size() ? row.cells[i] : columns[i].text,
                                    selected(row.records, columns[i].where), row.once));
    text += line_of(cells);
  }
  return text;
}

// Lines of a page, each with its end, and whether it stands in a fence.
struct PageLine {
  std::string_view text;
  bool fenced = false;
};

std::vector<PageLine> page_lines(std::string_view page) {
  std::vector<PageLine> lines;
  bool fenced = false;
  for (std::size_t begin = 0; begin < page.size();) {
    const std::size_t end = std::min(page.find('\n', begin), page.size() - 1) + 1;
    const std::string_view line = page.substr(begin, end - begin);
    const bool fence = line.starts_with("```");
    lines.push_back({line, fenced || fence});
    if (fence) fenced = !fenced;
    begin = end;
  }
  return lines;
}

std::string page_folder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "" : folder + "/";
}

// The cells of a line of a table, without those at its ends; "\|" is no end of a cell.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '|' && line[i - 1] != '\\')
      cells.emplace_back();
    else if (line[i] != '\n')
      cells.back() += line[i];
  }
  cells.pop_back();
  return cells;
}

// Begins with a number, perhaps after a sign or a mark.
bool is_number_cell(const std::string& cell) {
  const std::size_t at = cell.find_first_not_of(" *-+~<>.");
  if (at == std::string::npos) return false;
  return cell.compare(at, 3, "−") == 0 || std::isdigit(static_cast<unsigned char>(cell[at])) != 0;
}

bool is_number_table(const std::vector<PageLine>& lines, std::size_t begin, std::size_t end) {
  int numbers = 0, others = 0;
  for (std::size_t i = begin + 2; i < end; ++i) {
    const std::vector<std::string> cells = cells_of(lines[i].text);
    for (std::size_t c = 1; c < cells.size(); ++c) {
      if (cells[c].find_first_not_of(' ') == std::string::npos) continue;
      ++(is_number_cell(cells[c]) ? numbers : others);
    }
  }
  return numbers > others;
}

}  // namespace

PageTables remake_tables(std::string_view page, const std::string& path) {
  const std::vector<PageLine> lines = page_lines(page);
  PageTables made;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    made.text += lines[i].text;
    if (lines[i].fenced || !lines[i].text.starts_with(kBegin)) continue;
    const std::string place = fmt::format("{}:{}", path, i + 1);
    std::string marker(lines[i].text.substr(kBegin.size()));
    while (marker.find("-->") == std::string::npos && i + 1 < lines.size()) {
      marker += lines[++i].text;
      made.text += lines[i].text;
    }
    if (marker.find("-->") == std::string::npos)
      throw InputError(place, "a table's marker must end with '-->'");
    marker.resize(marker.find("-->"));
    std::string before;
    while (i + 1 < lines.size() && !lines[i + 1].text.starts_with(kEnd)) {
      if (lines[i + 1].text.starts_with(kBegin)) break;
      before += lines[++i].text;
    }
    if (i + 1 == lines.size() || !lines[i + 1].text.starts_with(kEnd))
      throw InputError(place, fmt::format("a table must end with '{}'", kEnd));
    std::string now;
    try {
      now = table_text(json_of(parse_toml(marker, place)), page_folder(path));
    } catch (const InputError&) {
      throw;
    } catch (const Error& error) {
      throw InputError(place, error.what());
    }
    ++made.tables;
    if (now != before) made.stale.push_back(place);
    made.text += now;
  }
  return made;
}

std::vector<std::string> unmarked_number_tables(std::string_view page, const std::string& path) {
  const std::vector<PageLine> lines = page_lines(page);
  std::vector<std::string> places;
  bool marked = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].fenced) continue;
    if (lines[i].text.starts_with(kBegin)) marked = true;
    if (lines[i].text.starts_with(kEnd)) marked = false;
    if (marked || !lines[i].text.starts_with('|')) continue;
    std::size_t end = i;
    while (end < lines.size() && lines[end].text.starts_with('|')) ++end;
    if (is_number_table(lines, i, end)) places.push_back(fmt::format("{}:{}", path, i + 1));
    i = end;
  }
  return places;
}

}  // namespace shellgame
