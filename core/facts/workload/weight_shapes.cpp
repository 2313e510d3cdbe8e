// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/workload/weight_shapes.h"

#include <algorithm>
#include <set>
#include <utility>

namespace trainyard {

double distinctWeightElements(const ModelSpec &model, LayersHere layers)
{
    const double h = model.hidden, gate = model.gatedFfn ? 2 : 1;
    std::set<std::pair<double, double>> shapes; // outputs and inputs
    const auto mlp = [&](double width) {
        if (width > 0)
            shapes.insert({ { gate * width, h }, { h, width } });
    };
    if (!layers.dense && !layers.experts)
        return 0;
    const double t = layers.tensor;
    const double a = model.heads;
    if (model.attention == AttentionKind::Latent) {
        const LatentAttention &l = model.latent;
        const double query = a * (l.nopeDim + l.ropeDim) / t;
        if (l.queryRank > 0)
            shapes.insert({ { double(l.queryRank), h }, { query, double(l.queryRank) } });
        else
            shapes.insert({ query, h });
        shapes.insert({ { double(l.keyValueRank + l.ropeDim), h },
            { a * (l.nopeDim + l.valueDim) / t, double(l.keyValueRank) }, { h, a * l.valueDim / t } });
    } else {
        shapes.insert({ { model.headDim * (a + 2.0 * model.kvHeads) / t, h }, { h, model.headDim * a / t } });
    }
    if (layers.dense)
        mlp(model.ffn / t);
    if (layers.experts) {
        mlp(model.sharedExpertFfn / t);
        mlp(double(model.expertFfn) / layers.expertTensor);
    }
    double elements = 0;
    for (const auto &[outputs, inputs] : shapes)
        elements += outputs * inputs;
    return elements;
}

double largestMatrixElements(const ModelSpec &model, int tensor)
{
    const double width = std::max(double(model.ffn), double(model.sharedExpertFfn));
    return (model.gatedFfn ? 2.0 : 1.0) * model.hidden * std::max(width, double(model.expertFfn)) / tensor;
}

} // namespace trainyard
