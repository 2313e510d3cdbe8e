#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings of a few arguments, the plans that are made of them, and whether those can be evaluated. For tests.

#include "core/evaluation/evaluate/run.h"
#include "core/runs/imports/plan_from_recording.h"

#include <QtGlobal>

#include <algorithm>
#include <cmath>

namespace trainyard::trial {

inline Plan basePlan()
{
    Plan plan;
    plan.cluster.datacenters = { { .id = "here", .pools = { { .id = "p", .gpu = "h100-sxm-80gb", .nodes = 2 } } } };
    plan.workload.model = "llama-3-8b";
    plan.workload.globalBatch = 64;
    return plan;
}

inline Recording told(std::map<std::string, std::string> arguments, SourceKind kind = SourceKind::MegatronArguments)
{
    Recording recording;
    recording.sources.push_back({ .file = "/x/run.sh", .kind = kind });
    recording.arguments = std::move(arguments);
    return recording;
}

inline ImportedPlan imported(const Recording &recording, const Plan &base = basePlan())
{
    const auto plan = planFrom(recording, builtinCatalogue(), base);
    if (!plan)
        qFatal("%s", toString(plan.error().front()).c_str());
    return *plan;
}

inline std::string errorOf(const Recording &recording, const Plan &base = basePlan())
{
    const auto plan = planFrom(recording, builtinCatalogue(), base);
    return plan ? "" : toString(plan.error().front());
}

inline bool says(const std::vector<std::string> &sentences, const std::string &part)
{
    return std::ranges::any_of(sentences, [&](const std::string &one) { return one.find(part) != std::string::npos; });
}

/// Its time of an iteration; NaN and the reason printed where it cannot be evaluated.
inline double evaluated(const Plan &plan)
{
    EvaluationWorkspace workspace;
    const auto result = run(std::make_shared<const Plan>(plan), Depth::Score, { builtinCatalogue(), workspace });
    if (!result) {
        qWarning("%s", toString(result.error().front()).c_str());
        return std::nan("");
    }
    return (*result)->metrics.iterationTime.value_or(std::nan(""));
}

inline ModelSpec modelOf(const Plan &plan)
{
    return plan.workload.inlineModel ? *plan.workload.inlineModel : *builtinCatalogue().model(plan.workload.model);
}

inline const std::map<std::string, std::string> kLlama { { "num_layers", "80" }, { "hidden_size", "8192" },
    { "ffn_hidden_size", "28672" }, { "num_attention_heads", "64" }, { "num_query_groups", "8" }, { "swiglu", "True" },
    { "normalization", "RMSNorm" }, { "disable_bias_linear", "True" },
    { "untie_embeddings_and_output_weights", "True" }, { "position_embedding_type", "rope" },
    { "hidden_dropout", "0.0" }, { "attention_dropout", "0" }, { "group_query_attention", "True" },
    { "vocab_size", "128256" } };

inline std::map<std::string, std::string> with(
    std::map<std::string, std::string> base, std::map<std::string, std::string> more)
{
    more.merge(base);
    return more;
}

} // namespace trainyard::trial
