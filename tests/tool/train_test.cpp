// `shellgame train`, `sweep` and `evaluate` as a user meets them: killed at random moments, told
// wrong things, one after the other.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "../system/scratch.h"
#include "run_tool.h"
#include "shellgame/system/files.h"

namespace shellgame {
namespace {

using testing::HasSubstr;

constexpr char kExperiment[] = R"(
name = "killed"
threads = 1
[task]
group = "S3"
moves = "swaps"
[model]
model_type = "delta_net"
hidden_size = 32
num_hidden_layers = 1
num_heads = 1
intermediate_size = 64
allow_neg_eigval = true
[checkpoint]
seconds = 0
every = 9
[evaluation]
every = 25
commands = 16
spacing = 2
count = 4
[[stages]]
commands = 4
spacing = 1
batch = 16
steps = 100
[[stages]]
commands = 16
spacing = [2, 4]
batch = 8
accumulation = 2
steps = 150
stream = { segments = { from = 2, to = 6, over = 0.7 } }
)";

std::vector<std::string> lines_without_times(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    auto json = nlohmann::ordered_json::parse(line);
    for (const char* name : {"time", "seconds", "tokens_per_second", "utilisation", "data_share"})
      json.erase(name);
    lines.push_back(json.dump());
  }
  return lines;
}

// The tool as a process of its own, which says nothing. It ignores `ignored` and nothing else, also
// where the tests run in a shell's background.
pid_t start_tool(std::vector<std::string> words, int ignored = 0) {
  words.insert(words.begin(), SHELLGAME_TOOL);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return fork_child([&] {
    std::freopen("/dev/null", "w", stderr);
    for (const int signal : {SIGINT, SIGHUP})
      ::signal(signal, signal == ignored ? SIG_IGN : SIG_DFL);
    ::execv(SHELLGAME_TOOL, arguments.data());
    return 99;
  });
}

// Until a run has made a step, or its process has ended.
void wait_for_steps(const std::string& run, pid_t child) {
  const std::string metrics = run + "/metrics.jsonl";
  while (!std::filesystem::exists(metrics) || std::filesystem::file_size(metrics) == 0) {
    siginfo_t ended{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT), 0);
    ASSERT_EQ(ended.si_pid, 0) << "it ended before its first step";
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

TEST(TrainTool, KilledAtRandomMomentsEndsWithTheSameBits) {
  const ScratchFolder folder;
  const std::string experiment = folder / "killed.toml", run = folder / "killed";
  write_file(experiment, kExperiment);
  const Result whole = shellgame::run("train " + experiment + " --run " + (folder / "whole"));
  ASSERT_EQ(whole.code, 0) << whole.output;
  std::mt19937 random(std::random_device{}());
  int kills = 0, after_checkpoints = 0;
  while (kills < 12 && !std::filesystem::exists(run + "/result.json")) {
    const pid_t child = start_tool({"train", experiment, "--run", run, "--resume"});
    // Mostly in mid-run, some before the first step.
    const int wait = static_cast<int>(random() % 1200) + 100;
    std::this_thread::sleep_for(std::chrono::milliseconds(wait));
    ::kill(child, SIGKILL);
    wait_for(child);
    ++kills;
    after_checkpoints += std::filesystem::exists(run + "/checkpoints");
  }
  const Result rest = shellgame::run("train " + experiment + " --run " + run + " --resume");
  ASSERT_EQ(rest.code, 0) << rest.output;
  SCOPED_TRACE(fmt::format("{} kills, {} of them with checkpoints", kills, after_checkpoints));
  EXPECT_EQ(read_file(run + "/model/model.safetensors"),
            read_file(folder / "whole/model/model.safetensors"));
  EXPECT_EQ(lines_without_times(run + "/metrics.jsonl"),
            lines_without_times(folder / "whole/metrics.jsonl"));
  EXPECT_EQ(lines_without_times(run + "/metrics.jsonl").size(), 250u + 10);  // with evaluations
}

TEST(TrainTool, AnInterruptEndsTheStepWithACheckpointAndExitCode130) {
  const ScratchFolder folder;
  const std::string experiment = folder / "long.toml", run = folder / "run";
  write_file(experiment, std::string(kExperiment));
  const pid_t child =
      start_tool({"train", experiment, "--run", run, "--set", "stages.0.steps=1000000"});
  wait_for_steps(run, child);
  ::kill(child, SIGINT);
  const int status = wait_for(child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_FALSE(std::filesystem::is_empty(run + "/checkpoints"));
}

TEST(TrainTool, UnderNohupARunSurvivesTheEndOfItsTerminal) {
  const ScratchFolder folder;
  const std::string experiment = folder / "long.toml", run = folder / "run";
  write_file(experiment, std::string(kExperiment));
  const pid_t child =
      start_tool({"train", experiment, "--run", run, "--set", "stages.0.steps=1000000"}, SIGHUP);
  wait_for_steps(run, child);
  ::kill(child, SIGHUP);
  const auto steps = std::filesystem::file_size(run + "/metrics.jsonl");
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0);  // it is still there
  EXPECT_GT(std::filesystem::file_size(run + "/metrics.jsonl"), steps);
  ::kill(child, SIGTERM);
  const int status = wait_for(child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status;
}

// A pipe in the place of a record that the run writes is no reason to wait for a reader.
TEST(TrainTool, APipeInThePlaceOfARecordIsRefusedAtOnce) {
  const ScratchFolder folder;
  const std::string experiment = folder / "x.toml", run = folder / "run";
  write_file(experiment, kExperiment);
  const std::string train = "train " + experiment + " --run " + run;
  ASSERT_EQ(shellgame::run(train + " --set stages.0.steps=1 --set stages.1.steps=1").code, 0);
  for (const std::string name :
       {"environment.json", "tensorboard/events.out.tfevents.0.shellgame"}) {
    const std::string path = run + "/" + name;
    std::filesystem::remove(path);
    ASSERT_EQ(run_script("mkfifo " + path).code, 0);
    const Result result = run_script("timeout -k 1 20 $tool train --run " + run + " --resume");
    EXPECT_EQ(result.code, 1) << result.output;
    EXPECT_THAT(result.output, HasSubstr("it must be a regular file"));
    std::filesystem::remove(path);
    std::filesystem::create_symlink("/dev/null", path);
    EXPECT_EQ(run_script("$tool train --run " + run + " --resume").code, 1) << "a device: " << name;
    std::filesystem::remove(path);
  }
  EXPECT_EQ(shellgame::run("train --run " + run + " --resume").code, 0);
}

TEST(TrainTool, AnEvaluationThatDoesNotFitIsRefusedBeforeTheTraining) {
  const ScratchFolder folder;
  const std::string experiment = folder / "x.toml", run = folder / "run";
  write_file(experiment, kExperiment);
  const Result result =
      shellgame::run("train " + experiment + " --run " + run + " --set evaluation.count=1000000000",
                     "ulimit -v 12000000; ");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.output, HasSubstr("1000000000 evaluated traces must fit in memory: about "));
  EXPECT_FALSE(std::filesystem::exists(run));
}

TEST(TrainTool, MoreThreadsThanCoresAreNotStarted) {
  const ScratchFolder folder;
  const std::string experiment = folder / "x.toml", run = folder / "run";
  std::string text = kExperiment;
  text.erase(text.find("threads = 1\n"), 12);
  write_file(experiment, text);
  const Result result = shellgame::run("train -j 1000 " + experiment + " --run " + run +
                                       " --set stages.0.steps=1 --set stages.1.steps=1");
  ASSERT_EQ(result.code, 0) << result.output;
  const std::string record = read_file(run + "/experiment.toml");
  const std::size_t at = record.find("threads = ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_LE(std::stoul(record.substr(at + 10)), std::thread::hardware_concurrency());
}

TEST(TrainTool, WrongUseIsOneSentenceAndLeavesNothingBehind) {
  const ScratchFolder folder;
  const std::string file = folder / "x.toml";
  write_file(file, kExperiment);
  const auto refused = [&](const std::string& arguments, const std::string& sentence) {
    const Result result = shellgame::run(arguments);
    EXPECT_EQ(result.code, 2) << result.output;
    EXPECT_THAT(result.output, HasSubstr(sentence));
    EXPECT_EQ(std::ranges::count(result.output, '\n'), 1) << result.output;
    EXPECT_FALSE(std::filesystem::exists(folder / "run"));
  };
  const std::string run = " --run " + (folder / "run");
  refused("train" + run, "needs an experiment file");
  refused("train --resume" + run, "must have a run in");
  refused("train " + file + " --set stages.0.bath=2" + run, "did you mean 'batch'?");
  refused("train " + file + " --set stages.7.batch=2" + run, "a number below 2");
  refused("train " + file + " --set model.model_type=nothing" + run, "nothing");
  refused("train " + file + " --set seed" + run, "key=value");
  refused("train " + file + " --set model.hidden_sze=3" + run, "did you mean 'hidden_size'?");
  refused("train " + file + " --set stages.0.spacing=9" + run, "nothing is revealed");
  refused("train " + file + " --arm nobody" + run, "has no [[arms]]");
  refused("sweep " + file + " --arms nobody" + run, "which has none");
  refused("sweep " + file + " --seeds 0,0" + run, "each number once");
  refused("sweep " + file + " --jobs 0" + run, "--jobs");
  refused("sweep " + file + " --seeds 4..1" + run, "--seeds");
  refused("sweep " + file + " --set stages.0.batch=2,0" + run, "from 1 to");
  const std::string set = "train " + file + run + " --set ";
  refused(set + "stages.0.batch=1000000000000000",
          "'stages.0.batch' must be a whole number from 1");
  refused(set + "stages.0.commands=-1",
          "'stages.0.commands': commands must be a whole number from 1");
  refused(set + "model.norm_eps=-1", "'norm_eps' must be a number from 0 to 1, not -1");
  refused(set + "model.norm_eps=nan", "'norm_eps' must be a number from 0 to 1, not nan");
  refused(set + "model.vocab_size=3", "'vocab_size' must be at least 90");
}

TEST(TrainTool, WhatDoesNotFitMemoryIsRefusedBeforeAnythingIsMade) {
  const ScratchFolder folder;
  const std::string file = folder / "x.toml";
  write_file(file, kExperiment);
  for (const char* setting : {"stages.0.commands=99999999999", "stages.0.commands=1000000000000",
                              "stages.0.batch=1048576 --set stages.0.commands=1000000",
                              "stages.0.batch=1048576 --set stages.0.commands=1000000000000",
                              "model.hidden_size=524288 --set model.vocab_size=16777216",
                              "model.vocab_size=16777216 --set model.hidden_size=131072"}) {
    // In no more than this: the machine is not to be taken along.
    const Result result = run("train " + file + " --run " + (folder / "run") + " --set " + setting,
                              "ulimit -v 12000000; ");
    EXPECT_EQ(result.code, 1) << setting << "\n" << result.output;
    EXPECT_THAT(result.output, ::testing::ContainsRegex("needs about|needed, .* available"))
        << setting;
    EXPECT_THAT(result.output, testing::Not(HasSubstr("about -"))) << setting;
    EXPECT_FALSE(std::filesystem::exists(folder / "run")) << setting;
  }
}

TEST(TrainTool, AStartThatIsRefusedLeavesItsDirectoryFree) {
  const ScratchFolder folder;
  const std::string file = folder / "x.toml";
  write_file(file, kExperiment);
  for (const char* wrong :
       {" --from /nowhere/model", " --set stages.0.batch=1000000 --set model.hidden_size=4096"}) {
    EXPECT_NE(run("train " + file + wrong + " --run " + (folder / "run")).code, 0);
    EXPECT_FALSE(std::filesystem::exists(folder / "run")) << wrong;
  }
}

// All that a run has made is lost, but not where its first weights came from.
TEST(TrainTool, ARunRemembersTheModelThatItStartedFrom) {
  const ScratchFolder folder;
  const std::string file = folder / "x.toml";
  write_file(file, kExperiment);
  const std::string few = " --set stages.0.steps=4 --set stages.1.steps=2",
                    first = folder / "first", second = folder / "second";
  ASSERT_EQ(run("train " + file + few + " --run " + first).code, 0);
  ASSERT_EQ(run("train " + file + few + " --from " + first + "/model --run " + second).code, 0);
  const std::string weights = read_file(second + "/model/model.safetensors");
  EXPECT_NE(weights, read_file(first + "/model/model.safetensors"));
  for (const char* name : {"checkpoints", "model", "result.json", "metrics.jsonl"})
    std::filesystem::remove_all(second + "/" + name);
  const Result again = run("train --resume --run " + second);
  ASSERT_EQ(again.code, 0) << again.output;
  EXPECT_EQ(read_file(second + "/model/model.safetensors"), weights);
}

TEST(SweepTool, ResultsOfOtherSettingsAreNotTakenForThese) {
  const ScratchFolder folder;
  const std::string file = folder / "x.toml";
  write_file(file, kExperiment);
  const std::string command =
      "sweep " + file + " --set stages.0.steps=3 --set stages.1.steps=2 --run " + (folder / "runs");
  ASSERT_EQ(run(command).code, 0);
  const std::string table = read_file(folder / "runs/sweep.json");
  const Result other = run(command + " --set optimiser.learning-rate=0");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.output, HasSubstr("it differs at /optimiser/learning-rate"));
  EXPECT_EQ(read_file(folder / "runs/sweep.json"), table);
}

TEST(SweepTool, ATerminatedSweepEndsItsRunsWithCheckpoints) {
  const ScratchFolder folder;
  const std::string file = folder / "x.toml", runs = folder / "runs", run = runs + "/seed-0";
  write_file(file, kExperiment);
  const pid_t child = start_tool({"sweep", file, "--run", runs, "--set", "stages.0.steps=1000000"});
  wait_for_steps(run, child);
  ::kill(child, SIGTERM);
  wait_for(child);
  EXPECT_FALSE(std::filesystem::is_empty(run + "/checkpoints"));
  // Nobody holds the run any more.
  const int lock = ::open((run + "/.lock").c_str(), O_RDWR);
  EXPECT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
  ::close(lock);
}

// With `kill -9` a sweep cannot tell its runs; they notice it, and end as if they were told.
TEST(SweepTool, AKilledSweepEndsItsRunsWithCheckpoints) {
  const ScratchFolder folder;
  const std::string file = folder / "x.toml", runs = folder / "runs", run = runs + "/seed-0";
  write_file(file, kExperiment);
  const pid_t child = start_tool({"sweep", file, "--run", runs, "--set", "stages.0.steps=100000",
                                  "--set", "checkpoint.every=0"});
  wait_for_steps(run, child);
  ::kill(child, SIGKILL);
  wait_for(child);
  const int lock = ::open((run + "/.lock").c_str(), O_RDWR);
  int held = 0;
  for (int i = 0; i < 100 && (held = ::flock(lock, LOCK_EX | LOCK_NB)) != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(held, 0) << "the run goes on without its sweep";
  EXPECT_TRUE(std::filesystem::exists(run + "/checkpoints"));
  ::close(lock);
}

// `timeout` tells a sweep's whole group, and the sweep tells its runs: in mid-step it comes twice.
TEST(TrainTool, ASignalThatComesTwiceAtOnceIsOne) {
  const ScratchFolder folder;
  const std::string file = folder / "x.toml", run = folder / "run";
  write_file(file, kExperiment);
  const pid_t child = start_tool(
      {"train", file, "--run", run, "--set", "stages.0.batch=1000", "--set", "checkpoint.every=0"});
  wait_for_steps(run, child);
  ::kill(child, SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ::kill(child, SIGTERM);
  const int status = wait_for(child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_FALSE(std::filesystem::is_empty(run + "/checkpoints"));
}

TEST(SweepTool, WhatWouldCountOneRunTwiceIsRefused) {
  const ScratchFolder folder;
  const std::string file = folder / "x.toml";
  write_file(file, kExperiment);
  const auto refused = [&](const std::string& arguments, const std::string& sentence) {
    const Result result =
        shellgame::run("sweep " + file + " --run " + (folder / "runs") + " " + arguments);
    EXPECT_EQ(result.code, 2) << result.output;
    EXPECT_THAT(result.output, HasSubstr(sentence));
    EXPECT_FALSE(std::filesystem::exists(folder / "runs"));
  };
  refused("--set seed=7 --seeds 0..1", "must have its seed from --seeds");
  refused("--set optimiser.clip=1,1", "must have a directory of its own");
  refused("--set 'name=\"a b\",\"a_b\"'", "must have a directory of its own");
}

// Lengths that are drawn have no number to be named by, in metrics, tables and charts.
TEST(SweepTool, SequencesOfDrawnLengthsAreNamedByTheirRange) {
  const ScratchFolder folder;
  const std::string file = folder / "x.toml";
  write_file(file, R"(
threads = 1
[task]
kind = "parity"
length = "3-12"
[model]
model_type = "delta_net"
hidden_size = 16
num_hidden_layers = 1
num_heads = 1
intermediate_size = 16
[evaluation]
every = 2
count = 4
[[stages]]
batch = 4
steps = 4
)");
  const Result result =
      shellgame::run("sweep " + file + " --seeds 0..1 --format json --run " + (folder / "runs"));
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_THAT(read_file(folder / "runs/sweep.json"), HasSubstr("length 3-12"));
  const auto cells = nlohmann::json::parse(read_file(folder / "runs/seed-0/evaluation.json"));
  EXPECT_EQ(cells[0]["model"], folder / "runs/seed-0/model");
  // Expressions have odd lengths only: the longest of 3 to 12 is 11.
  const Result odd = shellgame::run("train " + file + " --set task.kind=modular-arithmetic --run " +
                                    (folder / "odd"));
  EXPECT_EQ(odd.code, 0) << odd.output;
}

TEST(TrainTool, AFileOfQuestionsIsTrainedOnAndKeptByItsWholePath) {
  const ScratchFolder folder;
  ASSERT_EQ(shellgame::run("trace --group S3 --moves swaps --uncertainty branching --commands 8 "
                           "--spacing 2 --count 12 --format questions --output " +
                           (folder / "rows.jsonl"))
                .code,
            0);
  write_file(folder / "x.toml", R"(
threads = 1
loss = "beliefs"
[task]
kind = "file"
file = "rows.jsonl"
[model]
model_type = "delta_net"
hidden_size = 16
num_hidden_layers = 1
num_heads = 1
intermediate_size = 16
[evaluation]
count = 12
[[stages]]
batch = 4
steps = 40
)");
  const std::string run = folder / "run";
  // A run is started where its file is, and goes on elsewhere.
  const Result result =
      shellgame::run("train x.toml --quiet --run " + run, "cd " + folder.path() + " && ");
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_THAT(read_file(run + "/experiment.toml"), HasSubstr(folder / "rows.jsonl"));
  const auto cells = nlohmann::json::parse(read_file(run + "/evaluation.json"));
  EXPECT_EQ(cells[0]["reveals"], 12 * 4);
  EXPECT_LT(cells[0]["regret"].get<double>(), 1);
  EXPECT_EQ(shellgame::run("train --quiet --resume --run " + run).code, 0);
  EXPECT_EQ(shellgame::run("evaluate --count 4 --model " + run + "/model").code, 0);
}

TEST(TrainTool, AModelTakesItsTokenizerAlong) {
  const ScratchFolder folder;
  const std::string file = folder / "x.toml", run = folder / "run";
  write_file(file, kExperiment);
  const std::string tokenizer =
      std::filesystem::canonical(SHELLGAME_TEST_DATA "/tokenizers-gpt2/tokenizer.json").string();
  ASSERT_EQ(shellgame::run("train " + file +
                           " --set stages.0.steps=2 --set stages.1.steps=2 --set tokenizer=" +
                           std::filesystem::relative(tokenizer).string() + " --run " + run)
                .code,
            0);
  EXPECT_EQ(read_file(run + "/model/tokenizer.json"), read_file(tokenizer));
  EXPECT_THAT(read_file(run + "/experiment.toml"), HasSubstr("'" + tokenizer + "'"));
  std::filesystem::remove(run + "/model/tokenizer.json");
  const Result other = shellgame::run("evaluate --group S3 --model " + run + "/model");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.output, HasSubstr("must have the vocabulary of"));
}

TEST(SweepTool, RunsEveryArmAndSeedAndGoesOn) {
  const ScratchFolder folder;
  const std::string file = folder / "x.toml";
  write_file(file, std::string(kExperiment) +
                       "[[arms]]\nname = \"first\"\n[[arms]]\nname = \"second\"\nmodel = { "
                       "allow_neg_eigval = false }\n");
  const std::string command = "sweep " + file +
                              " --seeds 0..1 --set stages.0.steps=3 --set stages.1.steps=2 --run " +
                              (folder / "runs");
  const Result result = shellgame::run(command);
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("4 runs"));
  EXPECT_TRUE(std::filesystem::exists(folder / "runs/arm=second/seed-1/model/config.json"));
  EXPECT_THAT(read_file(folder / "runs/arm=second/seed-1/model/config.json"),
              HasSubstr("\"allow_neg_eigval\": false"));
  const auto all = nlohmann::json::parse(read_file(folder / "runs/sweep.json"));
  ASSERT_EQ(all["runs"].size(), 2u);
  EXPECT_EQ(all["runs"][0]["seeds"], nlohmann::json({0, 1}));
  EXPECT_EQ(all["runs"][0]["cells"][0]["accuracy"].size(), 2u);
  EXPECT_THAT(shellgame::run(command).output, HasSubstr("was complete"));
}

TEST(TrainTool, ThePapersRecipeRunsAFewSteps) {
  // Two layers of the paper's width stand for eighteen; one step of its recipe.
  const ScratchFolder folder;
  const Result result = shellgame::run(
      "train " SHELLGAME_SOURCE_DIR
      "/experiments/paper/experiment.toml --set tokenizer=lexeme --set model.num_hidden_layers=2 "
      "--set "
      "model.vocab_size=90 --set stages.*.steps=1 --set stages.*.accumulation=2 --set "
      "stages.*.batch=1 --set evaluation.commands=8 --set evaluation.spacing=1 --set "
      "evaluation.count=2 --run " +
      (folder / "run"));
  EXPECT_EQ(result.code, 0) << result.output;
}

}  // namespace
}  // namespace shellgame
