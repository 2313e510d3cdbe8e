#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Why one setting changes nothing, section by section of the plan: half a sentence, or empty where no rule knows it. A
// rule tells a fact that can be read off the plan, what it resolves to, or its evaluation, and that alone makes the
// setting idle. Private to the folder; idle_changes.h asks.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/changed_keys.h"
#include "core/iteration/placement/resolve.h"

#include <optional>
#include <string>

namespace trainyard::detail {

/// Two evaluations with the same outcome whose plans differ in this key.
struct IdleCase {
    const ChangedKey &key;
    const Evaluation &before, &after;
    const Catalogue &catalogue;
    /// of `after`, placed as it is there; empty where the plan trains jobs or has no iteration
    std::optional<Workload> workload = {};

    [[nodiscard]] const Plan &from() const { return *before.plan; }
    [[nodiscard]] const Plan &to() const { return *after.plan; }
    [[nodiscard]] bool isAbout(const char *row) const { return key.row == row; }
    [[nodiscard]] bool isIn(std::string_view section) const { return key.row.starts_with(section); }
};

/// Of keys that belong to something else that is off (KeyRow::conditions).
[[nodiscard]] std::string whyItDoesNotApply(const IdleCase &idle);
/// Of a plan whose stage times were measured.
[[nodiscard]] std::string whyMeasured(const IdleCase &idle);
/// `workload`, `parallelism`, `schedule`, `placement`, `stack`.
[[nodiscard]] std::string whyShapeIdles(const IdleCase &idle);
/// `memory`.
[[nodiscard]] std::string whyMemoryIdles(const IdleCase &idle);
/// `moe`, `parallelism.expert` and `.expert_tensor`.
[[nodiscard]] std::string whyExpertsIdle(const IdleCase &idle);
/// `wan`.
[[nodiscard]] std::string whyWanIdles(const IdleCase &idle);
/// `heterogeneity`.
[[nodiscard]] std::string whySharingIdles(const IdleCase &idle);
/// `bubble_fill`.
[[nodiscard]] std::string whyFillIdles(const IdleCase &idle);
/// `jobs`, `job_options`, `job_scheduler`.
[[nodiscard]] std::string whyJobsIdle(const IdleCase &idle);
/// `cluster`, `profile`, `layer_profiles`.
[[nodiscard]] std::string whyHardwareIdles(const IdleCase &idle);

} // namespace trainyard::detail
