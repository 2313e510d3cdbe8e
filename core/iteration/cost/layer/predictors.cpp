// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/layer/predictors.h"

#include "core/iteration/cost/layer/layer_timer_internal.h"

namespace trainyard {

ChunkCost predictorsCost(const Workload &workload, const LayerSite &site, const ChunkCost &layer)
{
    const ModelSpec &model = workload.model;
    if (model.mtpLayers == 0)
        return {};
    LayerTimer joining(workload, site);
    joining.product(joining.tokens, double(model.hidden) / joining.tensor, 2.0 * model.hidden);
    // Two norms, the tensor that holds both results, the norm before the head.
    joining.elementwise(2 * 8 * joining.tokens / joining.spread * model.hidden, 8);
    joining.accumulate(2.0 * model.hidden * model.hidden / joining.tensor, 1);
    ChunkCost one = layer;
    one += headCost(workload, site);
    one += joining.finish({}, Recompute::None);
    return one * model.mtpLayers;
}

} // namespace trainyard
