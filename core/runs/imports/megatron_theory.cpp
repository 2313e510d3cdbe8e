// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/imports/megatron_theory.h"

#include "core/base/number_text.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainyard::imports {

namespace {

constexpr double kMiB = 1024.0 * 1024;
constexpr int kMostTensor = 128, kMostStages = 512, kMostLayers = 2000;
constexpr double kOfNorms = 0.004; // of a shard: what is not divided by the tensor degree
constexpr double kOverhead = 1.05; // that the formula without sequence parallelism adds
constexpr double kMuchLess = 0.6; // of the activations that nothing recomputed would leave
constexpr double kWeightsAndGradients = 6; // bytes a parameter: 2 and 4

const SampleSeries *seriesOf(const Recording &recording, std::uint32_t source, std::string_view name)
{
    const auto at = std::ranges::find_if(recording.series, [&](const SampleSeries &series) {
        return series.name == name && (source == kNoIndex || series.source == source) && series.rank < 0
            && !series.value.empty() && series.value.back() > 0 && series.value.back() < 1e18;
    });
    return at == recording.series.end() ? nullptr : &*at;
}

/// A quantity by how widely it may lie.
struct Range {
    double low = 0, high = 0;
    [[nodiscard]] bool meets(const Range &other) const { return low <= other.high && other.low <= high; }
};

struct Degrees {
    int tensor = 0, pipeline = 0, layers = 0;
    bool isTied = false;
    double width = 0;
};

/// Layers of a stage's activations: total / in-flight share = L a + (embedding's own), by the formula that was used.
/// False where no whole number of layers gives what was printed; 0 layers where it tells none.
bool findLayers(const MegatronTheory &theory, Degrees &job)
{
    const double a = theory.layerActivations.value, t = job.tensor, p = job.pipeline;
    if (!(a > 0))
        return true;
    if (!theory.isWithSequenceParallel)
        job.width = a / (10 + 24 / t);
    if (!theory.activations.isTold() || job.pipeline < 2)
        return true;
    double share = theory.interleaving > 0 ? theory.interleaving : 1;
    if (!(theory.interleaving > 0) && theory.inFlight > 0) {
        if (theory.inFlight > p)
            return false;
        share = theory.inFlight / p;
    }
    const double of = theory.activations.value / share / a;
    // The factor of interleaving is printed with two digits
    const double loose = of * (theory.interleaving > 0 ? 0.005 / theory.interleaving : 1e-4) + 0.01;
    // Beside the layers: input and dropout of the embedding, s b h p and 8 s b p bytes, the latter under 0.01 of a
    // layer
    Range beside { p / 38, p / 25 }; // with sequence parallelism: p / (18 + 4 f / h), f / h from 1.75 to 5
    double scale = 1;
    if (!theory.isWithSequenceParallel) {
        beside = { p / (10 + 24 / t), p / (10 + 24 / t) + 0.01 };
        scale = kOverhead;
    }
    const Range layers { of / scale - beside.high - loose, of / scale - beside.low + loose };
    const double first = std::ceil(layers.low);
    if (first > layers.high || first < 1)
        return false;
    if (first + 1 <= layers.high || first > kMostLayers)
        return true; // several
    job.layers = static_cast<int>(first);
    return true;
}

/// Every pair of degrees that gives what was printed. block / others = tensor × pipeline; fullest - others = token
/// table / tensor.
std::vector<Degrees> degreesOf(const MegatronTheory &theory)
{
    std::vector<Degrees> found;
    if (!theory.others.isTold()) { // one stage: (block + embedding) / fullest = tensor. Tied unless told, as by default
        const Range ranks { (theory.block.low() + theory.embedding.low()) / theory.fullest.high(),
            (theory.block.high() + theory.embedding.high()) / theory.fullest.low() * (1 + kOfNorms) };
        for (int tensor = 1; tensor <= kMostTensor; ++tensor)
            if (Degrees one { tensor, 1, 0, true, 0 };
                ranks.meets({ double(tensor), double(tensor) }) && findLayers(theory, one))
                found.push_back(one);
        return found;
    }
    const Range more { theory.fullest.low() - theory.others.high(), theory.fullest.high() - theory.others.low() };
    const Range shards { theory.block.low() / theory.others.high(),
        theory.block.high() / theory.others.low() * (1 + kOfNorms) };
    for (int tensor = 1; tensor <= kMostTensor; ++tensor)
        for (const bool isTied : { true, false }) {
            const double table = isTied ? 1 : 0.5;
            if (!more.meets({ theory.embedding.low() * table / tensor, theory.embedding.high() * table / tensor }))
                continue;
            for (int pipeline = std::max(2, static_cast<int>(shards.low / tensor));
                 pipeline <= std::min<double>(kMostStages, shards.high / tensor); ++pipeline) {
                Degrees one { tensor, pipeline, 0, isTied, 0 };
                if (!shards.meets({ double(tensor) * pipeline, double(tensor) * pipeline }) || !findLayers(theory, one))
                    continue;
                found.push_back(one);
            }
        }
    return found;
}

bool isPowerOfTwo(int value)
{
    return (value & (value - 1)) == 0;
}

/// The one that is left when what is usual is asked for: layers that divide into the stages, a tensor degree of two's
/// powers, as many micro-batches in flight as there are stages.
std::optional<Degrees> usualOf(std::vector<Degrees> found, const MegatronTheory &theory)
{
    const auto keep = [&](auto usual) {
        if (std::ranges::any_of(found, usual))
            std::erase_if(found, [&](const Degrees &one) { return !usual(one); });
    };
    keep([](const Degrees &one) { return one.layers == 0 || one.layers % one.pipeline == 0; });
    keep([](const Degrees &one) { return isPowerOfTwo(one.tensor); });
    keep([&](const Degrees &one) { return theory.inFlight == one.pipeline; });
    return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

std::string billions(double value, int digits)
{
    const double scale = std::pow(10.0, digits);
    std::string text = std::to_string(std::llround(value / 1e9 * scale));
    text.insert(0, std::size_t(std::max(0, digits + 1 - static_cast<int>(text.size()))), '0');
    return text.insert(text.size() - std::size_t(digits), ".");
}

class Deriving {
public:
    Deriving(const Recording &recording, DerivedJob &job)
        : m_recording(recording)
        , m_theory(job.theory)
        , m_job(job)
    {
    }

    void make()
    {
        if (m_theory.active.isTold() && m_theory.active.high() < m_theory.block.low())
            return; // experts: their shards are divided by degrees of their own
        if (!m_theory.block.isTold() || !m_theory.embedding.isTold() || !m_theory.fullest.isTold())
            return;
        const auto degrees = usualOf(degreesOf(m_theory), m_theory);
        if (!degrees)
            return;
        m_job.tensor = degrees->tensor;
        m_job.pipeline = degrees->pipeline;
        m_job.layers = degrees->layers;
        m_job.width = degrees->width;
        m_job.isTied = degrees->isTied;
        if (m_job.pipeline == 1) {
            m_job.table = m_theory.embedding;
            add("tensor_model_parallel_size", std::to_string(m_job.tensor),
                "the one shard of each rank is that part of all parameters");
            add("pipeline_model_parallel_size", "1", "there are no other shards than the fullest");
        } else {
            takeDegrees();
        }
        takeVirtualStages();
        takeWorld();
        takeStates();
        takeActivations();
    }

private:
    void takeDegrees()
    {
        takeTable();
        const std::string shards = std::to_string(m_job.tensor * m_job.pipeline);
        add("tensor_model_parallel_size", std::to_string(m_job.tensor),
            "the fullest shard has " + billions(m_theory.fullest.value - m_theory.others.value, 4)
                + " billion parameters more than the others, the token table of "
                + billions(m_theory.embedding.value * (m_job.isTied ? 1 : 0.5), 2) + " billion divided by "
                + std::to_string(m_job.tensor));
        add("pipeline_model_parallel_size", std::to_string(m_job.pipeline),
            billions(m_theory.block.value, 2) + " billion parameters of the block / "
                + billions(m_theory.others.value, 4) + " billion of a shard = " + shards + " = tensor × pipeline");
        if (m_job.layers > 0)
            add("num_layers", std::to_string(m_job.layers),
                "the activations of the fullest shard are those of so many layers");
    }

    void add(std::string name, std::string value, const std::string &why)
    {
        m_job.arguments.push_back(
            { std::move(name), std::move(value), "Megatron's own estimate of memory, by which " + why });
    }

    void takeTable()
    {
        const double of = m_job.isTied ? 1 : 0.5, t = m_job.tensor;
        const double low =
            std::max(m_theory.embedding.low() * of, t * (m_theory.fullest.low() - m_theory.others.high()));
        const double high =
            std::min(m_theory.embedding.high() * of, t * (m_theory.fullest.high() - m_theory.others.low()));
        m_job.table = { (low + high) / 2, (high - low) / 2 };
        add("tied_embeddings", m_job.isTied ? "True" : "False",
            m_job.isTied ? "the embedding layers have one table" : "the embedding layers have two tables");
    }

    /// factor = 1 + (p - 1) / (p v)
    void takeVirtualStages()
    {
        const double p = m_job.pipeline, factor = m_theory.interleaving;
        if (!(factor > 1))
            return;
        const double chunks = std::round((p - 1) / (p * (factor - 1)));
        if (chunks >= 2 && chunks <= 64 && std::abs(1 + (p - 1) / (p * chunks) - factor) <= 0.0051)
            add("virtual_pipeline_model_parallel_size", std::to_string(std::lround(chunks)),
                "interleaving takes " + plainText(factor) + " times the activations");
    }

    /// Of the first replica alone does Megatron report memory: its ranks tell how many replicas there may be.
    void takeWorld()
    {
        int most = -1, common = 0;
        std::string ranks;
        for (const SampleSeries &series : m_recording.series)
            if (series.name == samples::kMemoryAllocated && series.rank >= 0 && series.source == m_theory.source) {
                most = std::max(most, series.rank);
                common = std::gcd(common, series.rank / m_job.tensor);
            }
        const int shards = m_job.tensor * m_job.pipeline;
        const int least = std::max(1, (std::max(0, most) + shards) / shards) * shards;
        add("world_size", std::to_string(least),
            "there are at least tensor × pipeline = " + std::to_string(shards) + " GPUs"
                + (least > shards ? ", and rank " + std::to_string(most) + " tells of itself" : "")
                + (common == 1 && least == shards ? "; ranks that report memory, which those of the first replica do, "
                                                    "leave room for no second one"
                                                  : "; more replicas are told by nothing"));
    }

    /// 18 bytes a parameter where each replica has all states, else 6 + 12 / replicas.
    void takeStates()
    {
        if (!m_theory.states.isTold())
            return;
        m_job.bytesPerParameter = m_theory.states.value / m_theory.fullest.value;
        const bool isWhole = std::abs(m_job.bytesPerParameter - 18) < 0.01;
        if (!isWhole && !(m_job.bytesPerParameter > 6 && m_job.bytesPerParameter < 17.99))
            return;
        add("use_distributed_optimizer", isWhole ? "False" : "True",
            "weights and optimizer take " + plainText(m_job.bytesPerParameter) + " bytes a parameter"
                + (isWhole ? ", as where nothing of them is divided" : ", less than the 18 of an undivided optimizer"));
    }

    void takeActivations()
    {
        if (!m_theory.layerActivations.isTold())
            return;
        if (m_theory.isWithSequenceParallel) {
            add("sequence_parallel", "True", "the formula with sequence parallelism was used");
            add("recompute_granularity", "selective", "the formula of selective recomputation was used");
            return;
        }
        add("sequence_parallel", "False",
            "the formula was used that is for runs without sequence parallelism (or without selective recomputation)");
        double most = 0;
        for (const SampleSeries &series : m_recording.series)
            if (series.name == samples::kMemoryAllocated && series.source == m_theory.source)
                for (const double value : series.value)
                    most = value > most && value < 1e15 ? value : most;
        if (most > 0 && m_theory.activations.isTold()
            && most - kWeightsAndGradients * (m_theory.others.isTold() ? m_theory.others : m_theory.fullest).value
                < kMuchLess * m_theory.activations.value)
            add("recompute_granularity", "full",
                "activations would take " + bytesText(m_theory.activations.value)
                    + " if they were kept, and a GPU never held more than " + bytesText(most) + " of all");
    }

    const Recording &m_recording;
    const MegatronTheory &m_theory;
    DerivedJob &m_job;
};

} // namespace

std::optional<MegatronTheory> megatronTheory(const Recording &recording)
{
    const SampleSeries *block = seriesOf(recording, kNoIndex, "log.Number of parameters in transformer block");
    if (!block)
        return std::nullopt;
    MegatronTheory theory;
    theory.source = block->source;
    const auto take = [&](Rounded &to, const char *name, double half) {
        if (const SampleSeries *series = seriesOf(recording, theory.source, name))
            to = { series->value.back(), half };
    };
    take(theory.block, "log.Number of parameters in transformer block", 0.0051e9);
    take(theory.active, "log.Number of active parameters in transformer block", 0.0051e9);
    take(theory.embedding, "log.Number of parameters in embedding layers", 0.0051e9);
    take(theory.fullest, "log.Number of parameters in most loaded shard", 0.000051e9);
    take(theory.others, "log.Number of parameters in other shards", 0.000051e9);
    take(theory.layerActivations, "log.Activation memory footprint per transformer layer", 0.051 * kMiB);
    take(theory.states, "log.theoretical weight and optimizer", 0.0051 * kMiB);
    take(theory.activations, "log.theoretical activation", 0.0051 * kMiB);
    Rounded other;
    take(other, "log.Number of in-flight microbatches", 0);
    theory.inFlight = other.value;
    other = {};
    take(other, "log.Memory penalty from interleaved schedule", 0);
    theory.interleaving = other.value;
    other = {};
    take(other, "log.Activation memory without sequence parallelism", 0);
    theory.isWithSequenceParallel = !other.isTold();
    return theory;
}

std::optional<DerivedJob> derivedJob(const Recording &recording)
{
    auto theory = megatronTheory(recording);
    if (!theory)
        return std::nullopt;
    DerivedJob job { .theory = *theory };
    Deriving(recording, job).make();
    return job;
}

} // namespace trainyard::imports
