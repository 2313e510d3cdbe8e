#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A Hugging Face config.json as a model that the plan holds itself: the plan then opens on any machine, and says which
// file the shape came from. Any thread.

#include "core/base/error.h"
#include "core/facts/workload/model_spec.h"

#include <QString>

namespace trainyard {

/// Named after the file's folder unless the file names it; the source is "folder/config.json, model type llama".
[[nodiscard]] Expected<ModelSpec> modelOfConfig(const QString &path);

} // namespace trainyard
