#include "shellgame/tokens/bpe_model.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace shellgame {
namespace {

constexpr std::size_t kKeyBytes = 24, kEntryIds = 8;

// One remembered piece; just a cache line.
struct alignas(64) Entry {
  std::array<std::uint64_t, 3> key;  // the piece, padded with zeros
  std::uint32_t owner = 0;           // 0: free
  std::uint16_t length = 0, count = 0;
  std::array<std::uint32_t, kEntryIds> ids;
};
static_assert(sizeof(Entry) == 64);

constexpr unsigned kTableBits = 13;

// 512 KiB for each thread that encodes; models share it and know their own by the owner.
std::vector<Entry>& thread_table() {
  thread_local std::vector<Entry> table(std::size_t{1} << kTableBits);
  return table;
}

using Key = std::array<std::uint64_t, 3>;

// Loads a piece of at most kKeyBytes; `room` bytes may be read from `data` on.
inline Key load_key(const char* data, std::size_t length, std::size_t room) {
  Key key = {0, 0, 0};
  if (length <= 8 && room >= 8) {
    std::memcpy(key.data(), data, 8);
    key[0] &= ~std::uint64_t{0} >> (64 - 8 * length);
  } else {
    std::memcpy(key.data(), data, length);
  }
  return key;
}

inline std::size_t place_of(const Key& key, std::size_t length, std::uint32_t owner) {
  std::uint64_t hash = (key[0] + owner) * 0x9E3779B97F4A7C15u;
  if (length > 8) {
    hash ^= (key[1] ^ (hash >> 29)) * 0xBF58476D1CE4E5B9u;
    hash ^= (key[2] ^ (hash >> 31)) * 0x94D049BB133111EBu;
  }
  return (hash ^ length * 0x2545F4914F6CDD1Du) >> (64 - kTableBits);
}

inline bool holds(const Entry& entry, const Key& key, std::size_t length, std::uint32_t owner) {
  return entry.owner == owner && entry.length == length && entry.key == key;
}

std::uint32_t next_serial() {
  static std::atomic<std::uint32_t> last{0};
  std::uint32_t serial = 0;
  while (serial == 0) serial = ++last;
  return serial;
}

}  // namespace

BpeModel::BpeModel(Parts parts)
    : parts_(std::move(parts)),
      complete_(std::find(parts_.byte_ids.begin(), parts_.byte_ids.end(), kNoId) ==
                parts_.byte_ids.end()),
      serial_(next_serial()) {}

const std::vector<MergeSymbol>& BpeModel::merge(std::string_view piece) const {
  thread_local std::vector<MergeSymbol> symbols;
  symbols.clear();
  if (parts_.whole) {
    if (const auto id = parts_.whole->find(piece)) {
      symbols.push_back({*id, 0});
      return symbols;
    }
  }
  bool after_unknown = false;
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const std::uint32_t id = parts_.byte_ids[static_cast<unsigned char>(piece[i])];
    const auto start = static_cast<std::uint32_t>(i);
    if (id != kNoId) {
      symbols.push_back({id, start});
      after_unknown = false;
    } else if (parts_.unknown) {
      if (!after_unknown || !parts_.fuse_unknown) symbols.push_back({*parts_.unknown, start});
      after_unknown = true;
    }
  }
  parts_.merges.apply(symbols);
  return symbols;
}

template <bool kStarts>
void BpeModel::encode_run(const PieceRun& run, std::vector<std::uint32_t>& ids,
                          std::vector<std::uint32_t>* starts) const {
  std::vector<Entry>& table = thread_table();
  // Ids are gathered here first: appending to a vector one by one is half the cost of the rest.
  constexpr std::size_t kBuffered = 1024;
  std::uint32_t buffer[kBuffered + kEntryIds], start_buffer[kStarts ? kBuffered + kEntryIds : 1];
  std::size_t filled = 0;
  const auto flush = [&] {
    ids.insert(ids.end(), buffer, buffer + filled);
    if constexpr (kStarts) starts->insert(starts->end(), start_buffer, start_buffer + filled);
    filled = 0;
  };

  std::size_t begin = run.begin;
  for (std::size_t i = 0; i < run.count; ++i) {
    const std::size_t length = run.ends[i] - begin;
    const char* data = run.text.data() + begin;
    if (filled >= kBuffered) flush();
    if (length == 1 && complete_) {
      buffer[filled] = parts_.byte_ids[static_cast<unsigned char>(*data)];
      if constexpr (kStarts) start_buffer[filled] = static_cast<std::uint32_t>(begin);
      ++filled;
    } else if (length <= kKeyBytes && complete_) {
      const Key key = load_key(data, length, run.text.size() - begin);
      const std::size_t place = place_of(key, length, serial_);
      Entry* entry = &table[place];
      if (!holds(*entry, key, length, serial_)) {
        Entry& second = table[place ^ 1];
        if (holds(second, key, length, serial_)) {
          entry = &second;
        } else {
          const std::vector<MergeSymbol>& symbols = merge({data, length});
          if (symbols.size() > kEntryIds) {
            flush();
            for (const MergeSymbol& symbol : symbols) {
              ids.push_back(symbol.id);
              if constexpr (kStarts)
                starts->push_back(static_cast<std::uint32_t>(begin + symbol.start));
            }
            begin += length;
            continue;
          }
          second = *entry;  // the newer of two that share a place stays in front
          entry->key = key;
          entry->owner = serial_;
          entry->length = static_cast<std::uint16_t>(length);
          entry->count = static_cast<std::uint16_t>(symbols.size());
          for (std::size_t k = 0; k < symbols.size(); ++k) entry->ids[k] = symbols[k].id;
        }
      }
      const std::size_t count = entry->count;
      if (count == 1) {
        buffer[filled] = entry->ids[0];
      } else {
        std::memcpy(buffer + filled, entry->ids.data(), sizeof entry->ids);
      }
      if constexpr (kStarts) {
        auto start = static_cast<std::uint32_t>(begin);
        for (std::size_t k = 0; k < count; ++k) {
          start_buffer[filled + k] = start;
          start += parts_.lengths[entry->ids[k]];
        }
      }
      filled += count;
    } else {
      flush();
      for (const MergeSymbol& symbol : merge({data, length})) {
        ids.push_back(symbol.id);
        if constexpr (kStarts) starts->push_back(static_cast<std::uint32_t>(begin + symbol.start));
      }
    }
    begin += length;
  }
  flush();
}

void BpeModel::encode(const PieceRun& run, std::vector<std::uint32_t>& ids,
                      std::vector<std::uint32_t>* starts) const {
  if (starts != nullptr) {
    encode_run<true>(run, ids, starts);
  } else {
    encode_run<false>(run, ids, nullptr);
  }
}

}  // namespace shellgame
