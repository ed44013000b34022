#include "shellgame/tokens/shard.h"

#include <bit>
#include <cstring>

#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"

namespace shellgame {
namespace {

static_assert(std::endian::native == std::endian::little,
              "shards are little-endian, and so must the machine be");

constexpr std::string_view kKind = "shellgame token shard";

std::size_t width_of(const std::string& dtype) { return dtype == "uint16" ? 2 : 4; }

template <class T>
void append_ids(const std::uint32_t* ids, std::size_t count, std::string& bytes) {
  const std::size_t before = bytes.size();
  bytes.resize(before + count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) {
    const T id = static_cast<T>(ids[i]);
    std::memcpy(bytes.data() + before + i * sizeof(T), &id, sizeof(T));
  }
}

}  // namespace

std::string write_shard_index(const ShardIndex& index) {
  const nlohmann::ordered_json json = {{"kind", kKind},
                                       {"generator", index.generator},
                                       {"dtype", index.dtype},
                                       {"tokens", index.offsets.back()},
                                       {"traces", index.traces()},
                                       {"tokenizer", index.tokenizer},
                                       {"vocabulary_size", index.vocabulary_size},
                                       {"seed", index.seed},
                                       {"first_index", index.first_index},
                                       {"task", index.task},
                                       {"offsets", index.offsets}};
  return json.dump() + "\n";
}

ShardIndex parse_shard_index(std::string_view text, const std::string& file, std::uint64_t bytes) {
  const nlohmann::json json = parse_json(text, file);
  if (!json.is_object()) throw InputError(file, "a shard's index must be one JSON object");
  const auto field = [&](const char* name, bool number) -> const nlohmann::json& {
    const auto found = json.find(name);
    if (found == json.end() || (number ? !found->is_number_unsigned() : !found->is_string())) {
      throw InputError(file,
                       fmt::format("'{}' must be a {}", name, number ? "whole number" : "string"));
    }
    return *found;
  };
  if (field("kind", false) != kKind)
    throw InputError(file, fmt::format("'kind' must be '{}'", kKind));
  const auto small = [&](const char* name, std::uint64_t most) {
    const auto number = field(name, true).get<std::uint64_t>();
    if (number > most)
      throw InputError(file, fmt::format("'{}' must be at most {}, not {}", name, most, number));
    return number;
  };
  ShardIndex index;
  index.generator = static_cast<int>(small("generator", 1'000'000));
  index.dtype = field("dtype", false).get<std::string>();
  if (index.dtype != "uint16" && index.dtype != "uint32") {
    throw InputError(file, fmt::format("'dtype' must be uint16 or uint32, not '{}'", index.dtype));
  }
  index.tokenizer = field("tokenizer", false).get<std::string>();
  index.vocabulary_size = static_cast<std::uint32_t>(small("vocabulary_size", UINT32_MAX));
  index.seed = field("seed", true).get<std::uint64_t>();
  index.first_index = field("first_index", true).get<std::uint64_t>();
  index.task = field("task", false).get<std::string>();
  const auto offsets = json.find("offsets");
  if (offsets == json.end() || !offsets->is_array() || offsets->empty()) {
    throw InputError(file, "'offsets' must be a list that starts with 0");
  }
  for (const nlohmann::json& offset : *offsets) {
    if (!offset.is_number_unsigned()) throw InputError(file, "'offsets' must hold whole numbers");
    const auto next = offset.get<std::uint64_t>();
    if (index.offsets.empty() ? next != 0 : next < index.offsets.back()) {
      throw InputError(file, "'offsets' must start with 0 and never fall");
    }
    index.offsets.push_back(next);
  }
  if (index.offsets.back() != bytes / width_of(index.dtype) || bytes % width_of(index.dtype) != 0) {
    throw InputError(file,
                     fmt::format("the ids must fill {} tokens of {}, but the shard has {} bytes",
                                 index.offsets.back(), index.dtype, bytes));
  }
  return index;
}

ShardWriter::ShardWriter(const std::string& path, ShardIndex index)
    : path_(path), index_(std::move(index)), file_(path) {
  if (path == "-")
    wrong_use("a shard must be written to a file, since its index stands beside it, not to '-'");
  index_.dtype = index_.vocabulary_size <= 65536 ? "uint16" : "uint32";
  index_.offsets = {0};
}

void ShardWriter::add(const std::uint32_t* ids, std::size_t count) {
  bytes_.clear();
  if (index_.dtype == "uint16") {
    append_ids<std::uint16_t>(ids, count, bytes_);
  } else {
    append_ids<std::uint32_t>(ids, count, bytes_);
  }
  file_.write(bytes_);
  tokens_ += count;
}

void ShardWriter::end_trace() { index_.offsets.push_back(tokens_); }

void ShardWriter::commit() {
  OutputFile index(path_ + ".json");
  index.write(write_shard_index(index_));
  file_.commit();
  index.commit();
}

Shard::Shard(const std::string& path)
    : file_(path),
      index_(parse_shard_index(read_file(path + ".json"), path + ".json", file_.bytes().size())) {}

std::vector<std::uint32_t> Shard::trace(std::size_t i) const {
  if (i >= index_.traces())
    wrong_use("trace {} must be one of the shard's {} traces", i, index_.traces());
  const std::uint64_t begin = index_.offsets[i], count = index_.offsets[i + 1] - begin;
  std::vector<std::uint32_t> ids(count);
  const std::size_t width = width_of(index_.dtype);
  for (std::size_t k = 0; k < count; ++k) {
    std::memcpy(&ids[k], file_.bytes().data() + (begin + k) * width, width);
  }
  return ids;
}

}  // namespace shellgame
