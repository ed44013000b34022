#include "shellgame/report/page_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shellgame/report/xml_text.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

std::string attributes_of(const PageCell& cell) {
  std::string out;
  if (!cell.style.empty()) out += fmt::format(" class=\"{}\"", xml_escaped(cell.style));
  if (!cell.title.empty()) out += fmt::format(" title=\"{}\"", xml_escaped(cell.title));
  return out;
}

// "above_1.9" as "above 1.9".
std::string words(std::string key) {
  std::ranges::replace(key, '_', ' ');
  return key;
}

}  // namespace

std::string PageTable::html() const {
  if (rows.empty()) return "";
  std::string out = fmt::format(
      "<div class=\"box\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table><caption>{0}"
      "</caption>\n<thead><tr>",
      xml_escaped(caption));
  for (const std::string& name : head)
    out += fmt::format("<th scope=\"col\">{}</th>", xml_escaped(name));
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", attributes_of(row[i]),
                                  xml_escaped(row[i].text))
                    : fmt::format("<td{}>{}</td>", attributes_of(row[i]), xml_escaped(row[i].text));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

PageCell value_cell(const Json& value) {
  PageCell cell{short_value(value)};
  if (value.is_number_float() || value.is_array()) cell.title = exact_value(value);
  return cell;
}

PageCell number_cell(double value) {
  if (!std::isfinite(value)) return {"-"};
  return {short_number(value), fmt::format("{}", value)};
}

PageCell shade_cell(double value) {
  if (!std::isfinite(value)) return {"-"};
  const int shade = static_cast<int>(std::lround(std::clamp(value, 0.0, 1.0) * 10));
  return {fmt::format("{:.3f}", value), fmt::format("{}", value), fmt::format("shade s{}", shade)};
}

PageTable table_of(const std::string& caption, const Json& rows) {
  PageTable table{caption, {}};
  if (!rows.is_array()) return table;
  std::vector<std::string> keys;
  for (const Json& row : rows) {
    if (!row.is_object()) continue;
    for (const auto& [key, value] : row.items()) {
      if (!value.is_structured() && std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  for (const std::string& key : keys) table.head.push_back(words(key));
  for (const Json& row : rows) {
    if (!row.is_object()) continue;
    table.rows.emplace_back();
    for (const std::string& key : keys)
      table.rows.back().push_back(row.contains(key) ? value_cell(row[key]) : PageCell{"-"});
  }
  return table;
}

std::string folded(const std::string& summary, const std::string& body, bool open) {
  if (body.empty()) return "";
  return fmt::format("<details{}><summary>{}</summary>\n{}</details>\n",
                     open ? " open=\"open\"" : "", xml_escaped(summary), body);
}

}  // namespace shellgame
