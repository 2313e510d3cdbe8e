// SPDX-License-Identifier: GPL-3.0-or-later
// Lines in which a log tells of its job: the command that started it, the configuration that Megatron-Bridge prints as
// YAML, torchtitan's mesh, model, GPU and batch, the batch of Hugging Face's Trainer, the ranks in Primus's lines. They
// become arguments, as a script or a configuration beside the log would.
#include "core/runs/telemetry/readers/command_options.h"
#include "core/runs/telemetry/readers/log_parser.h"
#include "core/runs/telemetry/readers/training_script.h"

#include <array>

namespace trainyard::readers {

namespace {

constexpr std::size_t kMostYaml = std::size_t(1) << 20;
constexpr int kLeastOptions = 3; // of a training, in a line that is its command

bool isRule(std::string_view text)
{
    text = trimmed(text);
    return text.size() >= 8 && text.find_first_not_of('-') == text.npos;
}

class JobLines : public LogParser {
public:
    JobLines()
        : LogParser(SourceKind::StepLog, "job")
    {
    }

    bool take(const TextLine &line) override
    {
        const bool isTaken = takeYaml(line) || takeCommand(line) || takeTorchtitan(line.text) || takeTrainer(line.text)
            || takeSize(line.text);
        lookForRanks(line.text);
        return isTaken && sure(2);
    }

protected:
    void finish() override
    {
        if (m_isInYaml)
            endYaml();
    }

private:
    /// "------- Task Configuration -------", YAML, and a line of dashes.
    bool takeYaml(const TextLine &line)
    {
        if (!m_isInYaml) {
            m_isInYaml = line.text.find("--- Task Configuration ---") != line.text.npos && !line.isOpen;
            m_yaml.clear();
            return m_isInYaml;
        }
        // A log that goes on without the line of dashes: what has come so far is the configuration
        const bool isOver = isRule(line.text), isOther = !isOver && !mayBeOfYaml(line.text);
        if (!isOver && !isOther) {
            m_yaml.append(line.text).push_back('\n');
            if (m_yaml.size() < kMostYaml)
                return true;
            drop(m_told, "a configuration of more than 1 MiB");
            m_yaml.clear();
            m_isInYaml = false;
            return true;
        }
        endYaml();
        return isOver;
    }

    void endYaml()
    {
        m_isInYaml = false;
        if (auto told = argumentsOfYaml(m_yaml, "the configuration that the log prints"))
            for (auto &[name, value] : told->arguments)
                addArgument(name, std::move(value));
        m_yaml.clear();
    }

    /// "key:", "- item", an empty line, or what is further in.
    static bool mayBeOfYaml(std::string_view text)
    {
        const std::string_view own = trimmed(text);
        if (own.empty() || own.starts_with("- ") || own == "-" || text.starts_with(' '))
            return own.find(" | ") == own.npos;
        const std::size_t colon = own.find(':');
        return colon != own.npos && colon > 0 && own.find_first_of(" \t[]|") >= colon;
    }

    /// "… pretrain_gpt.py --num-layers 24 …", as launchers and scripts echo it.
    bool takeCommand(const TextLine &line)
    {
        if (line.isOpen || line.text.find(".py ") == line.text.npos || line.text.find(" --") == line.text.npos)
            return false;
        std::vector<std::string> words;
        for (const std::string_view word : fieldsOf(line.text))
            words.emplace_back(word);
        CommandOptions options = optionsOf(words);
        if (options.trainings < kLeastOptions)
            return false;
        for (auto &[name, value] : options.arguments)
            addArgument(name, std::move(value));
        return true;
    }

    bool takeTorchtitan(std::string_view text)
    {
        if (auto mesh = behind(text, "Building device mesh with parallelism:")) {
            static constexpr std::array<std::pair<std::string_view, const char *>, 6> kDegrees {
                { { "pp", "pipeline_parallel_degree" }, { "dp_replicate", "data_parallel_replicate_degree" },
                    { "dp_shard", "data_parallel_shard_degree" }, { "cp", "context_parallel_degree" },
                    { "tp", "tensor_parallel_degree" }, { "ep", "expert_parallel_degree" } }
            };
            for (const std::string_view degree : fieldsAt(*mesh, ','))
                for (const auto &[theirs, name] : kDegrees)
                    if (std::string_view value = degree; takeText(value, theirs) && takeText(value, "="))
                        if (const auto count = takeWhole(value))
                            addArgument(std::string("parallelism.") + name, std::to_string(*count));
            m_isTorchtitan = true;
            return true;
        }
        if (auto gpu = behind(text, "capacity:");
            gpu && gpu->find(" with ") != gpu->npos && gpu->ends_with(" memory")) {
            addArgument("gpu", std::string(trimmed(gpu->substr(0, gpu->find(" with ")))));
            return true;
        }
        if (!m_isTorchtitan)
            return false;
        if (auto model = behind(text, "Building")) {
            const auto words = fieldsOf(*model); // "llama3 70B", and "with" its arguments in later versions
            if (m_hasModel || words.size() < 2 || (words.size() > 2 && words[2] != "with"))
                return false;
            addArgument("model.name", std::string(words[0]));
            addArgument("model.flavor", std::string(words[1]));
            return m_hasModel = true;
        }
        const auto trainer = behind(text, "Trainer is initialized with");
        return trainer && takeBatch(*trainer);
    }

    /// "32768 tokens per DP rank, 524288 tokens per train step, gradient accumulation steps 2, maximum context length
    /// 8192", or "local batch size 1, global batch size 64, gradient accumulation steps 1, sequence length 8192".
    bool takeBatch(std::string_view text)
    {
        std::optional<std::int64_t> tokensOfRank, tokens, length;
        for (const std::string_view part : fieldsAt(text, ',')) {
            std::string_view rest = part;
            const auto first = takeWhole(rest);
            if (first && trimmed(rest) == "tokens per DP rank")
                tokensOfRank = first;
            else if (first && trimmed(rest) == "tokens per train step")
                tokens = first;
            else if (const auto last = leadingInteger(part.substr(part.find_last_of(' ') + 1)); last && *last > 0) {
                if (part.starts_with("local batch size"))
                    addArgument("training.local_batch_size", std::to_string(*last));
                else if (part.starts_with("global batch size"))
                    addArgument("training.global_batch_size", std::to_string(*last));
                else if (part.starts_with("sequence length") || part.starts_with("maximum context length"))
                    length = last;
            }
        }
        if (length)
            addArgument("training.seq_len", std::to_string(*length));
        if (length && tokensOfRank && *tokensOfRank % *length == 0)
            addArgument("training.local_batch_size", std::to_string(*tokensOfRank / *length));
        if (length && tokens && *tokens % *length == 0)
            addArgument("training.global_batch_size", std::to_string(*tokens / *length));
        return true;
    }

    /// Hugging Face's Trainer: "Instantaneous batch size per device = 4" and what stands around it.
    bool takeTrainer(std::string_view text)
    {
        const std::size_t sign = text.rfind(" = ");
        if (sign == text.npos)
            return false;
        const std::string_view key = trimmed(text.substr(0, sign));
        const auto value = leadingNumber(text.substr(sign + 3));
        std::int64_t *count = key.ends_with("Instantaneous batch size per device") ? &m_ofDevice
            : key.ends_with("Gradient Accumulation steps")                         ? &m_accumulated
            : key.find("Total train batch size (w. parallel") != key.npos          ? &m_total
                                                                                   : nullptr;
        if (!count || !value || *value < 1 || *value > 1e9)
            return false;
        *count = static_cast<std::int64_t>(*value);
        if (m_ofDevice > 0 && m_accumulated > 0 && m_total > 0 && m_total % (m_ofDevice * m_accumulated) == 0) {
            addArgument("micro_batch_size", std::to_string(m_ofDevice));
            addArgument("global_batch_size", std::to_string(m_total));
            const std::string replicas = std::to_string(m_total / m_ofDevice / m_accumulated);
            addArgument("data_parallel_size", replicas);
            addArgument("world_size", replicas); // the Trainer's replicas are a GPU each
        }
        return true;
    }

    /// "NUM_GPUS:  252", as scripts of Slurm jobs print their variables.
    bool takeSize(std::string_view text)
    {
        static constexpr std::array<std::pair<std::string_view, const char *>, 6> kSizes {
            { { "NUM_GPUS:", "world_size" }, { "WORLD_SIZE:", "world_size" }, { "SLURM_JOB_NUM_NODES:", "nnodes" },
                { "SLURM_NNODES:", "nnodes" }, { "SLURM_GPUS_PER_NODE:", "nproc_per_node" },
                { "SLURM_GPUS_ON_NODE:", "nproc_per_node" } }
        };
        for (const auto &[key, name] : kSizes)
            if (std::string_view rest = trimmed(text); takeText(rest, key)) {
                rest = trimmed(rest);
                const auto count = takeWhole(rest);
                if (!count || *count < 1 || *count > 10'000'000 || !rest.empty())
                    return false;
                addArgument(name, std::to_string(*count));
                return true;
            }
        return false;
    }

    /// "[rank-7/8]" of Primus. The line itself is another parser's.
    void lookForRanks(std::string_view text)
    {
        const std::size_t at = m_hasRanks ? text.npos : text.find("[rank-");
        std::string_view rest = at == text.npos ? std::string_view() : text.substr(at + 6);
        if (!takeWhole(rest) || !takeText(rest, "/"))
            return;
        const auto world = takeWhole(rest);
        if (!world || *world < 1 || *world > 10'000'000 || !takeText(rest, "]"))
            return;
        addArgument("world_size", std::to_string(*world));
        m_hasRanks = true;
    }

    std::string m_yaml;
    std::int64_t m_ofDevice = 0, m_accumulated = 0, m_total = 0;
    bool m_isInYaml = false, m_isTorchtitan = false, m_hasModel = false, m_hasRanks = false;
};

} // namespace

LogParserPtr makeJobLinesParser()
{
    return std::make_unique<JobLines>();
}

} // namespace trainyard::readers
