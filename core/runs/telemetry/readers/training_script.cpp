// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/training_script.h"

#include "core/runs/telemetry/argument_names.h"
#include "core/runs/telemetry/readers/command_options.h"
#include "core/runs/telemetry/readers/job_yaml.h"
#include "core/runs/telemetry/readers/mlperf_settings.h"
#include "core/runs/telemetry/readers/reading_bounds_internal.h"
#include "core/runs/telemetry/readers/script_facts.h"
#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/shell_script.h"
#include "core/runs/telemetry/readers/text_lines.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>
#include <span>

namespace trainyard::readers {

namespace {

constexpr std::array<std::string_view, 16> kOptions { "--per_device_train_batch_size", "--recipe",
    "--model_recipe_name", "nemo llm pretrain", "--tensor-model-parallel-size", "--pipeline-model-parallel-size",
    "--micro-batch-size", "--global-batch-size", "--num-layers", "--hidden-size", "--num-attention-heads",
    "--seq-length", "--training.seq_len", "--training.local_batch_size", "--parallelism.tensor_parallel_degree",
    "model.tensor_model_parallel_size=" };

bool isScript(std::string_view fileName, std::string_view head)
{
    static constexpr std::array<std::string_view, 5> kEnds { ".sh", ".bash", ".slurm", ".sbatch", ".sub" };
    const std::string_view line = head.substr(0, head.find('\n'));
    return (line.starts_with("#!") && line.find("sh") != line.npos)
        || std::ranges::any_of(kEnds, [&](std::string_view end) { return fileName.ends_with(end); });
}

/// "echo $CMD" starts nothing.
bool isPrinted(const ShellScript::Words &words)
{
    static constexpr std::array<std::string_view, 5> kPrinters { "echo", "printf", "print", "cat", "logger" };
    return std::ranges::find(kPrinters, words[0]) != kPrinters.end();
}

/// Options of the commands that start trainings; where there is no such command, of the lists that one is given.
CommandOptions trainingOptions(const ShellScript &script, RecordedSource &made, int &commands)
{
    CommandOptions all;
    commands = 0;
    for (const ShellScript::Words &words : script.commands()) {
        if (isPrinted(words))
            continue;
        CommandOptions one = optionsOf(words);
        // srun and its #SBATCH tell how much is started, whatever they start
        const bool isTraining = one.trainings > 0;
        commands += isTraining ? 1 : 0;
        if (!isTraining || commands > 1)
            continue;
        all = std::move(one);
    }
    if (commands > 1)
        note(made, "It starts " + std::to_string(commands) + " trainings: the first is read");
    if (commands == 0)
        for (const auto &[name, words] : script.variables()) {
            CommandOptions one = optionsOf(words);
            if (one.trainings == 0 && one.arguments.empty() && one.untold.empty())
                continue;
            all.unknown += one.unknown;
            for (auto &[key, value] : one.arguments)
                all.add(key, std::move(value));
            for (auto &[key, by] : one.untold)
                if (!all.arguments.contains(key) && all.untold.emplace(key, by).second)
                    all.trainings += isOfTraining(key) ? 1 : 0;
        }
    return all;
}

/// Whether torchrun starts the training with all of its own options told, and nothing starts torchrun elsewhere.
bool startsOneNode(const ShellScript &script)
{
    bool isTorchrun = false;
    for (const ShellScript::Words &words : script.commands()) {
        if (isPrinted(words))
            continue;
        const auto program = std::ranges::find_if(words, [](const std::string &word) { return word.ends_with(".py"); });
        const bool isOpen =
            std::any_of(words.begin(), program, [](const std::string &word) { return isUnknown(word); });
        const auto run = std::ranges::find_if(words, [](const std::string &word) {
            return word == "torchrun" || word.ends_with("/torchrun") || word.starts_with("torch.distributed.");
        });
        if (run >= program)
            continue;
        if (isOpen || run - words.begin() > 3 || optionsOf(words).trainings == 0)
            return false;
        isTorchrun = true;
    }
    return isTorchrun;
}

/// How many nodes and processes the launchers around it start: "srun -N 4", "#SBATCH --nodes=4".
void addLaunch(const ShellScript &script, CommandOptions &all, RecordedSource &made)
{
    const auto take = [&](const ShellScript::Words &words) {
        const CommandOptions one = optionsOf(words);
        for (const char *name : { "nnodes", "nproc_per_node", "tasks_per_node", "tasks", "gpu", "constraint" })
            if (const auto told = one.arguments.find(name); told != one.arguments.end())
                all.add(name, told->second);
            else if (const auto open = one.untold.find(name); open != one.untold.end() && !all.arguments.contains(name))
                all.untold.emplace(name, open->second);
        // "--gpus=a100:16" of the whole job: which, and how many the nodes and tasks tell
        if (const auto told = one.arguments.find("gpus"); told != one.arguments.end() && isLetter(told->second[0]))
            all.add("gpu", told->second.substr(0, told->second.find(':')));
    };
    take(script.directives());
    for (const ShellScript::Words &words : script.commands())
        if (!words.empty()
            && (words[0].ends_with("srun") || words[0].ends_with("torchrun") || words[0].ends_with("deepspeed")
                || words[0].ends_with("mpirun")))
            take(words);
    const bool isCounted = all.arguments.contains("nnodes") || all.untold.contains("nnodes");
    if (!isCounted && script.directives().empty() && startsOneNode(script)) {
        all.add("nnodes", "1");
        note(made, "torchrun starts processes on one node where --nnodes is not given");
    }
}

constexpr std::size_t kMostConditionsTried = 24, kMostConditionBytes = std::size_t(8) << 20;

CommandOptions startedBy(const ShellScript &script, RecordedSource &made, int &commands)
{
    CommandOptions all = trainingOptions(script, made, commands);
    if (addMlperfSettings(script, all))
        note(made, "It sets the variables of an MLPerf submission: MINIBS counts the sequences of one replica");
    addLaunch(script, all, made);
    return all;
}

/// Options that a condition decides whose outcome the script does not tell: what they are either way, under kInDoubt
/// and their name. Where nothing is started unless such a condition holds, the first that starts one does.
void addConditions(const SourceText &source, const ShellScript &script, CommandOptions &all, RecordedSource &made)
{
    const std::size_t most = std::min(
        { script.conditions().size(), kMostConditionsTried, kMostConditionBytes / (source.text.size() + 1) + 1 });
    drop(made, "conditions whose outcome the script does not tell, and that are too many to follow",
        std::int64_t(script.conditions().size() - most));
    std::map<std::string, std::string> inDoubt;
    const auto told = [](const CommandOptions &options, const std::string &name) {
        const auto at = options.arguments.find(name);
        return at != options.arguments.end() ? at->second : std::string("not given");
    };
    for (const UnknownCondition &condition : std::span(script.conditions()).first(most)) {
        int commands = 0;
        CommandOptions other = startedBy(ShellScript(source.text, { condition.at }), made, commands);
        if (all.trainings == 0)
            std::swap(all, other);
        if (other.trainings == 0)
            continue;
        for (const CommandOptions *options : { &all, &other })
            for (const auto &[name, value] : options->arguments)
                if (const std::string two = told(other, name); two != told(all, name)) {
                    std::string &text = inDoubt[name];
                    const std::string one =
                        two + " where line " + std::to_string(condition.line) + " has it (" + condition.text + "), ";
                    if (text.find(one) == text.npos)
                        text += one;
                }
    }
    for (const auto &[name, value] : inDoubt)
        if (const std::string text = value + "else " + told(all, name);
            all.arguments.size() < kMostArguments && !isUnknown(text))
            all.arguments.emplace(std::string(kInDoubt) + name, text.substr(0, kLongestArgumentValue));
}

/// "NODES 4, GPUS 8": variables at their defaults, of which an option that was taken is made.
std::string defaultsUsed(const ShellScript &script, const CommandOptions &all)
{
    std::string text;
    int count = 0;
    for (const auto &[name, value] : script.defaults()) {
        const bool isUsed = std::ranges::any_of(
            all.arguments, [&](const auto &argument) { return argument.second.find(value) != std::string::npos; });
        if (isUsed && ++count <= 8)
            text += (text.empty() ? "" : ", ") + name + " " + value.substr(0, 60);
    }
    return count > 8 ? text + " and " + std::to_string(count - 8) + " more" : text;
}

/// "options whose values the script does not tell: --save $OUT, …", those of no training at the end.
std::string optionsUntold(const CommandOptions &all)
{
    constexpr std::size_t kMostNamed = 12;
    std::string text;
    std::size_t count = 0;
    for (const bool isTraining : { true, false })
        for (const auto &[name, by] : all.untold)
            if (isOfTraining(name) == isTraining && ++count <= kMostNamed) {
                std::string option = "--" + name;
                std::ranges::replace(option, '_', '-');
                text += (text.empty() ? "" : ", ") + option.substr(0, 60) + " (" + by.substr(0, 100) + ")";
            }
    return "options whose values the script does not tell: " + text
        + (count > kMostNamed ? " and " + std::to_string(count - kMostNamed) + " more" : "");
}

/// Of a script that is built on transformers' Trainer, all that is its or Accelerate's behind a prefix.
bool isOfTrainer(CommandOptions &all)
{
    if (!all.arguments.contains("per_device_train_batch_size"))
        return false;
    static constexpr std::array<std::string_view, 7> kLaunchers { "nnodes", "nproc_per_node", "tasks_per_node", "tasks",
        "gpu", "gres", "constraint" };
    std::map<std::string, std::string> named;
    for (auto &[name, value] : all.arguments)
        named.emplace(std::ranges::find(kLaunchers, name) != kLaunchers.end() || name.starts_with(kInDoubt)
                    || name.starts_with(kUntold) || name.starts_with(kOfScript) || name.starts_with("ds_config.")
                ? name
                : "hf_trainer." + name,
            std::move(value));
    // Precision is fp32 unless something asks for less, or a file may that is not read here.
    const bool isAsked = std::ranges::any_of(
        std::to_array<const char *>({ "bf16", "fp16", "torch_dtype", "deepspeed", "launch.mixed_precision",
            "launch.config_file", "launch.deepspeed_config_file", "launch.use_deepspeed" }),
        [&](const char *name) { return named.contains(std::string("hf_trainer.") + name); });
    if (!isAsked)
        named.emplace("hf_trainer.bf16", "False");
    all.arguments = std::move(named);
    return true;
}

} // namespace

int looksLikeTrainingScript(std::string_view fileName, std::string_view head)
{
    if (withoutLaunchers(head)) // printed: no shell would run it as it stands
        return 0;
    const auto hits =
        std::ranges::count_if(kOptions, [&](std::string_view option) { return head.find(option) != head.npos; });
    if (hits > 0 && scriptOfJob(head))
        return 97; // above YAML that has Megatron's names as keys
    const bool hasSettings = looksLikeMlperfSettings(head);
    if (isScript(fileName, head))
        return hits > 0 || hasSettings ? 92 : 0;
    return hits >= 2 && head.find("--") != head.npos ? 60 : hasSettings && head.find("export ") != head.npos ? 60 : 0;
}

Expected<Recording> readTrainingScript(const SourceText &source, const SourceOptions &)
{
    if (source.text.size() > kMostSettingsText)
        return std::unexpected(Error { ErrorCode::BadSyntax, source.file,
            "It looks like a script that starts a training, but is longer than 4 MiB", "" });
    Recording recording = recordingOf(source, SourceKind::MegatronArguments);
    RecordedSource &made = recording.sources.front();
    const std::optional<std::string> ofJob = scriptOfJob(source.text);
    const SourceText own { source.file, ofJob ? std::string_view(*ofJob) : std::string_view(source.text) };
    ShellScript script(own.text);
    int commands = 0;
    CommandOptions all = startedBy(script, made, commands);
    addConditions(own, script, all, made);
    if (all.trainings == 0)
        return std::unexpected(Error { ErrorCode::BadSyntax, source.file,
            "It is a script that names options of a training, but no command of it can be understood", "" });
    drop(made, optionsUntold(all), std::ssize(all.untold));
    if (const std::string defaults = defaultsUsed(script, all); !defaults.empty())
        note(made, "Variables of its environment are taken to have the script's own defaults: " + defaults);
    if (!script.others().empty())
        note(made, "It reads another script, whose variables are unknown here");
    const bool isTrainer = all.arguments.contains("per_device_train_batch_size");
    addWrittenConfig(script, all, isTrainer);
    addOverriddenModel(all, recording);
    addFirstMegatrons(all);
    tellFacts(script, all, commands == 0);
    if (isOfTrainer(all)) {
        made.kind = SourceKind::AccelerateConfig;
        note(made, "It starts a training of Hugging Face's Trainer");
    }
    made.isTruncated = made.isTruncated || script.isCut();
    made.taken = std::ssize(all.arguments);
    recording.arguments = std::move(all.arguments);
    return recording;
}

} // namespace trainyard::readers
