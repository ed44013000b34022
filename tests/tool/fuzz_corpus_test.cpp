// Every file of the fuzzers' corpus goes through its reader, with any compiler.
#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/readers.h"
#include "shellgame/system/files.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

void run_corpus(const char* name, void (*reader)(std::string_view)) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           SHELLGAME_SOURCE_DIR "/fuzz/corpus/" + std::string(name))) {
    SCOPED_TRACE(entry.path().string());
    ++files;
    const std::string content = read_file(entry.path().string());
    try {
      reader(content);
      EXPECT_FALSE(entry.path().filename().string().starts_with("wrong-")) << "must be refused";
    } catch (const Error& error) {
      EXPECT_FALSE(entry.path().filename().string().starts_with("right-")) << error.what();
    }
  }
  EXPECT_GT(files, 0u);
}

TEST(FuzzCorpus, TraceTextsAreReadOrRefused) { run_corpus("trace", read_trace); }
TEST(FuzzCorpus, TaskFilesAreReadOrRefused) { run_corpus("task", read_task); }
TEST(FuzzCorpus, SchedulesAreReadOrRefused) { run_corpus("schedule_file", read_schedule_file); }
TEST(FuzzCorpus, AutomataAreReadOrRefused) { run_corpus("automaton", read_automaton); }
TEST(FuzzCorpus, CsvFilesAreReadOrRefused) { run_corpus("csv", read_csv); }
TEST(FuzzCorpus, TokenizersAreReadOrRefused) { run_corpus("tokenizer", read_tokenizer); }
TEST(FuzzCorpus, ShardsAreReadOrRefused) { run_corpus("shard", read_shard); }
TEST(FuzzCorpus, SafetensorsFilesAreReadOrRefused) { run_corpus("safetensors", read_safetensors); }
TEST(FuzzCorpus, QuestionsAreReadOrRefused) { run_corpus("questions", read_questions); }
TEST(FuzzCorpus, NpyFilesAreReadOrRefused) { run_corpus("npy", read_npy); }
TEST(FuzzCorpus, TensorIndicesAreReadOrRefused) { run_corpus("tensor_index", read_tensor_index); }

}  // namespace
}  // namespace shellgame
