// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/resolve_model.h"

#include "core/facts/catalogue/parse.h"
#include "core/facts/plan/named_files.h"

#include <filesystem>

namespace trainyard {

Expected<ModelSpec> resolveModel(const std::string &name, const std::string &baseDir, const Catalogue &catalogue)
{
    if (const ModelSpec *known = catalogue.model(name))
        return *known;
    if (isModelPath(name)) {
        const std::filesystem::path full = fileIn(baseDir, name);
        auto model = readHuggingFaceConfig(full.string());
        if (model)
            model->name = full.parent_path().filename().string();
        return model;
    }
    std::vector<std::string> names;
    for (const ModelSpec &model : catalogue.models)
        names.push_back(model.id);
    const std::string near = nearestName(name, names);
    return std::unexpected(Error { ErrorCode::UnknownName, "workload.model", "there is no model \"" + name + "\"",
        "a catalogue name" + (near.empty() ? std::string() : ", perhaps \"" + near + "\"")
            + ", or the path of a config.json" });
}

Expected<ModelSpec> resolveModel(const WorkloadSpec &workload, const std::string &baseDir, const Catalogue &catalogue)
{
    if (workload.inlineModel)
        return *workload.inlineModel;
    return resolveModel(workload.model, baseDir, catalogue);
}

} // namespace trainyard
