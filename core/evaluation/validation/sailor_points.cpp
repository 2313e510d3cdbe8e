// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/validation/sailor_points.h"

#include "core/base/or_abort.h"
#include "core/evaluation/validation/embedded_files.h"
#include "core/evaluation/validation/row_reader_internal.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr const char *kFile = "sailor_inputs.json";

/// Entries [how many, figures…], one for each run of equal layers.
template <class Layer, class Read> std::vector<Layer> readLayers(const Json &runs, Read read)
{
    std::vector<Layer> layers;
    for (const Json &run : runs)
        layers.insert(layers.end(), run.at(0).get<std::size_t>(), read(run));
    return layers;
}

SailorInputs readInputs(const Json &file)
{
    SailorInputs inputs;
    for (const Json &entry : file.at("times"))
        inputs.times[{ entry.at("model"), entry.at("gpu"), entry.at("tensor"), entry.at("micro_batch") }] =
            readLayers<sailor::LayerTime>(entry.at("layers"), [](const Json &run) {
                return sailor::LayerTime { Seconds { run.at(1) }, Seconds { run.at(2) }, Seconds { run.at(3) } };
            });
    for (const Json &entry : file.at("layers"))
        inputs.layers[{ entry.at("model"), entry.at("tensor") }] =
            readLayers<SailorInputs::LayerMemory>(entry.at("layers"), [](const Json &run) {
                return SailorInputs::LayerMemory { run.at(1), run.at(2), run.at(3) };
            });
    for (const Json &entry : file.at("links")) {
        const Json &curve = entry.at("gb_per_s");
        inputs.links[{ entry.at("from"), entry.at("to"), entry.at("gpus") }] = { curve.at(0), curve.at(1),
            curve.at(2) };
    }
    return inputs;
}

SailorPoint readPoint(const Json &entry)
{
    SailorPoint point;
    point.id = entry.at("id");
    point.model = entry.at("model");
    point.microBatch = entry.at("micro_batch");
    point.globalBatch = entry.at("global_batch");
    point.iterationSeconds = entry.at("iteration_time_s");
    point.peakBytes = entry.at("peak_bytes");
    point.unsound = entry.value("unsound", "");
    for (const Json &stage : entry.at("stages")) {
        SailorPoint::Stage &read = point.stages.emplace_back();
        read.layers = stage.at("layers");
        for (const Json &equal : stage.at("replicas"))
            read.replicas.push_back({ equal.at(0), equal.at(1), equal.at(2), equal.at(3) });
    }
    return point;
}

SailorRelease readRelease()
{
    const Json file = orAbort(parseHeaded(embeddedValidationFile(kFile), kFile, "trainyard.validation-sailor"));
    SailorRelease release { readInputs(file), {} };
    for (const Json &entry : file.at("points"))
        release.points.push_back(readPoint(entry));
    return release;
}

/// The replicas of a point one by one, and what the release knows of them.
class ProblemMaker {
public:
    ProblemMaker(const SailorPoint &point, const SailorInputs &inputs)
        : m_point(point)
        , m_inputs(inputs)
    {
        for (const SailorPoint::Stage &stage : point.stages) {
            std::vector<const SailorPoint::Replicas *> &machines = m_machines.emplace_back();
            for (const SailorPoint::Replicas &equal : stage.replicas)
                machines.insert(machines.end(), std::size_t(equal.count), &equal);
        }
    }

    [[nodiscard]] Expected<sailor::Problem> make()
    {
        sailor::Problem problem;
        problem.microBatch = m_point.microBatch;
        problem.globalBatch = m_point.globalBatch;
        std::size_t firstLayer = 0;
        for (std::size_t i = 0; i < m_machines.size(); ++i) {
            problem.stages.push_back(stage(i, firstLayer));
            firstLayer += std::size_t(m_point.stages[i].layers);
        }
        if (!m_missing.empty())
            return std::unexpected(Error { ErrorCode::UnknownName, m_point.id, "the release has no " + m_missing,
                "a model, GPU, tensor degree, micro-batch and link of its profiles" });
        return problem;
    }

private:
    using Machine = SailorPoint::Replicas;

    /// The layers [first, last) of a table, or nothing, which is remembered.
    template <class Layer, class Key>
    std::span<const Layer> layersOf(
        const std::map<Key, std::vector<Layer>> &tables, const Key &key, std::size_t first, std::size_t count)
    {
        const auto table = tables.find(key);
        if (table != tables.end() && first + count <= table->second.size() && count > 0)
            return std::span(table->second).subspan(first, count);
        m_missing = "such layers of " + m_point.model;
        return {};
    }

    LinkCurve link(const Machine &from, const Machine &to, int gpus)
    {
        const auto found = m_inputs.links.find({ from.gpu, to.gpu, gpus });
        if (found != m_inputs.links.end())
            return found->second;
        m_missing = "link from " + from.gpu + " to " + to.gpu;
        return {};
    }
    /// Of a tensor group, which sends with as many GPUs as it has in one machine.
    LinkCurve groupLink(const Machine &from, const std::vector<const Machine *> &to, std::size_t replica)
    {
        return link(from, *to[replica % to.size()], std::min(from.tensor, from.gpusPerNode));
    }

    sailor::Stage stage(std::size_t index, std::size_t firstLayer)
    {
        const auto count = std::size_t(m_point.stages[index].layers);
        sailor::Stage stage;
        const auto whole = layersOf(m_inputs.layers, { m_point.model, 1 }, firstLayer, count);
        if (whole.empty())
            return stage;
        for (const SailorInputs::LayerMemory &layer : whole)
            stage.parameters += layer.parameters;
        stage.sentOn = whole.back().sent;
        stage.sentBack = whole.front().sent;
        const std::vector<const Machine *> &machines = m_machines[index];
        for (std::size_t r = 0; r < machines.size(); ++r) {
            const Machine &own = *machines[r];
            sailor::Replica &replica = stage.replicas.emplace_back();
            replica.tensor = own.tensor;
            const auto times =
                layersOf(m_inputs.times, { m_point.model, own.gpu, own.tensor, m_point.microBatch }, firstLayer, count);
            replica.layers.assign(times.begin(), times.end());
            for (const auto &layer : layersOf(m_inputs.layers, { m_point.model, own.tensor }, firstLayer, count)) {
                replica.parameters += layer.parameters;
                replica.activations += layer.kept;
            }
            if (index + 1 < m_machines.size())
                replica.toNext = groupLink(own, m_machines[index + 1], r);
            if (index > 0)
                replica.toPrevious = groupLink(own, m_machines[index - 1], r);
            if (r + 1 < machines.size())
                replica.toNextReplica = link(own, *machines[r + 1], 1);
        }
        return stage;
    }

    const SailorPoint &m_point;
    const SailorInputs &m_inputs;
    std::vector<std::vector<const Machine *>> m_machines; // by stage
    std::string m_missing;
};

} // namespace

const SailorRelease &builtinSailorRelease()
{
    static const SailorRelease release = readRelease();
    return release;
}

Expected<sailor::Problem> sailorProblem(const SailorPoint &point, const SailorInputs &inputs)
{
    return ProblemMaker(point, inputs).make();
}

std::vector<SailorComparison> compareWithSailor(const std::vector<ValidationResult> &results)
{
    const SailorRelease &release = builtinSailorRelease();
    std::vector<SailorComparison> all;
    for (const SailorPoint &point : release.points) {
        const auto problem = sailorProblem(point, release.inputs);
        const auto form = problem ? sailor::predict(*problem) : std::unexpected(problem.error());
        if (!form)
            continue;
        SailorComparison &compared = all.emplace_back(SailorComparison { &point, *form });
        compared.formTime = form->iteration().value / point.iterationSeconds - 1;
        compared.formMemory = form->memory.value / point.peakBytes - 1;
        for (const ValidationResult &result : results) {
            if (result.source != kSailorSource || result.id != point.id)
                continue;
            if (result.metric == "iteration_time_s")
                compared.ourTime = result.error();
            if (result.metric == "memory.peak_bytes")
                compared.ourMemory = result.error();
        }
    }
    return all;
}

bool SailorPoint::hasUnequalGpus() const
{
    return id.starts_with("mit/");
}

SailorErrors sailorErrors(const std::vector<SailorComparison> &points, bool ofUnequalGpus)
{
    SailorErrors means;
    for (const SailorComparison &point : points) {
        if (!point.point->unsound.empty() || point.point->hasUnequalGpus() != ofUnequalGpus)
            continue;
        ++means.n;
        means.formTime += std::abs(point.formTime);
        means.formMemory += std::abs(point.formMemory);
        if (!point.ourTime || !point.ourMemory)
            continue;
        ++means.ours;
        means.ourTime += std::abs(*point.ourTime);
        means.ourMemory += std::abs(*point.ourMemory);
    }
    means.formTime /= std::max(means.n, 1), means.formMemory /= std::max(means.n, 1);
    means.ourTime /= std::max(means.ours, 1), means.ourMemory /= std::max(means.ours, 1);
    return means;
}

} // namespace trainyard
