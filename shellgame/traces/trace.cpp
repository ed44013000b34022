#include "shellgame/traces/trace.h"

#include <fmt/format.h>

namespace shellgame {
namespace {

void append_json_string(std::string_view text, std::string& out) {
  out += '"';
  std::size_t plain = 0;  // start of the run that needs no escape
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20) continue;
    out.append(text, plain, i - plain);
    plain = i + 1;
    if (c == '\n') {
      out += "\\n";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    }
  }
  out.append(text, plain, text.size() - plain);
  out += '"';
}

void append_value(const Value& value, std::string& out) {
  if (value.is_string) {
    append_json_string(value.text, out);
  } else {
    out += value.text;
  }
}

void append_number(std::uint64_t number, std::string& out) {
  out += fmt::format_int(number).c_str();
}

// Values that are impossible are left out.
void append_belief(const Names& names, const std::vector<double>& belief, std::string& out) {
  const char* between = ", \"belief\": {";
  for (std::size_t v = 0; v < belief.size(); ++v) {
    if (belief[v] == 0) continue;
    out += between;
    append_json_string(names.value(v).text, out);
    fmt::format_to(std::back_inserter(out), ": {}", belief[v]);
    between = ", ";
  }
  out += '}';
}

const char* form_name(const Program& program, const RevealMark& mark) {
  const Event& event = program.events()[mark.event];
  if (event.kind == EventKind::kPrint) return nullptr;
  switch (static_cast<Relation>(event.form)) {
    case Relation::kEqual:
      return "==";
    case Relation::kUnequal:
      return "!=";
    case Relation::kIn:
      break;
  }
  return "in";
}

}  // namespace

void append_json_line(const Program& program, std::string_view text,
                      const std::vector<RevealMark>& reveals, std::span<const ValueId> states,
                      std::uint64_t index, std::optional<std::uint32_t> python_seed,
                      std::optional<int> generator, std::string& out, const RevealBeliefs* beliefs,
                      const std::vector<double>* hidden_numbers) {
  const Names& names = program.names();
  out += "{\"index\": ";
  append_number(index, out);
  if (generator) out += fmt::format(", \"generator\": {}", *generator);
  if (python_seed) {
    out += ", \"python_seed\": ";
    append_number(*python_seed, out);
  }
  if (hidden_numbers != nullptr) {
    out += ", \"hidden_numbers\": [";
    for (std::size_t i = 0; i < hidden_numbers->size(); ++i)
      fmt::format_to(std::back_inserter(out), "{}{}", i > 0 ? ", " : "", (*hidden_numbers)[i]);
    out += "]";
  }
  out += ", \"text\": ";
  append_json_string(text, out);
  out += ", \"reveals\": [";
  for (std::size_t i = 0; i < reveals.size(); ++i) {
    const RevealMark& mark = reveals[i];
    out += i > 0 ? ", {\"command\": " : "{\"command\": ";
    append_number(mark.command, out);
    out += ", \"variable\": \"";
    out += names.variable(mark.variable);
    out += "\", \"value\": ";
    append_value(names.value(mark.value), out);
    out += ", \"offset\": ";
    append_number(mark.offset, out);
    if (const char* form = form_name(program, mark)) out += fmt::format(", \"form\": \"{}\"", form);
    if (beliefs != nullptr) append_belief(names, (*beliefs)[i], out);
    out += '}';
  }
  out += "], \"states\": [";
  const std::size_t n = names.size();
  for (std::size_t i = 0; i < states.size(); ++i) {
    out += i == 0 ? "[" : i % n == 0 ? "], [" : ", ";
    append_value(names.value(states[i]), out);
  }
  out += states.empty() ? "]}\n" : "]]}\n";
}

TraceMaker::TraceMaker(const Sampler& sampler)
    : sampler_(sampler), cache_(text_cache(sampler.names(), sampler.shared_table())) {}

void TraceMaker::make(std::uint64_t seed, std::uint64_t index, Trace& trace, bool complete) const {
  trace.seed = seed;
  trace.index = index;
  trace.python_seed.reset();
  if (sampler_.task().uncertain()) trace.python_seed = Sampler::python_seed(seed, index);
  trace.text.clear();
  trace.reveals.clear();
  trace.states.clear();
  sampler_.sample(seed, index, trace.program, complete ? &trace.states : nullptr);
  std::uint64_t commands = 0, environment = 0;
  cache_.append(trace.program, trace.text, commands, environment,
                complete ? &trace.reveals : nullptr);
}

std::string TraceMaker::header(std::uint64_t seed, std::uint64_t index) const {
  std::string line = fmt::format("# shellgame trace: generator {}, seed {}, index {}",
                                 kGeneratorVersion, seed, index);
  if (sampler_.task().uncertain())
    line += fmt::format(", python_seed {}", Sampler::python_seed(seed, index));
  return line + "\n";
}

void TraceMaker::append_json(const Trace& trace, std::string& out,
                             const RevealBeliefs* beliefs) const {
  append_json_line(trace.program, trace.text.view(), trace.reveals, trace.states, trace.index,
                   trace.python_seed, kGeneratorVersion, out, beliefs);
}

}  // namespace shellgame
