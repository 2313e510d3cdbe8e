// SPDX-License-Identifier: GPL-3.0-or-later
// What can be said of a model whose layers mix Mamba with attention, MLPs and experts: how many parameters it has. The
// core models no such layers, so that this stands in the sentence that refuses it, and nowhere else.
#include "core/facts/catalogue/config_layers_internal.h"
#include "core/facts/workload/model_math.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

/// Mamba-2 (arXiv 2405.21060), with d = heads x width, G groups and a state of N: in to (2 d + 2 G N + heads), a
/// convolution over d + 2 G N with its bias, three numbers a head, a norm, and out. 0 where the file does not tell it.
double mamba2Parameters(ConfigKeys &keys, double h)
{
    const double heads = keys.count({ "mamba_num_heads", "mamba_n_heads" }),
                 width = keys.count({ "mamba_head_dim", "mamba_d_head" }),
                 state = keys.count({ "ssm_state_size", "mamba_d_state" }),
                 groups = keys.count({ "n_groups", "mamba_n_groups" }),
                 kernel = keys.count({ "conv_kernel", "mamba_d_conv" });
    if (heads == 0 || width == 0 || state == 0 || groups == 0 || kernel == 0)
        return 0;
    const double inner = heads * width, mixed = inner + 2 * groups * state;
    return h * (inner + mixed + heads) + mixed * (kernel + 1) + 3 * heads + inner + inner * h;
}

/// Mamba (arXiv 2312.00752), with d = expand x h and a step of rank r: in to 2 d, a convolution, d to (r + 2 N), r to
/// d, d N decays, and out; with Jamba's norms of the three.
double mamba1Parameters(ConfigKeys &keys, double h)
{
    const double state = keys.count({ "mamba_d_state" }), expand = keys.count({ "mamba_expand" }),
                 kernel = keys.count({ "mamba_d_conv" }), rank = keys.count({ "mamba_dt_rank" });
    if (state == 0 || expand == 0 || kernel == 0 || rank == 0)
        return 0;
    const double inner = expand * h;
    return 2 * h * inner + inner * (kernel + 1) + inner * (rank + 2 * state) + (rank + 1) * inner + inner * (state + 1)
        + inner * h + rank + 2 * state;
}

double gatedMlp(double h, double width, bool isGated)
{
    return (isGated ? 3 : 2) * h * width;
}

} // namespace

double hybridParameters(ConfigKeys &keys, const ModelSpec &model, const std::vector<std::string> &kinds)
{
    const double h = model.hidden, attention = layerParameters(model, false).attention;
    const bool isSingle = std::ranges::any_of(kinds, [](const std::string &kind) { return kind.ends_with(" alone"); });
    const bool isGated = !isSingle; // Nemotron-H: two matrices with a squared ReLU between them
    double mamba = mamba2Parameters(keys, h);
    mamba = mamba > 0 ? mamba : mamba1Parameters(keys, h);
    const double experts =
        model.experts * (gatedMlp(h, model.expertFfn, isGated) + h) + gatedMlp(h, model.sharedExpertFfn, isGated);
    double total = embeddingParameters(model) + headParameters(model);
    for (std::size_t i = 0; i < std::min(kinds.size(), std::size_t(model.layers)); ++i) {
        const std::string &kind = kinds[i];
        const bool isMamba = kind == "mamba", isAttention = kind == "attention" || kind == "attention alone";
        if (isMamba && mamba == 0)
            return 0;
        if (!isMamba && !isAttention && kind != "MLP alone" && kind != "experts alone")
            return 0;
        total += isMamba ? mamba : isAttention ? attention : 0;
        if (kind == "MLP alone")
            total += gatedMlp(h, model.ffn, isGated);
        else if (kind == "experts alone" || (!isSingle && model.isExpertLayer(int(i))))
            total += experts;
        else if (!isSingle)
            total += gatedMlp(h, model.ffn, isGated);
        total += (isSingle ? 1 : 2) * h;
    }
    return total;
}

} // namespace trainyard
