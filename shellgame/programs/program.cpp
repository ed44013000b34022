#include "shellgame/programs/program.h"

#include <algorithm>

namespace shellgame {
namespace {

bool equal_events(const Program& a, const Event& x, const Program& b, const Event& y) {
  if (x.kind != y.kind || x.form != y.form || x.count != y.count) return false;
  switch (x.kind) {
    case EventKind::kDefine:
      return x.at == y.at && a.table().definitions[x.at] == b.table().definitions[y.at];
    case EventKind::kPermute:
      return a.table().permutes[x.at] == b.table().permutes[y.at];
    case EventKind::kChoose:
      return a.table().mixtures[x.at] == b.table().mixtures[y.at];
    case EventKind::kImport:
      return true;
    default:
      return std::ranges::equal(a.operands(x), b.operands(y));
  }
}

}  // namespace

double Mixture::probability(std::size_t k) const {
  const double below = k == 0 ? 0.0 : thresholds[k - 1];
  return (k == thresholds.size() ? 1.0 : thresholds[k]) - below;
}

std::size_t Mixture::select(double hidden) const {
  std::size_t k = 0;
  while (k < thresholds.size() && !(hidden < thresholds[k])) ++k;
  return k;
}

std::size_t Program::commands() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(events_, [](const Event& event) { return is_command(event.kind); }));
}

std::span<const VariableId> Program::variables(const Event& event) const {
  const auto all = operands(event);
  switch (event.kind) {
    case EventKind::kAssign:
    case EventKind::kAssert:
      return all.first(1);
    case EventKind::kCall:
      return all.subspan(1);
    default:
      return all.first(event.count);
  }
}

std::span<const ValueId> Program::values(const Event& event) const {
  const auto all = operands(event);
  const bool single = event.kind == EventKind::kAssign || event.kind == EventKind::kAssert;
  return all.subspan(single ? 1 : event.count);
}

void Program::clear_events() {
  events_.clear();
  operands_.clear();
}

std::uint32_t Program::push(std::span<const std::uint16_t> operands) {
  const auto at = static_cast<std::uint32_t>(operands_.size());
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  return at;
}

void Program::add_import(Import import) {
  events_.push_back({EventKind::kImport, static_cast<std::uint8_t>(import), 0, 0});
}

void Program::add_define(std::uint32_t definition) {
  events_.push_back({EventKind::kDefine, 0, 0, definition});
}

void Program::add_assign(VariableId variable, ValueId value) {
  const std::uint16_t operands[] = {variable, value};
  events_.push_back({EventKind::kAssign, 0, 0, push(operands)});
}

void Program::add_start(Condition source, std::span<const VariableId> variables,
                        std::span<const ValueId> values) {
  const std::uint32_t at = push(variables);
  push(values);
  events_.push_back({EventKind::kStart, static_cast<std::uint8_t>(source),
                     static_cast<std::uint16_t>(variables.size()), at});
}

void Program::add_call(std::uint16_t definition, std::span<const VariableId> variables) {
  const std::uint32_t at = push({&definition, 1});
  push(variables);
  events_.push_back({EventKind::kCall, 0, static_cast<std::uint16_t>(variables.size()), at});
}

void Program::add_print(bool labelled, std::span<const VariableId> variables,
                        std::span<const ValueId> values) {
  const std::uint32_t at = push(variables);
  push(values);
  events_.push_back({EventKind::kPrint, static_cast<std::uint8_t>(labelled),
                     static_cast<std::uint16_t>(variables.size()), at});
}

void Program::add_assert(Relation relation, VariableId variable, std::span<const ValueId> values) {
  const std::uint32_t at = push({&variable, 1});
  push(values);
  events_.push_back({EventKind::kAssert, static_cast<std::uint8_t>(relation),
                     static_cast<std::uint16_t>(values.size()), at});
}

void Program::append(const Program& next) {
  std::uint32_t permutes_before = 0, mixtures_before = 0;
  if (next.table_ != table_) {
    auto joined = std::make_shared<CommandTable>(*table_);
    permutes_before = static_cast<std::uint32_t>(joined->permutes.size());
    mixtures_before = static_cast<std::uint32_t>(joined->mixtures.size());
    joined->permutes.insert(joined->permutes.end(), next.table_->permutes.begin(),
                            next.table_->permutes.end());
    joined->mixtures.insert(joined->mixtures.end(), next.table_->mixtures.begin(),
                            next.table_->mixtures.end());
    if (next.table_->definitions.size() > joined->definitions.size()) {
      joined->definitions = next.table_->definitions;
    }
    table_ = std::move(joined);
  }
  const auto operands_before = static_cast<std::uint32_t>(operands_.size());
  operands_.insert(operands_.end(), next.operands_.begin(), next.operands_.end());
  for (Event event : next.events_) {
    if (operand_count(event) > 0) event.at += operands_before;
    if (event.kind == EventKind::kPermute) event.at += permutes_before;
    if (event.kind == EventKind::kChoose) event.at += mixtures_before;
    events_.push_back(event);
  }
}

bool operator==(const Program& a, const Program& b) {
  if (!(a.names() == b.names()) || a.events_.size() != b.events_.size()) return false;
  for (std::size_t i = 0; i < a.events_.size(); ++i) {
    if (!equal_events(a, a.events_[i], b, b.events_[i])) return false;
  }
  return true;
}

}  // namespace shellgame
