// What the loader of tokenizer.json refuses: every sentence names the key and the value.
#include "shellgame/tokens/tokenizer_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/text/error.h"
#include "shellgame/tokens/bpe_tokenizer.h"
#include "tests/tokens/golden_files.h"

namespace shellgame {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

Json small() {
  return Json::parse(R"({
    "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false},
    "post_processor": null, "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "dropout": null, "unk_token": null, "fuse_unk": false,
              "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4}, "merges": ["a b", "ab c"]}})");
}

std::string refusal(const std::string& content) {
  try {
    BpeTokenizer(content, "file.json").encode("abc");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

struct Wrong {
  const char* pointer;   // which value of the small file to replace
  const char* value;     // by what
  const char* sentence;  // part of the answer
};

const Wrong kWrong[] = {
    {"/version", R"("2.0")", R"(version must be "1.0", not "2.0")"},
    {"/truncation", R"({"max_length": 5})", R"(truncation must be null, not {"max_length":5})"},
    {"/padding", "1", "padding must be null"},
    {"/future", "1", "future must be absent"},
    {"/normalizer", R"({"type": "Bert"})", "normalizer.type must be NFC, NFD"},
    {"/normalizer", R"({"type": "NFC", "x": 1})", "normalizer.x must be absent"},
    {"/normalizer", "7", "normalizer must be an object, not 7"},
    {"/normalizer", R"({"type": "Sequence", "normalizers": 3})", "normalizers must be an array"},
    {"/pre_tokenizer", "null", "pre_tokenizer must be one that ends with ByteLevel, not null"},
    {"/pre_tokenizer", R"({"type": "Whitespace"})", "pre_tokenizer.type must be ByteLevel, Split"},
    {"/pre_tokenizer", R"({"type": "Digits"})", "must be one that ends with ByteLevel"},
    {"/pre_tokenizer/use_regex", R"("yes")", R"(use_regex must be true or false, not "yes")"},
    {"/pre_tokenizer",
     R"({"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}, {"type": "Digits"}]})",
     "must not follow ByteLevel"},
    {"/pre_tokenizer", R"({"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated"})",
     "pre_tokenizer.pattern.Regex: the pattern \"(\" must be a regular expression"},
    {"/pre_tokenizer", R"({"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Isolate"})",
     "behavior must be Isolated, Removed"},
    {"/post_processor", R"({"type": "BertProcessing"})", "post_processor.type must be ByteLevel"},
    {"/post_processor", R"({"type": "TemplateProcessing", "single": [], "special_tokens": {}})",
     "post_processor.single must be a template with the sequence A"},
    {"/post_processor",
     R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "s"}},
         {"Sequence": {"id": "A"}}], "special_tokens": {"s": {"ids": [77]}}})",
     "must use ids of the vocabulary, but uses 77"},
    {"/decoder", "null", "decoder must be ByteLevel, not null"},
    {"/decoder", R"({"type": "Fuse"})", R"(decoder.type must be ByteLevel, not "Fuse")"},
    {"/model", "[]", "model must be an object"},
    {"/model/type", R"("WordPiece")", R"(model.type must be "BPE", not "WordPiece")"},
    {"/model/dropout", "0.1", "model.dropout must be null"},
    {"/model/byte_fallback", "true", "model.byte_fallback must be false"},
    {"/model/end_of_word_suffix", R"("</w>")", "model.end_of_word_suffix must be null or empty"},
    {"/model/unk_token", R"("u")", R"(model.unk_token must be a token of model.vocab, not "u")"},
    {"/model/vocab", "[]", "model.vocab must be an object"},
    {"/model/vocab/a", "16777216", "model.vocab must be an id of at most 16777215 for \"a\""},
    {"/model/vocab/a", "65700", "must have ids below 65616 for its 5 tokens, but has 65700"},
    {"/model/vocab/a", "99999999999999999999", "model.vocab must be an id for \"a\""},
    {"/model/vocab/a", "-1", "model.vocab must be an id for \"a\", not -1"},
    {"/model/vocab/a", R"("0")", R"(model.vocab must be an id for "a", not "0")"},
    {"/model/vocab/a", "{}", "model.vocab must be an id for \"a\", not {}"},
    {"/model/vocab/a", "[1]", "model.vocab must be an id for \"a\", not []"},
    {"/model/vocab/a", "1", "must have each id once"},
    {"/model/merges", "{}", "model.merges must be an array"},
    {"/model/merges", R"(["a q"])", R"(merge 0 ("a" and "q") needs "q")"},
    {"/model/merges", R"(["b c"])", R"(needs "bc")"},
    {"/model/merges", R"(["abc"])", "must be made of two parts"},
    {"/model/merges", R"(["a b c"])", "must be made of two parts"},
    {"/model/merges", R"([["a"]])", "model.merges must be pairs, not an array of 1"},
    {"/model/merges", R"([["a", "b", "c"]])", "model.merges must be pairs"},
    {"/model/merges", R"([["a", ["b"]]])", "model.merges must be strings or pairs of strings"},
    {"/model/merges", "[3]", "model.merges must be strings or pairs of strings, not 3"},
    {"/model/merges", R"([{"a": 1}])", "model.merges must be strings or pairs of strings"},
    {"/added_tokens", R"([{"id": 9, "content": "<x>"}])", "added_tokens[0].id must be 5, which"},
    {"/added_tokens", R"([{"id": 9, "content": "ab"}])", "added_tokens[0].id must be 3, which"},
    {"/added_tokens", R"([{"id": 5, "content": ""}])", "content must be a text of 1 to"},
    {"/added_tokens", R"([{"id": 5}])", "added_tokens[0] must have the key \"content\""},
    {"/added_tokens", R"([{"id": 3, "content": "ab"}, {"id": 3, "content": "ab"}])",
     "has \"ab\" twice"},
};

TEST(TokenizerFile, TheSmallFileItselfIsTaken) {
  EXPECT_EQ(BpeTokenizer(small().dump(), "x").encode("abcb"), (std::vector<std::uint32_t>{4, 1}));
}

TEST(TokenizerFile, RefusalsNameTheKeyAndTheValue) {
  for (const Wrong& wrong : kWrong) {
    Json file = small();
    file[Json::json_pointer(wrong.pointer)] = Json::parse(wrong.value);
    const std::string sentence = refusal(file.dump());
    EXPECT_THAT(sentence, HasSubstr(wrong.sentence)) << wrong.pointer << " " << wrong.value;
    EXPECT_THAT(sentence, HasSubstr("file.json")) << wrong.pointer;
  }
}

TEST(TokenizerFile, WhatIsNoJsonIsRefusedWithLineAndColumn) {
  EXPECT_THAT(refusal("{\"version\": \"1.0\",\n  oops}"), HasSubstr("file.json:2:3: "));
  for (const std::string& content :
       {std::string(), std::string("[]"), std::string("3"), std::string("{"), std::string("null"),
        std::string("{\"version\": \"\xff\"}"), std::string("{\"a\": \"\\ud800\"}"),
        std::string(1 << 20, '['), "{\"model\": " + std::string(5000, '['),
        small().dump().substr(0, 300), small().dump() + "}"})
    EXPECT_NE(refusal(content), "") << content.substr(0, 40);
}

TEST(TokenizerFile, AKeyTwiceIsRefused) {
  std::string content = small().dump();
  EXPECT_THAT(refusal("{\"version\": \"1.0\", " + content.substr(1)),
              HasSubstr("version must be there once"));
  const std::string vocabulary = "\"vocab\":{";
  content.replace(content.find(vocabulary), vocabulary.size(), vocabulary + "\"a\":7,");
  EXPECT_THAT(refusal(content), HasSubstr("has \"a\" twice"));
}

TEST(TokenizerFile, APatternThatExplodesIsAnErrorWhenItMeetsItsText) {
  Json file = small();
  file["pre_tokenizer"] = Json::parse(
      R"({"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": "(?:a+)+b"},
          "behavior": "Isolated", "invert": false}, {"type": "ByteLevel", "add_prefix_space": false}]})");
  const BpeTokenizer tokenizer(file.dump(), "x");
  EXPECT_THROW(tokenizer.encode(std::string(3000, 'a') + "cb"), Error);
  EXPECT_EQ(tokenizer.encode("ab"), std::vector<std::uint32_t>{3});
}

}  // namespace
}  // namespace shellgame
