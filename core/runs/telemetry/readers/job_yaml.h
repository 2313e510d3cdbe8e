#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The script of a node in YAML that starts a job: a TrainJob of Kubeflow Trainer, a JobSet of Kubernetes, a task of
// SkyPilot. Pure functions; any thread.

#include <optional>
#include <string>
#include <string_view>

namespace trainyard::readers {

/// As the shell of a node gets it; of a JobSet that of its first replicated job. Empty: the text is no such YAML.
[[nodiscard]] std::optional<std::string> scriptOfJob(std::string_view text);

} // namespace trainyard::readers
