// SPDX-License-Identifier: GPL-3.0-or-later
// A task of SkyPilot (sky/utils/schemas.py at skypilot-org/skypilot 00052df): its nodes learn of each other by
// variables that it sets.
#include "core/base/printable.h"
#include "core/runs/launch/launch_internal.h"

#include <algorithm>
#include <array>

namespace trainyard::launch {

namespace {

/// Names of its catalogues (docs.skypilot.co, "GPUs and Accelerators").
struct Accelerator {
    std::string_view gpu, name;
};
constexpr auto kAccelerators = std::to_array<Accelerator>({
    { "p40-24gb", "P40" },
    { "p100-pcie-16gb", "P100" },
    { "v100-sxm-16gb", "V100" },
    { "v100-sxm-32gb", "V100-32GB" },
    { "t4-16gb", "T4" },
    { "a10g-24gb", "A10G" },
    { "l4-24gb", "L4" },
    { "a6000-48gb", "A6000" },
    { "a40-48gb", "A40" },
    { "l40s-48gb", "L40S" },
    { "a100-sxm-40gb", "A100" },
    { "a100-pcie-40gb", "A100" },
    { "a100-sxm-80gb", "A100-80GB" },
    { "a100-pcie-80gb", "A100-80GB" },
    { "h100-sxm-80gb", "H100" },
    { "h100-pcie-80gb", "H100" },
    { "h200-sxm-141gb", "H200" },
    { "gh200-96gb", "GH200" },
    { "b200-sxm-180gb", "B200" },
    { "gb200-186gb", "GB200" },
    { "mi300x-192gb", "MI300X" },
});

std::string acceleratorOf(Draft &draft)
{
    const NodeRun &run = draft.nodes.runs.front();
    const Pool &pool = draft.plan.cluster.datacenters[static_cast<std::size_t>(run.datacenter)]
                           .pools[static_cast<std::size_t>(run.pool)];
    const auto known = std::ranges::find(kAccelerators, std::string_view(pool.gpu), &Accelerator::gpu);
    if (known != kAccelerators.end() && !pool.inlineGpu) {
        if (known->name == "A100" || known->name == "H100" || known->name == "A100-80GB")
            draft.note("SkyPilot's " + std::string(known->name)
                + " is any of that memory, SXM or PCIe: name an instance_type for " + pool.gpu);
        return std::string(known->name);
    }
    draft.refuse(
        "cluster.datacenters[" + std::to_string(run.datacenter) + "].pools[" + std::to_string(run.pool) + "].gpu",
        "SkyPilot has no accelerator of that name: " + shortened(pool.inlineGpu ? pool.inlineGpu->name : pool.gpu),
        "a GPU that a cloud of its catalogues rents out, a100-sxm-80gb or h100-sxm-80gb");
    return {};
}

} // namespace

std::string skyPilotTaskOf(Draft &draft)
{
    refusePlaces(draft, "a task of SkyPilot");
    const std::string accelerator = acceleratorOf(draft);
    if (!draft.errors.empty())
        return {};
    const Rendezvous meet { "\"$SKYPILOT_NODE_RANK\"", "\"$MASTER_ADDR\"", "29500", "STEPS" };
    draft.before = "MASTER_ADDR=$(printf '%s\\n' \"$SKYPILOT_NODE_IPS\" | sed -n 1p)\n" + draft.before;
    draft.stepsFrom = "the variable STEPS (sky launch --env STEPS=…)";
    draft.note("cluster.datacenters: where its nodes stand SkyPilot chooses, unless resources.infra names it");
    draft.note(std::string("setup is yours: the nodes have to have ") + draft.name);
    std::string text = headOf(draft) + "name: " + labelOf(draft.plan.name, 40)
        + "\nnum_nodes: " + std::to_string(draft.nodes.count) + "\nresources:\n  accelerators: " + accelerator + ":"
        + std::to_string(draft.nodes.gpusPerNode) + "\n";
    if (draft.isStepsAsked)
        text += "envs:\n  STEPS: \"50\"\n";
    return text + "run: " + yamlBlock(commandsOf(draft, meet), "  ");
}

} // namespace trainyard::launch
