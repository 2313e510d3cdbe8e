// SPDX-License-Identifier: GPL-3.0-or-later
// A batch script for Slurm: one torchrun a node, in the order of ranks. Hosts of several datacenters or pools come from
// the environment, since no directive of Slurm orders them.
#include "core/base/printable.h"
#include "core/runs/launch/launch_internal.h"

#include <algorithm>

namespace trainyard::launch {

namespace {

/// Letters, digits and - of a name, for --job-name.
std::string jobName(std::string_view name)
{
    std::string made;
    for (const char c : name.substr(0, 60)) {
        const bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (isPlain || (!made.empty() && made.back() != '-'))
            made += isPlain ? c : '-';
    }
    while (made.ends_with('-'))
        made.pop_back();
    return made.empty() ? "trainyard" : made;
}

/// HOSTS_VIRGINIA for each place that nodes stand at, in the order in which they come.
struct Place {
    int datacenter = 0, pool = 0, nodes = 0;
    std::string variable, name;
};

std::vector<Place> placesOf(const Draft &draft)
{
    std::vector<Place> places;
    for (const NodeRun &run : draft.nodes.runs) {
        auto known = std::ranges::find_if(
            places, [&](const Place &place) { return place.datacenter == run.datacenter && place.pool == run.pool; });
        if (known == places.end()) {
            const Datacenter &datacenter = draft.plan.cluster.datacenters[static_cast<std::size_t>(run.datacenter)];
            const Pool &pool = datacenter.pools[static_cast<std::size_t>(run.pool)];
            places.push_back({ run.datacenter, run.pool, 0, "HOSTS_" + std::to_string(places.size() + 1),
                shortened(datacenter.label())
                    + (datacenter.pools.size() > 1 ? ", pool " + shortened(pool.id) : std::string()) });
            known = places.end() - 1;
        }
        known->nodes += run.nodes;
    }
    return places;
}

/// Writes the hosts in the order of ranks into a file that srun reads.
std::string hostFile(const Draft &draft)
{
    const std::vector<Place> places = placesOf(draft);
    std::string text = comment("Hosts by where they stand, blanks between them (sbatch --export=ALL passes them on):");
    for (const Place &place : places)
        text += comment("  " + place.variable + ": " + std::to_string(place.nodes) + " hosts of " + place.name)
            + "read -r -a " + place.variable + " <<< \"${" + place.variable + ":?has to name "
            + std::to_string(place.nodes) + " hosts}\"\n" + "[ ${#" + place.variable + "[@]} -eq "
            + std::to_string(place.nodes) + " ] || { echo \"" + place.variable + " has to name "
            + std::to_string(place.nodes) + " hosts, and names ${#" + place.variable + "[@]}\" >&2; exit 2; }\n";
    text += "export SLURM_HOSTFILE=\"$PWD/trainyard-hosts-$SLURM_JOB_ID\"\n{\n";
    std::vector<int> used(places.size(), 0);
    for (const NodeRun &run : draft.nodes.runs) {
        const auto at = std::ranges::find_if(
            places, [&](const Place &place) { return place.datacenter == run.datacenter && place.pool == run.pool; });
        int &from = used[static_cast<std::size_t>(at - places.begin())];
        text += "    printf '%s\\n' \"${" + at->variable + "[@]:" + std::to_string(from) + ":"
            + std::to_string(run.nodes) + "}\"\n";
        from += run.nodes;
    }
    return text + "} > \"$SLURM_HOSTFILE\"\n";
}

} // namespace

std::string slurmScriptOf(const Draft &draft)
{
    const std::string nodes = std::to_string(draft.nodes.count), each = std::to_string(draft.nodes.gpusPerNode);
    const bool hasPlaces = placesOf(draft).size() > 1;
    std::string text = "#!/usr/bin/env bash\n#SBATCH --job-name=" + jobName(draft.plan.name)
        + "\n#SBATCH --nodes=" + nodes + "\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=" + each
        + "\n#SBATCH --exclusive\n#SBATCH --output=%x-%j.log\n" + headOf(draft) + "set -euo pipefail\n";
    if (draft.isStepsAsked)
        text += "set -- \"${1:-50}\"\n";
    for (const auto &[name, value] : draft.environment)
        text += "export " + name + "=" + shellWord(value) + "\n";
    text += draft.before;
    if (hasPlaces) {
        text += hostFile(draft);
        text += "MASTER_ADDR=$(head -n 1 \"$SLURM_HOSTFILE\")\n";
    } else {
        text += "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | sed -n 1p)\n"; // head would end the
                                                                                                // pipe early, which is
                                                                                                // a failure here
    }
    text += "export MASTER_ADDR MASTER_PORT=\"${MASTER_PORT:-29500}\"\n";
    text += std::string("srun --kill-on-bad-exit=1") + (hasPlaces ? " --distribution=arbitrary" : "") + " --nodes "
        + nodes + " --ntasks-per-node 1 \\\n"
        + "    bash -c 'exec torchrun --node-rank \"$SLURM_PROCID\" --master-addr \"$MASTER_ADDR\" "
          "--master-port \"$MASTER_PORT\" \"$@\"' trainyard \\\n    --nnodes "
        + nodes + " --nproc-per-node " + each + " \\\n    " + draft.program + argumentLines(draft);
    return text;
}

} // namespace trainyard::launch
