// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/training_logs.h"

#include "core/base/printable.h"
#include "core/runs/telemetry/readers.h"
#include "core/runs/telemetry/readers/growing_log.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/settings_tree.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace trainyard {

namespace {

using namespace readers;

constexpr std::size_t kHeadOfText = std::size_t(64) << 10;

struct Guess {
    SourceKind kind = SourceKind::Unknown;
    int sureness = 0;
};

/// Every log reader asks it of the same head: the last answer is kept.
Guess guessOf(std::string_view head)
{
    thread_local std::string lastHead;
    thread_local Guess last;
    if (lastHead == head)
        return last;
    GrowingLog log({});
    TextLines lines(head);
    const bool isScript = head.starts_with("#!"); // which may have lines of a log in its comments
    for (TextLine line; lines.next(line);)
        if (!isScript || !line.text.starts_with('#'))
            log.take(line);
    lastHead = head;
    return last = { log.kind(), log.sureness() };
}

template <SourceKind kind> int looksLikeLog(std::string_view, std::string_view head)
{
    const Guess guess = guessOf(head);
    return guess.kind == kind ? guess.sureness : 0;
}

/// A log may begin with megabytes of other lines: text that nobody else knows is read through.
int mayBeLog(std::string_view, std::string_view head)
{
    const auto isStrange = [](char c) {
        return (c >= '\0' && c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\x1b' && c != '\b') || c == '\x7f';
    };
    const bool isText = head.starts_with("\xff\xfe") || std::ranges::none_of(head.substr(0, 4096), isStrange);
    return !head.empty() && isText ? 1 : 0;
}

/// Trainers whose scripts and settings are not read, by what only theirs have.
struct NamedTool {
    std::string_view mark;
    const char *name;
};
constexpr auto kToolsOfScripts = std::to_array<NamedTool>({ { "actor_rollout_ref.", "verl, which trains by samples" },
    { "openrlhf.", "OpenRLHF, which trains by samples" }, { "tune run", "torchtune" }, { "swift sft", "ms-swift" },
    { "swift pt", "ms-swift" }, { "megatron sft", "ms-swift" }, { "megatron pt", "ms-swift" },
    { "lingua.stool", "Meta Lingua" }, { "llamafactory-cli", "LLaMA-Factory" }, { "composer train", "llm-foundry" },
    { "composer scripts/train", "llm-foundry" }, { "training.trainer.", "NeMo 1's launcher" },
    { "nemo_launcher", "NeMo 1's launcher" }, { "olmo_core", "OLMo-core" } });

std::string toolOfScript(std::string_view start)
{
    const auto known = std::ranges::find_if(
        kToolsOfScripts, [&](const NamedTool &tool) { return start.find(tool.mark) != start.npos; });
    return known == kToolsOfScripts.end() ? std::string() : known->name;
}

std::string toolOfYaml(const SettingsNode &root, std::string_view start)
{
    const auto has = [&](const char *path) { return root.find(path) != nullptr; };
    if (start.find("_component_: torchtune.") != start.npos)
        return "torchtune";
    if (has("actor_rollout_ref"))
        return "verl, which trains by samples";
    if (has("train_loader") && (has("model.d_model") || has("model.pretrained_model_name_or_path")))
        return "llm-foundry";
    if (has("model.d_model") && (has("model.mlp_ratio") || has("model.mlp_hidden_size")) && has("model.weight_tying"))
        return "OLMo";
    if (has("distributed.fsdp_type") && has("model.dim"))
        return "Meta Lingua";
    if (has("exp_manager") && has("trainer") && has("model"))
        return "NeMo";
    return {};
}

constexpr const char *kInstead = ", which is not read: the model's config.json, a log of the run, or a plan with its "
                                 "values can be given";

/// Of programs and settings that no reader knows, what they are; empty: of nothing that is known.
std::string sourceNamed(std::string_view file, std::string_view start)
{
    const std::string_view line = start.substr(0, start.find('\n'));
    const auto isNamed = [&](std::string_view end) { return file.ends_with(end); };
    if (isNamed(".sh") || isNamed(".bash") || isNamed(".slurm") || isNamed(".sbatch")
        || (line.starts_with("#!") && line.find("sh") != line.npos))
        return toolOfScript(start).empty()
            ? "It is a shell script, but no command of it gives options of a trainer that is known here"
            : "It is a script of " + toolOfScript(start) + kInstead;
    if (isNamed(".py") || (line.starts_with("#!") && line.find("python") != line.npos))
        return "It is a Python program, which is not run: what it prints as its configuration, or the command that "
               "starts it, can be read";
    if (!isNamed(".yaml") && !isNamed(".yml"))
        return {};
    const auto tree = yamlSettings(start.substr(0, start.rfind('\n')));
    if (!tree || !tree->root.isMap())
        return {};
    if (const std::string tool = toolOfYaml(tree->root, start); !tool.empty())
        return "It is a configuration of " + tool + kInstead;
    std::string keys;
    int count = 0;
    for (const SettingsNode &node : tree->root.below)
        if (++count <= 4)
            keys += (keys.empty() ? "" : ", ") + shortened(node.key);
    return "It is YAML (" + keys + (count > 4 ? " …" : "")
        + "), but no configuration of a trainer or a cluster that is known here";
}

/// Whether a text goes on as JSON, or as Python writes the same: "[2026-11-29 10:00:01] …" and "[rank0] …" do not.
bool goesOnAsJson(std::string_view start)
{
    if (start.empty() || (start.front() != '{' && start.front() != '['))
        return false;
    const bool isList = start.front() == '[';
    std::string_view rest = trimmedStart(start.substr(1));
    if (rest.empty() || rest[0] == '"' || rest[0] == '\'' || rest[0] == (isList ? ']' : '}'))
        return true;
    if (!isList)
        return false;
    if (rest[0] == '{' || rest[0] == '[')
        return goesOnAsJson(rest);
    std::size_t end = rest.find_first_of(", ]\n\r\t");
    const std::string_view item = rest.substr(0, end);
    const bool isValue = item == "true" || item == "false" || item == "null" || item == "None" || item == "True"
        || item == "False" || item.find_first_not_of("0123456789.+-eE") == item.npos;
    end = std::min(rest.find_first_not_of(" \t\r\n", end), rest.size());
    if (!isValue || end == rest.size() || item.find('-', 1) != item.npos)
        return isValue && end == rest.size();
    return rest[end] == ',' || (rest[end] == ']' && trimmed(rest.substr(end + 1)).empty());
}

/// A text of lines, of which a line pattern may say what stands where: none of its own kind.
bool isPlainText(std::string_view file, std::string_view start)
{
    return !start.empty() && !goesOnAsJson(start) && !start.starts_with('<') && sourceNamed(file, start).empty();
}

/// Why a text is not read, by what it is.
std::string unknownText(std::string_view file, std::string_view text)
{
    const std::string_view start = trimmedStart(text.substr(0, 4096));
    if (start.empty() && text.size() <= 4096)
        return "There is nothing in it";
    if (goesOnAsJson(start)) {
        if (text.substr(0, std::size_t(64) << 10).find("\"trainyard.plan\"") != text.npos)
            return "It is a Trainyard plan, which tells of no run: `telemetry compare PLAN SOURCE` takes the plan "
                   "first, `telemetry verdict SOURCE --plan PLAN` by its option";
        const std::string_view end = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
        return std::string("It is JSON or written like it, but of no tool whose files are read here")
            + (end.ends_with('}') || end.ends_with(']') ? "" : "; it ends early");
    }
    if (start.starts_with('<'))
        return "It is XML or HTML, but of no tool whose files are read here";
    if (std::string what = sourceNamed(file, start); !what.empty())
        return what;
    return "It is a text, but no line of it is one that a training framework prints";
}

} // namespace

bool readers::mayTakeLinePattern(const std::string &file, std::string_view head)
{
    return mayBeLog({}, head) > 0 && isPlainText(file, trimmedStart(head.substr(0, 4096)));
}

Expected<Recording> readers::readTrainingLog(const SourceText &source, const SourceOptions &options)
{
    GrowingLog log(source.file, options.linePattern);
    PacedLines lines(source, options);
    for (TextLine line; lines.next(line);)
        log.take(line);
    if (log.sureness() == 0)
        return std::unexpected(Error { ErrorCode::BadSyntax, source.file,
            unknownText(source.file, source.text)
                + (options.linePattern ? "; the line pattern holds in none of its lines" : ""),
            "" });
    Recording recording = log.end();
    RecordedSource &made = recording.sources.front();
    made.bytes = source.packedBytes;
    made.isTruncated = made.isTruncated || source.isTruncated;
    return recording;
}

namespace {

/// What was printed under a launcher and is no log: by the reader of what it is without the prefixes of its lines.
Expected<Recording> readPrinted(const SourceText &source, const SourceOptions &options)
{
    const auto head = readers::withoutLaunchers(source.text.substr(0, kHeadOfText));
    const SourceReader *reader =
        head ? readerFor(std::filesystem::path(source.file).filename().string(), *head) : nullptr;
    if (!reader || reader->read == readPrinted)
        return readers::readTrainingLog(source, options);
    std::string plain = readers::withoutLaunchers(source.text).value_or(std::string());
    plain.append(kSourcePadding, '\0');
    SourceText own = source;
    own.text = std::string_view(plain).substr(0, plain.size() - kSourcePadding);
    return reader->read(own, options);
}

} // namespace

std::span<const SourceReader> readers::trainingLogs()
{
    static constexpr std::array<SourceReader, 8> kReaders { {
        { SourceKind::MlperfLog, looksLikeLog<SourceKind::MlperfLog>, readPrinted },
        { SourceKind::NemoLog, looksLikeLog<SourceKind::NemoLog>, readPrinted },
        { SourceKind::TorchtitanLog, looksLikeLog<SourceKind::TorchtitanLog>, readPrinted },
        { SourceKind::MegatronLog, looksLikeLog<SourceKind::MegatronLog>, readPrinted },
        { SourceKind::HfTrainerLog, looksLikeLog<SourceKind::HfTrainerLog>, readPrinted },
        { SourceKind::StepLog, looksLikeLog<SourceKind::StepLog>, readPrinted },
        { SourceKind::DeepSpeedLog, looksLikeLog<SourceKind::DeepSpeedLog>, readPrinted },
        { SourceKind::Unknown, mayBeLog, readPrinted },
    } };
    return kReaders;
}

} // namespace trainyard
