// Curves of a sweep's results, one curve for each combination of settings: the mean over seeds,
// with a band from the worst to the best of them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "shellgame/report/line_chart.h"

namespace shellgame {

// What a chart is about, and what stays the same in all of a sweep's charts.
struct ChartTexts {
  std::string title, note;
  double chance = 0;  // 0: not drawn
};

// The settings of an entry of sweep.json, as a curve is called.
std::string settings_name(const nlohmann::ordered_json& entry);

// Accuracy of revealed values over `window` steps, against the tokens read; from the metrics of
// each run below `runs`.
LineChart training_chart(const nlohmann::ordered_json& all, const std::string& runs,
                         const ChartTexts& texts, int window = 20);

// Accuracy against "commands", "spacing" or "length", of the cells whose `fixed` key has the value;
// with marks at the lengths that were trained.
LineChart cells_chart(const nlohmann::ordered_json& all, const std::string& along,
                      const std::string& fixed, double value, const ChartTexts& texts);

// Accuracy of each reveal by its place, in one cell.
LineChart reveals_chart(const nlohmann::ordered_json& all, std::size_t cell,
                        const ChartTexts& texts);

// All of these that the cells of the sweep give, as DIR/*.svg. Returns the files' names.
std::vector<std::string> draw_sweep(const nlohmann::ordered_json& all, const std::string& runs,
                                    const ChartTexts& texts);

}  // namespace shellgame
