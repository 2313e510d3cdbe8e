#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The files that a plan names: config.json of models, traces of requests. A relative path is seen from the folder of
// the plan's own file, so that a plan that is written elsewhere has to name it anew. Any thread.

#include "core/facts/plan/plan.h"

#include <filesystem>
#include <string>
#include <vector>

namespace trainyard {

/// Whether what names a model is the path of a config.json, where no catalogue knows it as a name.
[[nodiscard]] bool isModelPath(const std::string &name);

/// A path as it can be opened that stands in a plan whose file lies in `baseDir`.
[[nodiscard]] std::filesystem::path fileIn(const std::string &baseDir, const std::string &name);
[[nodiscard]] inline std::filesystem::path fileOf(const Plan &plan, const std::string &name)
{
    return fileIn(plan.baseDir, name);
}

/// The files that evaluating the plan reads beside its own, as it names them; and as they can be opened.
[[nodiscard]] std::vector<std::string> namesOfFiles(const Plan &plan);
[[nodiscard]] std::vector<std::string> filesNamedIn(const Plan &plan);

/// The plan as it must be written into `folder` (empty: the current one): each relative path leads from there to the
/// file that it leads to now. Absolute paths and names of the catalogue stay.
[[nodiscard]] Plan rebased(const Plan &plan, const std::string &folder);

} // namespace trainyard
