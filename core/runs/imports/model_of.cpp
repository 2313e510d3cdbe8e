// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/ascii_text.h"
#include "core/base/number_text.h"
#include "core/base/printable.h"
#include "core/facts/catalogue/parse.h"
#include "core/facts/plan/model_change.h"
#include "core/facts/workload/model_math.h"
#include "core/runs/imports/bridge_recipes.h"
#include "core/runs/imports/draft.h"
#include "core/runs/imports/megatron_arguments.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard::imports {

namespace {

bool hasDenseLayer(const ModelSpec &model)
{
    for (int layer = 0; layer < model.layers; ++layer)
        if (!model.isExpertLayer(layer))
            return true;
    return false;
}

bool isSame(const ModelSpec &a, const ModelSpec &b, int padding)
{
    const bool isSameWidth = a.ffn == b.ffn || !hasDenseLayer(a);
    const bool isSameWindow =
        a.attentionWindow == 0 || (a.attentionWindow == b.attentionWindow && a.windowedLayers == b.windowedLayers);
    return a.layers == b.layers && a.hidden == b.hidden && a.heads == b.heads && a.kvHeads == b.kvHeads
        && a.headDim == b.headDim && isSameWidth && a.vocab >= b.vocab && a.vocab < b.vocab + std::max(1, padding)
        && a.gatedFfn == b.gatedFfn && a.tiedEmbeddings == b.tiedEmbeddings && a.layerNorm == b.layerNorm
        && a.linearBias == b.linearBias && a.queryKeyValueBias == b.queryKeyValueBias && a.dropout == b.dropout
        && a.learnedPositions == b.learnedPositions && a.attention == b.attention && a.latent == b.latent
        && a.experts == b.experts && a.expertsPerToken == b.expertsPerToken && a.expertFfn == b.expertFfn
        && a.sharedExpertFfn == b.sharedExpertFfn && a.denseLayers == b.denseLayers
        && a.expertLayerStep == b.expertLayerStep && a.mtpLayers == b.mtpLayers && isSameWindow
        && (a.groups == 0 || (a.groups == b.groups && a.topGroups == b.topGroups));
}

std::string parametersText(double parameters)
{
    return countText(parameters) + " parameters";
}

/// What the plan had of another model makes no sense with this one.
void forgetOtherModel(Draft &draft)
{
    if (forgetModel(draft.plan))
        draft.assume("Measured times of stages or layers, which were of another model, are left out");
}

/// The catalogue's model of that name, which the source's `key` tells.
void takeKnown(Draft &draft, const ModelSpec &known, const std::string &key)
{
    forgetOtherModel(draft);
    draft.plan.workload.model = known.id;
    draft.plan.workload.inlineModel.reset();
    draft.model = known;
    draft.take("workload.model", known.id, key);
}

void put(Draft &draft, ModelSpec model, int padding, const std::string &from)
{
    forgetOtherModel(draft);
    const ModelSpec *known = sameModel(
        model, draft.catalogue, padding, model.name + " " + draft.arguments.text("tokenizer_model").value_or(""));
    WorkloadSpec &workload = draft.plan.workload;
    if (known) {
        workload.model = known->id;
        workload.inlineModel.reset();
        draft.taken.push_back("workload.model " + known->id + " from " + from + ", whose dimensions it has"
            + (model.vocab != known->vocab ? ", its vocabulary padded to " + std::to_string(model.vocab)
                                           : std::string()));
        draft.model = *known;
        return;
    }
    model.id.clear();
    if (model.name.empty())
        model.name = std::to_string(model.layers) + " layers of " + std::to_string(model.hidden);
    // What a plan's file could not hold is refused here, where its source is known.
    if (const auto held = parseModel(formatModel(model), from); !held) {
        draft.errors.insert(draft.errors.end(), held.error().begin(), held.error().end());
        return;
    }
    workload.model.clear();
    workload.inlineModel = model;
    draft.taken.push_back("workload.model " + shortened(model.name)
        + (blockingDoubt(model.doubts) ? std::string(", of which nothing is computed,")
                                       : " with " + parametersText(totalParameters(model)))
        + " from " + from);
    draft.model = std::move(model);
}

/// Of a config.json; false where there is none.
bool takeConfigs(Draft &draft)
{
    bool isTaken = false;
    for (const RecordedModel &one : draft.recording.models) {
        const std::string file = draft.sourceOf(one.source);
        if (isTaken) {
            draft.ignore("A second model, " + shortened(one.name) + " (" + file + "): the first is taken");
            continue;
        }
        auto model = parseHuggingFaceConfig(one.config, file);
        if (!model) {
            draft.errors.push_back(model.error());
            continue;
        }
        isTaken = true;
        model->name = one.name;
        for (const Doubt &doubt : model->doubts)
            draft.notUnderstood.push_back(shortened(one.name) + " (" + file + "): " + shortened(toString(doubt), 600)
                + (doubt.isBlocking ? ". Nothing is computed of this model" : ""));
        // "config.json, model type llama", with this file's name
        if (model->source.starts_with("config.json"))
            model->source = file + model->source.substr(11);
        put(draft, *std::move(model), 1, file);
    }
    return isTaken;
}

/// torchtitan's "llama3" with "405B" is the catalogue's llama-3.1-405b.
bool takeFlavor(Draft &draft)
{
    if (!draft.arguments.isTorchtitan())
        return false;
    auto name = draft.arguments.text("model.name"), flavor = draft.arguments.text("model.flavor");
    const auto recipe = flavorOfRecipe(draft);
    const bool isOfRecipe = (!name || !flavor) && recipe;
    if (isOfRecipe) {
        name = recipe->id.empty() ? recipe->family : recipe->id;
        flavor = recipe->size;
    }
    if (!name || !flavor)
        return false;
    const std::string size = lowered(*flavor), family = lowered(*name);
    std::vector<std::string> ids;
    if (isOfRecipe && !recipe->id.empty())
        ids = { recipe->id };
    else if (family.starts_with("llama3"))
        ids = { "llama-3.1-" + size, "llama-3-" + size, "llama-3.2-" + size };
    else if (family.starts_with("llama4"))
        ids = { size == "17bx16e" ? "llama-4-scout" : size == "17bx128e" ? "llama-4-maverick" : "" };
    else if (family.starts_with("deepseek_v3"))
        ids = { size == "671b" ? "deepseek-v3" : "" };
    else if (family.starts_with("qwen3"))
        ids = { "qwen3-" + size };
    else if (family.starts_with("gpt_oss"))
        ids = { "gpt-oss-" + size };
    for (const std::string &id : ids)
        if (const ModelSpec *known = draft.catalogue.model(id)) {
            forgetOtherModel(draft);
            draft.plan.workload.model = id;
            draft.plan.workload.inlineModel.reset();
            draft.model = *known;
            draft.take("workload.model", id, isOfRecipe ? "config" : "model.flavor");
            return true;
        }
    if (!lacksModel(draft.plan))
        draft.doubt(draft.arguments.said(isOfRecipe ? "config" : "model.flavor"),
            "names a model that the catalogue has not, " + shortened(*name) + " " + shortened(*flavor)
                + ": the plan's own is counted");
    draft.assume("The catalogue has no model " + shortened(*name) + " " + shortened(*flavor) + " ("
        + draft.arguments.said(isOfRecipe ? "config" : "model.flavor")
        + "): the plan's own model stays; a config.json beside it tells the shape");
    return false;
}

/// "meta-llama/Llama-3.1-8B-Instruct" and "llama3.1_8B.yaml" are llama-3.1-8b, as are "llama3.1-8b" and the id itself.
std::string plainName(std::string_view name)
{
    name = name.substr(name.find_last_of('/') + 1);
    std::string plain = lowered(name.substr(0, 200));
    std::erase_if(plain, [](char c) { return c == '-' || c == '_' || c == ' '; });
    for (const std::string_view end : { ".yaml", "pretrain", "instruct", "hf", "base", "chat", "it", "v0.1", "v0.3" })
        if (plain.ends_with(end) && plain.size() > end.size())
            plain.resize(plain.size() - end.size());
    return plain.starts_with("meta") ? plain.substr(4) : plain;
}

/// Shapes that a trainer is told beside a model's name: its number of layers alone may be another.
bool takeOtherLayers(Draft &draft, const ModelSpec &known)
{
    for (const MegatronShape &shape : megatronShapes())
        if (std::string_view(shape.name) != "num_layers" && draft.arguments.has(shape.name)) {
            draft.bad(shape.name,
                "is told beside the name of the model " + known.id + ", which may be of another shape",
                "the name of a model, or all of its dimensions");
            return false;
        }
    const auto layers = draft.whole("num_layers", 1, 10000);
    if (!layers)
        return false;
    ModelSpec other = known;
    other.name = known.id + " with " + std::to_string(*layers) + " layers";
    other.layers = *layers;
    other.windowedLayers = int(std::int64_t { other.windowedLayers } * *layers / known.layers);
    other.publishedParameters = 0;
    put(draft, std::move(other), 1, draft.arguments.said("model_name") + " and " + draft.arguments.said("num_layers"));
    return true;
}

/// Of trainers that are told a model by its name; without its dimensions one that is not known makes no plan.
bool takeNamed(Draft &draft)
{
    const auto name = draft.arguments.text("model_name");
    const bool isShaped = draft.arguments.has("num_layers");
    if (!name || (isShaped && draft.arguments.has("hidden_size") && draft.arguments.has("num_attention_heads")))
        return false;
    for (const ModelSpec &known : draft.catalogue.models) {
        if (plainName(known.id) != plainName(*name))
            continue;
        if (isShaped) {
            takeOtherLayers(draft, known);
            return true;
        }
        takeKnown(draft, known, "model_name");
        return true;
    }
    draft.bad("model_name", "is " + shortened(*name) + ", whose shape no source tells", "its config.json beside it");
    return true;
}

/// A log may tell how many parameters there are, but no shape.
void sayParameters(Draft &draft)
{
    for (const SampleSeries &series : draft.recording.series)
        if (series.name == "log.Total number of parameters" && !series.value.empty())
            draft.assume(draft.sourceOf(series.source) + " tells a model of " + parametersText(series.value.back())
                + " but not its shape: the plan's own stays, unless a config.json or the arguments are added");
}

/// Whether all that a recipe would decide of work and memory is overridden beside its name.
bool isRecipeOverridden(const Draft &draft)
{
    return std::ranges::all_of(
        std::to_array<const char *>({ "tensor_model_parallel_size", "pipeline_model_parallel_size",
            "context_parallel_size", "sequence_parallel", "micro_batch_size", "global_batch_size", "seq_length",
            "mixed_precision", "use_distributed_optimizer", "optimizer_cpu_offload" }),
        [&](const char *name) { return draft.arguments.has(name); });
}

/// "llama31_405b_pretrain_config": a recipe's name tells its model, and what it trains.
bool takeRecipe(Draft &draft)
{
    const auto recipe = draft.arguments.text("recipe");
    if (!recipe || draft.arguments.has("num_layers"))
        return false;
    const std::string name = lowered(recipe->substr(0, 200));
    const std::array<std::string_view, 5> ends { "_pretrain", "_sft", "_finetune", "_peft", "_lora" };
    const auto end = std::ranges::find_if(ends, [&](std::string_view one) { return name.find(one) != name.npos; });
    if (end != ends.end() && (*end == "_peft" || *end == "_lora"))
        draft.bad("recipe", "is " + shortened(*recipe) + ", which trains adapters beside frozen weights",
            "full training of a model by the loss of the next token");
    const auto withoutDots = [](std::string plain) {
        std::erase(plain, '.');
        return plain;
    };
    const std::string model = withoutDots(plainName(end == ends.end() ? name : name.substr(0, name.find(*end))));
    if (!isRecipeOverridden(draft))
        draft.doubt(draft.arguments.said("recipe"),
            "is " + shortened(*recipe)
                + ", whose degrees, batches, lengths and precision stand in the recipe: what is not given beside its "
                  "name is not known");
    const BridgeRecipe *const own = bridgeRecipeNamed(name);
    for (const ModelSpec &known : draft.catalogue.models)
        if (own ? own->model == known.id : withoutDots(plainName(known.id)) == model) {
            takeKnown(draft, known, "recipe");
            return true;
        }
    draft.bad(
        "recipe", "is " + shortened(*recipe) + ", whose model's shape no source tells", "its config.json beside it");
    return true;
}

/// Not a part of a job as a DeepSpeed JSON is, which is taken into a plan whose model is known.
bool tellsWholeJob(SourceKind kind)
{
    return kind == SourceKind::MegatronArguments || kind == SourceKind::PrimusConfig
        || kind == SourceKind::NanotronConfig || kind == SourceKind::LlamaFactoryConfig
        || kind == SourceKind::TorchtitanToml || kind == SourceKind::AxolotlConfig
        || kind == SourceKind::AutomodelConfig || kind == SourceKind::MaxTextConfig;
}

} // namespace

const ModelSpec *sameModel(const ModelSpec &model, const Catalogue &catalogue, int padding, std::string_view name)
{
    const std::string lower = lowered(name.substr(0, 1000));
    const ModelSpec *found = nullptr;
    if (!model.doubts.empty()) // what is not understood may be what tells the two apart
        return nullptr;
    for (const ModelSpec &known : catalogue.models) {
        if (!isSame(model, known, padding))
            continue;
        if (lower.find(known.id) != std::string::npos)
            return &known;
        found = found ? found : &known;
    }
    return found;
}

void takeModel(Draft &draft)
{
    if (takeConfigs(draft) || takeFlavor(draft) || takeNamed(draft) || takeRecipe(draft))
        return;
    const std::size_t before = draft.errors.size();
    if (auto model = megatronModel(draft)) {
        // Megatron pads to a multiple of so many rows on each rank of the tensor group.
        const int multiple = draft.whole("make_vocab_size_divisible_by", 1, 1'000'000).value_or(128);
        const int ranks = draft.whole("tensor_model_parallel_size", 1, 1024).value_or(1);
        const std::string from = draft.arguments.said("num_layers") + " and what goes with it";
        put(draft, *std::move(model), multiple * std::min(ranks, 1'000), from);
        return;
    }
    if (auto model = theoryModel(draft)) {
        const std::string from = draft.sourceOf(draft.derived->theory.source);
        return put(draft, *std::move(model), 1, "what Megatron's own estimate of memory tells of it (" + from + ")");
    }
    sayParameters(draft);
    const bool isScript = std::ranges::any_of(
        draft.recording.sources, [](const RecordedSource &source) { return tellsWholeJob(source.kind); });
    const Told &told = draft.arguments;
    const bool isHfScript =
        !told.translations().empty() && told.translations().front().dialect->prefix == std::string_view("hf_trainer.");
    const bool isTraining = told.isMegatron() || told.isTorchtitan() || told.has("micro_batch_size")
        || told.has("global_batch_size") || told.has("seq_length"); // not only how many GPUs there are
    if (draft.errors.size() != before || !(isScript || isHfScript) || !isTraining)
        return;
    if (lacksModel(draft.plan)) {
        draft.errors.push_back({ ErrorCode::BadValue, told.sourceOf("micro_batch_size"),
            "tells how a training runs, and not of which model",
            "the model's config.json beside it, or a plan that has a model (--base PLAN)" });
        return;
    }
    draft.doubt("The shape of the model",
        std::string("no source tells it")
            + (told.isMegatron() ? " (--num-layers, --hidden-size, --num-attention-heads)" : "")
            + ": the plan's own stays, which may be another",
        Weight::Shape);
    if (draft.errors.size() == before && draft.arguments.isMegatron())
        draft.assume("The shape of the model is told by no source (--num-layers, --hidden-size, "
                     "--num-attention-heads): the plan's own model stays");
}

} // namespace trainyard::imports
