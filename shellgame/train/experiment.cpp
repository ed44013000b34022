#include "shellgame/train/experiment.h"

#include <algorithm>
#include <filesystem>

#include "shellgame/system/files.h"
#include "shellgame/system/saturating.h"
#include "shellgame/system/threads.h"
#include "shellgame/tasks/task_keys.h"
#include "shellgame/text/read_json.h"
#include "shellgame/train/experiment_numbers.h"
#include "shellgame/train/key_reader.h"
#include "shellgame/train/losses.h"
#include "shellgame/train/toml_json.h"
#include "shellgame/train/tune_space.h"

namespace shellgame {
namespace {

using Json = nlohmann::json;

// Of means that run: 1 never ends.
constexpr NumberBounds kBelowOne = NumberBounds::real(0, 0.9999999);
constexpr NumberBounds kRate = NumberBounds::real(0, 1e300);  // what diverges is said in training
constexpr NumberBounds kSteps = NumberBounds::whole(1, 1'000'000'000'000);
constexpr NumberBounds kEvery = NumberBounds::whole(0, 1'000'000'000'000);  // 0: never
constexpr NumberBounds kRows = NumberBounds::whole(1, 1 << 20);
constexpr NumberBounds kSegments = NumberBounds::real(1, 1e9);

template <class Keys>
void list_keys(Keys& keys, OptimiserSettings& o) {
  keys("kind", o.kind, Words{"adamw", "muon"});
  keys("learning-rate", o.learning_rate, kRate);
  keys("beta1", o.beta1, kBelowOne);
  keys("beta2", o.beta2, kBelowOne);
  keys("eps", o.eps, kRate);
  keys("weight-decay", o.decay, kRate);
  keys("clip", o.clip, kRate);
  keys("muon-rate", o.muon_rate, kRate);
  keys("muon-momentum", o.muon_momentum, kShareBounds);
}

template <class Keys>
void list_keys(Keys& keys, ParameterGroup& g) {
  keys("match", g.match);
  keys("weight-decay", g.decay, kRate);
  keys("rate", g.rate, kRate);
}

template <class Keys>
void list_keys(Keys& keys, ScheduleSettings& s) {
  keys("shape", s.shape, Words{"cosine", "constant"});
  keys("span", s.span, Words{"run", "stage"});
  keys("minimum", s.minimum, kShareBounds);
  keys("warmup", s.warmup, NumberBounds::real(0, 1e12));
}

template <class Keys>
void list_keys(Keys& keys, AverageSettings& a) {
  keys("decay", a.decay, NumberBounds::real(0, 0.999999));
}

template <class Keys>
void list_keys(Keys& keys, StreamSettings& s) {
  keys("from", s.from, kSegments);
  keys("to", s.to, kSegments);
  keys("over", s.over, kShareBounds);
}

template <class Keys>
void list_keys(Keys& keys, StageSettings& s) {
  keys("batch", s.batch, kRows);
  keys("accumulation", s.accumulation, kRows);
  keys("pieces", s.pieces, kRows);
  keys("steps", s.steps, kSteps);
  keys("until", s.until, kShareBounds);
  keys("window", s.window, NumberBounds::whole(1, 1'000'000));
  keys("learning-rate", s.learning_rate, kRate);
  keys("shape", s.shape, Words{"cosine", "constant"});
  keys("minimum", s.minimum, kShareBounds);
}

template <class Keys>
void list_keys(Keys& keys, EvaluationSettings& e) {
  keys("every", e.every, kEvery);
  keys("count", e.count, NumberBounds::whole(1, 1'000'000'000));
  keys("seed", e.seed, kSmallSeedBounds);
}

template <class Keys>
void list_keys(Keys& keys, CheckpointSettings& c) {
  keys("seconds", c.seconds, NumberBounds::real(0, 1e9));
  keys("every", c.every, kEvery);
  keys("keep", c.keep, NumberBounds::whole(1, 1'000'000));
}

template <class Keys>
void list_keys(Keys& keys, Experiment& e) {
  keys("name", e.name);
  keys("arm", e.arm);
  keys("seed", e.seed, kSmallSeedBounds);
  keys("threads", e.threads, NumberBounds::whole(0, kMostThreads));
  keys("precision", e.precision, Words{"fp32", "fp64", "bf16"});
  keys("device", e.device, Words{"cpu", "cuda"});
  keys("composed", e.composed);
  keys("tokenizer", e.tokenizer);
  keys("init", e.init, Words{"fla", "torch"});
  keys("from", e.from);
  keys("budget", e.budget, NumberBounds::real(0, 1e12));
}

template <class Settings>
Json written(const Settings& settings) {
  Json table = Json::object();
  KeyWriter writer(table);
  list_keys(writer, const_cast<Settings&>(settings));
  return table;
}

std::vector<std::string> plugins_of(const Json& json, const std::string& file) {
  if (json.is_null()) return {};
  const bool texts = json.is_array() && std::ranges::all_of(json, [](const Json& one) {
                       return one.is_string() && !one.get<std::string>().empty();
                     });
  if (!texts)
    throw InputError(file,
                     fmt::format("key 'plugins' must be a list of files, not {}", json.dump()));
  return json.get<std::vector<std::string>>();
}

// Reads one experiment; errors name the file and the path of the key.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Experiment read(const Json& json) {
    Experiment e;
    e.resolved = Json::object();
    KeyReader keys(json, file_, "");
    list_keys(keys, e);
    e.loss = read_loss(keys);
    if (!keys.take("sequence").is_null())
      throw InputError(file_, "[sequence] must be [task] with a key 'kind' since version 0.2.0");
    const Json task = keys.take("task");
    e.task = read_task(task.is_null() ? Json::object() : task, {}, "task");
    e.plugins = plugins_of(keys.take("plugins"), file_);
    const Json model = keys.take("model");
    if (!model.is_object() || !model.contains("model_type"))
      throw InputError(file_, "an experiment must have [model] with a model_type");
    e.model = model;
    read_optimiser(keys.take("optimiser"), e.optimiser);
    read_part(keys.take("schedule"), e.schedule, "schedule");
    read_part(keys.take("average"), e.average, "average");
    read_evaluation(keys.take("evaluation"), e);
    read_part(keys.take("checkpoint"), e.checkpoint, "checkpoint");
    std::optional<StreamSettings> stream = read_stream(keys.take("stream"), "stream");
    const Json stages = keys.take("stages");
    keys.finish();
    read_stages(stages, stream, e);
    check_evaluation(e);
    resolve(e);
    return e;
  }

 private:
  template <class Settings>
  void read_part(const Json& json, Settings& settings, const std::string& where) {
    if (json.is_null()) return;
    KeyReader keys(json, file_, where);
    list_keys(keys, settings);
    keys.finish();
  }

  // loss = "NAME", or { name = "NAME", KEY = NUMBER } of one that has keys.
  LossChoice read_loss(KeyReader& keys) {
    Json given = keys.take("loss");
    if (given.is_null()) given = "all";
    if (!given.is_object()) given = {{"name", given}};
    KeyReader own(given, file_, "loss");
    LossChoice choice;
    const Json name = own.take("name");
    if (!name.is_string() || find_loss(name.get<std::string>()) == nullptr)
      keys.refuse_value("loss", fmt::format("one of {}", fmt::join(loss_names(), ", ")), name);
    choice.name = name.get<std::string>();
    const LossDeclaration& loss = *find_loss(choice.name);
    choice.asks = loss.asks;
    for (const LossKey& key : loss.keys) {
      double& value = choice.settings[key.name] = key.usual;
      own(key.name, value, key.bounds);
    }
    own.finish();
    bool others = true;
    keys("other-tokens", others);
    if (!others && !loss.others_may_go)
      throw InputError(
          file_,
          fmt::format("key 'other-tokens': the loss '{}' must not leave them out", choice.name));
    choice.asks.others = choice.asks.others && others;
    return choice;
  }

  void read_optimiser(const Json& json, OptimiserSettings& settings) {
    if (json.is_null()) return;
    KeyReader keys(json, file_, "optimiser");
    list_keys(keys, settings);
    const Json groups = keys.take("groups");
    keys.finish();
    if (groups.is_null()) return;
    if (!groups.is_array()) keys.refuse_value("optimiser.groups", "a list of tables", groups);
    for (const Json& group : groups) {
      ParameterGroup one;
      read_part(group, one, fmt::format("optimiser.groups.{}", settings.groups.size()));
      if (one.match.empty())
        throw InputError(file_, "key 'optimiser.groups': a group must have 'match'");
      settings.groups.push_back(one);
    }
  }

  // Runs `work` on what belongs to `where`; what is wrong there is said with its place. Keys that
  // are not `own` are the whole experiment's.
  template <class Work>
  auto at(const std::string& where, const Work& work, const DataSettings* own = nullptr) {
    try {
      return work();
    } catch (const DataKeyError& error) {
      const bool here = own == nullptr || own->contains(error.key());
      throw InputError(
          file_, fmt::format("key '{}.{}': {}", here ? where : "task", error.key(), error.what()));
    } catch (const UsageError& error) {
      throw InputError(file_, fmt::format("{}: {}", where, error.what()));
    }
  }

  DataSpec read_task(const Json& json, const DataSpec& base, const std::string& where) {
    if (!json.is_object()) throw InputError(file_, fmt::format("'{}' must be a table", where));
    if (json.contains("schedule"))
      throw InputError(file_, fmt::format("key '{}.schedule': a schedule is a kind of data of its "
                                          "own: kind = \"schedule\", file = \"FILE\"",
                                          where));
    if (json.contains("stages"))
      throw InputError(file_, "key 'task.stages': an experiment has [[stages]] of its own");
    return at(where, [&] { return spec_of_json(json, base); });
  }

  static DataSettings names_of(const DataAxes& axes) {
    DataSettings names;
    for (const auto& [axis, values] : axes) names[axis] = "";
    return names;
  }

  // The axes of the data that a table has: `commands = [4, 8]`.
  DataAxes read_axes(KeyReader& keys, const std::string& kind, const std::string& where) {
    DataAxes axes;
    for (const std::string& axis : find_data_kind(kind).axes) {
      const Json values = keys.take(axis);
      if (values.is_null()) continue;
      if (values.is_array() && values.empty())
        throw InputError(file_, fmt::format("key '{}.{}' must have a value", where, axis));
      for (const Json& value : values.is_array() ? values : Json::array({values}))
        axes[axis].push_back(setting_text(value));
    }
    return axes;
  }

  void read_evaluation(const Json& json, Experiment& e) {
    if (json.is_null()) return;
    KeyReader keys(json, file_, "evaluation");
    list_keys(keys, e.evaluation);
    e.evaluation.axes = read_axes(keys, e.task.kind, "evaluation");
    keys.finish();
  }

  std::optional<StreamSettings> read_stream(const Json& json, const std::string& where) {
    if (json.is_null()) return std::nullopt;
    KeyReader keys(json, file_, where);
    const Json segments = keys.take("segments");
    keys.finish();
    StreamSettings stream;
    if (!segments.is_object() && !segments.is_null()) {
      keys("segments", stream.to, kSegments);
      stream.from = stream.to;
    } else if (!segments.is_null()) {
      read_part(segments, stream, where + ".segments");
    }
    return stream;
  }

  void read_stages(const Json& stages, const std::optional<StreamSettings>& stream, Experiment& e) {
    if (!stages.is_array() || stages.empty())
      throw InputError(file_, "an experiment must have at least one [[stages]]");
    for (const Json& json : stages) {
      const std::string where = fmt::format("stages.{}", e.stages.size());
      KeyReader keys(json, file_, where);
      StageSettings stage;
      list_keys(keys, stage);
      stage.stream = read_stream(keys.take("stream"), where + ".stream");
      if (!stage.stream) stage.stream = stream;
      const Json changes = keys.take("tasks");
      stage.axes = read_axes(keys, e.task.kind, where);
      keys.finish();
      add_data(changes, where, e.task, stage);
      // What cannot be numbered is said before the first stage, not when this one begins.
      const auto rows = saturating_multiply(stage.steps, stage.batch, stage.accumulation);
      if (static_cast<std::uint64_t>(rows) > BatchPlan::kMostEpisodes)
        throw InputError(file_, fmt::format("{}: steps x batch x accumulation must be at most {} "
                                            "rows, not {}",
                                            where, BatchPlan::kMostEpisodes, rows));
      e.resolved["stages"].push_back(resolved_stage(e.task, stage, changes));
      e.stages.push_back(std::move(stage));
    }
  }

  // What is asked at the end must be there to be asked: a stream's stage may have a reveal in some
  // segments only, and an evaluation of its own length none. That is better said before the
  // training than after it.
  void check_evaluation(const Experiment& e) {
    std::vector<std::string> notes;
    const DataSettings own = names_of(e.evaluation.axes);
    at(
        "evaluation", [&] { return evaluation_points(e, notes); }, &own);
  }

  void add_data(const Json& changes, const std::string& where, const DataSpec& base,
                StageSettings& stage) {
    const Json list = changes.is_null() ? Json::array({Json::object()}) : changes;
    if (!list.is_array() || list.empty())
      throw InputError(file_, fmt::format("key '{}.tasks' must be a list of tables", where));
    for (const Json& change : list) {
      const DataSpec spec = read_task(change, base, where + ".tasks");
      if (spec.kind != base.kind)
        throw InputError(file_,
                         fmt::format("key '{}.tasks': the kind must be the experiment's, {}, "
                                     "not {}",
                                     where, base.kind, spec.kind));
      DataSettings own = names_of(stage.axes);
      for (const auto& [key, value] : change.items()) own[key] = "";
      for (DataCell& cell : at(
               where, [&] { return data_combinations(spec, stage.axes); }, &own))
        stage.data.push_back(std::move(cell));
    }
    for (const std::string& axis : find_data_kind(base.kind).axes) {
      if (!stage.axes.contains(axis)) stage.axes[axis] = {base.value(axis)};
    }
    const auto silent = [](const DataCell& cell) { return !cell.data->silence().empty(); };
    if (!stage.stream && std::ranges::all_of(stage.data, silent))
      throw InputError(file_, fmt::format("{}: {}", where, stage.data.front().data->silence()));
    for (const DataCell& cell : stage.data) {
      if (stage.stream && !cell.data->goes_on())
        throw InputError(file_, fmt::format("{}: streams are for data that go on, and those of the "
                                            "kind '{}' end",
                                            where, base.kind));
    }
  }

  // Lists of one value are written as that value.
  static void add_axes(Json& json, const DataSpec& spec, const DataAxes& axes) {
    for (const auto& [axis, values] : axes) {
      Json list = Json::array();
      for (const std::string& value : values) {
        const DataSpec one{spec.kind, {{axis, value}}};
        list.push_back(spec_json(one, false).at(axis));
      }
      json[axis] = list;
    }
  }

  static Json resolved_stage(const DataSpec& task, const StageSettings& stage,
                             const Json& changes) {
    Json json = written(stage);
    add_axes(json, task, stage.axes);
    if (!changes.is_null()) json["tasks"] = changes;
    if (stage.stream) json["stream"] = {{"segments", written(*stage.stream)}};
    return json;
  }

  static void resolve(Experiment& e) {
    Json& r = e.resolved;
    r.update(written(e));
    if (!e.plugins.empty()) r["plugins"] = e.plugins;
    r["loss"] = e.loss.name;
    if (!e.loss.settings.empty()) {
      r["loss"] = e.loss.settings;
      r["loss"]["name"] = e.loss.name;
    }
    // A loss that asks for no others says so by its name.
    r["other-tokens"] = e.loss.asks.others || !find_loss(e.loss.name)->asks.others;
    r["task"] = spec_json(e.task, /*all=*/true);
    r["model"] = e.model;
    r["optimiser"] = written(e.optimiser);
    for (const ParameterGroup& group : e.optimiser.groups)
      r["optimiser"]["groups"].push_back(written(group));
    r["schedule"] = written(e.schedule);
    r["average"] = written(e.average);
    r["evaluation"] = written(e.evaluation);
    add_axes(r["evaluation"], e.task, e.evaluation.axes);
    r["checkpoint"] = written(e.checkpoint);
  }

  std::string file_;
};

}  // namespace

std::int64_t Experiment::total_steps() const {
  std::int64_t sum = 0;
  for (const StageSettings& stage : stages) sum = saturating_add(sum, stage.steps);
  return sum;
}

std::vector<DeclaredNumber> experiment_numbers() {
  std::vector<DeclaredNumber> list;
  const auto add = [&](auto settings, const std::string& where) {
    NumberLister lister(list, where);
    list_keys(lister, settings);
  };
  add(Experiment(), "");
  add(OptimiserSettings(), "optimiser");
  add(ParameterGroup(), "optimiser.groups.0");
  add(ScheduleSettings(), "schedule");
  add(AverageSettings(), "average");
  add(StageSettings(), "stages.0");
  for (const std::string stream : {"stream.segments", "stages.0.stream.segments"}) {
    list.push_back({stream, kSegments});
    add(StreamSettings(), stream);
  }
  add(EvaluationSettings(), "evaluation");
  add(CheckpointSettings(), "checkpoint");
  const std::vector<DeclaredNumber> tune = tune_numbers();
  list.insert(list.end(), tune.begin(), tune.end());
  // The axes of traces; other keys of data are listed with their kinds.
  const DataKind& traces = find_data_kind("traces");
  for (const std::string table : {"stages.0", "evaluation"}) {
    for (const std::string& axis : traces.axes) {
      for (DeclaredNumber number : traces.find(axis)->numbers) {
        number.name = fmt::format("{}.{}", table, axis);
        list.push_back(number);
      }
    }
  }
  return list;
}

BatchPlan batch_plan(const Experiment& experiment, std::size_t stage, const Tokenizer* tokenizer,
                     bool together) {
  const StageSettings& settings = experiment.stages.at(stage);
  BatchPlan plan{.sources = {},
                 .seed = experiment.seed,
                 .stage = stage,
                 .rows = settings.batch,
                 .parts = settings.accumulation,
                 .steps = settings.steps,
                 .targets = experiment.loss.asks,
                 .stream = settings.stream,
                 .together = together};
  const bool beliefs = experiment.loss.asks.beliefs;
  const SourceOptions options{.seed = experiment.seed, .beliefs = beliefs, .may_be_silent = true};
  if (settings.stream) {
    std::vector<SharedData> data;
    for (const DataCell& cell : settings.data) data.push_back(cell.data);
    StreamSources streams = stream_sources(data, tokenizer, options,
                                           static_cast<std::uint64_t>(settings.stream->most()));
    plan.sources = std::move(streams.sources);
    plan.segment_tokens = static_cast<std::int64_t>(streams.segment_tokens);
  } else {
    for (const DataCell& cell : settings.data)
      plan.sources.push_back(cell.data->source(tokenizer, options));
  }
  for (const auto& source : plan.sources) {
    if (beliefs && !source->has_beliefs())
      wrong_use(
          "loss = \"{}\" needs data whose exact beliefs are known, and '{}' does not have them",
          experiment.loss.name, source->name());
  }
  return plan;
}

DataAxes evaluation_axes(const Experiment& experiment) {
  DataAxes axes = experiment.stages.back().axes;
  for (const auto& [axis, values] : experiment.evaluation.axes) axes[axis] = values;
  return axes;
}

std::vector<SharedData> evaluation_points(const Experiment& experiment,
                                          std::vector<std::string>& notes) {
  // What evaluation has no axes for is the last stage's first task.
  DataSpec spec = experiment.task;
  if (find_data_kind(spec.kind).axes.empty()) spec = experiment.stages.back().data.front().spec;
  std::vector<SharedData> points;
  for (DataCell& cell : data_grid(spec, evaluation_axes(experiment), notes))
    points.push_back(std::move(cell.data));
  return points;
}

namespace {

// What the first weights had already seen.
std::uint64_t longest_before(const Experiment& experiment, const std::string& axis) {
  if (experiment.from.empty()) return 0;
  try {
    const std::optional<TaskRecord> record = read_task_record(experiment.from);
    return record && record->axis == axis ? record->longest : 0;
  } catch (const InputError&) {
    return 0;  // loading the weights says what is wrong there
  }
}

}  // namespace

TaskRecord trained_task(const Experiment& experiment) {
  const StageSettings& last = experiment.stages.back();
  TaskRecord record{.data = last.data.back().spec};
  const std::vector<std::string>& axes = find_data_kind(record.data.kind).axes;
  if (axes.empty()) return record;
  record.axis = axes.front();
  record.longest = longest_before(experiment, record.axis);
  for (const StageSettings& stage : experiment.stages) {
    const double segments = stage.stream ? std::max(stage.stream->from, stage.stream->to) : 1;
    for (const DataCell& cell : stage.data) {
      const std::uint64_t length = longest_of(cell.spec.value(record.axis));
      record.segment = std::max(record.segment, length);
      record.longest = std::max(record.longest,
                                static_cast<std::uint64_t>(static_cast<double>(length) * segments));
    }
  }
  return record;
}

std::string Experiment::toml() const { return json_to_toml(resolved); }

namespace {

std::vector<std::string> arm_names(const Json& json, const std::string& file) {
  std::vector<std::string> names;
  if (!json.contains("arms")) return names;
  for (const Json& arm : json["arms"]) {
    if (!arm.is_object() || !arm.contains("name") || !arm["name"].is_string())
      throw InputError(file, "key 'arms' must be a list of tables, each with a name");
    names.push_back(arm["name"].get<std::string>());
  }
  return names;
}

// Takes the arms out, and puts the chosen one's values over the rest.
void choose_arm(Json& json, const std::string& file, const std::vector<std::string>& changes) {
  const std::vector<std::string> names = arm_names(json, file);
  std::string chosen = names.empty() ? "" : names.front();
  for (const std::string& change : changes) {
    if (change.starts_with("arm=")) chosen = change.substr(4);
  }
  if (names.empty()) {
    // A run's own record has the name of its arm and no others.
    if (!chosen.empty() && json.value("arm", "") != chosen)
      wrong_use("there is no arm '{}': '{}' has no [[arms]]", chosen, file);
    return;
  }
  const auto found = std::ranges::find(names, chosen);
  if (found == names.end())
    wrong_use("the arm must be one of {}, not '{}'", fmt::join(names, ", "), chosen);
  Json arm = json["arms"][static_cast<std::size_t>(found - names.begin())];
  const Json set = arm.value("set", Json::array());
  json.erase("arms");
  arm.erase("name");
  arm.erase("set");
  arm["arm"] = chosen;
  if (arm.contains("model") && arm["model"].contains("model_type")) json.erase("model");
  json.merge_patch(arm);
  for (const Json& change : set) {
    if (!change.is_string())
      throw InputError(file, fmt::format("key 'set' of the arm '{}' must be a list of texts, each "
                                         "key=value",
                                         chosen));
    set_by_path(json, change.get<std::string>());
  }
}

}  // namespace

namespace {

// A run may go on from another directory: what it names stays what it was.
std::string absolute(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

std::string placed_tokenizer(const std::string& name) {
  return name == "lexeme" || name == "bytes" ? name : absolute(name);
}

}  // namespace

std::vector<std::string> experiment_plugins(std::string_view toml, const std::string& file) {
  const Json json = toml_to_json(toml, file);
  return plugins_of(json.value("plugins", Json()), file);
}

void set_run_choices(Experiment& experiment, int threads, const std::string& from,
                     const std::vector<std::string>& plugins) {
  std::vector<std::string> named = experiment.plugins, all;
  named.insert(named.end(), plugins.begin(), plugins.end());
  for (const std::string& file : named) {
    if (std::ranges::find(all, absolute(file)) == all.end()) all.push_back(absolute(file));
  }
  experiment.plugins = all;
  if (!all.empty()) experiment.resolved["plugins"] = all;
  if (!from.empty()) experiment.from = from;
  if (!experiment.from.empty()) experiment.from = absolute(experiment.from);
  // Where its data lie, too: files of stages are read when the run goes on.
  for (const DataKey& key : find_data_kind(experiment.task.kind).keys) {
    if (!key.is_file) continue;
    const auto place = [&](nlohmann::json& table) {
      if (table.contains(key.name)) table[key.name] = absolute(table[key.name].get<std::string>());
    };
    place(experiment.resolved["task"]);
    for (nlohmann::json& stage : experiment.resolved["stages"]) {
      const auto tasks = stage.find("tasks");
      if (tasks != stage.end()) std::ranges::for_each(*tasks, place);
    }
    for (StageSettings& stage : experiment.stages) {
      for (DataCell& cell : stage.data)
        cell.spec.settings[key.name] = absolute(cell.spec.value(key.name));
    }
  }
  experiment.tokenizer = placed_tokenizer(experiment.tokenizer);
  experiment.resolved["tokenizer"] = experiment.tokenizer;
  experiment.threads = threads;
  experiment.resolved["threads"] = experiment.threads;
  experiment.resolved["from"] = experiment.from;
}

std::string experiment_difference(const Experiment& stored, const Experiment& given) {
  Json before = stored.resolved;  // of an older version: the path may be as it was given
  before["tokenizer"] = placed_tokenizer(stored.tokenizer);
  for (const Json& change : Json::diff(before, given.resolved)) {
    return fmt::format("it differs at {}: {}", change.at("path").get<std::string>(),
                       change.contains("value") ? change["value"].dump() : "missing");
  }
  return "";
}

TuneSpace experiment_tune_space(const std::string& file) {
  const Json json = toml_to_json(read_file(file), file);
  if (!json.contains("tune")) throw InputError(file, "a search must have a table [tune]");
  return read_tune_space(json["tune"], file);
}

std::vector<std::string> experiment_arms(const std::string& file) {
  return arm_names(toml_to_json(read_file(file), file), file);
}

Experiment parse_experiment(std::string_view toml, const std::string& file,
                            const std::vector<std::string>& changes) {
  Json json = toml_to_json(toml, file);
  choose_arm(json, file, changes);
  for (const std::string& change : changes) {
    if (!change.starts_with("arm=")) set_by_path(json, change);
  }
  // A search's space is not a part of what a run is.
  if (json.contains("tune")) {
    read_tune_space(json["tune"], file);
    json.erase("tune");
  }
  return Reader(file).read(json);
}

Experiment read_experiment(const std::string& file, const std::vector<std::string>& changes) {
  return parse_experiment(read_file(file), file, changes);
}

}  // namespace shellgame
