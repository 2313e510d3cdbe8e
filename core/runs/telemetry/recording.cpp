// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/recording.h"

#include <algorithm>
#include <array>
#include <limits>

namespace trainyard {

namespace {

constexpr std::array kNames { "file that no reader knows", "recording", "PyTorch profiler trace",
    "Chakra execution trace", "Chakra execution trace as JSON", "PyTorch execution trace", "Megatron log",
    "torchtitan log", "DeepSpeed log", "NeMo log", "Hugging Face Trainer log", "Hugging Face trainer_state.json",
    "MLPerf log", "golden values of Megatron's tests", "wandb run file", "TensorBoard event file",
    "table of nccl-tests", "JSON of nccl-tests", "NCCL Inspector log", "NCCL debug log",
    "dump of NCCL's example profiler", "flight recorder dump", "iperf3 result", "fio result", "nvidia-smi query",
    "nvidia-smi dmon table", "metrics exposition", "answer of a Prometheus server", "OTLP message as JSON",
    "OTLP message as protobuf", "Hugging Face config.json", "Megatron arguments", "torchtitan configuration",
    "Slurm topology", "topology matrix of nvidia-smi or rocm-smi", "NCCL topology", "NCCL graph", "hwloc topology",
    "ibnetdiscover output", "iblinkinfo output", "SkyPilot catalogue", "plan", "Slurm node list",
    "list of AWS instance types", "nanotron configuration", "DeepSpeed configuration", "Accelerate configuration",
    "LLaMA-Factory configuration", "Axolotl configuration", "NeMo Automodel configuration", "MaxText configuration",
    "Primus configuration", "log of a trainer", "export of Nsight Systems", "file of another profiler",
    "result of Trainyard's probe" };
static_assert(kNames.size() == std::size_t(SourceKind::Probe) + 1);

/// Of the parts' moments, what is to be added so that they count from one zero; 0 of those that know no Unix time.
std::vector<Moment> shiftsTo(Moment zero, const std::vector<Recording> &parts)
{
    std::vector<Moment> shifts;
    for (const Recording &part : parts)
        shifts.push_back(part.zero != 0 ? part.zero - zero : 0);
    return shifts;
}

Moment earliestZero(const std::vector<Recording> &parts)
{
    Moment zero = 0;
    for (const Recording &part : parts)
        if (part.zero != 0 && (zero == 0 || part.zero < zero))
            zero = part.zero;
    return zero;
}

class Merger {
public:
    explicit Merger(Moment zero)
        : m_nameOf(m_result.names)
    {
        m_result.zero = zero;
    }

    void add(Recording part, Moment shift)
    {
        const auto firstSource = static_cast<std::uint32_t>(m_result.sources.size());
        std::vector<std::uint32_t> names, groups;
        for (const std::string &name : part.names)
            names.push_back(m_nameOf(name));
        for (CommunicatorGroup &group : part.groups)
            groups.push_back(groupOf(std::move(group)));
        for (RecordedSource &source : part.sources)
            m_result.sources.push_back(std::move(source));
        const auto from = [&](std::uint32_t source) { return source == kNoIndex ? kNoIndex : source + firstSource; };
        takeAlignment(part, shift);
        for (RankRecording &rank : part.ranks) {
            renumber(rank, names, groups, shift);
            rank.timeBase += part.zero == 0 ? m_result.zero : 0; // its own times stay what they were
            rank.source = from(rank.source);
            m_result.ranks.push_back(std::move(rank));
        }
        for (SampleSeries &series : part.series) {
            series.source = from(series.source);
            if (!series.isByStep)
                for (Moment &at : series.at)
                    at += shift;
            m_result.series.push_back(std::move(series));
        }
        const auto takeOver = [&](auto &known, auto &more) {
            for (auto &one : more) {
                one.source = from(one.source);
                known.push_back(std::move(one));
            }
        };
        takeOver(m_result.benchmarks, part.benchmarks);
        takeOver(m_result.kernels, part.kernels);
        takeOver(m_result.models, part.models);
        takeOver(m_result.nodes, part.nodes);
        takeOver(m_result.switches, part.switches);
        takeOver(m_result.prices, part.prices);
        takeArguments(part, firstSource);
        if (m_result.name.empty())
            m_result.name = std::move(part.name);
    }

    Recording take()
    {
        std::ranges::stable_sort(m_result.ranks, {},
            [](const RankRecording &rank) { return rank.rank < 0 ? std::numeric_limits<int>::max() : rank.rank; });
        for (std::size_t i = 1; i < m_result.ranks.size(); ++i) {
            const RankRecording &rank = m_result.ranks[i];
            if (rank.rank >= 0 && rank.rank == m_result.ranks[i - 1].rank && rank.source < m_result.sources.size())
                m_result.sources[rank.source].notes.push_back("Another file has rank " + std::to_string(rank.rank)
                    + " too: both are kept. Several steps or attempts in one folder do that");
        }
        return std::move(m_result);
    }

private:
    /// The first source that tells an argument counts; what the others say stays beside it.
    void takeArguments(Recording &part, std::uint32_t firstSource)
    {
        if (part.argumentsOf.empty() && !part.arguments.empty())
            part.argumentsOf.push_back({ part.sources.size() > 1 ? kNoIndex : 0, std::move(part.arguments) });
        for (SourceArguments &told : part.argumentsOf) {
            told.source += told.source == kNoIndex ? 0 : firstSource;
            m_result.arguments.insert(told.arguments.begin(), told.arguments.end());
            m_result.argumentsOf.push_back(std::move(told));
        }
    }

    /// Drifts are told about one moment: that of the first part that was aligned.
    void takeAlignment(Recording &part, Moment shift)
    {
        const bool isAligned = std::ranges::any_of(
            part.ranks, [](const RankRecording &rank) { return rank.clockOffset != 0 || rank.clockDrift != 0; });
        if (!isAligned)
            return;
        const Moment about = part.alignedAt + shift;
        if (!m_isAligned)
            m_result.alignedAt = about;
        m_isAligned = true;
        for (RankRecording &rank : part.ranks)
            rank.clockOffset += rank.clockDrift * static_cast<double>(m_result.alignedAt - about);
    }

    std::uint32_t groupOf(CommunicatorGroup group)
    {
        std::size_t key = std::hash<std::string> {}(group.name);
        for (const int rank : group.ranks)
            key = key * 1'099'511'628'211u + static_cast<std::size_t>(rank) + 1;
        const auto [first, last] = m_groupByKey.equal_range(key);
        for (auto at = first; at != last; ++at)
            if (m_result.groups[at->second].name == group.name && m_result.groups[at->second].ranks == group.ranks)
                return at->second;
        const auto index = static_cast<std::uint32_t>(m_result.groups.size());
        m_groupByKey.emplace(key, index);
        m_result.groups.push_back(std::move(group));
        return index;
    }

    static void renumber(RankRecording &rank, const std::vector<std::uint32_t> &names,
        const std::vector<std::uint32_t> &groups, Moment shift)
    {
        for (RecordedStream &stream : rank.streams) {
            for (std::uint32_t &name : stream.spans.name)
                name = names[name];
            for (std::uint32_t &shape : stream.spans.shape)
                shape = shape == kNoIndex ? kNoIndex : names[shape];
            for (Moment &start : stream.spans.start)
                start += shift;
            for (Moment &start : stream.spans.launchedAt)
                start += start == kNoMoment ? 0 : shift;
        }
        for (RecordedCollective &collective : rank.collectives) {
            collective.operation = names[collective.operation];
            collective.group = collective.group == kNoIndex ? kNoIndex : groups[collective.group];
            collective.start += shift;
        }
        for (RecordedStep &step : rank.steps) {
            step.start += shift;
            step.end += shift;
        }
    }

    Recording m_result;
    NameTable m_nameOf;
    std::unordered_multimap<std::size_t, std::uint32_t> m_groupByKey; // by name and ranks
    bool m_isAligned = false; // some part was
};

} // namespace

const char *nameOf(SourceKind kind)
{
    return kNames[static_cast<std::size_t>(kind)];
}

std::size_t Recording::spanCount() const
{
    std::size_t count = 0;
    for (const RankRecording &rank : ranks)
        for (const RecordedStream &stream : rank.streams)
            count += stream.spans.size();
    return count;
}

std::uint32_t NameTable::operator()(std::string_view name)
{
    if (const auto known = m_index.find(name); known != m_index.end())
        return known->second;
    const auto index = static_cast<std::uint32_t>(m_names.size());
    m_names.emplace_back(name);
    m_index.emplace(m_names.back(), index);
    return index;
}

Recording mergeRecordings(std::vector<Recording> parts)
{
    if (parts.size() == 1)
        return std::move(parts.front());
    const Moment zero = earliestZero(parts);
    const std::vector<Moment> shifts = shiftsTo(zero, parts);
    Merger merger(zero);
    for (std::size_t i = 0; i < parts.size(); ++i)
        merger.add(std::move(parts[i]), shifts[i]);
    return merger.take();
}

} // namespace trainyard
