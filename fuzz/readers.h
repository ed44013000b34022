// One entry point for each reader of files: takes any bytes, and either accepts them or throws
// shellgame::Error.
#pragma once

#include <string_view>

namespace shellgame {

void read_trace(std::string_view bytes);  // trace text; what is accepted must round-trip
void read_task(
    std::string_view bytes);  // TOML; what is accepted must be written and read back the same
void read_automaton(std::string_view bytes);  // TOML; written and read back, and its word filtered
void read_csv(std::string_view bytes);        // the word problem's CSV
void read_tokenizer(std::string_view bytes);  // tokenizer.json, then a text encoded with it
void read_shard(std::string_view bytes);      // a shard's index; also files of traces as JSON lines
void read_safetensors(std::string_view bytes);    // a whole file; written and read back
void read_schedule_file(std::string_view bytes);  // TOML, or a certificate; a trace is made of it
void read_questions(std::string_view bytes);      // JSON lines of questions; written and read back
void read_npy(std::string_view bytes);            // a whole file; its header written and read back
void read_tensor_index(std::string_view bytes);   // model.safetensors.index.json; the same

}  // namespace shellgame
