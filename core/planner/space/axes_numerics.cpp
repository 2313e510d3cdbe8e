// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/axes_internal.h"

namespace trainyard::detail {

void addNumericAxes(AxisList &axes, const Scope &scope)
{
    if (!scope.options.mayTrainOtherwise)
        return;
    if (scope.hasLayers) {
        axes.add(
            "precision", { "workload.precision" }, "Precision",
            std::vector<Precision> { Precision::Bf16, Precision::Fp8 }, scope.plan.workload.precision,
            [](Plan &p, Precision v) { p.workload.precision = v; },
            [](Precision v) { return std::string(labelOf(v)); });
        axes.add(
            "optimizer", { "workload.optimizer" }, "Optimizer",
            std::vector<Optimizer> { Optimizer::Adam, Optimizer::Adam8bit }, scope.plan.workload.optimizer,
            [](Plan &p, Optimizer v) { p.workload.optimizer = v; },
            [](Optimizer v) { return std::string(labelOf(v)); });
    }
    if (scope.datacenters < 2)
        return;
    using Bits = std::optional<int>;
    const auto bitsText = [](const Bits &bits) { return bits ? std::to_string(*bits) + " bits" : "as computed"; };
    axes.add(
        "activation_bits", { "wan.activation_bits" }, "Activations on the WAN", std::vector<Bits> { {}, 8 },
        scope.plan.wan.activationBits, [](Plan &p, const Bits &bits) { p.wan.activationBits = bits; }, bitsText);
    axes.add(
        "gradient_bits", { "wan.gradient_bits" }, "Gradients on the WAN", std::vector<Bits> { {}, 8 },
        scope.plan.wan.gradientBits, [](Plan &p, const Bits &bits) { p.wan.gradientBits = bits; }, bitsText);
    axes.addChoices("local_sgd", "wan.local_sgd", "Local SGD", scope.plan.wan.localSgd,
        [](Plan &p, LocalSgd v) { p.wan.localSgd = v; });
}

} // namespace trainyard::detail
