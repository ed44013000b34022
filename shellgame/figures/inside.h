// What the figures about the inside of models share: heads, their tracker, boxes of betas and
// curves of keys.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "shellgame/figures/figure.h"
#include "shellgame/figures/sources.h"
#include "shellgame/report/panel.h"

namespace shellgame {

struct HeadName {
  int layer = 0, head = 0;
  friend bool operator==(const HeadName&, const HeadName&) = default;
};

HeadName head_of(const nlohmann::ordered_json& row);
// The tracking head that `probe find-tracker` names, if any.
std::optional<HeadName> tracker_of(FigureSources& sources, const std::string& run);
Quantiles quantiles_of(const nlohmann::ordered_json& row);
// Vermilion for the tracker, else by the head's number.
std::string head_colour(const HeadName& head, const std::optional<HeadName>& tracker);

// Boxes of the heads of a layer, from 0 to 2, into a panel of the frame `inner`.
void draw_betas(Figure& figure, const Box& inner, const nlohmann::ordered_json& heads, int layer,
                const std::optional<HeadName>& tracker, const std::string& title,
                const std::string& y_label, const std::string& run);
// Cumulative explained variance of the keys of a layer's heads.
void draw_keys(Figure& figure, const Box& inner, const nlohmann::ordered_json& heads, int layer,
               const std::optional<HeadName>& tracker, const std::string& title,
               const std::string& y_label, const std::string& run);
// From 0 to 2.
Axis beta_axis(const std::string& label);
// The header that both of these write rows for.
CsvTable inside_table();

std::string model_words(const Measured& runs);

}  // namespace shellgame
