// Token shards: a flat file of little-endian uint16 or uint32 ids, trace after trace, and a JSON
// index beside it (PATH and PATH.json). NumPy maps the ids with one line; see docs/formats.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/system/files.h"
#include "shellgame/tasks/task.h"

namespace shellgame {

struct ShardIndex {
  int generator = kGeneratorVersion;
  std::string dtype;      // "uint16" or "uint32"
  std::string tokenizer;  // its name
  std::uint32_t vocabulary_size = 0;
  std::uint64_t seed = 0, first_index = 0;
  std::string task;                    // the resolved spec, as TOML
  std::vector<std::uint64_t> offsets;  // in tokens; trace i is [offsets[i], offsets[i + 1])
  std::size_t traces() const { return offsets.size() - 1; }
};

std::string write_shard_index(const ShardIndex& index);
// Checks everything that can be checked without the ids, and that they fill `bytes`. Throws
// InputError.
ShardIndex parse_shard_index(std::string_view json, const std::string& file, std::uint64_t bytes);

// Writes ids as they come; both files appear at commit().
class ShardWriter {
 public:
  ShardWriter(const std::string& path, ShardIndex index);
  // The next ids of the current trace.
  void add(const std::uint32_t* ids, std::size_t count);
  void end_trace();
  void commit();

 private:
  std::string path_;
  ShardIndex index_;
  OutputFile file_;
  std::uint64_t tokens_ = 0;
  std::string bytes_;
};

class Shard {
 public:
  explicit Shard(const std::string& path);  // throws InputError or Error
  const ShardIndex& index() const { return index_; }
  std::vector<std::uint32_t> trace(std::size_t i) const;

 private:
  MappedFile file_;
  ShardIndex index_;
};

}  // namespace shellgame
