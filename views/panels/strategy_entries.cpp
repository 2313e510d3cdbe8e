// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/strategy_entries.h"

#include <QtGlobal>

#include <algorithm>

namespace trainyard {

namespace {

using Control = StrategyEntry::Control;

struct Row {
    template <class Owner, class T>
    Row(T Owner::*member, Control shown = Control::List, bool isFolded = false)
        : key(&rowOf(member))
        , control(shown)
        , isAdvanced(isFolded)
    {
    }
    const KeyRow *key;
    Control control; // of switches a switch
    bool isAdvanced, isPart = false;
};
/// Of the one above.
template <class Owner, class T> Row partOf(T Owner::*member, Control control = Control::List, bool isAdvanced = false)
{
    Row row(member, control, isAdvanced);
    row.isPart = true;
    return row;
}
struct Section {
    const char *title;
    EffectFocus focus;
    std::vector<Row> rows;
};

std::vector<Section> sections()
{
    return {
        { QT_TR_NOOP("Parallelism"), EffectFocus::Time,
            { { &Parallelism::tensor }, { &Parallelism::pipeline }, { &Parallelism::data }, { &Parallelism::context },
                { &Parallelism::sequenceParallel }, { &Parallelism::zeroStage } } },
        { QT_TR_NOOP("Schedule"), EffectFocus::Time,
            { { &Plan::schedule }, { &Parallelism::virtualPipeline }, { &WorkloadSpec::microBatch } } },
        { QT_TR_NOOP("Across datacenters"), EffectFocus::Time,
            { { &Placement::mode }, { &WanStrategy::tcpConnections, Control::Number }, { &WanStrategy::congestion },
                { &WanStrategy::sharing }, { &WanStrategy::cell, Control::Number }, { &WanStrategy::turns },
                { &WanStrategy::activationBits }, { &WanStrategy::allReduce }, { &WanStrategy::gradientBits },
                { &WanStrategy::localSgd }, partOf(&WanStrategy::localSteps, Control::Number),
                partOf(&WanStrategy::fragments, Control::Number), partOf(&WanStrategy::exchangeBits) } },
        { QT_TR_NOOP("Mixed GPUs"), EffectFocus::Time,
            { { &Heterogeneity::compute }, { &Heterogeneity::state }, { &Heterogeneity::layers },
                { &Heterogeneity::accumulation }, partOf(&Heterogeneity::gatherPrefetch),
                partOf(&Heterogeneity::boundaryOffload), { &Heterogeneity::unevenPenalty, Control::Field, true },
                { &Heterogeneity::accumulationOverheadMs, Control::Field, true },
                { &Heterogeneity::memoryFraction, Control::Field, true },
                { &Heterogeneity::commBufferGib, Control::Field, true },
                { &Heterogeneity::releasedStateFill, Control::List, true } } },
        { QT_TR_NOOP("Many models"), EffectFocus::Time,
            { { &Plan::jobScheduler }, partOf(&JobOptions::remaining), { &JobOptions::spill },
                { &JobOptions::doubleBuffer }, { &JobOptions::lookAhead } } },
        { QT_TR_NOOP("Bubbles"), EffectFocus::Utilization,
            { { &BubbleFill::enabled }, { &BubbleFill::model }, { &BubbleFill::stages, Control::Number },
                { &BubbleFill::arrivals }, partOf(&BubbleFill::requestsPerSecond, Control::Field),
                partOf(&BubbleFill::burstiness, Control::Field), partOf(&BubbleFill::promptTokens, Control::Field),
                partOf(&BubbleFill::trace, Control::File), { &BubbleFill::prefillBatch, Control::Field },
                partOf(&BubbleFill::batchWaitMs, Control::Field), { &BubbleFill::ttftSloMs, Control::Field },
                { &BubbleFill::guardMs, Control::Field }, { &BubbleFill::chaining },
                { &BubbleFill::kvGbps, Control::Field }, { &BubbleFill::firstTokenFromDecode },
                { &BubbleFill::usdPerMillionTokens, Control::Field } } },
        { QT_TR_NOOP("Memory"), EffectFocus::Memory,
            { { &MemoryStrategy::recompute }, partOf(&MemoryStrategy::recomputeLayers, Control::Number),
                partOf(&MemoryStrategy::recomputeNorms), partOf(&MemoryStrategy::recomputeActivationFunction),
                partOf(&MemoryStrategy::recomputeUpProjection), partOf(&MemoryStrategy::recomputeSharedExperts),
                { &MoeStrategy::permute }, { &MemoryStrategy::offloadExpertInput },
                { &MemoryStrategy::activationOffload }, partOf(&MemoryStrategy::offloadFraction),
                partOf(&MemoryStrategy::offloadPolicy), { &MemoryStrategy::savedActivationBits },
                { &MemoryStrategy::fp8Activations }, { &WorkloadSpec::optimizer },
                partOf(&WorkloadSpec::galoreRank, Control::Field), { &MemoryStrategy::optimizerOffload },
                partOf(&MemoryStrategy::delayedUpdate), { &MemoryStrategy::parameterOffload } } },
        { QT_TR_NOOP("Experts"), EffectFocus::Time,
            { { &Parallelism::expert }, { &Parallelism::expertTensor }, { &MoeStrategy::dispatch },
                partOf(&MoeStrategy::overlapChunks, Control::Number), partOf(&MoeStrategy::pipelineBackward),
                { &MoeStrategy::expertOverlap }, { &MoeStrategy::sharedExpertOverlap },
                { &MoeStrategy::capacityFactor }, { &MoeStrategy::baseline },
                { &MoeStrategy::imbalance, Control::Field, true },
                { &MoeStrategy::communicationSms, Control::Field, true } } },
        { QT_TR_NOOP("Precision and software"), EffectFocus::Time,
            { { &WorkloadSpec::precision }, { &Stack::name }, partOf(&Stack::release) } },
    };
}

StrategyEntry entryOf(const KeyRow &key, const char *title, EffectFocus focus, Control control)
{
    const bool isFlag = key.kind == KeyKind::Flag;
    return { title, focus, key.group(), &key, isFlag ? Control::Switch : control, false, false };
}

/// What its row alone speaks of stands behind the last of its section of the plan.
void addRest(std::vector<StrategyEntry> &entries)
{
    for (const KeyRow &key : planKeys()) {
        if (!key.key.choice.isOffered || std::ranges::find(entries, &key, &StrategyEntry::row) != entries.end())
            continue;
        const std::string section = key.path.substr(0, key.path.find('.') + 1);
        const auto last = std::find_if(entries.rbegin(), entries.rend(),
            [&](const StrategyEntry &entry) { return entry.row->path.starts_with(section) && !entry.isAdvanced; });
        const bool isAlone = last == entries.rend();
        entries.insert(isAlone ? entries.end() : last.base(),
            entryOf(key, nullptr, isAlone ? entries.back().focus : last->focus, Control::List));
    }
}

std::vector<StrategyEntry> madeEntries()
{
    std::vector<StrategyEntry> entries;
    for (const Section &section : sections()) {
        const char *title = section.title;
        for (const Row &row : section.rows) {
            StrategyEntry &made = entries.emplace_back(entryOf(*row.key, title, section.focus, row.control));
            made.isPart = row.isPart;
            made.isAdvanced = row.isAdvanced;
            title = nullptr;
        }
    }
    addRest(entries);
    return entries;
}

} // namespace

const std::vector<StrategyEntry> &strategyEntries()
{
    static const std::vector<StrategyEntry> entries = madeEntries();
    return entries;
}

} // namespace trainyard
