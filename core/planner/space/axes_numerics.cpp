// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/axes_internal.h"

namespace trainyard::detail {

void addNumericAxes(AxisList &axes, const Scope &scope)
{
    if (!scope.options.mayTrainOtherwise)
        return;
    if (scope.hasLayers) {
        axes.addValues(rowOf(&WorkloadSpec::precision), { double(Precision::Bf16), double(Precision::Fp8) });
        axes.addValues(rowOf(&WorkloadSpec::optimizer), { double(Optimizer::Adam), double(Optimizer::Adam8bit) });
    }
    if (scope.datacenters < 2)
        return;
    const KeyRow &gradients = rowOf(&WanStrategy::gradientBits);
    axes.offer(rowOf(&WanStrategy::activationBits));
    axes.addValues(gradients, gradients.tried(),
        [](const KeyRow &row, KeyValue bits) { return bits ? row.shownText(bits) : std::string("as computed"); });
    axes.offer(rowOf(&WanStrategy::localSgd));
}

} // namespace trainyard::detail
