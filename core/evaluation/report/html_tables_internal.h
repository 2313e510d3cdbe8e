#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of the HTML report; shared by the .cpp files of this folder.

#include "core/evaluation/report/comparison.h"

namespace trainyard {

/// Metrics by plan, with changes against the first.
[[nodiscard]] std::string metricsTableHtml(const std::vector<NamedEvaluation> &plans);
/// A row a setting (reportSettings()); empty without any.
[[nodiscard]] std::string settingsTable(const Evaluation &evaluation);
/// A row a part, most useful first; of many the first ones.
[[nodiscard]] std::string usefulPartsTable(const Evaluation &evaluation, const std::vector<PartEffect> &parts);
[[nodiscard]] std::string memoryTable(const Evaluation &evaluation);
[[nodiscard]] std::string linkTable(const Evaluation &evaluation);
/// A row a job, of many those that stand out; a row a GPU, a row a host. Of a plan with jobs.
[[nodiscard]] std::string jobTable(const JobMetrics &jobs, std::size_t most);
[[nodiscard]] std::string gpuTable(const Evaluation &evaluation);
[[nodiscard]] std::string hostTable(const Evaluation &evaluation);
/// Which stages sit where, class by class.
[[nodiscard]] std::string placementTable(const Evaluation &evaluation);
/// The kinds of work that a timeline has, with their colours.
[[nodiscard]] std::string workLegend(const Timeline &timeline);

} // namespace trainyard
