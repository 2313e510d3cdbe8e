// SPDX-License-Identifier: GPL-3.0-or-later
// A model of the size that Megatron's own estimate of memory tells. Its sums are N = L (4 h² + 2 h f + norms) of the
// block without gates and with as many key-value heads as heads, V h of the token table, and s b h of a layer's
// activations; layers are known by megatron_theory.h. s b is a whole number of 256 tokens for all that trains, so that
// s b h tells which widths there may be.
#include "core/base/number_text.h"
#include "core/facts/plan/model_change.h"
#include "core/facts/workload/model_math.h"
#include "core/runs/imports/draft.h"

#include <algorithm>
#include <cmath>

namespace trainyard::imports {

namespace {

constexpr double kSameSize = 0.02; // of a catalogue's model
constexpr double kExact = 0.002;
constexpr int kHead = 128, kRows = 128;
constexpr double kUsualProportion = 128; // hidden size / layers, of GPT-3 175B and Llama 8B

double blockParameters(const ModelSpec &model)
{
    return totalParameters(model) - embeddingParameters(model)
        - (model.tiedEmbeddings ? 0 : double(model.hidden) * model.vocab);
}

bool isNear(double value, double told, double share)
{
    return std::abs(value - told) <= share * told;
}

/// Of the models that agree in block, embedding and layers the nearest.
const ModelSpec *catalogueModel(const Draft &draft, const DerivedJob &job)
{
    const MegatronTheory &told = job.theory;
    const ModelSpec *best = nullptr;
    double away = 0;
    for (const ModelSpec &model : draft.catalogue.models) {
        // Megatron counts no learned positions
        const double block = blockParameters(model);
        const double table = double(model.hidden) * model.vocab * (model.tiedEmbeddings ? 1 : 2);
        const bool hasLayers = job.layers == 0 || model.layers == job.layers;
        // The table is printed with two digits and padded to a multiple of 128 rows a rank
        const bool hasTable = std::abs(table - told.embedding.value) <= told.embedding.half + kSameSize * table;
        const bool hasExperts = told.active.isTold() && told.active.high() < told.block.low();
        if (!hasLayers || !hasTable || model.isMoe() != hasExperts || !isNear(block, told.block.value, kSameSize)
            || (hasExperts && !isNear(activeParameters(model) - table, told.active.value, kSameSize)))
            continue;
        if (const double own = std::abs(block - told.block.value); !best || own < away) {
            best = &model;
            away = own;
        }
    }
    return best;
}

/// Widths that s b h allows, else any: the nearest to what N and L make of a layer of 12 h².
int hiddenOf(const DerivedJob &job, int layers)
{
    const double near = std::sqrt(job.theory.block.value / layers / 12);
    double best = 0;
    for (double tokens = 256; tokens <= 4 << 20; tokens *= 2) {
        const double h = job.width / tokens;
        const double whole = std::round(h / 64) * 64;
        if (whole >= 64 && isNear(h, whole, 1e-3) && std::abs(std::log(h / near)) < std::abs(std::log(best / near)))
            best = whole;
    }
    if (best > 0 && best < 2 * near && best > near / 2)
        return static_cast<int>(best);
    return std::max(kHead, static_cast<int>(std::lround(near / kHead)) * kHead);
}

void saySequence(Draft &draft, const DerivedJob &job, int hidden)
{
    if (!(job.width > 0) || draft.arguments.has("seq_length"))
        return;
    const int own = draft.whole("micro_batch_size", 1, 1'000'000).value_or(1);
    const double tokens = std::round(job.width / hidden), each = std::round(tokens / own);
    if (!(each >= 1) || each > 1e8 || !isNear(job.width, tokens * hidden, 1e-3))
        return;
    draft.arguments.derive(
        { "seq_length", std::to_string(std::llround(each)),
            "Megatron's own estimate of memory, by which a layer's activations are those of " + wholeText(tokens)
                + " tokens of width " + std::to_string(hidden) + " a micro-batch" },
        draft.sourceOf(job.theory.source));
    if (!draft.arguments.has("micro_batch_size"))
        draft.assume("Micro-batches of one sequence: " + wholeText(tokens) + " tokens may as well be several");
}

} // namespace

std::optional<ModelSpec> theoryModel(Draft &draft)
{
    if (!draft.derived || !draft.derived->theory.block.isTold() || !draft.derived->theory.embedding.isTold())
        return std::nullopt;
    const DerivedJob &job = *draft.derived;
    const MegatronTheory &told = job.theory;
    const std::string file = draft.sourceOf(told.source);
    if (const ModelSpec *known = catalogueModel(draft, job)) {
        draft.assume(file + " tells a model of " + countText(told.block.value + told.embedding.value) + " parameters"
            + (job.layers > 0 ? " and " + std::to_string(job.layers) + " layers" : std::string())
            + " but not its shape: " + known->name + " with " + countText(totalParameters(*known)) + " is taken");
        saySequence(draft, job, known->hidden);
        return *known;
    }
    if (job.tensor == 0)
        return std::nullopt;
    ModelSpec model;
    model.layers = job.layers > 0
        ? job.layers
        : std::max(1,
              static_cast<int>(
                  std::lround(std::cbrt(told.block.value / (12 * kUsualProportion * kUsualProportion)) / job.pipeline)))
            * job.pipeline;
    model.hidden = hiddenOf(job, model.layers);
    model.headDim = model.hidden % kHead == 0 ? kHead : 64;
    model.heads = model.kvHeads = model.hidden / model.headDim;
    if (model.heads % job.tensor != 0)
        return std::nullopt;
    const double h = model.hidden, layer = told.block.value / model.layers;
    model.layerNorm = true;
    model.tiedEmbeddings = job.isTied;
    model.ffn = 4 * model.hidden;
    const bool isUsual = isNear(blockParameters(model), told.block.value, kExact);
    if (!isUsual) // all that attention of 4 h² leaves
        model.ffn = static_cast<int>(std::lround((layer - 4 * h * h) / (2 * h) / 64)) * 64;
    const double rows = job.table.value / h, multiple = kRows * double(job.tensor);
    const double padded = std::round(rows / multiple) * multiple;
    model.vocab = static_cast<int>(
        std::abs(padded - rows) * h <= job.table.half ? padded : std::max(1.0, std::round(rows / kRows)) * kRows);
    if (model.ffn < 64 || !isNear(blockParameters(model), told.block.value, kSameSize))
        return std::nullopt;
    model.name = std::to_string(model.layers) + " layers of " + std::to_string(model.hidden);
    model.source = "Megatron's own estimate of memory in " + file;
    draft.assume(file + " tells a model of " + countText(told.block.value + told.embedding.value)
        + " parameters but not its shape: " + std::to_string(model.layers) + " layers "
        + (job.layers > 0 ? "(by their activations)" : "(assumed)") + " of width " + std::to_string(model.hidden) + " "
        + (job.width > 0 ? "(by s b h of a layer's activations)" : "(by 12 h² parameters a layer)") + ", an MLP of "
        + std::to_string(model.ffn) + " without gates "
        + (isUsual ? "(4 h, which makes what is told)" : "(what attention of 4 h² leaves)") + " and a vocabulary of "
        + std::to_string(model.vocab) + " have that many; heads of " + std::to_string(model.headDim)
        + ", LayerNorm and rotary positions are assumed");
    saySequence(draft, job, model.hidden);
    return model;
}

} // namespace trainyard::imports
