#include "shellgame/probe/cycle.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shellgame/models/finite.h"
#include "shellgame/probe/probes.h"
#include "shellgame/probe/state.h"
#include "shellgame/probe/table.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

void read(const Model& model, const at::Tensor& ids, ModelState& state) {
  if (ids.size(1) > 0) model.logits_at(ids, at::empty({0}, at::kLong), &state);
}

at::ScalarType type_of(const std::string& format) {
  if (format == "fp16") return at::kHalf;
  if (format == "bf16") return at::kBFloat16;
  if (format == "fp32") return at::kFloat;
  wrong_use("a state is rounded to fp16, bf16 or fp32, not to '{}'", format);
}

class CycleProbe {
 public:
  CycleProbe(const Model& model, const CycleTraces& traces, const CycleQuestion& question)
      : model_(model),
        traces_(traces),
        question_(question),
        layers_(heads_of(model)),
        heads_(heads_with_state(layers_)) {
    if (question.cycles.empty() || !std::ranges::is_sorted(question.cycles) ||
        question.cycles.front() < 1)
      wrong_use("the numbers of cycles must rise from 1");
  }

  Json run() {
    const at::NoGradGuard no_gradients;
    walk();
    for (const std::string& format : question_.rounded) walk_rounded(format);
    for (const std::int64_t from : question_.measured) predict(from);
    return report();
  }

 private:
  struct Cell {
    double miss = 0;
    std::vector<double> norms, twins;  // by head
    std::vector<std::pair<std::string, double>> more;
  };

  // The mean probability of the wrong values if it is asked now.
  double miss(const ModelState& state) const {
    ModelState copy = copied_state(state);
    const std::int64_t rows = traces_.ending.size(0), width = traces_.ending.size(1);
    const at::Tensor places = (at::arange(rows, at::kLong) + 1) * width - 1;
    const at::Tensor logits =
        model_.logits_at(traces_.ending, places, &copy).to(at::kDouble).contiguous();
    require_finite(logits, "the model's logits");
    double sum = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto& tokens = traces_.values[static_cast<std::size_t>(r)];
      const at::Tensor p =
          logits[r].index_select(0, at::tensor(tokens, at::kLong)).softmax(0).contiguous();
      sum += 1 - p.data_ptr<double>()[traces_.truths[static_cast<std::size_t>(r)]];
    }
    return sum / static_cast<double>(rows);
  }

  at::Tensor features(const ModelState& state, const HeadPlace& head) const {
    const auto layer = static_cast<std::size_t>(head.layer);
    return head_state(state.layers[layer], layers_[layer].declaration, head.head).to(at::kDouble);
  }

  Cell cell_of(const ModelState& state) const {
    Cell cell{.miss = miss(state), .norms = {}, .twins = {}, .more = {}};
    for (const HeadPlace& head : heads_) {
      const at::Tensor x = features(state, head);
      cell.norms.push_back(x.norm(2, 1).mean().item<double>());
      double apart = 0;
      for (const auto& [a, b] : traces_.twins) apart += (x[a] - x[b]).norm().item<double>();
      cell.twins.push_back(
          traces_.twins.empty() ? 0 : apart / static_cast<double>(traces_.twins.size()));
    }
    return cell;
  }

  void walk() {
    ModelState state;
    read(model_, traces_.prefix, state);
    std::int64_t done = 0;
    for (const std::int64_t cycles : question_.cycles) {
      for (; done < cycles; ++done) {
        read(model_, traces_.cycle, state);
        if (done + 1 == early()) early_ = copied_state(state);
      }
      require_finite(state);
      cells_.push_back(cell_of(state));
    }
    for (const HeadPlace& head : heads_) {
      ModelState mixed = copied_state(state);
      const auto layer = static_cast<std::size_t>(head.layer);
      for (const Remembered& one : layers_[layer].declaration.remembers) {
        if (one.kind != Remembered::Kind::kState) continue;
        at::Tensor& to = mixed.layers[layer].mixer.at(one.name);
        const at::Tensor& from = early_.layers[layer].mixer.at(one.name);
        if (one.heads == 1) {
          to.copy_(from);
        } else {
          to.select(1, head.head).copy_(from.select(1, head.head));
        }
      }
      restored_.push_back(miss(mixed));
    }
  }

  // What the model held at the second number of cycles is put back one head at a time.
  std::int64_t early() const {
    return question_.cycles[std::min<std::size_t>(1, question_.cycles.size() - 1)];
  }

  // Token by token, with every recurrent state rounded after each.
  void walk_rounded(const std::string& format) {
    const at::ScalarType type = type_of(format);
    ModelState state;
    read(model_, traces_.prefix, state);
    std::int64_t done = 0;
    for (std::size_t i = 0; i < question_.cycles.size(); ++i) {
      for (; done < question_.cycles[i]; ++done) {
        for (std::int64_t t = 0; t < traces_.cycle.size(1); ++t) {
          read(model_, traces_.cycle.narrow(1, t, 1), state);
          for (std::size_t layer = 0; layer < layers_.size(); ++layer) round(state, layer, type);
        }
      }
      cells_[i].more.emplace_back("miss_" + format, miss(state));
    }
  }

  void round(ModelState& state, std::size_t layer, at::ScalarType type) const {
    for (const Remembered& one : layers_[layer].declaration.remembers) {
      if (one.kind != Remembered::Kind::kState) continue;
      at::Tensor& tensor = state.layers[layer].mixer.at(one.name);
      tensor = tensor.to(type).to(tensor.scalar_type());
    }
  }

  // The answers in closed form, from one cycle after `from` of them.
  void predict(std::int64_t from) {
    ModelState state;
    read(model_, traces_.prefix, state);
    for (std::int64_t done = 0; done < from; ++done) read(model_, traces_.cycle, state);
    std::vector<Monodromy> heads = measure_monodromy(model_, traces_, state);
    if (heads.empty()) return;
    std::int64_t done = from;
    for (std::size_t i = 0; i < question_.cycles.size(); ++i) {
      const std::int64_t cycles = question_.cycles[i];
      if (cycles <= from) continue;
      for (Monodromy& head : heads) {
        head.start = head.after(cycles - done);
        const auto layer = static_cast<std::size_t>(head.place.layer);
        for (const Remembered& one : layers_[layer].declaration.remembers) {
          if (one.kind != Remembered::Kind::kState) continue;
          at::Tensor& to = state.layers[layer].mixer.at(one.name);
          (one.heads == 1 ? to : to.select(1, head.place.head)).copy_(head.start);
        }
      }
      done = cycles;
      cells_[i].more.emplace_back(fmt::format("predicted_{}", from), miss(state));
    }
    std::vector<std::vector<double>> spectra;
    for (const Monodromy& head : heads) spectra.push_back(head.spectrum(8));
    spectra_.emplace_back(fmt::format("spectrum_{}", from), std::move(spectra));
  }

  Json report() const {
    Json cells = Json::array(), heads = Json::array();
    const auto whole = [](const std::vector<double>& parts) {
      double squares = 0;
      for (const double part : parts) squares += part * part;
      return std::sqrt(squares);
    };
    const double first = whole(cells_.front().twins);
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      Json cell = {{"axes", {"cycles"}},
                   {"cycles", question_.cycles[i]},
                   {"miss", cells_[i].miss},
                   {"twins", nullptr},
                   {"norm", whole(cells_[i].norms)}};
      if (first > 0) cell["twins"] = whole(cells_[i].twins) / first;
      for (const auto& [name, value] : cells_[i].more) cell[name] = value;
      cells.push_back(cell);
    }
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      Json norms = Json::array(), twins = Json::array();
      for (const Cell& cell : cells_) {
        norms.push_back(cell.norms[h]);
        twins.push_back(cell.twins[h]);
      }
      Json head = {{"layer", heads_[h].layer},
                   {"head", heads_[h].head},
                   {"restored", restored_[h]},
                   {"norm", norms},
                   {"twins", twins}};
      for (const auto& [name, spectra] : spectra_) {
        head[name] = spectra[h];
        head["largest_" + name.substr(name.find('_') + 1)] = spectra[h].front();
      }
      heads.push_back(head);
    }
    return {{"period", traces_.cycle.size(1)},
            {"traces", traces_.cycle.size(0)},
            {"twins", traces_.twins.size()},
            {"restored_from", early()},
            {"cells", cells},
            {"heads", heads}};
  }

  const Model& model_;
  const CycleTraces& traces_;
  const CycleQuestion& question_;
  std::vector<LayerHeads> layers_;
  std::vector<HeadPlace> heads_;
  std::vector<Cell> cells_;
  ModelState early_;
  std::vector<double> restored_;
  std::vector<std::pair<std::string, std::vector<std::vector<double>>>> spectra_;
};

std::string cycle_as_text(const Json& report) {
  return fmt::format("{} traces, {} twins, a cycle of {} tokens\n", report.at("traces").dump(),
                     report.at("twins").dump(), report.at("period").dump()) +
         rows_as_text(report.at("cells")) + "\n" + rows_as_text(report.at("heads"));
}

}  // namespace

Json probe_cycle(const Model& model, const std::vector<WholeEpisode>& traces,
                 const CycleQuestion& question) {
  return CycleProbe(model, cycle_of(traces), question).run();
}

ProbeEntry cycle_probe() {
  return {.name = "cycle",
          .ask =
              [](const ProbeQuestion& question) {
                const CycleQuestion usual;
                return probe_cycle(question.model, question.episodes.all(),
                                   {.cycles = question.settings.value("cycles", usual.cycles),
                                    .measured = question.settings.value("measured", usual.measured),
                                    .rounded = question.settings.value("rounded", usual.rounded)});
              },
          .as_text = cycle_as_text,
          .rows = "cells",
          .csv_rows = "cells"};
}

}  // namespace shellgame
