// Text and numbers as they stand in a page: escaped so that no text of a file becomes markup, in
// a form that HTML and XML readers both take.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace shellgame {

// Safe as text and inside quotes. What is no UTF-8, or no character of XML, becomes U+FFFD.
std::string xml_escaped(std::string_view text);

// For people: "0.9995", "21,152,960", "3.1e-07"; "-" for what is not finite.
std::string short_number(double value);
// For an axis: "0.25", "12k", "1.5M".
std::string tick_number(double value);

// A JSON value for people, and as exactly as the file has it. Whole numbers stay whole.
std::string short_value(const nlohmann::ordered_json& value);
std::string exact_value(const nlohmann::ordered_json& value);

// A number of an object, NaN where there is none.
double number_of(const nlohmann::ordered_json& object, const std::string& key);
// Text of an object, "" where there is none.
std::string text_of(const nlohmann::ordered_json& object, const std::string& key);

}  // namespace shellgame
