// The tool among other programs: standard streams that are closed or full, signals that are to be
// ignored, pipes and devices in the place of files, text of others on a terminal, and what holds
// for every option of every command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "shellgame/system/files.h"
#include "tests/system/scratch.h"
#include "tests/tool/run_tool.h"

namespace shellgame {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class Streams : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }

  ScratchFolder folder_;
};

TEST_F(Streams, AMessageThatCannotBeWrittenDoesNotChangeTheExitCode) {
  for (const std::string to : {"2>/dev/full", "2>&-"}) {
    EXPECT_EQ(run_script("$tool " + to).code, 2) << to;
    EXPECT_EQ(run_script("$tool help nothing " + to).code, 2) << to;
    EXPECT_EQ(run_script("$tool trace --no-such " + to).code, 2) << to;
    EXPECT_EQ(run_script("$tool trace --task /nowhere.toml " + to).code, 1) << to;
    const Result traced = run_script("$tool trace --group S3 --commands 4 --verify " + to);
    EXPECT_EQ(traced.code, 0) << to << traced.output;
    EXPECT_EQ(traced.output, run("trace --group S3 --commands 4").output) << to;
  }
  // A reader that went away: the pipe's signal must not end the work.
  const Result gone = run_script(
      "exec 3>&1; { sleep 0.5; $tool help nothing; echo code $? >&3; } 2>&1 >/dev/null | true");
  EXPECT_EQ(gone.output, "code 2\n");
}

TEST_F(Streams, AnAnswerThatCannotBeWrittenIsAFailure) {
  for (const std::string command :
       {"trace", "group S3", "help trace", "--version", "trace --print-task", "completion bash",
        "sequence", "group S3 --format json", "belief --example joint-cycle"}) {
    for (const std::string to : {">/dev/full", ">&-"}) {
      const Result result = run_script("$tool " + command + " " + to);
      EXPECT_EQ(result.code, 1) << command << to << result.output;
      EXPECT_THAT(result.output, HasSubstr("shellgame: cannot write")) << command << to;
    }
  }
}

TEST_F(Streams, AFileThatIsWrittenIsNotTakenForStandardError) {
  ASSERT_EQ(run("trace --count 5 --verify --output " + path("usual")).code, 0);
  for (const std::string closed : {"2>&-", "0<&- 2>&-", "0<&- 1>&- 2>&-"}) {
    const Result result =
        run_script("$tool trace --count 5 --verify --output " + path("file") + " " + closed);
    EXPECT_EQ(result.code, 0) << closed << result.output;
    EXPECT_EQ(read_file(path("file")), read_file(path("usual"))) << closed;
  }
}

TEST_F(Streams, WhatTheUserIgnoresEndsNothing) {
  // `parse` waits for its input when the signal comes. A shell's background job ignores SIGINT.
  for (const std::string signal : {"HUP", "INT"}) {
    const Result result = run_script("cd " + folder_.path() +
                                     "\nrm -f pipe; mkfifo pipe\n"
                                     "(trap '' " +
                                     signal +
                                     "; exec $tool parse - < pipe) > out &\n"
                                     "exec 9> pipe\nsleep 0.5\nkill -" +
                                     signal +
                                     " $!\nsleep 0.2\nprintf '>>> a = 1\\n' >&9\nexec 9>&-\n"
                                     "wait $!\necho code $?; cat out");
    EXPECT_THAT(result.output, HasSubstr("code 0\n")) << signal;
    EXPECT_THAT(result.output, HasSubstr(">>> a = 1\n")) << signal;
  }
}

TEST_F(Streams, APipeInThePlaceOfAFileIsRefusedAtOnce) {
  std::filesystem::create_directories(path("run"));
  write_file(path("run/experiment.toml"), "name = 'x'\n");
  write_file(path("run/environment.json"), "{}");
  const auto expect = [&](const std::string& arguments) {
    const Result result = run_script("timeout 20 $tool " + arguments);
    EXPECT_EQ(result.code, 1) << arguments << result.output;
    EXPECT_THAT(result.output, HasSubstr("must be a regular file")) << arguments;
  };
  ASSERT_EQ(run_script("mkfifo " + path("run/metrics.jsonl")).code, 0);
  expect("report " + path("run") + " --output " + path("page.html"));
  std::filesystem::remove(path("run/metrics.jsonl"));
  std::filesystem::create_symlink("/dev/zero", path("run/metrics.jsonl"));
  expect("report " + path("run") + " --output " + path("page.html"));
  std::filesystem::remove(path("run/experiment.toml"));
  ASSERT_EQ(run_script("mkfifo " + path("run/experiment.toml")).code, 0);
  expect("report " + path("run") + " --output " + path("page.html"));
}

TEST_F(Streams, AUserMayNameAPipeOnPurpose) {
  write_file(path("session"), ">>> a = 1\n>>> print('a', a)\na 1\n");
  const std::string usual = run("parse - < " + path("session")).output;
  for (const std::string way : {"$tool parse /dev/stdin < F", "cat F | $tool parse -",
                                "bash -c \"$tool parse <(cat F)\"", "$tool parse - < F"}) {
    std::string script = way;
    script.replace(script.find(" F") == std::string::npos ? 0 : script.find(" F") + 1, 1,
                   path("session"));
    const Result result = run_script(script);
    EXPECT_EQ(result.code, 0) << way << result.output;
    EXPECT_THAT(result.output, HasSubstr("# states: \n>>> a = 1\n>>> print('a', a)\na 1\n")) << way;
  }
  EXPECT_EQ(run_script("timeout 20 $tool parse - < /dev/zero").code, 1);
  EXPECT_EQ(run_script("timeout 20 $tool verify /dev/zero").code, 1);
}

TEST_F(Streams, WhatIsQuotedDoesNotReachTheTerminalAsACommand) {
  const std::string escape = "\x1b]0;title\x07\x1b[31m";
  write_file(path("key.toml"),
             "\""
             "\\u001b]0;title"
             "\" = 3\n");
  const std::string two = "states = ['rain', \"\\u001b[31m\"]\nstart = 'rain'\n";
  write_file(
      path("names.toml"),
      two + "word = ['day']\n[symbol.day]\nlikelihood = { rain = 0.5, \"\\u001b[31m\" = 1 }\n");
  write_file(path("wrong.toml"), two + "[symbol.\"\\u001b[31m\"]\nreveal = ['snow']\n");
  write_file(path("trace.txt"), ">>> a = 1\n>>> " + escape + "\n");
  write_file(path("wrong.txt"), ">>> print('" + escape + "')\nx\n>>> a = 1\n");
  for (const std::string& arguments :
       {"parse '" + path(escape) + "'", "trace --task " + path("key.toml"),
        "parse " + path("trace.txt"), "verify " + path("wrong.txt"), "trace '--" + escape + "'",
        "trace --group '" + escape + "'", "help '" + escape + "'",
        "belief --automaton " + path("wrong.toml"), "tokens encode --tokenizer '" + escape + "'"}) {
    const Result result = run(arguments);
    EXPECT_NE(result.code, 0) << arguments;
    EXPECT_THAT(result.output, Not(HasSubstr("\x1b"))) << arguments;
    EXPECT_THAT(result.output, HasSubstr("\\x1b")) << arguments << result.output;
  }
  const Result table = run("belief --belief --automaton " + path("names.toml"));
  EXPECT_EQ(table.code, 0) << table.output;
  EXPECT_THAT(table.output, Not(HasSubstr("\x1b")));
  EXPECT_THAT(table.output, HasSubstr("\\x1b[31m"));
}

TEST_F(Streams, AFileWithoutATraceIsNoSource) {
  write_file(path("empty"), "");
  write_file(path("still"), ">>> a = 1\n>>> b = 2\n");
  for (const std::string command : {"belief", "belief stability", "belief --print-automaton"}) {
    const Result result = run(command + " --trace " + path("empty"));
    EXPECT_EQ(result.code, 2) << command << result.output;
    EXPECT_THAT(result.output, HasSubstr("at least one trace")) << command;
  }
  const Result still = run("belief stability --trace " + path("still"));
  EXPECT_EQ(still.code, 2) << still.output;
  EXPECT_THAT(still.output, HasSubstr("a command or a reveal"));
}

// The options of every command, as the reference in Markdown lists them.
struct Declared {
  std::string command, names, type;  // "shellgame trace", "-o, --output", "PATH"
};
std::vector<Declared> all_declared() {
  std::vector<Declared> all;
  std::istringstream lines(run("help --markdown").output);
  std::string command;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## shellgame ")) command = line.substr(13);
    if (!line.starts_with("| `")) continue;
    const std::size_t end = line.find(" | "), names = line.rfind("` ", end);
    std::string text = line.substr(3, names - 3);
    std::erase(text, '`');
    all.push_back({command, text, line.substr(names + 2, end - names - 2)});
  }
  return all;
}

TEST_F(Streams, NoOptionTakesAnEmptyNameForItsDefault) {
  std::map<std::string, int> seen;
  std::string script;
  std::vector<std::string> asked;
  for (const Declared& option : all_declared()) {
    if (option.type.empty()) continue;  // a flag
    // Options that many commands share are declared by one function: two of them are enough.
    if (++seen[option.names + option.type] > 2) continue;
    const std::string name = option.names.substr(option.names.rfind(' ') + 1);
    // A task's file may say these, and "" takes it away.
    if (name == "--mixtures" || name == "--values" || name == "--stages") continue;
    asked.push_back(option.command + (name.starts_with("-") ? " " + name : "") + " ''");
    script += "timeout 20 $tool " + asked.back() + "; echo code $?\n";
  }
  EXPECT_GT(asked.size(), 100u);
  std::istringstream answers(run_script("cd " + folder_.path() + "\n" + script).output);
  for (const std::string& arguments : asked) {
    std::string sentence, code;
    std::getline(answers, sentence);
    ASSERT_TRUE(std::getline(answers, code)) << arguments;
    ASSERT_THAT(sentence, testing::StartsWith("shellgame: ")) << arguments;
    EXPECT_THAT(sentence, HasSubstr("the value must not be empty")) << arguments;
    ASSERT_EQ(code, "code 2") << arguments << sentence;
  }
  EXPECT_TRUE(folder_.names().empty());
  write_file(path("task.toml"), "values = 'u,v,w,x,y'\n");
  EXPECT_EQ(run("trace --task " + path("task.toml") + " --values ''").output, run("trace").output);
}

TEST_F(Streams, EveryCommandHasTheShortOptions) {
  std::map<std::string, std::string> options;
  for (const Declared& option : all_declared()) options[option.command] += option.names + "\n";
  EXPECT_GT(options.size(), 30u);
  std::string script;
  for (const auto& [command, names] : options) {
    EXPECT_THAT(names, HasSubstr("-j, --threads\n")) << command;
    EXPECT_THAT(names, Not(ContainsRegex("(^|\n)--out(put)?\n"))) << command;
    script += "[ \"$($tool " + command + " -h)\" = \"$($tool help " + command + ")\" ] || echo " +
              command + "\n";
  }
  EXPECT_EQ(run_script(script).output, "");
  EXPECT_EQ(run("-V").output, run("--version").output);
  EXPECT_EQ(run("-h").output, run("--help").output);
  EXPECT_EQ(run("trace -j 2 -o " + path("short")).code, 0);
  EXPECT_EQ(read_file(path("short")), run("trace").output);
  EXPECT_EQ(run("trace -j 0").code, 2);
}

TEST_F(Streams, CompletionKnowsTheShortOptions) {
  write_file(path("complete.sh"), "source <(" SHELLGAME_TOOL
                                  " completion bash)\n"
                                  "try() { COMP_WORDS=(shellgame \"$@\"); COMP_CWORD=$#; "
                                  "_shellgame; echo \"${COMPREPLY[*]}\"; }\n"
                                  "try tokens export -\ncd " +
                                      folder_.path() + "\ntouch some\ntry tokens export -o so\n");
  EXPECT_EQ(run_script("bash " + path("complete.sh")).output,
            "-h --help -j --threads -o --output\nsome\n");
}

}  // namespace
}  // namespace shellgame
