// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/job_yaml.h"

#include "core/runs/telemetry/readers/settings_tree.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

/// The last argument of a container, which a shell runs; "$$" is Kubernetes' own for "$".
std::optional<std::string> lastArgument(const SettingsNode *arguments)
{
    if (!arguments || !arguments->isListOfScalars() || arguments->below.empty())
        return std::nullopt;
    const std::string &text = arguments->below.back().text;
    std::string made;
    for (std::size_t i = 0; i < text.size(); ++i) {
        made += text[i];
        if (text[i] == '$' && i + 1 < text.size() && text[i + 1] == '$')
            ++i;
    }
    return made;
}

/// The first item of a list of maps.
const SettingsNode *firstOf(const SettingsNode *list)
{
    return list && list->isList() && !list->below.empty() ? &list->below.front() : nullptr;
}

} // namespace

std::optional<std::string> scriptOfJob(std::string_view text)
{
    const bool mayBe =
        text.find("TrainJob") != text.npos || text.find("JobSet") != text.npos || text.find("\nrun:") != text.npos;
    if (!mayBe || !mayBeYaml(text))
        return std::nullopt;
    const auto tree = yamlSettings(text);
    if (!tree)
        return std::nullopt;
    const SettingsNode &root = tree->root;
    if (root.textOf("kind") == "TrainJob")
        return lastArgument(root.find("spec.trainer.args"));
    if (root.textOf("kind") == "JobSet") {
        const SettingsNode *job = firstOf(root.find("spec.replicatedJobs"));
        const SettingsNode *container = firstOf(job ? job->find("template.spec.template.spec.containers") : nullptr);
        return lastArgument(container ? container->find("args") : nullptr);
    }
    const SettingsNode *resources = root.find("resources");
    if (root.textOf("run").empty() || !resources || !resources->isMap())
        return std::nullopt;
    return std::string(root.textOf("run"));
}

} // namespace trainyard::readers
