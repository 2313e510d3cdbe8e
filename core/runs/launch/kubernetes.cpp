// SPDX-License-Identifier: GPL-3.0-or-later
// Kubernetes: a TrainJob of Kubeflow Trainer (trainer.kubeflow.org/v1alpha1 at kubeflow/trainer 8c0f505), whose runtime
// torch-distributed tells torchrun of the nodes, or a JobSet (jobset.x-k8s.io/v1alpha2 at kubernetes-sigs/jobset
// 08dfbdf) with a replicated job for the nodes of each place.
#include "core/base/printable.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/runs/launch/launch_internal.h"

#include <algorithm>

namespace trainyard::launch {

namespace {

constexpr std::size_t kMostReplicatedJobs = 64;

/// "$(NAME)" and "$$" are Kubernetes' own in arguments: what the shell is to see is doubled.
std::string withoutExpansion(std::string_view text)
{
    std::string made;
    for (std::size_t i = 0; i < text.size(); ++i) {
        made += text[i];
        if (text[i] == '$' && i + 1 < text.size() && (text[i + 1] == '(' || text[i + 1] == '$'))
            made += '$';
    }
    return made;
}

const Pool &poolOf(const Draft &draft, const NodeRun &run)
{
    return draft.plan.cluster.datacenters[static_cast<std::size_t>(run.datacenter)]
        .pools[static_cast<std::size_t>(run.pool)];
}

/// The name under which a device plugin offers the GPUs of a pool.
std::string resourceOf(Draft &draft, const NodeRun &run)
{
    const Pool &pool = poolOf(draft, run);
    const GpuSpec *known = pool.inlineGpu ? &*pool.inlineGpu : builtinCatalogue().gpu(pool.gpu);
    if (known && known->vendor == "AMD")
        return "amd.com/gpu";
    if (!known || known->vendor != "NVIDIA")
        draft.note("GPUs are asked for as nvidia.com/gpu: put the name that your device plugin has for "
            + shortened(known ? known->name : pool.gpu));
    return "nvidia.com/gpu";
}

std::string imageNote(Draft &draft)
{
    draft.note(std::string("The image is a place for yours, with ") + draft.name + " and what it needs");
    return "registry.example/" + labelOf(draft.name, 40) + ":latest";
}

std::string headOfYaml(Draft &draft)
{
    draft.stepsFrom = "the variable STEPS";
    return headOf(draft);
}

std::string stepsOf(const Draft &draft, const std::string &indent)
{
    return draft.isStepsAsked ? indent + "- name: STEPS\n" + indent + "  value: \"50\"\n" : std::string();
}

/// Where several places are named, the label of nodes that tells each apart.
struct NodeLabel {
    std::string key, value;
};
NodeLabel nodeLabelOf(const Draft &draft, const NodeRun &run)
{
    const Cluster &cluster = draft.plan.cluster;
    const auto isElsewhere = [&](const NodeRun &other) { return other.datacenter != run.datacenter; };
    const bool isByDatacenter = std::ranges::any_of(draft.nodes.runs, isElsewhere);
    const auto isOtherPool = [&](const NodeRun &other) {
        return other.datacenter == run.datacenter && other.pool != run.pool;
    };
    if (std::ranges::any_of(draft.nodes.runs, isOtherPool))
        return { "trainyard.io/pool", labelOf(poolOf(draft, run).id, 63) };
    if (isByDatacenter)
        return { "topology.kubernetes.io/region",
            labelOf(cluster.datacenters[static_cast<std::size_t>(run.datacenter)].id, 63) };
    return {};
}

/// Indices of nodes of one run: nodes `first` on, at one place.
std::string replicatedJob(Draft &draft, std::size_t index, int first, const std::string &image, const Rendezvous &meet)
{
    const NodeRun &run = draft.nodes.runs[index];
    const std::string nodes = std::to_string(run.nodes), gpus = std::to_string(draft.nodes.gpusPerNode);
    std::string text = "    - name: nodes-" + std::to_string(index + 1)
        + "\n      replicas: 1\n      template:\n        spec:\n          parallelism: " + nodes
        + "\n          completions: " + nodes
        + "\n          completionMode: Indexed\n          backoffLimit: 0\n          template:\n            spec:\n"
          "              restartPolicy: Never\n";
    if (const NodeLabel place = nodeLabelOf(draft, run); !place.key.empty())
        text += "              nodeSelector:\n                " + place.key + ": \"" + place.value + "\"\n";
    text += "              containers:\n                - name: node\n                  image: " + image
        + "\n                  command: [\"bash\", \"-c\"]\n                  args:\n";
    // Once a job: an anchor before a block scalar is what not every parser of YAML reads.
    text += "                    - " + yamlBlock(withoutExpansion(commandsOf(draft, meet)), "                      ");
    text += "                  env:\n                    - name: FIRST_NODE\n                      value: \""
        + std::to_string(first) + "\"\n" + stepsOf(draft, "                    ");
    return text + "                  resources:\n                    limits:\n                      "
        + resourceOf(draft, run) + ": " + gpus + "\n";
}

} // namespace

std::string labelOf(std::string_view name, std::size_t most)
{
    std::string made;
    for (const char c : name) {
        const bool isDigit = c >= '0' && c <= '9', isSmall = c >= 'a' && c <= 'z', isLarge = c >= 'A' && c <= 'Z';
        if (made.empty() && !isSmall && !isLarge)
            continue;
        if (isDigit || isSmall || isLarge)
            made += isLarge ? static_cast<char>(c - 'A' + 'a') : c;
        else if (!made.ends_with('-'))
            made += '-';
        if (made.size() >= most)
            break;
    }
    while (made.ends_with('-'))
        made.pop_back();
    return made.empty() ? "trainyard" : made;
}

std::string yamlBlock(std::string_view text, const std::string &indent)
{
    std::string made = "|\n";
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        made += (end > at ? indent : std::string()) + std::string(text.substr(at, end - at)) + "\n";
        at = end + 1;
    }
    return made;
}

void refusePlaces(Draft &draft, const std::string &who)
{
    const auto &runs = draft.nodes.runs;
    if (std::ranges::any_of(runs, [&](const NodeRun &run) {
            return run.datacenter != runs.front().datacenter || run.pool != runs.front().pool;
        }))
        draft.refuse("cluster.datacenters",
            who + " starts nodes of one kind in one place, and does not order them by datacenter or pool",
            "one datacenter with one pool, or --to jobset or --to slurm");
}

std::string trainJobOf(Draft &draft)
{
    refusePlaces(draft, "a TrainJob");
    if (!draft.errors.empty())
        return {};
    const Rendezvous meet { "\"$PET_NODE_RANK\"", "\"$PET_MASTER_ADDR\"", "\"$PET_MASTER_PORT\"", "STEPS" };
    const std::string gpus = std::to_string(draft.nodes.gpusPerNode), image = imageNote(draft);
    const std::string resource = resourceOf(draft, draft.nodes.runs.front());
    draft.note("runtimeRef names torch-distributed, the runtime that Kubeflow Trainer installs");
    std::string text = headOfYaml(draft) + "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata:\n"
        + "  name: " + labelOf(draft.plan.name, 40)
        + "\nspec:\n  runtimeRef:\n    name: torch-distributed\n  trainer:\n    image: " + image
        + "\n    numNodes: " + std::to_string(draft.nodes.count) + "\n    numProcPerNode: " + gpus
        + "\n    resourcesPerNode:\n      limits:\n        " + resource + ": " + gpus + "\n";
    if (draft.isStepsAsked)
        text += "    env:\n" + stepsOf(draft, "      ");
    return text + "    command: [\"bash\", \"-c\"]\n    args:\n      - "
        + yamlBlock(withoutExpansion(commandsOf(draft, meet)), "        ");
}

std::string jobSetOf(Draft &draft)
{
    if (draft.nodes.runs.size() > kMostReplicatedJobs)
        draft.refuse("placement",
            "nodes change places " + std::to_string(draft.nodes.runs.size()) + " times in the order of ranks, and "
                + "each is a replicated job",
            "a placement of at most " + std::to_string(kMostReplicatedJobs) + ", or --to slurm");
    if (!draft.errors.empty())
        return {};
    const std::string name = labelOf(draft.plan.name, 30), image = imageNote(draft);
    const Rendezvous meet { "\"$((FIRST_NODE + JOB_COMPLETION_INDEX))\"", name + "-nodes-1-0-0." + name, "29500",
        "STEPS" };
    std::string jobs;
    int first = 0;
    for (std::size_t i = 0; i < draft.nodes.runs.size(); ++i) {
        jobs += replicatedJob(draft, i, first, image, meet);
        first += draft.nodes.runs[i].nodes;
    }
    if (const NodeLabel place = nodeLabelOf(draft, draft.nodes.runs.front()); !place.key.empty())
        draft.note("Nodes are chosen by their label " + place.key
            + ": label yours so, or put your own under nodeSelector; pods have to reach each other by name");
    return headOfYaml(draft) + "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata:\n  name: " + name
        + "\nspec:\n  failurePolicy:\n    maxRestarts: 0\n  replicatedJobs:\n" + jobs;
}

} // namespace trainyard::launch
